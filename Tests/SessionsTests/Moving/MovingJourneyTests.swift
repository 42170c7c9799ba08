import JSONDocument
import Navigation
import Testing

@testable import Sessions

@Suite("Moving journeys")
struct MovingJourneyTests {
    private static let signIn: JSONDocument = ["name": "Ada"]

    private static func house(_ clock: ManualClock = ManualClock(), flows: [String] = [Flows.wizard]) throws -> House {
        try House(clock: clock, flows: flows, mainFlow: flows.isEmpty ? nil : "wizard")
    }

    @Test("they go on from where they were, at the same step")
    func goOn() async throws {
        let from = try Self.house()
        let session = try await from.session()
        _ = try await session.send("sign_in", data: Self.signIn, toJourney: "main")
        let lines = try await exported(from.sessions)
        let to = try Self.house(from.clock)
        #expect(try await imported(lines, into: to.sessions).imported == 1)
        let here = try #require(try await to.sessions.session(session.id))
        let before = try await session.journey("main").view
        #expect(try await here.journey("main").view == before)
        #expect(to.sessions.statistics.journeys == 1)
        #expect(try await here.send("back", toJourney: "main").view.screen?.id == "start")
    }

    @Test("in place of others, or of none, their steps are higher than any that was seen")
    func steps() async throws {
        let from = try Self.house()
        let session = try await from.session()
        let empty = try await exported(from.sessions)
        _ = try await session.send("sign_in", data: Self.signIn, toJourney: "main")
        let moved = try await exported(from.sessions)
        var highest = try await session.journey("main").view.step
        for lines in [empty, moved, empty, moved, moved] {
            #expect(try await imported(lines, into: from.sessions, .replace).replaced == 1)
            // Begins anew where the export had none.
            let view = try await session.journey("main").view
            #expect(view.step > highest && view.screen?.id == (lines == empty ? "start" : "page1"))
            highest = view.step
            #expect(from.sessions.statistics.journeys == 1)
        }
    }

    @Test("whose flow is not loaded here have their session refused")
    func unknownFlow() async throws {
        let from = try Self.house()
        let session = try await from.session()
        _ = try await session.send("sign_in", data: Self.signIn, toJourney: "main")
        let lines = try await exported(from.sessions)
        let report = try await imported(lines, into: try Self.house(from.clock, flows: []).sessions)
        #expect(report.refused == 1 && report.imported == 0 && report.isComplete)
        let error = try #require(report.errors.first)
        #expect(error.id == session.id && error.problem.detail.contains("'wizard'"))
    }
}
