import Glibc
import RedisTestServer
import Sessions
import Synchronization
import Testing

@testable import RedisStorage

@Suite("A Redis that fails") struct RedisFaultTests {
    let fixture: RedisFixture
    let id = SessionID(random: SystemRandom())

    init() throws { fixture = try RedisFixture(try RedisTestServer()) }

    private func commit(_ revision: UInt64, of id: SessionID? = nil) -> SessionCommit {
        Samples.commit(
            Samples.record(id ?? self.id, revision: revision, [Samples.document(revision: revision)]),
            over: revision - 1)
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

    @Test("while Redis is away requests fail at once, and succeed soon after its return")
    func away() async throws {
        let store = try fixture.store()
        try await store.create(Samples.session(id))
        fixture.server.kill()
        let first = await failure(of: store, 2)
        #expect(first.text.hasPrefix("unavailable") && first.after < .seconds(5), "\(first)")
        let second = await failure(of: store, 2)
        #expect(second.text.contains("cannot be reached") && second.after < .seconds(4), "\(second)")
        #expect(store.trouble?.contains("cannot be reached") == true)
        try fixture.server.start()
        let time = try await fixture.recovery(of: store)
        // Half a second where nothing else runs. On a busy machine Redis itself takes seconds to respond.
        #expect(time < .seconds(15), "\(time)")
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
        #expect(late.text.contains("does not respond in time") && late.after < .seconds(4), "\(late)")
        fixture.server.send(SIGCONT)
        _ = try await fixture.recovery(of: store)
        // It may have been done.
        let revision = try #require(try await store.load(id)).record.revision
        try await store.commit(commit(revision + 1))
    }

    @Test("requests beyond the bound are refused at once")
    func bound() async throws {
        let store = try fixture.store(requests: 10)
        _ = try await fixture.recovery(of: store)
        fixture.server.send(SIGSTOP)
        let results = CommitResults()
        let ids = (0..<14).map { _ in SessionID(random: SystemRandom()) }
        for id in ids { store.create(Samples.session(id)) { results.add("\(id)", $0) } }
        // What the connection asks for itself, a PING for example, may take some of the places.
        let refused = await results.wait(for: 4)
        #expect(4...8 ~= refused.count && refused.map(\.name) == ids.suffix(refused.count).map { "\($0)" })
        #expect(refused.allSatisfy { $0.error?.contains("Too many requests") == true })
        fixture.server.send(SIGCONT)
        let all = await results.wait(for: 10)
        #expect(all.dropFirst(refused.count).allSatisfy { $0.error == nil })
        for id in ids {
            let isDone = all.contains { $0.name == "\(id)" && $0.error == nil }
            #expect(try await (store.load(id) != nil) == isDone)
        }
    }

    @Test("commits whose connection is cut are done once, in their order", arguments: [false, true])
    func cut(isPaused: Bool) async throws {
        let store = try fixture.store()
        let ids = (0..<20).map { _ in SessionID(random: SystemRandom()) }
        for id in ids { try await store.create(Samples.session(id)) }
        var next: UInt64 = 2
        for round in 0..<(isPaused ? 2 : 30) {
            let results = CommitResults()
            // While writes are paused, none of them is executed; otherwise some are, and their replies are lost.
            if isPaused { try fixture.ask("CLIENT", "PAUSE", "20000", "WRITE") }
            for id in ids { store.commit((next..<next + 10).map { commit($0, of: id) }[...], results) }
            for _ in 0..<round { sched_yield() }
            try fixture.ask("CLIENT", "KILL", "TYPE", "normal")
            if isPaused { try fixture.ask("CLIENT", "UNPAUSE") }
            let all = await results.wait(for: 200)
            #expect(all.allSatisfy { $0.error == nil }, "round \(round): \(all.first { $0.error != nil }?.error ?? "")")
            next += 10
            // The next cut is of another connection.
            for id in ids { #expect(try await store.standing(of: id)?.revision == next - 1) }
        }
        #expect(try fixture.ask("SCRIPT", "FLUSH").error == nil)
        try await store.commit(commit(next, of: ids[0]))
    }

    @Test(
        "a commit whose first copy comes late is done once, and is not taken for another server's", arguments: [1, 3])
    func lateCopies(count: Int) async throws {
        let proxy = try FaultProxy(to: fixture.server.port)
        let store = try fixture.store(deadline: .seconds(60), port: proxy.port)
        let ids = (0..<count).map { _ in SessionID(random: SystemRandom()) }
        for id in ids { try await store.create(Samples.session(id)) }
        let connections = proxy.accepted
        // Writes wait in Redis, questions do not. Redis does not learn that the first connection was cut.
        try fixture.ask("CLIENT", "PAUSE", "60000", "WRITE")
        let results = CommitResults()
        for id in ids { store.commit(commit(2, of: id)) { results.add("\(id)", $0) } }
        try await waitForPostponed(1)
        await proxy.cause(.cutLate(60_000))
        await proxy.wait(forConnections: connections + 1)
        try await waitForPostponed(2)
        try fixture.ask("CLIENT", "UNPAUSE")
        #expect(await results.wait(for: count).allSatisfy { $0.error == nil })
        for id in ids { #expect(try await store.load(id)?.record.revision == 2) }
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
        let ids = (0..<300).map { _ in SessionID(random: SystemRandom()) }
        let results = CommitResults()
        for id in ids { store.create(Samples.session(id)) { results.add("\(id)", $0) } }
        await store.close()
        let all = await results.wait(for: 300)
        #expect(all.allSatisfy { $0.error == nil })
        let late = await failure(of: store, 2)
        #expect(late.text.contains("closed"))
        await #expect(throws: StoreError.self) { try await store.load(id) }
        let other = try fixture.store()
        for id in ids { #expect(try await other.standing(of: id)?.revision == 1) }
    }

    @Test("kill -9 in the middle of a load loses nothing that was acknowledged, and no revision has two contents")
    func killed() async throws {
        let load = try await RedisLoad(fixture, sessions: 6, commits: 1_500)
        var kills = [300, 700, 1_100][...]
        try await load.run { progress in
            guard let next = kills.first, progress.count >= next else { return }
            kills.removeFirst()
            fixture.server.kill()
            try fixture.server.start()
        }
        try await load.check()
    }
}
