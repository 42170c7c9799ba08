import Navigation
import Sessions
import Support
import Testing

@testable import ConciergeApp

@Suite("The funnel of a flow")
struct FlowFunnelTests {
    private static let trip = """
        {"id": "trip", "version": 1, "initial": "home", "states": {
           "home": {"on": {"go": {"target": "which"}, "check": {"target": "leg"}}},
           "which": {"type": "choice", "branches": [
             {"guard": {"compare": ["/now", ">", {"value": "2020-01-01T00:00:00Z"}]}, "target": "end"}, {"target": "bye"}]},
           "leg": {"type": "flow", "flow": "leg", "on": {"done": {"target": "end"}}},
           "end": {"on": {"close": {"target": "bye"}}}, "bye": {"type": "final"}}}
        """
    private static let flows = [
        trip, trip.replacing(#""version": 1"#, with: #""version": 2"#).replacing(#""check""#, with: #""look""#),
        """
        {"id": "leg", "version": 1, "initial": "one", "states": {
           "one": {"on": {"next": {"target": "inner"}}},
           "inner": {"type": "flow", "flow": "inner", "on": {"done": {"target": "over"}}}, "over": {"type": "final"}}}
        """,
        """
        {"id": "inner", "version": 1, "initial": "x", "states": {
           "x": {"on": {"next": {"target": "y"}}}, "y": {"type": "final"}}}
        """,
    ]

    private typealias Place = JourneyWay.Place

    private static func way(_ left: Place?, _ entered: Place?) -> JourneyWay {
        JourneyWay(left: left, entered: entered, status: entered == nil ? .finished : .active, ofFlow: "trip")
    }

    private static func place(_ flow: String, _ state: String, _ version: Int = 1) -> Place {
        Place(flow: flow, version: version, state: state)
    }

    private static func lines(_ flow: String, version: Int? = nil, _ counts: TransitionCounts) throws -> [String] {
        let funnel = FlowFunnel(
            of: flow, version: version, in: try flowCatalog(flows), counted: counts.counts(at: today))
        return funnel.transitions.map { transition in
            let count = funnel.counts[transition] ?? .init()
            let versions = count.versions.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
            return "\(transition.from) \(transition.to) \(count.all) \(versions.joined(separator: ",")) \(count.today)"
        }
    }

    private static let today: Int64 = 20_000 * 86_400_000

    private static func counted() -> TransitionCounts {
        let counts = TransitionCounts(since: 0)
        func count(_ left: Place?, _ entered: Place?, times: Int = 1, at time: Int64 = today) {
            for _ in 0..<times { counts.count(way(left, entered), at: time) }
        }
        count(nil, place("trip", "home"), times: 3, at: today - 1)
        count(nil, place("trip", "home"), times: 2, at: today + 86_399_999)
        count(nil, place("trip", "home", 2))
        count(place("trip", "home"), place("leg", "one"), times: 2)
        count(place("trip", "home"), place("inner", "x"))
        count(place("leg", "one"), place("inner", "x"), times: 2)
        count(place("inner", "x"), place("trip", "end"))
        count(place("trip", "end"), nil)
        count(place("trip", "end"), place("trip", "home"))
        count(place("trip", "end", 2), place("trip", "home", 2), times: 4, at: today - 1)
        return counts
    }

    @Test("has the transitions of the file, through choices, and the state that runs a child for what is below it")
    func transitions() throws {
        #expect(
            try Self.lines("trip", Self.counted()) == [
                "(start) home 6 1=5,2=1 3", "home end 0  0", "home (finished) 0  0", "home leg 3 1=3 3",
                "leg end 1 1=1 1", "end (finished) 1 1=1 1", "end home 5 1=1,2=4 1",
            ])
    }

    @Test("of a version has the transitions of that version, and beside their numbers those of all")
    func version() throws {
        #expect(
            try Self.lines("trip", version: 2, Self.counted()) == [
                "(start) home 6 2=1 1", "home end 0  0", "home (finished) 0  0", "home leg 3  0", "leg end 1  0",
                "end (finished) 1  0", "end home 5 2=4 0",
            ])
    }

    @Test("of a child flow begins where its parents come in, and ends where they go on")
    func child() throws {
        #expect(
            try Self.lines("leg", Self.counted()) == [
                "(start) one 2 1=2 2", "one inner 2 1=2 2", "inner (finished) 0  0",
            ])
        #expect(try Self.lines("inner", Self.counted()) == ["(start) x 3 1=3 3", "x (finished) 1 1=1 1"])
    }

    @Test("is the metric's with the versions together")
    func metric() {
        let all = Self.counted().all
        #expect(all.first { $0.from == nil }.map { $0 == ("trip", nil, "home", 6) } == true)
        #expect(all.contains { $0 == ("inner", "x", "trip:end", 1) })
        #expect(all.contains { $0 == ("trip", "end", "(finished)", 1) })
        #expect(all.map(\.count).reduce(0, +) == 18)
    }
}
