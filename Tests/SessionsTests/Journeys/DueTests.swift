import JSONDocument
import Navigation
import Synchronization
import Testing

@testable import Sessions

/// What time does to journeys, with nobody looking.
@Suite struct DueTests {
    static let flow = flow("")
    /// A journey that expires when nobody moves it.
    static let restless = flow(#""timeout": {"idle": "10m"},"#)
    private static func flow(_ rules: String) -> String {
        """
        {"id": "clock", "version": 1, "initial": "start", \(rules)
         "exit": [{"op": "add", "path": "/counter/count", "value": 7}],
         "on": {"wait": {"target": "waiting"}, "work": {"target": "busy"}, "again": {"target": "start", "nav": "set_root"}},
         "states": {
           "start": {},
           "waiting": {"timeout": {"after": "2s", "target": "late"}},
           "late": {"entry": [{"op": "add", "path": "/counter/count", "value": {"$add": [{"$from": "/counter/count"}, 1]}}]},
           "ok": {}, "failed": {},
           "busy": {"type": "task", "task": "work", "timeout": "90d",
             "on": {"done.ok": {"target": "ok"}, "done": {"target": "failed"}}}}}
        """
    }
    static let second: Int64 = 1_000

    static func fixture(
        _ store: any SessionStore, _ clock: ManualClock = ManualClock(isStill: true), flows: [String] = [flow],
        _ configure: (inout SessionSettings) -> Void = { _ in }
    ) throws -> SessionsFixture {
        try SessionsFixture(store: store, clock: clock, flows: flows, mainFlow: "clock", configure)
    }

    /// The journey as it is stored: to look at it would do what is due.
    static func stored(_ id: SessionID, _ fixture: SessionsFixture) async throws -> Journey {
        let record = try #require(try await fixture.store.load(id)?.record)
        return try #require(fixture.sessions.environment.journeys(of: record)?["main"]?.journey)
    }

    static func screen(_ id: SessionID, _ fixture: SessionsFixture) async throws -> String? {
        try await stored(id, fixture).top?.state
    }

    static let stores: [@Sendable () -> any SessionStore] = [{ MemoryStore() }, { StoreWrapper() }]

    @Test("a screen's time passes and is told to those who watch, and is no use of the session", arguments: 0..<2)
    func passes(store: Int) async throws {
        let fixture = try Self.fixture(Self.stores[store]())
        let session = try await fixture.session()
        _ = try await session.send("wait", toJourney: "main")
        let (spy, used) = (try ChangeSpy(session), fixture.clock.now())
        fixture.clock.advance(2 * Self.second - 1)
        #expect(await fixture.sessions.sweepDue() == 0)
        #expect(try await Self.screen(session.id, fixture) == "waiting")
        fixture.clock.advance(1)
        #expect(await fixture.sessions.sweepDue() == 1)
        let journey = try await Self.stored(session.id, fixture)
        #expect(journey.top?.state == "late")
        #expect(spy.changes.contains(.journeyMoved(id: "main", step: journey.step)))
        #expect(try await fixture.store.load(session.id)?.lastUsedAt == used)
        #expect(await fixture.sessions.sweepDue() == 0)
    }

    @Test("a journey that expires runs its exit, and watchers are told", arguments: 0..<2)
    func expires(store: Int) async throws {
        let fixture = try Self.fixture(Self.stores[store](), flows: [Self.restless])
        let session = try await fixture.session()
        _ = try await session.send("again", toJourney: "main")
        let spy = try ChangeSpy(session)
        fixture.clock.advance(600 * Self.second)
        #expect(await fixture.sessions.sweepDue() == 1)
        let journey = try await Self.stored(session.id, fixture)
        #expect(journey.status == .expired && spy.changes.contains(.journeyExpired(id: "main", step: journey.step)))
        #expect(try fixture.get("counter", session).document == ["count": 7])
        #expect(try await fixture.store.load(session.id)?.record.times.dueAt == .max)
    }

    @Test("a step that is due later than the last leaves the store's index as it is, and time finds it all the same")
    func moves() async throws {
        let store = StoreWrapper()
        let fixture = try Self.fixture(store, flows: [Self.restless])
        let session = try await fixture.session()
        _ = try await session.send("again", toJourney: "main")
        let changes = Mutex<[Bool]>([])
        store.beforeCommit.withLock { $0 = { commit in changes.withLock { $0.append(commit.changesTimes) } } }
        for _ in 0..<5 {
            fixture.clock.advance(60 * Self.second)
            _ = try await session.send("again", toJourney: "main")
        }
        #expect(changes.withLock(\.self) == [false, false, false, false, false])
        // The time of the first step: the session is looked at, and nothing is committed.
        fixture.clock.advance(300 * Self.second)
        #expect(await fixture.sessions.sweepDue() == 1 && changes.withLock(\.count) == 5)
        #expect(await fixture.sessions.sweepDue() == 0)
        fixture.clock.advance(300 * Self.second)
        #expect(await fixture.sessions.sweepDue() == 1)
        #expect(try await Self.stored(session.id, fixture).status == .expired)
        store.letGo()
    }

    @Test("a session is not put off beyond what a commit brings that is under way")
    func underWay() async throws {
        let store = HeldStore()
        store.open()
        let fixture = try Self.fixture(store, flows: [Self.restless])
        let session = try await fixture.session()
        _ = try await session.send("again", toJourney: "main")
        fixture.clock.advance(590 * Self.second)
        _ = try await session.send("again", toJourney: "main")
        // The store has the time of the first step, which is before the time of the screen that is entered now.
        fixture.clock.advance(9 * Self.second)
        store.keepBack()
        async let sent = session.send("wait", toJourney: "main")
        await store.wait(for: 1)
        fixture.clock.advance(Self.second)
        async let swept = fixture.sessions.sweepDue()
        for _ in 0..<1_000 { await Task.yield() }
        store.open()
        _ = try await sent
        #expect(await swept == 1)
        fixture.clock.advance(Self.second)
        #expect(await fixture.sessions.sweepDue() == 1)
        #expect(try await Self.screen(session.id, fixture) == "late")
    }

    @Test("a session that only seemed to be over, by other settings, is looked at again")
    func seeminglyOver() async throws {
        let (store, clock) = (StoreWrapper(), ManualClock(isStill: true))
        let first = try Self.fixture(store, clock)
        let session = try await first.session()
        _ = try await session.send("wait", toJourney: "main")
        clock.advance(3 * Self.second)
        let hasty = try Self.fixture(store, clock) { $0.idleTimeout = Self.second }
        #expect(await hasty.sessions.sweepDue() == 1)
        let second = try Self.fixture(store, clock)
        clock.advance(600 * Self.second)
        #expect(await second.sessions.sweepDue() == 1)
        #expect(try await Self.screen(session.id, second) == "late")
    }

    @Test("a session that was not in memory is not there afterwards, and no other has left for it")
    func residence() async throws {
        let (store, clock) = (StoreWrapper(), ManualClock(isStill: true))
        let former = try Self.fixture(store, clock)
        var ids: [SessionID] = []
        for _ in 0..<200 {
            let session = try await former.session()
            _ = try await session.send("wait", toJourney: "main")
            ids.append(session.id)
        }
        let fixture = try Self.fixture(store, clock) { $0.maxResidentBytes = 150 * 2 * Session.footprint }
        let resident = try await fixture.session().id
        clock.advance(2 * Self.second)
        #expect(await fixture.sessions.sweepDue() == 200)
        for id in ids { #expect(try await Self.screen(id, fixture) == "late") }
        #expect(fixture.sessions.registry[resident] != nil && fixture.sessions.statistics.live == 1)
        withExtendedLifetime(former) {}
    }

    @Test("one that fails keeps no other waiting, and is looked at again later")
    func failing() async throws {
        let (store, clock) = (StoreWrapper(), ManualClock(isStill: true))
        let former = try Self.fixture(store, clock)
        var ids: [SessionID] = []
        for _ in 0..<70 {
            let session = try await former.session()
            _ = try await session.send("wait", toJourney: "main")
            ids.append(session.id)
            clock.advance(1)
        }
        let (damaged, away) = (ids[0], ids[1])
        let fixture = try Self.fixture(store, clock)
        store.beforeLoad.withLock {
            $0 = { id throws(StoreError) in
                if id == damaged { throw .damaged("torn") }
                if id == away { throw .unavailable("away") }
            }
        }
        clock.advance(2 * Self.second)
        #expect(await fixture.sessions.sweepDue() == 70)
        store.beforeLoad.withLock { $0 = nil }
        #expect(try await Self.screen(damaged, fixture) == "waiting")
        for id in ids[2...] { #expect(try await Self.screen(id, fixture) == "late") }
        // What a store could not do for a moment is tried again a second later.
        clock.advance(Self.second)
        #expect(await fixture.sessions.sweepDue() == 1)
        #expect(try await Self.screen(away, fixture) == "late")
        clock.advance(60 * Self.second)
        #expect(await fixture.sessions.sweepDue() == 1)
        #expect(try await Self.screen(damaged, fixture) == "late")
        withExtendedLifetime(former) {}
    }

    @Test("one that takes long keeps no other waiting", .timeLimit(.minutes(1)))
    func slow() async throws {
        let store = StoreWrapper()
        let fixture = try Self.fixture(store)
        var ids: [SessionID] = []
        for _ in 0..<130 {
            let session = try await fixture.session()
            _ = try await session.send("wait", toJourney: "main")
            ids.append(session.id)
        }
        let (others, done) = AsyncStream<Void>.makeStream()
        let slow = ids[0]
        store.beforeCommit.withLock {
            $0 = { commit in
                guard commit.record.id == slow else {
                    done.yield()
                    return
                }
                var count = 0
                for await _ in others {
                    count += 1
                    if count == 129 { return }
                }
            }
        }
        fixture.clock.advance(2 * Self.second)
        #expect(await fixture.sessions.sweepDue() == 130)
        for id in ids { #expect(try await Self.screen(id, fixture) == "late") }
        store.letGo()
    }

    @Test("timers that each do work with long lists follow each other in seconds")
    func longLists() async throws {
        let list = (0..<1_000).map(String.init).joined(separator: ",")
        let one = #"{"$count": {"$filter": {"of": [\#(list)], "where": {"compare": ["/item", "<", 1]}}}}"#
        let timer = """
            {"after": "2s", "actions": [
              {"set": "/counter/count", "value": {"$add": [{"$from": "/counter/count"}, \(one)]}}]}
            """
        let flow = """
            {"id": "clock", "version": 1, "initial": "start", "on": {"again": {"target": "start", "nav": "set_root"}},
             "states": {"start": {"timers": [\(Array(repeating: timer, count: 8).joined(separator: ","))]}}}
            """
        let fixture = try Self.fixture(StoreWrapper(), flows: [flow])
        let session = try await fixture.session()
        _ = try await session.send("again", toJourney: "main")
        fixture.clock.advance(Self.second)
        for _ in 0..<8 {
            fixture.clock.advance(Self.second)
            #expect(await fixture.sessions.sweepDue() == 1)
        }
        #expect(try await Self.stored(session.id, fixture).dueAt == nil)
        #expect(try fixture.get("counter", session).document == ["count": 8])
    }

    @Test("a journey that cannot go on is looked at less and less often, and hinders no other of its session")
    func stuck() async throws {
        let (store, clock) = (StoreWrapper(), ManualClock(isStill: true))
        let other = """
            {"id": "other", "version": 1, "initial": "here", "states": {
              "here": {"timeout": {"after": "2s", "target": "there"}}, "there": {}}}
            """
        let long = { @Sendable (settings: inout SessionSettings) in settings.idleTimeout = 7_200 * Self.second }
        let former = try Self.fixture(store, clock, flows: [Self.flow, other], long)
        let session = try await former.session()
        let stuck = try await session.startJourney(flow: "other").journey
        _ = try await session.send("wait", toJourney: "main")
        // The other flow is not there any more.
        let fixture = try Self.fixture(store, clock, flows: [Self.flow], long)
        clock.advance(2 * Self.second)
        #expect(await fixture.sessions.sweepDue() == 1)
        #expect(try await Self.screen(session.id, fixture) == "late")
        var looks = 0
        for _ in 0..<3_600 {
            clock.advance(Self.second)
            looks += await fixture.sessions.sweepDue()
        }
        #expect((8...20).contains(looks), "\(looks)")
        let again = try Self.fixture(store, clock, flows: [Self.flow, other], long)
        clock.advance(600 * Self.second)
        #expect(await again.sessions.sweepDue() == 1)
        let record = try #require(try await store.load(session.id)?.record)
        #expect(again.sessions.environment.journeys(of: record)?[stuck]?.journey.top?.state == "there")
        withExtendedLifetime((former, fixture)) {}
    }

    @Test("sessions that a server without due times has written get theirs, and stay as long as their work")
    func derived() async throws {
        let (hub, clock) = (SharedStore(), ManualClock(isStill: true))
        let former = try Self.fixture(hub.door(), clock)
        var ids: [SessionID] = []
        for event in ["wait", "work"] {
            let session = try await former.session()
            _ = try await session.send(event, toJourney: "main")
            ids.append(session.id)
            let stored = try #require(try await former.store.load(session.id))
            #expect(stored.record.times.dueAt < .max)
            try await hub.lose(
                since: StoredSession(record: stored.record.with(.none), lastUsedAt: stored.lastUsedAt))
        }
        let door = hub.door()
        let fixture = try Self.fixture(door, clock)
        clock.advance(3 * Self.second)
        await fixture.sessions.sweepDue()
        #expect(try await Self.screen(ids[0], fixture) == "waiting")
        door.untimed.withLock { $0 = ids }
        // Also before a server ends expired sessions.
        await fixture.sessions.sweepStore()
        #expect(fixture.sessions.registry[ids[0]] == nil)
        await fixture.sessions.sweepDue()
        #expect(try await Self.screen(ids[0], fixture) == "late")
        let stored = try #require(try await fixture.store.load(ids[1]))
        #expect(stored.record.times == fixture.sessions.environment.times(of: stored))
        #expect(stored.record.times.keptUntil > clock.now() + 29 * 86_400_000)
        // It is no use of the session.
        #expect(try await fixture.store.load(ids[1])?.lastUsedAt == clock.now() - 3 * Self.second)
    }

    @Test("of two servers that look at once, one does what is due")
    func shared() async throws {
        let (hub, clock) = (SharedStore(), ManualClock(isStill: true))
        let servers = [try Self.fixture(hub.door(), clock), try Self.fixture(hub.door(), clock)]
        for _ in 0..<20 {
            let session = try await servers[0].session()
            _ = try await session.send("wait", toJourney: "main")
            _ = try await servers[1].sessions.session(session.id)
            let step = try await Self.stored(session.id, servers[0]).step
            clock.advance(2 * Self.second)
            async let one = servers[0].sessions.sweepDue()
            async let two = servers[1].sessions.sweepDue()
            _ = await (one, two)
            #expect(try await Self.stored(session.id, servers[0]).step == step + 1)
            #expect(try servers[0].get("counter", session).document == ["count": 1])
            #expect(await servers[0].sessions.sweepDue() == 0)
        }
    }
}
