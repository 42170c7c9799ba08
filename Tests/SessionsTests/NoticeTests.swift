import JSONDocument
import Testing

@testable import Sessions

/// What back ends are told of sessions.
@Suite struct NoticeTests {
    private static let idle: Int64 = 1_800_000

    private static func fixture(
        _ store: any SessionStore, _ configure: (inout SessionSettings) -> Void = { _ in }
    ) throws -> SessionsFixture {
        try DueTests.fixture(store) {
            $0.noticeTask = "feed"
            configure(&$0)
        }
    }

    /// Takes what there is, in the order of ids: each as the event, the reason and the user.
    private static func told(_ fixture: SessionsFixture, of id: SessionID? = nil) async throws -> [String] {
        let claimed = try await fixture.sessions.claimTasks(named: "feed", max: 100, lease: 1_000, wait: 0)
        for task in claimed { try await fixture.sessions.endTask(task.task.id, outcome: "received") }
        return claimed.sorted { $0.task.id < $1.task.id }
            .filter { id == nil || id == $0.task.id.session }
            .map { task in
                [task.input[member: "event"]?.string, task.input[member: "reason"]?.string, task.userID]
                    .compactMap(\.self).joined(separator: " ")
            }
    }

    private static func sweep(_ fixture: SessionsFixture) async {
        await fixture.sessions.sweep()
        await fixture.sessions.endUnnoticed()
        await fixture.sessions.sweepStore()
    }

    @Test("that they begin, and who signs in and out", arguments: 0..<2)
    func users(store: Int) async throws {
        let fixture = try Self.fixture(DueTests.stores[store]())
        let session = try await fixture.session()
        _ = try await fixture.sessions.attachUser("ada", to: session)
        _ = try await fixture.sessions.attachUser("ada", to: session)
        _ = try await fixture.sessions.attachUser("bob", to: session)
        try await fixture.sessions.detachUser(from: session)
        try await fixture.sessions.detachUser(from: session)
        let cyd: JSONDocument = ["id": "cyd", "authenticated": true, "claims": [:]]
        try await fixture.perform(.put(cyd), on: "user", session, by: .admin)
        #expect(
            try await Self.told(fixture) == [
                "session.created", "session.signed_in ada", "session.signed_in ada", "session.signed_out ada",
                "session.signed_in bob", "session.signed_out bob", "session.signed_in cyd",
            ])
        #expect(try await Self.told(fixture).isEmpty)
    }

    @Test(
        "that they end, and why", arguments: 0..<2,
        [SessionEnd.requested, .expired, .tokenReused, .displaced, .userLimit, .erased])
    func ends(store: Int, reason: SessionEnd) async throws {
        let fixture = try Self.fixture(DueTests.stores[store]()) {
            $0.maxSessionsOfUser = 1
            $0.maxSessions = reason == .displaced ? 1 : 10
        }
        let (session, first) = try await fixture.sessions.create()
        if reason != .displaced { _ = try await fixture.sessions.attachUser("ada", to: session) }
        switch reason {
        case .requested: try await fixture.sessions.end(session)
        case .expired:
            fixture.clock.advance(Self.idle)
            await Self.sweep(fixture)
        case .tokenReused:
            let token = try await fixture.sessions.attachUser("ada", to: session)
            _ = try await fixture.sessions.rotate(session, presenting: token.presented)
            fixture.clock.advance(fixture.sessions.settings.rotationGrace)
            #expect(try await !fixture.isAuthenticated(token))
        case .displaced:
            fixture.clock.advance(Shedding.unusedAge)
            _ = try await fixture.session()
        case .userLimit: _ = try await fixture.sessions.attachUser("ada", to: try await fixture.session())
        case .erased: _ = try await fixture.sessions.erase(userID: "ada")
        case .elsewhere: break
        }
        #expect(try await !fixture.isAuthenticated(first))
        #expect(try await fixture.store.load(session.id) == nil)
        let user = reason == .displaced ? "" : " ada"
        #expect(try await Self.told(fixture, of: session.id).last == "session.ended \(reason.rawValue)\(user)")
        fixture.clock.advance(Self.idle)
        await Self.sweep(fixture)
        #expect(try await Self.told(fixture, of: session.id).isEmpty)
        #expect(fixture.sessions.registry.total == fixture.store.sessionCount)
    }

    @Test(
        "of one with work, that its token has ended, and nothing when the work is done", arguments: 0..<2,
        [true, false])
    func kept(store: Int, expires: Bool) async throws {
        let fixture = try Self.fixture(DueTests.stores[store]()) { $0.maxSessionsOfUser = 1 }
        let session = try await fixture.session()
        _ = try await fixture.sessions.attachUser("ada", to: session)
        try await session.send("work", toJourney: "main")
        let work = try await fixture.sessions.claimTasks(named: "work", max: 1, lease: 3_600_000, wait: 0)
        if expires {
            fixture.clock.advance(Self.idle)
            for _ in 0..<2 { await Self.sweep(fixture) }
        } else {
            _ = try await fixture.sessions.attachUser("ada", to: try await fixture.session())
        }
        let reason = expires ? "expired" : "user_limit"
        #expect(try await Self.told(fixture, of: session.id).last == "session.ended \(reason) ada")
        try await fixture.sessions.endTask(try #require(work.first).task.id, outcome: "ok")
        #expect(try await DueTests.screen(session.id, fixture) == "ok")
        fixture.clock.advance(2 * fixture.sessions.settings.expiredRetention)
        await Self.sweep(fixture)
        #expect(try await fixture.store.load(session.id) == nil)
        #expect(try await Self.told(fixture, of: session.id).isEmpty)
    }

    @Test("after a process has ended, the next one tells; a start that finds them expired waits with their end")
    func restart() async throws {
        let store = StoreWrapper()
        let first = try Self.fixture(store)
        let (session, token) = try await first.sessions.create()
        _ = try await first.sessions.attachUser("ada", to: session)
        let second = try DueTests.fixture(store, first.clock) { $0.noticeTask = "feed" }
        #expect(try await Self.told(second) == ["session.created", "session.signed_in ada"])
        first.clock.advance(Self.idle)
        await Self.sweep(second)
        #expect(try await Self.told(second).isEmpty)
        #expect(try await !second.isAuthenticated(token))
        first.clock.advance(second.sessions.settings.expiredRetention)
        await Self.sweep(second)
        #expect(try await Self.told(second) == ["session.ended expired ada"])
    }

    @Test("an end that the store refuses is none, and nobody is told")
    func refused() async throws {
        let store = StoreWrapper()
        let fixture = try Self.fixture(store)
        let session = try await fixture.session()
        _ = try await Self.told(fixture)
        store.endFailure.withLock { $0 = .full("no room") }
        await #expect(throws: SessionError.self) { try await fixture.sessions.end(session) }
        fixture.clock.advance(Self.idle)
        await Self.sweep(fixture)
        #expect(try await Self.told(fixture).isEmpty)
        store.endFailure.withLock { $0 = nil }
        await Self.sweep(fixture)
        #expect(try await Self.told(fixture) == ["session.ended expired"])
    }

    @Test("of processes that share a store one tells, with the user whom another has signed in")
    func shared() async throws {
        let (hub, clock) = (SharedStore(), ManualClock(isStill: true))
        let processes = try (0..<2).map { _ in
            try SessionsFixture(store: hub.door(), clock: clock) { $0.noticeTask = "feed" }
        }
        let (session, token) = try await processes[0].sessions.create()
        let there = try await processes[1].sessions.authenticate(token.presented)
        _ = try await processes[1].sessions.attachUser("ada", to: there)
        try await processes[0].sessions.end(session)
        #expect(
            try await Self.told(processes[1]) == [
                "session.created", "session.signed_in ada", "session.ended requested ada",
            ])
        let (other, _) = try await processes[0].sessions.create()
        _ = try await processes[1].sessions.session(other.id)
        clock.advance(Self.idle + processes[0].sessions.settings.useLag)
        for process in processes { await Self.sweep(process) }
        #expect(try await Self.told(processes[0]) == ["session.created", "session.ended expired"])
        for process in processes { await Self.sweep(process) }
        #expect(try await Self.told(processes[1]).isEmpty)
    }

    @Test("a failure is tried again, later and later; a final one, and one whose time is over, is given up")
    func failures() async throws {
        let fixture = try Self.fixture(MemoryStore())
        _ = try await fixture.session()
        let claim = { try await fixture.sessions.claimTasks(named: "feed", max: 10, lease: 60_000, wait: 0) }
        let id = try #require(try await claim().first).task.id
        #expect(id.description.contains("-session-") && TaskID(id.description) == id)
        for wait in [1_000, 2_000, 4_000] as [Int64] {
            try await fixture.sessions.failTask(id, attempt: nil, reason: "away")
            fixture.clock.advance(wait - 1)
            #expect(try await claim().isEmpty)
            fixture.clock.advance(1)
            #expect(try await claim().map(\.task.id) == [id])
        }
        await #expect(throws: TaskError.notClaimed) {
            try await fixture.sessions.failTask(id, attempt: 1, reason: "late")
        }
        _ = try await fixture.sessions.extendTask(id, attempt: 4, lease: 120_000)
        fixture.clock.advance(119_999)
        #expect(try await claim().isEmpty)
        fixture.clock.advance(1)
        #expect(try await claim().map(\.task.id) == [id])
        _ = try await fixture.sessions.retryTask(id)
        #expect(try await claim().map(\.task.id) == [id])
        try await fixture.sessions.failTask(id, attempt: nil, reason: "no", isFinal: true)
        await #expect(throws: TaskError.over) { try await fixture.sessions.endTask(id, outcome: "received") }
        _ = try await fixture.session()
        fixture.clock.advance(fixture.sessions.settings.longestTask)
        await fixture.sessions.sweepTasks()
        #expect(try await claim().isEmpty && fixture.sessions.statistics.tasksUndone == 2)
    }

    @Test("nobody is told unless the configuration says so")
    func off() async throws {
        let fixture = try SessionsFixture()
        let session = try await fixture.session()
        _ = try await fixture.sessions.attachUser("ada", to: session)
        try await fixture.sessions.end(session)
        #expect(try await fixture.sessions.tasks(limit: 10).isEmpty)
    }
}
