import JSONDocument
import Navigation
import Testing

@testable import Sessions

/// Sessions whose work outlives their token.
@Suite struct KeptSessionTests {
    private static let day: Int64 = 24 * 3_600_000
    private static let idle: Int64 = 1_800_000

    /// A session whose journey waits for a task, and whose token has expired.
    private static func expired(
        _ fixture: SessionsFixture, user: String? = nil
    ) async throws -> (id: SessionID, token: SessionToken, task: TaskID) {
        let (session, first) = try await fixture.sessions.create()
        var token = first
        if let user { token = try await fixture.sessions.attachUser(user, to: session) }
        let step = try JSONDocument(parsing: try await session.send("work", toJourney: "main").bytes)[member: "step"]
        fixture.clock.advance(idle)
        await fixture.sessions.sweep()
        await fixture.sessions.sweepStore()
        return (session.id, token, TaskID(session: session.id, journey: "main", number: UInt64(step?.int ?? 0)))
    }

    @Test("the token opens nothing, watchers are told, and the result of the task is taken", arguments: 0..<2)
    func result(store: Int) async throws {
        let fixture = try DueTests.fixture(DueTests.stores[store]())
        let spy = try ChangeSpy(try await fixture.session())
        let (id, token, task) = try await Self.expired(fixture)
        #expect(try await !fixture.isAuthenticated(token))
        #expect(spy.end == .sessionEnded)
        #expect(fixture.sessions.registry.total == (fixture.store.outlivesProcess ? 2 : 1))
        fixture.clock.advance(29 * Self.day)
        await fixture.sessions.sweep()
        await fixture.sessions.sweepStore()
        let claimed = try await fixture.sessions.claimTasks(named: "work", max: 2, lease: 1_000, wait: 0)
        #expect(claimed.map(\.task.id) == [task])
        try await fixture.sessions.endTask(task, outcome: "ok")
        #expect(try await DueTests.screen(id, fixture) == "ok")
        #expect(try await !fixture.isAuthenticated(token))
        // What came of it can be looked at for a while.
        fixture.clock.advance(fixture.sessions.settings.expiredRetention - 1)
        await fixture.sessions.sweep()
        await fixture.sessions.sweepStore()
        #expect(try await fixture.sessions.session(id) != nil)
        fixture.clock.advance(1)
        await fixture.sessions.sweep()
        await fixture.sessions.sweepStore()
        #expect(try await fixture.sessions.session(id) == nil && fixture.store.sessionCount == 0)
        await #expect(throws: TaskError.over) { try await fixture.sessions.endTask(task, outcome: "ok") }
    }

    @Test(
        "a session with work that the server ends loses its tokens and not its work", arguments: 0..<2, [true, false])
    func dismissed(store: Int, isStolen: Bool) async throws {
        let fixture = try DueTests.fixture(DueTests.stores[store]()) { $0.maxSessionsOfUser = 1 }
        let (session, first) = try await fixture.sessions.create()
        let second = try await fixture.sessions.attachUser("ada", to: session)
        let token = isStolen ? try await fixture.sessions.rotate(session, presenting: second.presented) : second
        try await session.send("work", toJourney: "main")
        let claimed = try await fixture.sessions.claimTasks(named: "work", max: 1, lease: 3_600_000, wait: 0)
        if isStolen {
            fixture.clock.advance(fixture.sessions.settings.rotationGrace + 1)
            #expect(try await !fixture.isAuthenticated(second))
        } else {
            _ = try await fixture.sessions.attachUser("ada", to: try await fixture.session())
        }
        for old in [first, second, token] { #expect(try await !fixture.isAuthenticated(old)) }
        #expect(try await fixture.sessions.sessions(ofUser: "ada").count == (isStolen ? 0 : 1))
        // Others come and go, and it is not counted with them.
        _ = try await fixture.sessions.attachUser("ada", to: try await fixture.session())
        #expect(try await fixture.sessions.sessions(ofUser: "ada").count == 1)
        try await fixture.sessions.endTask(try #require(claimed.first).task.id, outcome: "ok")
        #expect(try await DueTests.screen(session.id, fixture) == "ok")
        // Without work it would have ended at once.
        let idle = try await fixture.session()
        _ = try await fixture.sessions.attachUser("bob", to: idle)
        _ = try await fixture.sessions.attachUser("bob", to: try await fixture.session())
        #expect(try await fixture.sessions.session(idle.id) == nil)
    }

    @Test("it stays no longer than it may, counted from the last step", arguments: 0..<2)
    func bound(store: Int) async throws {
        let fixture = try DueTests.fixture(DueTests.stores[store]()) { $0.caseLifetime = 2 * Self.day }
        let (id, _, task) = try await Self.expired(fixture)
        let shown = try #require(try await fixture.sessions.page(limit: 10, isActive: false).sessions.first)
        #expect(
            shown.id == id
                && shown.keptUntil.map { $0.millisecondsSince1970 - shown.createdAt.millisecondsSince1970 } == 2
                    * Self.day
        )
        fixture.clock.advance(2 * Self.day - Self.idle + fixture.sessions.settings.expiredRetention - 1)
        for _ in 0..<2 {
            await fixture.sessions.sweep()
            await fixture.sessions.sweepStore()
            fixture.clock.advance(60_000)
        }
        #expect(fixture.store.sessionCount == 0)
        await #expect(throws: TaskError.over) { try await fixture.sessions.endTask(task, outcome: "ok") }
    }

    @Test("a flow with 'lives' keeps it for its times, and the times pass", arguments: 0..<2)
    func lives(store: Int) async throws {
        let flow = """
            {"id": "clock", "version": 1, "initial": "start", "lives": "60d",
             "states": {"start": {"timeout": {"after": "40d", "target": "late"}}, "late": {}}}
            """
        let fixture = try DueTests.fixture(DueTests.stores[store](), flows: [flow])
        let (session, token) = try await fixture.sessions.create()
        _ = try await session.journey("main")
        for _ in 0..<40 {
            #expect(try await fixture.sessions.session(session.id) != nil)
            fixture.clock.advance(Self.day)
            await fixture.sessions.sweep()
            await fixture.sessions.sweepStore()
            await fixture.sessions.sweepDue()
        }
        #expect(try await !fixture.isAuthenticated(token))
        #expect(try await DueTests.screen(session.id, fixture) == "late")
        fixture.clock.advance(fixture.sessions.settings.expiredRetention)
        await fixture.sessions.sweep()
        await fixture.sessions.sweepStore()
        #expect(fixture.store.sessionCount == 0)
    }

    @Test("a result that comes while the session leaves memory is not lost", arguments: 0..<2)
    func race(store: Int) async throws {
        let fixture = try DueTests.fixture(DueTests.stores[store]())
        for _ in 0..<50 {
            let (id, _, task) = try await Self.expired(fixture)
            async let isTaken = fixture.sessions.endTask(task, outcome: "ok")
            await fixture.sessions.sweep()
            fixture.clock.advance(1_000)
            await fixture.sessions.sweep()
            _ = try await isTaken
            #expect(try await DueTests.screen(id, fixture) == "ok")
        }
    }

    @Test("it counts, with a user ends for no other session, and another cannot sign in to it", arguments: 0..<2)
    func crowd(store: Int) async throws {
        let fixture = try DueTests.fixture(DueTests.stores[store]()) { $0.maxSessions = 1 }
        let (id, _, _) = try await Self.expired(fixture, user: "ada")
        await #expect(throws: SessionError.tooManySessions) { try await fixture.sessions.create() }
        let session = try #require(try await fixture.sessions.session(id))
        await #expect(throws: SessionError.ended) { try await fixture.sessions.attachUser("eve", to: session) }
        #expect(fixture.sessions.statistics.kept == 1)
        // An operator may end it.
        #expect(try await fixture.sessions.end(session))
        #expect(fixture.store.sessionCount == 0)
        _ = try await fixture.sessions.create()
    }

    @Test("an export has it, and an import keeps it", arguments: 0..<2)
    func moving(store: Int) async throws {
        let fixture = try DueTests.fixture(DueTests.stores[store]())
        let (id, token, task) = try await Self.expired(fixture)
        let export = SessionExport(of: fixture.sessions, program: "test")
        var archive: [UInt8] = []
        while let part = try await export.next() { archive += part }
        let other = try DueTests.fixture(DueTests.stores[store](), fixture.clock)
        var arrival = SessionImport(into: other.sessions)
        try await arrival.take(archive)
        #expect(arrival.report.imported == 1 && arrival.report.expired == 0)
        let former = try #require(try await fixture.store.load(id)?.record.times)
        #expect(try await other.store.load(id)?.record.times == former)
        await other.sessions.sweep()
        await other.sessions.sweepStore()
        try await other.sessions.endTask(task, outcome: "ok")
        #expect(try await DueTests.screen(id, other) == "ok")
        #expect(try await !other.isAuthenticated(token))
    }
}
