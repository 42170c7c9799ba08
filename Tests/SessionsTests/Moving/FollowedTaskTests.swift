import JSONDocument
import Navigation
import Synchronization
import Testing

@testable import Sessions

/// What a worker says of a task whose journey has moved, when the session from which it came is gone.
@Suite("Tasks that are followed")
struct FollowedTaskTests {
    static let trip = #"""
        { "id": "trip", "version": 1, "initial": "a", "portable": true,
          "states": {
            "a": { "on": { "begin": {"target": "busy"} } },
            "busy": { "type": "task", "task": "work", "timeout": "90d", "retry": {"attempts": 2},
              "on": {"done": {"target": "b"}} },
            "b": { "on": {"end": {"target": "z"}} },
            "z": { "type": "final" } } }
        """#
    private static let day: Int64 = 86_400_000
    private static let stores: [@Sendable () -> any SessionStore] = [{ MemoryStore() }, { StoreWrapper() }]

    private func fixture(
        _ store: any SessionStore, _ clock: ManualClock = ManualClock(isStill: true),
        _ configure: (inout SessionSettings) -> Void = { _ in }
    ) throws -> SessionsFixture {
        try SessionsFixture(store: store, clock: clock, flows: [Self.trip, Flows.loop], mainFlow: "trip", configure)
    }

    /// A session whose journey waits for a task that a worker has.
    private func working(
        _ fixture: SessionsFixture, user: String? = nil
    ) async throws -> (session: Session, token: SessionToken, task: TaskID) {
        let (session, first) = try await fixture.sessions.create()
        var token = first
        if let user { token = try await fixture.sessions.attachUser(user, to: session) }
        try await session.send("begin", toJourney: "main")
        let claimed = try await fixture.sessions.claimTasks(named: "work", max: 1, lease: 90 * Self.day, wait: 0)
        return (session, token, try #require(claimed.first).task.id)
    }

    /// - Returns: what the journey is called there.
    private func move(
        _ journey: String = "main", from source: Session, to target: Session, _ fixture: SessionsFixture
    ) async throws -> String {
        let link = try #require(
            PresentedLink(try await source.makeLink(toJourney: journey, lifetime: Self.day).link.text))
        return try await fixture.sessions.moveJourney(.link(link), of: source.id, into: target).text.view.id
    }

    private func screen(_ journey: String, of id: SessionID, _ fixture: SessionsFixture) async throws -> String? {
        let record = try #require(try await fixture.store.load(id)?.record)
        return fixture.sessions.environment.journeys(of: record)?[journey]?.journey.top?.state
    }

    /// What has become of the session from which the journey came.
    enum End: CaseIterable { case expired, deleted, deletedWithUser, signedOut, displaced, stolen }

    private func end(_ source: Session, _ token: SessionToken, by way: End, _ fixture: SessionsFixture) async throws {
        switch way {
        case .expired:
            fixture.clock.advance(fixture.sessions.settings.idleTimeout + fixture.sessions.settings.expiredRetention)
        case .deleted: #expect(try await fixture.sessions.end(source))
        case .deletedWithUser: #expect(try await fixture.sessions.endSessions(ofUser: "zoe") == 1)
        case .signedOut: try await fixture.sessions.detachUser(from: source)
        case .displaced: _ = try await fixture.sessions.attachUser("zoe", to: try await fixture.session())
        case .stolen:
            _ = try await fixture.sessions.rotate(source, presenting: token.presented)
            fixture.clock.advance(fixture.sessions.settings.rotationGrace + 1)
            #expect(try await !fixture.isAuthenticated(token))
        }
        for _ in 0..<2 {
            await fixture.sessions.sweep()
            await fixture.sessions.sweepStore()
            fixture.clock.advance(60_000)
        }
    }

    @Test(
        "a lease, a failure and a result come to where the journey is, whatever has become of where it was",
        arguments: End.allCases, 0..<2)
    func ends(way: End, store: Int) async throws {
        let fixture = try fixture(Self.stores[store]()) { $0.maxSessionsOfUser = 1 }
        let (source, token, task) = try await working(fixture, user: "zoe")
        let target = try await fixture.session()
        let there = try await move(from: source, to: target, fixture)
        try await end(source, token, by: way, fixture)
        let longer = try await fixture.sessions.extendTask(task, attempt: 1, lease: Self.day)
        #expect(longer.id == TaskID(session: target.id, journey: there, number: task.number))
        try await fixture.sessions.failTask(task, attempt: 1, reason: "no line", retryAfter: 0)
        #expect(try await fixture.sessions.claimTasks(named: "work", max: 9, lease: 1, wait: 0).count == 1)
        try await fixture.sessions.endTask(task, outcome: "paid")
        #expect(try await screen(there, of: target.id, fixture) == "b")
        await #expect(throws: TaskError.over) { try await fixture.sessions.endTask(task, outcome: "paid") }
    }

    @Test("it is followed over two moves, from sessions that were deleted, by a process that begins anew")
    func twoMoves() async throws {
        let (store, clock) = (StoreWrapper(), ManualClock(isStill: true))
        let first = try fixture(store, clock)
        let (source, _, task) = try await working(first)
        let (between, last) = (try await first.session(), try await first.session())
        let passed = try await move(from: source, to: between, first)
        try await first.sessions.end(source)
        let there = try await move(passed, from: between, to: last, first)
        try await first.sessions.end(between)
        let second = try fixture(store, clock)
        try await second.sessions.endTask(task, outcome: "paid")
        #expect(try await screen(there, of: last.id, second) == "b")
        // When that is deleted, too, the task is.
        let gone = try await working(second)
        let end = try await second.session()
        _ = try await move(from: gone.session, to: end, second)
        for session in [gone.session, end] { try await second.sessions.end(session) }
        await #expect(throws: TaskError.over) { try await second.sessions.endTask(gone.task, outcome: "paid") }
    }

    @Test("of a deleted session nothing is left but where its journey has gone, and that for a time", arguments: 0..<2)
    func remains(store: Int) async throws {
        let fixture = try fixture(Self.stores[store]()) { $0.caseLifetime = 2 * Self.day }
        let (source, token, _) = try await working(fixture, user: "zoe")
        // No digits of an id.
        try await fixture.perform(.mergePatch(["attributes": ["name": "zoe"]]), on: "profile", source)
        try await source.updateLabels(["shop": "zoe's"])
        let target = try await fixture.session()
        _ = try await fixture.sessions.attachUser("zoe", to: target)
        let claim = JourneyClaim.user("zoe", journey: "main")
        _ = try await fixture.sessions.moveJourney(claim, of: source.id, into: target)
        let spy = try ChangeSpy(source)
        #expect(try await fixture.sessions.end(source))
        #expect(spy.end == .sessionEnded)
        #expect(try await !fixture.sessions.end(source))
        #expect(try await !fixture.isAuthenticated(token))
        #expect(try await fixture.sessions.session(source.id) == nil)
        #expect(try await fixture.sessions.page(limit: 9).sessions.map(\.id) == [target.id])
        #expect(try await fixture.sessions.sessions(ofUser: "zoe").map(\.id) == [target.id])
        let left = try #require(try await fixture.store.load(source.id)).record
        #expect(left.userID == nil && left.details.isEmpty && left.services.count == 1)
        #expect(!String(decoding: left.services.flatMap(\.bytes), as: UTF8.self).contains("zoe"))
        #expect(fixture.sessions.registry.total == 2 && fixture.sessions.statistics.ended == 0)
        fixture.clock.advance(2 * Self.day + fixture.sessions.settings.expiredRetention)
        await fixture.sessions.removeRemains()
        await fixture.sessions.sweepStore()
        #expect(try await fixture.store.load(source.id) == nil)
        #expect(fixture.sessions.statistics.ended >= 1)
    }

    @Test("of a session that nobody has to be followed from nothing is left", arguments: 0..<2)
    func nothing(store: Int) async throws {
        let fixture = try fixture(Self.stores[store]())
        let source = try await fixture.session()
        _ = try await source.journey("main")
        _ = try await move(from: source, to: try await fixture.session(), fixture)
        try await fixture.sessions.end(source)
        #expect(fixture.store.sessionCount == 1 && fixture.sessions.statistics.ended == 1)
    }

    @Test("what is left makes room for new sessions", arguments: 0..<2)
    func room(store: Int) async throws {
        let fixture = try fixture(Self.stores[store]()) { $0.maxSessions = 2 }
        let (source, _, _) = try await working(fixture)
        let target = try await fixture.session()
        _ = try await fixture.sessions.attachUser("zoe", to: target)
        _ = try await move(from: source, to: target, fixture)
        try await fixture.sessions.end(source)
        fixture.clock.advance(Shedding.idleAge + 1)
        await fixture.sessions.sweepStore()
        let new = try await fixture.session()
        _ = try await fixture.sessions.attachUser("bob", to: new)
        #expect(fixture.store.sessionCount == 2)
        await #expect(throws: SessionError.tooManySessions) { try await fixture.session() }
    }

    @Test("a journey that is on its way when its session is deleted arrives, and so does its result")
    func underWay() async throws {
        let store = StoreWrapper()
        let fixture = try fixture(store)
        let (source, _, task) = try await working(fixture)
        let target = try await fixture.session()
        store.beforeCommit.withLock { hook in
            hook = { commit throws(StoreError) in
                if commit.record.id == target.id { throw .unavailable("gone") }
            }
        }
        _ = try? await move(from: source, to: target, fixture)
        store.letGo()
        #expect(source.isMovingJourneys)
        #expect(try await fixture.sessions.end(source))
        try await fixture.sessions.endTask(task, outcome: "paid")
        #expect(try await target.journeys().map(\.view.screen?.id) == ["b"])
    }

    @Test("what is left of a session that comes back by an import does not stand in its way", arguments: [true, false])
    func comesBack(replaces: Bool) async throws {
        let fixture = try fixture(StoreWrapper())
        let (source, token, task) = try await working(fixture)
        let target = try await fixture.session()
        let there = try await move(from: source, to: target, fixture)
        let lines = try await exported(fixture.sessions)
        try await fixture.sessions.end(source)
        let ended = try await exported(fixture.sessions)
        let report = try await imported(lines, into: fixture.sessions, replaces ? .replace : .skip)
        #expect(report.isComplete && report.errors.isEmpty)
        #expect(try await fixture.isAuthenticated(token))
        // What is left goes along to another installation.
        let other = try self.fixture(StoreWrapper(), fixture.clock)
        #expect(try await imported(ended, into: other.sessions).errors.isEmpty)
        try await other.sessions.endTask(task, outcome: "paid")
        #expect(try await screen(there, of: target.id, other) == "b")
        #expect(try await other.sessions.session(source.id) == nil)
    }

    @Test("of more moves than a session remembers those are forgotten first that no worker needs")
    func forgotten() async throws {
        let fixture = try fixture(MemoryStore())
        let (source, _, task) = try await working(fixture)
        let target = try await fixture.session()
        let there = try await move(from: source, to: target, fixture)
        for _ in 0..<40 {
            _ = try await source.restartJourney("main")
            _ = try await move(from: source, to: try await fixture.session(), fixture)
        }
        try await fixture.sessions.end(source)
        try await fixture.sessions.endTask(task, outcome: "paid")
        #expect(try await screen(there, of: target.id, fixture) == "b")
    }
}

/// The same with two processes on one store.
extension FollowedTaskTests {
    @Test("a session that one process has deleted is gone for the other, which follows its task")
    func shared() async throws {
        let (hub, clock) = (SharedStore(), ManualClock(isStill: true))
        let (one, two) = (try fixture(hub.door(), clock), try fixture(hub.door(), clock))
        let (source, token, task) = try await working(one)
        let target = try await one.session()
        let there = try await move(from: source, to: target, one)
        let elsewhere = try #require(try await two.sessions.session(source.id))
        let spy = try ChangeSpy(elsewhere)
        async let first = one.sessions.end(source)
        async let second = two.sessions.end(elsewhere)
        let ends = try await (first, second)
        #expect(ends.0 || ends.1)
        for fixture in [one, two] {
            #expect(try await !fixture.isAuthenticated(token))
            #expect(try await fixture.sessions.session(source.id) == nil)
        }
        #expect(spy.end == .sessionEnded)
        try await two.sessions.endTask(task, outcome: "paid")
        #expect(try await screen(there, of: target.id, two) == "b")
    }

    @Test("a write at another process that was on its way changes nothing in what is left")
    func lateWrite() async throws {
        let (hub, clock) = (SharedStore(), ManualClock(isStill: true))
        let (one, two) = (try fixture(hub.door(), clock), try fixture(hub.door(), clock))
        let (source, _, task) = try await working(one)
        let target = try await one.session()
        _ = try await move(from: source, to: target, one)
        let elsewhere = try #require(try await two.sessions.session(source.id))
        try await one.sessions.end(source)
        await #expect(throws: SessionError.ended) {
            try await two.perform(.put(["count": 1]), on: "counter", elsewhere)
        }
        #expect(try await two.store.load(source.id)?.record.services.count == 1)
        try await one.sessions.endTask(task, outcome: "paid")
    }
}
