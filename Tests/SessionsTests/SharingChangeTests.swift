import JSONDocument
import Synchronization
import Testing

@testable import Sessions

/// What becomes of a session in memory when another process changes, ends or replaces it.
@Suite("Sessions that another process changes")
struct SharingChangeTests {
    private let hub = SharedStore()
    private let clock = ManualClock(isStill: true)

    private func process(_ clock: ManualClock? = nil, maxSessions: Int = 1_000) throws -> (
        SessionsFixture, SharedStore.Door
    ) {
        let door = hub.door()
        let process = try SessionsFixture(store: door, clock: clock ?? self.clock) {
            $0.idleTimeout = 60_000_000
            $0.lifetime = 80_000_000
            $0.touchInterval = 3_000
            $0.maxSessions = maxSessions
        }
        return (process, door)
    }

    /// Lets one pass after the other has come.
    private final class Gate: Sendable {
        private let came = AsyncStream.makeStream(of: Void.self)
        private let opened = AsyncStream.makeStream(of: Void.self)

        func pass() async {
            came.continuation.yield()
            for await _ in opened.stream { return }
        }

        func visit() async { for await _ in came.stream { return } }
        func open() { opened.continuation.finish() }
    }

    @Test("requests that wait for a session that another process has changed load it together")
    func together() async throws {
        let ((one, _), (two, door)) = (try process(), try process())
        let (session, token) = try await one.sessions.create()
        _ = try await two.sessions.authenticate(token.presented)
        try await one.perform(.put(["count": 1]), on: "counter", session)
        let gate = Gate()
        door.beforeLoad.withLock { $0 = { await gate.pass() } }
        let (loads, looks) = (door.loads.load(ordering: .relaxed), door.looks.load(ordering: .relaxed))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<100 {
                group.addTask {
                    let there = try await two.sessions.authenticate(token.presented)
                    #expect(try two.get("counter", there).document == ["count": 1])
                }
            }
            await gate.visit()
            while door.looks.load(ordering: .relaxed) < looks + 100 { await Task.yield() }
            gate.open()
            try await group.waitForAll()
        }
        // One for those that came before it began, and few for those that came later.
        #expect((1...10).contains(door.loads.load(ordering: .relaxed) - loads))
        door.beforeLoad.withLock { $0 = nil }
    }

    @Test("a request that joins a load does not miss what was committed after it began")
    func joined() async throws {
        let ((one, _), (two, door)) = (try process(), try process())
        let session = try await one.session()
        let (id, gate) = (session.id, Gate())
        door.afterLoad.withLock { $0 = { await gate.pass() } }
        async let first = two.sessions.session(id)
        await gate.visit()
        try await one.perform(.put(["count": 1]), on: "counter", session)
        async let second = two.sessions.session(id)
        let registry = two.sessions.registry
        while registry.shards.withLock(registry.place(of: id), { $0.loads[id]?.waiting.count }) != 1 {
            await Task.yield()
        }
        gate.open()
        _ = try await first
        let there = try #require(try await second)
        #expect(try two.get("counter", there).document == ["count": 1])
        door.afterLoad.withLock { $0 = nil }
    }

    @Test("a session that ended elsewhere leaves memory as soon as that is known, and its watchers are told why")
    func reasons() async throws {
        for isExpired in [false, true] {
            let ((one, _), (two, door)) = (try process(), try process())
            let (session, token) = try await one.sessions.create()
            let there = try await two.sessions.authenticate(token.presented)
            let watcher = try there.watch(token: token.digest)
            if isExpired { clock.advance(90_000_000) }
            #expect(try await door.end(session.id))
            guard case .commits(let commits) = await watcher.next(until: clock.now() + 1_000_000) else {
                Issue.record("no end")
                return
            }
            #expect(commits.flatMap(\.changes).last == .ended(isExpired ? .expired : .elsewhere))
            #expect(two.sessions.registry.sessionCount == 0)
            watcher.leave()
        }
        // The same when it is a write that finds no session.
        let ((one, door), (two, _)) = (try process(), try process())
        let session = try await one.session()
        let there = try #require(try await two.sessions.session(session.id))
        #expect(try await door.end(session.id))
        await #expect(throws: SessionError.ended) { try await two.perform(.put(["count": 1]), on: "counter", there) }
        #expect(two.sessions.registry.sessionCount == 0)
    }

    @Test("a session that was imported after its end is shown as it was imported", arguments: [false, true])
    func imported(isNewer: Bool) async throws {
        let ((one, door), (two, _)) = (try process(), try process())
        let (session, token) = try await one.sessions.create()
        let archived = session.stored
        let there = try await two.sessions.authenticate(token.presented)
        for count in 1...3 { try await one.perform(.put(["count": .init(count)]), on: "counter", session) }
        _ = try await two.sessions.authenticate(token.presented)
        #expect(try two.get("counter", there).document == ["count": 3])
        #expect(try await one.sessions.end(session))
        let record = archived.record
        let revision = isNewer ? 9 : record.revision
        let again = SessionRecord(
            id: record.id, token: record.token, createdAt: record.createdAt, expiresAt: record.expiresAt,
            revision: revision, services: [], details: record.details)
        try await door.receive(
            SessionArrival(
                session: StoredSession(record: again, lastUsedAt: archived.lastUsedAt), replacedRevision: nil))
        let found = try await two.sessions.authenticate(token.presented)
        #expect(try two.get("counter", found).document == ["count": 0])
    }

    @Test("a watcher that comes from another process is told at once what it has missed, and each change once")
    func resumed() async throws {
        let ((one, _), (two, _)) = (try process(), try process())
        let (session, token) = try await one.sessions.create()
        let point = try await one.perform(.put(["count": 1]), on: "counter", session).etag.revision
        let cart = try await one.perform(.put(["items": [1]]), on: "cart", session)
        try await one.perform(.remove, on: "counter", session)
        let there = try await two.sessions.authenticate(token.presented)
        let watcher = try there.watch(after: point, token: token.digest)
        #expect(watcher.point == point)
        let missed = try #require(await commits(watcher))
        #expect(missed.map(\.revision) == [session.revision])
        let all = two.sessions.catalog.services.map(\.name)
        #expect(
            missed[0].changes == [.serviceChanged(name: "cart", etag: cart.etag)]
                + all.filter { $0 != "cart" }.map { .serviceRemoved(name: $0) })
        // Both servers have the same history from here on.
        let again = try there.watch(after: session.revision, token: token.digest)
        let next = try await two.perform(.put(["count": 2]), on: "counter", there)
        for watcher in [watcher, again] {
            let told = try #require(await commits(watcher))
            #expect(told.flatMap(\.changes) == [.serviceChanged(name: "counter", etag: next.etag)])
            watcher.leave()
        }
        // What is in the history comes from there.
        let late = try there.watch(after: cart.etag.revision + 1, token: token.digest)
        #expect(try #require(await commits(late)).map(\.revision) == [next.etag.revision])
        late.leave()
    }

    @Test("a watcher cannot go on from what a session never was")
    func unknownPoint() async throws {
        let ((one, door), (two, _)) = (try process(), try process())
        let (session, token) = try await one.sessions.create()
        let archived = session.stored
        try await one.perform(.put(["count": 1]), on: "counter", session)
        let point = session.revision
        let there = try await two.sessions.authenticate(token.presented)
        #expect(throws: WatchError.resumePointGone) { try there.watch(after: point + 1, token: token.digest) }
        // Its services may have any revisions below the floor.
        #expect(try await one.sessions.end(session))
        try await door.receive(SessionArrival(session: archived, replacedRevision: nil))
        let imported = try await two.sessions.authenticate(token.presented)
        try await two.perform(.put(["items": [1]]), on: "cart", imported)
        #expect(throws: WatchError.resumePointGone) { try imported.watch(after: point, token: token.digest) }
    }

    private func commits(_ watcher: SessionWatcher) async -> [WatchedCommit]? {
        guard case .commits(let commits) = await watcher.next(until: clock.now() + 1_000_000) else { return nil }
        return commits
    }

    @Test("a watcher begins anew when another session has come in the place of the one that it knows")
    func replaced() async throws {
        let ((one, _), (two, door)) = (try process(), try process())
        let (session, token) = try await one.sessions.create()
        let archived = session.stored
        for count in 1...3 { try await one.perform(.put(["count": .init(count)]), on: "counter", session) }
        let there = try await two.sessions.authenticate(token.presented)
        let watcher = try there.watch(token: token.digest)
        // No look here falls between the end and the import.
        door.beforeLook.withLock { $0 = { () throws(StoreError) in throw .unavailable("away") } }
        #expect(try await door.end(session.id))
        try await door.receive(SessionArrival(session: archived, replacedRevision: nil))
        door.beforeLook.withLock { $0 = nil }
        #expect(try await two.sessions.session(session.id) != nil)
        guard case .ended(.gap) = await watcher.next(until: clock.now() + 1_000_000) else {
            Issue.record("the watcher goes on")
            return
        }
        watcher.leave()
    }

    @Test("a session whose token was shown to another process is not taken for one that nobody uses")
    func unused() async throws {
        let ((one, _), (two, _)) = (try process(maxSessions: 1), try process(maxSessions: 1))
        let (_, token) = try await one.sessions.create()
        clock.advance(1_000)
        #expect(try await two.isAuthenticated(token))
        try await two.sessions.saveUses()
        clock.advance(6_000)
        await #expect(throws: SessionError.tooManySessions) { try await one.session() }
        for process in [one, two] { #expect(try await process.isAuthenticated(token)) }
    }

    @Test("a session that another process knows to be in use is not taken for an idle one")
    func idle() async throws {
        let ((one, _), (two, _)) = (try process(maxSessions: 1), try process(maxSessions: 1))
        let (_, token) = try await one.sessions.create()
        #expect(try await one.isAuthenticated(token))
        clock.advance(Shedding.idleAge)
        #expect(try await two.isAuthenticated(token))
        try await two.sessions.saveUses()
        clock.advance(10_000)
        await #expect(throws: SessionError.tooManySessions) { try await one.session() }
        for process in [one, two] { #expect(try await process.isAuthenticated(token)) }
        clock.advance(Shedding.idleAge + one.sessions.settings.useLag)
        _ = try await one.session()
        for process in [one, two] { #expect(try await !process.isAuthenticated(token)) }
    }

    @Test("a change is told to watchers although the store did not answer when it came")
    func retried() async throws {
        let moving = ManualClock()
        let ((one, _), (two, door)) = (try process(moving), try process(moving))
        let (session, token) = try await one.sessions.create()
        let there = try await two.sessions.authenticate(token.presented)
        let watcher = try there.watch(token: token.digest)
        let failures = Mutex(3)
        door.beforeLook.withLock {
            $0 = { () throws(StoreError) in
                let fails = failures.withLock { left in
                    defer { left -= 1 }
                    return left > 0
                }
                if fails { throw .unavailable("away") }
            }
        }
        let outcome = try await one.perform(.put(["count": 1]), on: "counter", session)
        let told: SessionWatcher.Event = await withCheckedContinuation { waiting in
            watcher.next { waiting.resume(returning: $0) }
        }
        guard case .commits(let commits) = told else {
            Issue.record("\(told)")
            return
        }
        #expect(commits.flatMap(\.changes) == [.serviceChanged(name: "counter", etag: outcome.etag)])
        #expect(failures.withLock(\.self) <= 0)
        watcher.leave()
    }

    @Test("who waits for a store that does not answer keeps nothing of a server that has ended")
    func waitsAlone() async throws {
        let (one, _) = try process()
        let (session, token) = try await one.sessions.create()
        weak var left: Session?
        do {
            let (two, door) = try process()
            let there = try await two.sessions.authenticate(token.presented)
            let watcher = try there.watch(token: token.digest)
            left = there
            let looked = AsyncStream.makeStream(of: Void.self)
            door.beforeLook.withLock {
                $0 = { () throws(StoreError) in
                    looked.continuation.yield()
                    throw .unavailable("closed")
                }
            }
            try await one.perform(.put(["count": 1]), on: "counter", session)
            for await _ in looked.stream { break }
            watcher.leave()
        }
        let end = ContinuousClock.now + .seconds(60)
        while left != nil, .now < end { await Task.yield() }
        #expect(left == nil)
    }
}
