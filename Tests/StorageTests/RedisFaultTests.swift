import Glibc
import RedisTestServer
import Sessions
import Synchronization
import Testing

@testable import Storage

@Suite("A Redis that fails") struct RedisFaultTests {
    let fixture: RedisFixture
    let id = SessionID(random: SystemRandom())

    init() throws { fixture = try RedisFixture(try RedisTestServer()) }

    private func commit(_ revision: UInt64) -> SessionCommit {
        Samples.commit(
            Samples.record(id, revision: revision, [Samples.document(revision: revision)]), over: revision - 1)
    }

    /// The error of a commit, and after how long it came.
    private func failure(of store: RedisStore, _ revision: UInt64) async -> (text: String, after: Duration) {
        let start = ContinuousClock.now
        do throws(StoreError) {
            try await store.commit(commit(revision))
            return ("", .now - start)
        } catch {
            return ("\(error)", .now - start)
        }
    }

    @Test("while Redis is away requests fail at once, and succeed within a second of its return")
    func away() async throws {
        let store = try fixture.store()
        try await store.create(Samples.session(id))
        fixture.server.kill()
        let first = await failure(of: store, 2)
        #expect(first.text.hasPrefix("unavailable") && first.after < .seconds(5), "\(first)")
        let second = await failure(of: store, 2)
        #expect(second.text.contains("cannot be reached") && second.after < .milliseconds(500), "\(second)")
        #expect(store.trouble?.contains("cannot be reached") == true)
        try fixture.server.start()
        let time = try await fixture.recovery(of: store)
        #expect(time < .seconds(1), "\(time)")
        #expect(store.trouble == nil)
        _ = try await store.load(id)
        try await store.commit(commit(2))
    }

    @Test("a Redis that does not respond costs the deadline, not more")
    func hangs() async throws {
        let store = try fixture.store(deadline: .milliseconds(300))
        try await store.create(Samples.session(id))
        fixture.server.send(SIGSTOP)
        let late = await failure(of: store, 2)
        #expect(late.text.contains("does not respond in time") && late.after < .seconds(2), "\(late)")
        fixture.server.send(SIGCONT)
        _ = try await fixture.recovery(of: store)
        // It may have been done.
        let revision = try #require(try await store.load(id)).record.revision
        try await store.commit(commit(revision + 1))
    }

    @Test("requests beyond the bound are refused at once")
    func bound() async throws {
        let store = try fixture.store(requests: 10)
        try await store.create(Samples.session(id))
        fixture.server.send(SIGSTOP)
        let results = CommitResults()
        for revision in (2...14).map(UInt64.init) {
            store.commit(commit(revision)) { results.add("\(revision)", $0) }
        }
        let other = SessionID(random: SystemRandom())
        store.create(Samples.session(other)) { results.add("other", $0) }
        // The session's own are called back in their order, so they wait for the first ones.
        let refused = await results.wait(for: 1)
        #expect(refused.map(\.name) == ["other"])
        #expect(refused.first?.error?.contains("Too many requests") == true)
        fixture.server.send(SIGCONT)
        let all = await results.wait(for: 13)
        #expect(all.dropFirst().map(\.name) == (2...14).map(String.init))
        #expect(all.dropFirst().map { $0.error == nil } == (2...14).map { $0 <= 11 })
        #expect(try await store.load(id)?.record.revision == 11)
    }

    @Test("commits whose connection is cut are done once, in their order", arguments: [false, true])
    func cut(isPaused: Bool) async throws {
        let store = try fixture.store()
        try await store.create(Samples.session(id))
        var next: UInt64 = 2
        for round in 0..<(isPaused ? 2 : 30) {
            let results = CommitResults()
            // While writes are paused, none of them is executed; otherwise some are, and their replies are lost.
            if isPaused { try fixture.ask("CLIENT", "PAUSE", "20000", "WRITE") }
            for revision in next..<next + 200 { store.commit(commit(revision)) { results.add("\(revision)", $0) } }
            for _ in 0..<round { sched_yield() }
            try fixture.ask("CLIENT", "KILL", "TYPE", "normal")
            if isPaused { try fixture.ask("CLIENT", "UNPAUSE") }
            let all = await results.wait(for: 200)
            #expect(all.map(\.name) == (next..<next + 200).map(String.init))
            #expect(all.allSatisfy { $0.error == nil }, "round \(round): \(all.first { $0.error != nil }?.error ?? "")")
            next += 200
            // The next cut is of another connection.
            _ = try await store.standing(of: id)
        }
        #expect(try await store.load(id)?.record.revision == next - 1)
        #expect(try fixture.ask("SCRIPT", "FLUSH").error == nil)
        try await store.commit(commit(next))
    }

    @Test(
        "a commit whose first copy comes late is done once, and is not taken for another server's", arguments: [1, 3])
    func lateCopies(count: Int) async throws {
        let proxy = try FaultProxy(to: fixture.server.port)
        let store = try fixture.store(deadline: .seconds(60), port: proxy.port)
        try await store.create(Samples.session(id))
        let connections = proxy.accepted
        // Writes wait in Redis, questions do not. Redis does not learn that the first connection was cut.
        try fixture.ask("CLIENT", "PAUSE", "60000", "WRITE")
        let results = CommitResults()
        for revision in 2..<UInt64(2 + count) { store.commit(commit(revision)) { results.add("\(revision)", $0) } }
        try await waitForPostponed(1)
        await proxy.cause(.cutLate(60_000))
        await proxy.wait(forConnections: connections + 1)
        try await waitForPostponed(2)
        try fixture.ask("CLIENT", "UNPAUSE")
        #expect(await results.wait(for: count).allSatisfy { $0.error == nil })
        #expect(try await store.load(id)?.record.revision == UInt64(1 + count))
        await store.close()
        proxy.close()
    }

    /// Waits until so many connections have sent writes that wait.
    private func waitForPostponed(_ count: Int) async throws {
        let start = ContinuousClock.now
        while try fixture.ask("INFO", "clients").text?.contains("blocked_clients:\(count)\r\n") != true {
            try #require(.now - start < .seconds(20))
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    @Test("a store that closes has done everything that was requested before")
    func close() async throws {
        let store = try fixture.store()
        try await store.create(Samples.session(id))
        let results = CommitResults()
        for revision in (2...300).map(UInt64.init) { store.commit(commit(revision)) { results.add("\(revision)", $0) } }
        await store.close()
        let all = await results.wait(for: 299)
        #expect(all.allSatisfy { $0.error == nil })
        let late = await failure(of: store, 301)
        #expect(late.text.contains("closed"))
        await #expect(throws: StoreError.self) { try await store.load(id) }
        #expect(try await fixture.store().load(id)?.record.revision == 300)
    }

    /// What was committed, by session and revision.
    private final class History: Sendable {
        struct State {
            var acknowledged: [SessionID: [(revision: UInt64, name: String)]] = [:]
            var count = 0
            var names = 0
        }

        let state = Mutex(State())
    }

    private static func work(
        _ store: RedisStore, _ id: SessionID, _ history: History, _ progress: AsyncStream<Int>.Continuation
    ) async throws {
        while history.state.withLock({ $0.count < 1_500 }) {
            guard let record = try? await store.load(id)?.record else {
                try await Task.sleep(for: .milliseconds(5))
                continue
            }
            // The document grows by one name with each commit.
            let name = history.state.withLock { history in
                history.names += 1
                return "\(history.names)"
            }
            let revision = record.revision + 1
            let document = ServiceDocument(
                service: 0, birth: 0, revision: revision, createdAt: 1, updatedAt: 1,
                bytes: (record.document(of: 0)?.bytes ?? []) + "\(name) ".utf8)
            let next = Samples.record(id, revision: revision, [document])
            guard (try? await store.commit(Samples.commit(next, over: record.revision))) != nil else { continue }
            let count = history.state.withLock { history in
                history.acknowledged[id, default: []].append((revision, name))
                history.count += 1
                return history.count
            }
            progress.yield(count)
        }
    }

    @Test("kill -9 in the middle of a load loses nothing that was acknowledged, and no revision has two contents")
    func killed() async throws {
        let stores = try (0..<2).map { _ in try fixture.store() }
        let ids = (0..<6).map { _ in SessionID(random: SystemRandom()) }
        for id in ids { try await stores[0].create(Samples.session(id)) }
        let history = History()
        let (progress, continuation) = AsyncStream.makeStream(of: Int.self)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for id in ids {
                for store in stores { group.addTask { try await Self.work(store, id, history, continuation) } }
            }
            var kills = [300, 700, 1_100][...]
            for await count in progress {
                if let next = kills.first, count >= next {
                    kills.removeFirst()
                    fixture.server.kill()
                    try fixture.server.start()
                }
                if kills.isEmpty { break }
            }
            try await group.waitForAll()
        }
        _ = try await fixture.recovery(of: stores[1])
        for id in ids {
            let record = try #require(try await stores[1].load(id)).record
            let names = String(decoding: record.document(of: 0)?.bytes ?? [], as: UTF8.self).split(separator: " ")
            // Each commit made one revision, acknowledged or not.
            #expect(UInt64(names.count) == record.revision - 1 && Set(names).count == names.count)
            for (revision, name) in history.state.withLock({ $0.acknowledged[id] ?? [] }) {
                #expect(Int(revision) - 2 < names.count && names[Int(revision) - 2] == name)
            }
        }
    }
}
