import JSONDocument
import Navigation
import Testing

@testable import Sessions

/// Journeys whose session ends by time: what their flows do at their end is done.
@Suite struct SessionEndTests {
    private static let idle: Int64 = 1_800_000
    private static let minute: Int64 = 60_000

    /// A journey with a seat, which is released when the journey ends.
    static func flow(_ rules: String = "", exit: String = #"{"task": "release", "with": {"seat": 7}}"#) -> String {
        """
        {"id": "clock", "version": 1, "initial": "start", "exit": [\(exit)], \(rules)
         "on": {"again": {"target": "start", "nav": "set_root"}, "work": {"target": "busy"}},
         "states": {
           "start": {}, "ok": {},
           "busy": {"type": "task", "task": "work", "on": {"done": {"target": "ok"}}}}}
        """
    }

    private static func fixture(
        _ store: any SessionStore, _ clock: ManualClock = ManualClock(isStill: true), flow: String = flow(),
        _ configure: (inout SessionSettings) -> Void = { _ in }
    ) throws -> SessionsFixture {
        try DueTests.fixture(store, clock, flows: [flow], configure)
    }

    private static func begun(_ fixture: SessionsFixture) async throws -> (id: SessionID, token: SessionToken) {
        let (session, token) = try await fixture.sessions.create()
        _ = try await session.send("again", toJourney: "main")
        return (session.id, token)
    }

    /// The tasks that nobody has claimed before.
    private static func released(_ fixture: SessionsFixture, _ name: String = "release") async throws -> [TaskID] {
        let tasks = try await fixture.sessions.claimTasks(named: name, max: 100, lease: 3_600_000, wait: 0)
        return tasks.map(\.task.id)
    }

    private static func sweep(_ fixture: SessionsFixture, dueFirst: Bool) async {
        if dueFirst { await fixture.sessions.sweepDue() }
        await fixture.sessions.sweep()
        await fixture.sessions.sweepStore()
        await fixture.sessions.sweepDue()
        await fixture.sessions.sweep()
    }

    private static let rules = [
        "", #""timeout": {"idle": "30m"},"#, #""timeout": {"idle": "2h"},"#, #""timeout": {"total": "30m"},"#,
        #""timers": [{"after": "31m", "target": "ok"}],"#,
    ]

    @Test("its exit is done, once, and the session goes", arguments: 0..<2, rules)
    func exit(store: Int, rules: String) async throws {
        for dueFirst in [true, false] {
            let fixture = try Self.fixture(DueTests.stores[store](), flow: Self.flow(rules))
            let (id, token) = try await Self.begun(fixture)
            fixture.clock.advance(Self.idle - 1)
            await Self.sweep(fixture, dueFirst: dueFirst)
            #expect(try await Self.released(fixture).isEmpty)
            fixture.clock.advance(1)
            // A client that asks comes too late, and takes nothing away.
            #expect(try await !fixture.isAuthenticated(token))
            await Self.sweep(fixture, dueFirst: dueFirst)
            let tasks = try await Self.released(fixture)
            #expect(tasks.map(\.session) == [id])
            #expect(try await DueTests.stored(id, fixture).status == .expired)
            #expect(try await !fixture.isAuthenticated(token))
            for task in tasks { try await fixture.sessions.endTask(task, outcome: "ok") }
            fixture.clock.advance(fixture.sessions.settings.expiredRetention)
            for _ in 0..<2 { await Self.sweep(fixture, dueFirst: dueFirst) }
            #expect(try await Self.released(fixture).isEmpty && fixture.store.sessionCount == 0)
        }
    }

    @Test("uses move it, and the lifetime bounds it", arguments: 0..<2)
    func used(store: Int) async throws {
        let fixture = try Self.fixture(DueTests.stores[store]()) { $0.lifetime = 4 * Self.idle }
        let (_, token) = try await Self.begun(fixture)
        for _ in 0..<7 {
            fixture.clock.advance(Self.idle / 2)
            #expect(try await fixture.isAuthenticated(token))
            await Self.sweep(fixture, dueFirst: false)
            #expect(try await Self.released(fixture).isEmpty)
        }
        fixture.clock.advance(Self.idle / 2)
        await Self.sweep(fixture, dueFirst: false)
        #expect(try await Self.released(fixture).count == 1)
    }

    @Test("a commit that is no use of the session does not put it off", arguments: 0..<2)
    func unused(store: Int) async throws {
        let fixture = try Self.fixture(DueTests.stores[store]())
        let (id, _) = try await Self.begun(fixture)
        fixture.clock.advance(Self.idle - Self.minute)
        let session = try #require(try await fixture.sessions.session(id))
        _ = try await session.send("again", toJourney: "main", by: .backend)
        fixture.clock.advance(Self.minute)
        await Self.sweep(fixture, dueFirst: false)
        #expect(try await Self.released(fixture).count == 1)
    }

    @Test("a session that has work ends when that is over", arguments: 0..<2)
    func work(store: Int) async throws {
        let fixture = try Self.fixture(DueTests.stores[store]())
        let (session, _) = try await fixture.sessions.create()
        _ = try await session.send("work", toJourney: "main")
        fixture.clock.advance(5 * Self.idle)
        await Self.sweep(fixture, dueFirst: false)
        for task in try await Self.released(fixture, "work") {
            try await fixture.sessions.endTask(task, outcome: "ok")
        }
        // What came of it can be looked at before.
        fixture.clock.advance(fixture.sessions.settings.expiredRetention - 1)
        await Self.sweep(fixture, dueFirst: false)
        #expect(try await DueTests.screen(session.id, fixture) == "ok")
        fixture.clock.advance(1)
        await Self.sweep(fixture, dueFirst: false)
        #expect(try await Self.released(fixture).count == 1)
    }

    @Test("a store without room, or after a long night, does not delete it before")
    func stored() async throws {
        let (store, clock) = (StoreWrapper(), ManualClock(isStill: true))
        let former = try Self.fixture(store, clock)
        let (id, _) = try await Self.begun(former)
        clock.advance(1_000 * Self.idle)
        let fixture = try Self.fixture(store, clock) { $0.maxSessions = 1 }
        await fixture.sessions.sweepStore()
        #expect(store.sessionCount == 1 && fixture.sessions.registry[id] == nil)
        #expect(await fixture.sessions.sweepDue() == 1)
        #expect(try await Self.released(fixture).map(\.session) == [id])
        withExtendedLifetime(former) {}
    }

    @Test("a store that is away for a moment keeps it")
    func away() async throws {
        let (store, clock) = (StoreWrapper(), ManualClock(isStill: true))
        let former = try Self.fixture(store, clock)
        let (id, _) = try await Self.begun(former)
        let fixture = try Self.fixture(store, clock)
        clock.advance(Self.idle)
        store.beforeLoad.withLock { $0 = { _ throws(StoreError) in throw .unavailable("away") } }
        await fixture.sessions.sweepDue()
        store.beforeLoad.withLock { $0 = nil }
        clock.advance(1_000)
        await fixture.sessions.sweepDue()
        #expect(try await Self.released(fixture).map(\.session) == [id])
        withExtendedLifetime(former) {}
    }

    @Test("of two servers one does it, whoever has the session in memory")
    func shared() async throws {
        let (hub, clock) = (SharedStore(), ManualClock(isStill: true))
        let servers = [try Self.fixture(hub.door(), clock), try Self.fixture(hub.door(), clock)]
        for _ in 0..<20 {
            let (id, _) = try await Self.begun(servers[0])
            _ = try await servers[1].sessions.session(id)
            clock.advance(Self.idle + servers[0].sessions.settings.useLag)
            async let one: Void = Self.sweep(servers[0], dueFirst: false)
            async let two: Void = Self.sweep(servers[1], dueFirst: true)
            _ = await (one, two)
            clock.advance(1_000)
            for server in servers { await server.sessions.sweepDue() }
            let tasks = try await Self.released(servers[0])
            #expect(tasks.map(\.session) == [id])
            for task in tasks { try await servers[1].sessions.endTask(task, outcome: "ok") }
        }
    }

    @Test("what is due by the end happens, and what is due after it does not", arguments: 0..<2, [30, 31])
    func timers(store: Int, minutes: Int) async throws {
        let fixture = try Self.fixture(
            DueTests.stores[store](),
            flow: Self.flow(
                #""timers": [{"after": "\#(minutes)m", "actions": [{"task": "remind"}]}],"#,
                exit: #"{"clear": "notes"}"#))
        _ = try await Self.begun(fixture)
        fixture.clock.advance(Self.idle)
        await Self.sweep(fixture, dueFirst: false)
        fixture.clock.advance(Self.minute)
        await Self.sweep(fixture, dueFirst: false)
        #expect(try await Self.released(fixture, "remind").count == (minutes == 30 ? 1 : 0))
    }

    @Test("when it is ended before, it is gone at once", arguments: 0..<2)
    func ended(store: Int) async throws {
        let fixture = try Self.fixture(DueTests.stores[store]()) { $0.maxSessionsOfUser = 1 }
        let (session, _) = try await fixture.sessions.create()
        _ = try await fixture.sessions.attachUser("ada", to: session)
        _ = try await session.send("again", toJourney: "main")
        let next = try await fixture.session()
        _ = try await fixture.sessions.attachUser("ada", to: next)
        #expect(fixture.store.sessionCount == 1)
        _ = try await next.send("again", toJourney: "main")
        #expect(try await fixture.sessions.end(next) && fixture.store.sessionCount == 0)
        #expect(try await Self.released(fixture).isEmpty)
    }

    @Test("a sign-in or a sign-out that moves its end moves the exit", arguments: 0..<2, [true, false])
    func moved(store: Int, signsOut: Bool) async throws {
        let fixture = try Self.fixture(DueTests.stores[store]()) { $0.longestIdleTimeout = 10 * Self.idle }
        let (id, _) = try await Self.begun(fixture)
        let session = try #require(try await fixture.sessions.session(id))
        let times = ChosenTimes(idleTimeout: signsOut ? 10 * Self.idle : 5 * Self.minute)
        _ = try await fixture.sessions.attach(UserClaims(userID: "ada", times: times), to: session)
        if signsOut { try await fixture.sessions.detachUser(from: session) }
        fixture.clock.advance(signsOut ? Self.idle : 5 * Self.minute)
        await Self.sweep(fixture, dueFirst: false)
        #expect(try await Self.released(fixture).map(\.session) == [id])
    }

    @Test("nobody signs in where the tokens have ended", arguments: 0..<2)
    func late(store: Int) async throws {
        let fixture = try Self.fixture(DueTests.stores[store]())
        let (session, _) = try await fixture.sessions.create()
        _ = try await session.send("work", toJourney: "main")
        #expect(try await session.loseTokens(.tokenReused))
        await #expect(throws: SessionError.self) { _ = try await fixture.sessions.attachUser("ada", to: session) }
        #expect(session.identity.userID == nil)
    }

    @Test("an exit that only changes the session costs nothing")
    func free() async throws {
        let fixture = try Self.fixture(MemoryStore(), flow: Self.flow(exit: #"{"clear": "notes"}"#))
        let (id, _) = try await Self.begun(fixture)
        #expect(try await fixture.store.load(id)?.record.times == SessionTimes.none)
        fixture.clock.advance(Self.idle)
        await fixture.sessions.sweep()
        #expect(fixture.store.sessionCount == 0)
        let session = try await fixture.session()
        _ = try await session.send("again", toJourney: "main")
        #expect(try await fixture.sessions.end(session) && fixture.store.sessionCount == 0)
    }
}
