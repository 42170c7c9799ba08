import Navigation
import Sessions
import Support
import Testing

@testable import Commands
@testable import ConciergeApp
@testable import Configuration

@Suite("What new flows mean for running journeys")
struct JourneyImpactTests {
    private static func flow(_ version: Int, _ screens: [String], more: String = "") -> String {
        let states = screens.map { #""\#($0)":{"on":{"go":{"target":"z"}\#(others(screens, but: $0))}}"# }
        return #"{"id":"tour","version":\#(version)\#(more),"initial":"\#(screens[0])","states":{"#
            + states.joined(separator: ",") + #","z":{"type":"final"}}}"#
    }

    /// A way from each screen to all others, so that none is out of reach.
    private static func others(_ screens: [String], but own: String) -> String {
        screens.filter { $0 != own }.map { #","to_\#($0)":{"target":"\#($0)"}"# }.joined()
    }

    private static func row(_ version: Int, _ state: String, count: Int = 2, inUse: Int = 3) -> JourneyCensusRow {
        JourneyCensusRow(flow: "tour", version: version, state: state, count: count, inUse: inUse)
    }

    private static func impact(_ flows: [String], _ rows: [JourneyCensusRow]) throws -> JourneyImpact {
        JourneyImpact(of: FlowEngine(catalog: try flowCatalog(flows)), on: rows)
    }

    @Test("a version that is there stays; one that is not is lost, unless a newer one takes its journeys over")
    func versions() throws {
        let rows = [Self.row(1, "a"), Self.row(1, "b")]
        #expect(try Self.impact([Self.flow(1, ["a", "b"])], rows).rows.map(\.fate) == [.stay, .stay])
        let gone = try Self.impact([Self.flow(2, ["a", "b"])], rows)
        #expect(gone.rows.map(\.fate) == [.orphaned, .orphaned])
        let restart = Self.flow(2, ["a"], more: #","in_flight":"restart""#)
        #expect(try Self.impact([restart], rows).rows.map(\.fate) == [.restart, .restart])
        let migrate = Self.flow(
            2, ["c", "b"], more: #","in_flight":"migrate","migrations":[{"from":1,"states":{"a":"c"}}]"#)
        #expect(
            try Self.impact([migrate], rows).rows.map(\.fate) == [
                .migrate(toVersion: 2, state: "c"), .migrate(toVersion: 2, state: "b"),
            ])
    }

    @Test("a state that no migration takes along is lost, and one that was edited away")
    func states() throws {
        let migrate = Self.flow(2, ["c"], more: #","in_flight":"migrate","migrations":[{"from":1,"states":{"a":"c"}}]"#)
        let rows = [Self.row(1, "a"), Self.row(1, "b")]
        let impact = try Self.impact([migrate], rows)
        #expect(impact.rows.map(\.fate) == [.migrate(toVersion: 2, state: "c"), .stateGone(version: 2, state: "b")])
        let edited = try Self.impact([Self.flow(1, ["a"])], rows)
        #expect(edited.rows.map(\.fate) == [.stay, .stateGone(version: 1, state: "b")])
    }

    @Test("the report has a line for each state that changes, and says whether any journey is lost")
    func report() throws {
        let impact = try Self.impact(
            [Self.flow(2, ["a"])], [Self.row(1, "a"), Self.row(2, "a", count: 5, inUse: 5)])
        let trial = ImpactReport.TriedFlows(
            running: 8, staying: 5,
            losses: [
                (flow: "tour", version: 1, count: 2, detail: nil),
                (flow: "tour", version: 2, count: 1, detail: "/a is not there"),
            ])
        let refused = ImpactReport(impact, trial, orphans: .refuse)
        #expect(
            refused.lines == [
                "tour 1, a: 3 journeys would be lost: this version is not loaded, and no migration leads from it",
                "tour 2: 1 journey would be stuck: /a is not there",
            ])
        #expect(refused.summary == "8 journeys running, 5 on screens that stay as they are, 3 would be lost")
        #expect(refused.losesJourneys)
        let restarted = ImpactReport(impact, trial, orphans: .restart)
        #expect(restarted.lines.first?.hasSuffix("; they restart, as orphaned_journeys says") == true)
        #expect(restarted.summary.hasSuffix(", 1 would be lost"))
        let nothing = ImpactReport.TriedFlows(running: 7, staying: 5, losses: [])
        #expect(!ImpactReport(impact, nothing, orphans: .refuse).losesJourneys)
    }
}
