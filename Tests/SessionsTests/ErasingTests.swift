import JSONDocument
import Navigation
import Synchronization
import Testing

@testable import Sessions

/// Everything of one person, found and erased.
@Suite struct ErasingTests {
    private static let idle: Int64 = 1_800_000
    private static let flow = """
        {"id": "clock", "version": 1, "initial": "start", "portable": true,
         "states": {
           "start": {"on": {"work": {"target": "busy"}, "mail": {"actions": [{"task": "send-mail", "with": "to ada"}]}}},
           "busy": {"type": "task", "task": "work", "timeout": "90d", "on": {"done": {"target": "start"}}}}}
        """

    private static func fixture(
        _ store: any SessionStore, _ configure: (inout SessionSettings) -> Void = { _ in }
    ) throws -> SessionsFixture {
        try DueTests.fixture(store, flows: [flow]) {
            $0.noticeTask = "feed"
            configure(&$0)
        }
    }

    private static func session(
        of user: String, _ fixture: SessionsFixture, works: Bool = false
    ) async throws -> Session {
        let session = try await fixture.session()
        _ = try await fixture.sessions.attachUser(user, to: session)
        if works { try await session.send("work", toJourney: "main") }
        return session
    }

    private static func sweep(_ fixture: SessionsFixture) async {
        await fixture.sessions.sweep()
        await fixture.sessions.sweepStore()
    }

    private static func listed(_ fixture: SessionsFixture, _ user: String) async throws -> [StoredTask] {
        try await fixture.sessions.tasks(TaskQuery(now: fixture.clock.now(), limit: 100), ofUser: user)
    }

    private static func counts(_ sessions: Int, _ journeys: Int, _ tasks: Int, _ notices: Int) -> ErasedPerson {
        var counts = ErasedPerson()
        (counts.sessions, counts.journeys, counts.tasks, counts.notices) = (sessions, journeys, tasks, notices)
        return counts
    }

    @Test(
        "open sessions, those that stay for their work, and in a store that keeps them for a while expired ones",
        arguments: 0..<2)
    func everySession(store: Int) async throws {
        // Without notices an expired session stays for a while.
        let fixture = try DueTests.fixture(DueTests.stores[store](), flows: [Self.flow])
        let idle = try await Self.session(of: "ada", fixture)
        let working = try await Self.session(of: "ada", fixture, works: true)
        let twin = try await Self.session(of: "Ada", fixture, works: true)
        fixture.clock.advance(Self.idle)
        await Self.sweep(fixture)
        let open = try await Self.session(of: "ada", fixture)
        let spy = try ChangeSpy(open)
        let staysExpired = fixture.store.outlivesProcess
        #expect(try await fixture.store.load(idle.id) != nil || !staysExpired)
        let person = try await fixture.sessions.person("ada")
        #expect(Set(person.sessions) == Set([working.id, open.id] + (staysExpired ? [idle.id] : [])))
        let content = try #require(try await fixture.sessions.content(of: working.id, ofUser: "ada"))
        #expect(content.journeys.map(\.id) == ["main"] && content.tasks.map(\.task.name) == ["work"])
        #expect(content.services.map(\.name) == ["user"])
        #expect(try await fixture.sessions.content(of: twin.id, ofUser: "ada") == nil)
        let erased = try await fixture.sessions.erase(userID: "ada")
        #expect(erased == Self.counts(staysExpired ? 3 : 2, 1, 1, 0))
        for id in [idle.id, working.id, open.id] { #expect(try await fixture.store.load(id) == nil) }
        #expect(spy.changes.last == .ended(.erased) && spy.end == .sessionEnded)
        #expect(try await fixture.sessions.erase(userID: "ada") == ErasedPerson())
        #expect(try await fixture.sessions.person("ada").sessions.isEmpty)
        #expect(try await fixture.sessions.session(twin.id) != nil)
        #expect(try await Self.listed(fixture, "Ada").map(\.id.session) == [twin.id])
        #expect(fixture.sessions.registry.total == fixture.store.sessionCount)
    }

    @Test(
        "what back ends were not told yet goes, and they are told of this, also of one without a token",
        arguments: 0..<2)
    func notices(store: Int) async throws {
        let fixture = try Self.fixture(DueTests.stores[store]())
        let ended = try await Self.session(of: "ada", fixture)
        try await fixture.sessions.end(ended)
        let kept = try await Self.session(of: "ada", fixture, works: true)
        fixture.clock.advance(Self.idle)
        await Self.sweep(fixture)
        let twin = try await Self.session(of: "bob", fixture)
        let left = try await Self.session(of: "ada", fixture)
        _ = try await fixture.sessions.attachUser("bob", to: left)
        // Signed in and ended twice, and signed in and out.
        #expect(try await fixture.sessions.person("ada").notices.count == 6)
        #expect(try await Self.listed(fixture, "ada").count == 8)
        #expect(try await fixture.sessions.erase(userID: "ada") == Self.counts(1, 1, 1, 6))
        let told = try await fixture.sessions.person("ada").notices
        #expect(told.map { $0.input[member: "event"] } == ["session.ended"])
        #expect(told.map { $0.input[member: "reason"] } == ["erased"])
        #expect(told.map(\.task.id.session) == [kept.id] && told.map(\.userID) == ["ada"])
        #expect(try await fixture.sessions.erase(userID: "ada") == ErasedPerson())
        #expect(try await Self.listed(fixture, "ada").map(\.id) == told.map(\.task.id))
        try await fixture.sessions.endTask(told[0].task.id, outcome: "received")
        #expect(try await Self.listed(fixture, "ada").isEmpty)
        #expect(try await fixture.sessions.sessions(ofUser: "bob").map(\.id).sorted() == [twin.id, left.id].sorted())
        #expect(try await fixture.sessions.person("bob").notices.count == 2)
    }

    @Test("tasks that were recorded for the person go from the session that another one has now", arguments: 0..<2)
    func sideTasks(store: Int) async throws {
        let fixture = try Self.fixture(DueTests.stores[store]()) { $0.noticeTask = nil }
        let session = try await Self.session(of: "ada", fixture)
        try await session.send("mail", toJourney: "main")
        _ = try await fixture.sessions.attachUser("bob", to: session)
        try await session.send("mail", toJourney: "main")
        let person = try await fixture.sessions.person("ada")
        #expect(person.sessions.isEmpty && person.tasks.map(\.details.input) == ["to ada"])
        let listed = try await Self.listed(fixture, "ada")
        #expect(listed.map(\.userID) == ["ada"])
        #expect(try await Self.listed(fixture, "bob").map(\.userID) == ["bob"])
        let own = try #require(try await fixture.sessions.content(of: session.id, ofUser: "bob"))
        #expect(own.tasks.map(\.details.userID) == ["bob"])
        #expect(try await fixture.sessions.erase(userID: "ada") == Self.counts(0, 0, 1, 0))
        #expect(try await fixture.sessions.details(of: listed[0]) == nil)
        #expect(try await fixture.sessions.claimTasks(named: "send-mail", max: 9, lease: 1, wait: 0).count == 1)
        #expect(try session.summary().userID == "bob")
    }

    @Test("a session that another user has by now stays")
    func otherUser() async throws {
        let fixture = try Self.fixture(MemoryStore())
        let session = try await Self.session(of: "ada", fixture)
        _ = try await fixture.sessions.attachUser("bob", to: session)
        let isEnded = try await fixture.sessions.end(session, .erased) { $0.record.userID == "ada" }
        #expect(!isEnded && fixture.sessions.registry[session.id] != nil)
    }

    @Test("of a sign-in at the same time the person has the session, or it has ended")
    func race() async throws {
        let fixture = try Self.fixture(StoreWrapper())
        for _ in 0..<50 {
            let session = try await fixture.session()
            async let signedIn = try? fixture.sessions.attachUser("ada", to: session)
            async let erased = fixture.sessions.erase(userID: "ada")
            let (token, counts) = (await signedIn, try await erased)
            let there = try await fixture.sessions.sessions(ofUser: "ada").map(\.id)
            // Found before its token, ended by it, or signed in after all of it.
            #expect(there == (counts.sessions == 1 ? [] : [session.id]))
            if let token { #expect(try await fixture.isAuthenticated(token) == !there.isEmpty) }
            _ = try await fixture.sessions.erase(userID: "ada")
        }
        #expect(fixture.sessions.userTurns.isEmpty)
    }

    @Test("when the store fails in the middle a part is done, and the next call does the rest")
    func failure() async throws {
        let store = StoreWrapper()
        let fixture = try Self.fixture(store)
        for _ in 0..<4 { _ = try await Self.session(of: "ada", fixture) }
        let ends = Atomic<Int>(0)
        store.beforeEnd.withLock {
            $0 = {
                if ends.wrappingAdd(1, ordering: .relaxed).newValue == 2 {
                    store.endFailure.withLock { $0 = .unavailable("gone") }
                }
            }
        }
        defer { store.letGo() }
        await #expect(throws: SessionError.storeUnavailable(reason: "gone")) {
            try await fixture.sessions.erase(userID: "ada")
        }
        #expect(try await fixture.sessions.sessions(ofUser: "ada").count == 2)
        store.endFailure.withLock { $0 = nil }
        #expect(try await fixture.sessions.erase(userID: "ada") == Self.counts(2, 0, 0, 4))
        #expect(try await fixture.sessions.person("ada").notices.count == 4)
    }

    @Test("a session that moves a journey takes it along to the person's other session, and both go", arguments: 0..<2)
    func movingJourneys(store: Int) async throws {
        let fixture = try DueTests.fixture(DueTests.stores[store](), flows: [Self.flow])
        let (source, target) = (
            try await Self.session(of: "ada", fixture, works: true), try await Self.session(of: "ada", fixture)
        )
        _ = try await fixture.sessions.moveJourney(.user("ada", journey: "main"), of: source.id, into: target)
        #expect(try await fixture.sessions.erase(userID: "ada") == Self.counts(2, 1, 1, 0))
        // What says where the task has gone names nobody.
        #expect(try await fixture.store.sessions(ofUser: "ada").isEmpty)
        let left = try await fixture.store.load(source.id)?.record
        #expect(left?.hasEnded ?? true && left?.userID == nil)
    }
}
