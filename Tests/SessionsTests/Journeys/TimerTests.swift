import JSONDocument
import Navigation
import ServiceLocator
import Testing

@testable import Sessions

@Suite("Timers of kept journeys")
struct TimerTests {
    private static let minute: Int64 = 60_000

    /// Reminds twice, and leads to another screen at the time that the profile says.
    private static let trip = #"""
        { "id": "trip", "version": 1, "initial": "booked",
          "timers": [{"after": "10m", "every": "5m", "times": 2,
            "actions": [{"op": "replace", "path": "/counter/count", "value": {"$add": [{"$from": "/counter/count"}, 1]}}]}],
          "states": {
            "booked": {"on": {"next": {"target": "departed"}},
              "timers": [{"at": "/profile/attributes/departs_at", "target": "departed", "nav": "set_root"}]},
            "departed": {"on": {"again": {"target": "booked"}}} } }
        """#

    private static func fixture() throws -> SessionsFixture {
        try SessionsFixture(flows: [trip], mainFlow: "trip")
    }

    /// The journey as it is committed, without a look.
    private static func kept(_ session: Session) throws -> Journey {
        try #require(JourneyWork(on: try session.pendingState(), session.environment).kept["main"]?.journey)
    }

    @Test("a write from outside changes when the journey is due in the same commit, and is no step")
    func written() async throws {
        let fixture = try Self.fixture()
        let session = try await fixture.session()
        let shown = try await session.journey("main")
        let (start, spy) = (fixture.clock.now(), try ChangeSpy(session))
        #expect(try Self.kept(session).dueAt == start + 10 * Self.minute)
        let soon = Timestamp(millisecondsSince1970: start + 3 * Self.minute).description
        try await fixture.perform(
            .mergePatch(["attributes": ["departs_at": JSONDocument(soon)]]), on: "profile", session)
        #expect(try Self.kept(session).dueAt == start + 3 * Self.minute)
        #expect(try Self.kept(session).step == shown.view.step)
        let again = try await session.journey("main")
        #expect(again.view.dueAt == start + 3 * Self.minute && again.etag != shown.etag)
        #expect(spy.changes.allSatisfy { if case .journeyMoved = $0 { false } else { true } })
        fixture.clock.advance(3 * Self.minute)
        #expect(try await session.journey("main").view.screen?.id == "departed")
    }

    @Test("a write of the same time, or of something else, leaves the journeys as they are kept")
    func writtenAgain() async throws {
        let fixture = try Self.fixture()
        let session = try await fixture.session()
        _ = try await session.journey("main")
        let before = try fixture.status("coordinator", session)?.etag
        try await fixture.perform(.mergePatch(["name": "Ada"]), on: "profile", session)
        try await fixture.perform(.mergePatch(["count": 3]), on: "counter", session)
        #expect(try fixture.status("coordinator", session)?.etag == before)
    }

    @Test("a reminder is told to watchers, and the journey stays with whom it belongs")
    func reminder() async throws {
        let fixture = try Self.fixture()
        let session = try await fixture.session()
        let shown = try await session.journey("main")
        let spy = try ChangeSpy(session)
        fixture.clock.advance(11 * Self.minute)
        let later = try await session.journey("main")
        #expect(later.view.step == shown.view.step + 1 && later.view.screen?.id == "booked")
        #expect(try fixture.get("counter", session).document == ["count": 1])
        #expect(spy.changes.last == .journeyMoved(id: "main", step: later.view.step))
        #expect(try Self.kept(session).isOfUser == false)
        #expect(later.view.dueAt == shown.view.startedAt + 15 * Self.minute)
        fixture.clock.advance(60 * Self.minute)
        #expect(try await session.journey("main").view.dueAt == nil)
        #expect(try fixture.get("counter", session).document == ["count": 2])
    }
}
