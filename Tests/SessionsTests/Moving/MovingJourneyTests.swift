import JSONDocument
import Navigation
import Testing

@testable import Sessions

@Suite("Moving journeys")
struct MovingJourneyTests {
    private static let signIn: JSONDocument = ["name": "Ada"]

    private static func fixture(_ clock: ManualClock = ManualClock(), flows: [String] = [Flows.wizard]) throws
        -> SessionsFixture
    {
        try SessionsFixture(clock: clock, flows: flows, mainFlow: flows.isEmpty ? nil : "wizard")
    }

    @Test("they go on from where they were, at the same step")
    func goOn() async throws {
        let from = try Self.fixture()
        let session = try await from.session()
        _ = try await session.send("sign_in", data: Self.signIn, toJourney: "main")
        let lines = try await exported(from.sessions)
        let to = try Self.fixture(from.clock)
        #expect(try await imported(lines, into: to.sessions).imported == 1)
        let here = try #require(try await to.sessions.session(session.id))
        let before = try await session.journey("main").view
        #expect(try await here.journey("main").view == before)
        #expect(try await to.runningJourneys() == 1)
        #expect(try await here.send("back", toJourney: "main").view.screen?.id == "start")
    }

    @Test("in place of others, or of none, their steps are higher than any that was seen")
    func steps() async throws {
        let from = try Self.fixture()
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
            #expect(try await from.runningJourneys() == 1)
        }
    }

    @Test("that come back after their end make steps higher than any that was seen, also when each commit made two")
    func back() async throws {
        let fixture = try SessionsFixture(flows: [Flows.slides], mainFlow: "slides") { $0.idleTimeout = 36_000_000 }
        var session = try await fixture.session()
        var highest = try await session.journey("main").view.step
        let lines = try await exported(fixture.sessions)
        for _ in 0..<4 {
            for _ in 0..<5 {
                // The first slide gives way to the second, and that is left again.
                fixture.clock.advance(60_000)
                let view = try await session.send("rewind", toJourney: "main").view
                #expect(view.step > highest + 1)
                highest = view.step
            }
            try await fixture.sessions.end(session)
            #expect(try await imported(lines, into: fixture.sessions).imported == 1)
            session = try #require(try await fixture.sessions.session(session.id))
        }
    }

    /// A journey on `page1` of the wizard, on which a child stands, with a part of it replaced.
    private static func kept(_ part: String, by other: String) -> String {
        let whole =
            #"{"id":"main","step":3,"at":[1600000000000,5],"who":[["wizard",1],["loop",1,{},7,2,0,"child"]],"#
            + #""on":["start","page1",["here",2,"modal"]]}"#
        return #"{"journeys":["# + whole.replacing(part, with: other) + "]}"
    }

    private static let flaws: [(part: String, other: String, pointer: String)] = [
        ("main", "other", "/id"), ("main", "jrn_0123456789abcdef0123456789abcdeF", "/id"),
        ("]}", #"]},{"id":"main","step":1,"at":[1],"who":[["wizard",1]],"on":["start"]}"#, "/1/id"),
        ("1600000000000", "9223372036854775807", "/at"), ("1600000000000,5", "1600000000000,-1600000000001", "/at"),
        ("1600000000000,5", "9223372036854775807,1", "/at"), (",7,2", ",9223372036854775807,2", "/at"),
        (#"["wizard",1]"#, #"["wizard",1,{},0,1,0,"start"]"#, "/who/0"),
        (#"[["wizard",1],"#, "[", "/who/0"), (",2,0,", ",0,0,", "/who/1/4"),
        (",2,0,", ",9223372036854775807,0,", "/who/1/4"), (",2,0,", ",2,1,", "/who/1/5"),
        (",2,0,", ",2,2,", "/who/1/5"), (",2,0,", ",2,7,", "/who/1/5"), (#""child""#, #""""#, "/who/1/6"),
        (#"["start","page1",["here",2,"modal"]]"#, "[]", "/on"), (#"["here",2"#, #"["here",1"#, "/on/2"),
        (#""start","#, #"["start",0,"modal"],"#, "/on/0"), (#""modal""#, #""root""#, "/on/2"),
        (#",["here",2,"modal"]"#, "", "/who/1"),
        // Those that are orphaned, as FLOWS calls it.
        ("loop", "gone", "/who/0"), (#"["wizard",1]"#, #"["wizard",2]"#, "/who/0"), ("child", "start", "/who/0"),
        (#""here""#, #""there""#, "/who/1"),
    ]

    @Test("that no flow could have led to have their session refused, each by its place", arguments: flaws.indices)
    func flaw(index: Int) async throws {
        let (part, other, pointer) = Self.flaws[index]
        let document = Self.kept(part, by: other)
        #expect(document != Self.kept("", by: ""))
        let report = try await Self.report(on: document)
        #expect(report.refused == 1 && report.imported == 0, "\(document)")
        let place = "/services/0/document/journeys" + (pointer.hasPrefix("/1") ? "" : "/0") + pointer
        #expect(report.errors.first?.problem.pointer == place, "\(document): \(report.errors)")
    }

    @Test("that flows lead to are taken in, also with a screen below that is not there any more")
    func noFlaw() async throws {
        for (part, other) in [("", ""), ("start", "past"), ("modal", "push")] {
            let report = try await Self.report(on: Self.kept(part, by: other))
            #expect(report.imported == 1, "\(report.errors)")
        }
    }

    private static func report(on document: String) async throws -> ImportReport {
        let wizard = Flows.wizard.replacing(
            #""states": {"#, with: #""states": {"child": {"type": "flow", "flow": "loop", "on": {"done": {}}},"#
        ).replacing(#""lose": {"#, with: #""ask": {"target": "child", "nav": "present"}, "lose": {"#)
        let from = try Self.fixture()
        _ = try await from.session()
        var lines = try await exported(from.sessions)
        lines[1] = try ArchiveRefusalTests.changed(
            lines[1], ["services": [ArchiveRefusalTests.service("coordinator", document)]])
        return try await imported(lines, into: try Self.fixture(from.clock, flows: [wizard, Flows.loop]).sessions)
    }

    @Test("whose flow is not loaded here have their session refused")
    func unknownFlow() async throws {
        let from = try Self.fixture()
        let session = try await from.session()
        _ = try await session.send("sign_in", data: Self.signIn, toJourney: "main")
        let lines = try await exported(from.sessions)
        let report = try await imported(lines, into: try Self.fixture(from.clock, flows: []).sessions)
        #expect(report.refused == 1 && report.imported == 0 && report.isComplete)
        let error = try #require(report.errors.first)
        #expect(error.id == session.id && error.problem.detail.contains("'wizard'"))
    }
}
