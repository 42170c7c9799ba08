import Glibc
import RedisTestServer
import Sessions
import Synchronization
import Testing

@testable import RedisStorage

@Suite("A Redis master with a replica", .timeLimit(.minutes(2))) struct RedisSentinelTests {
    /// A server that sentinels name has to be the master, and sentinels have to know it.
    @Test("what the sentinels say is checked, and what is wrong is said")
    func wrong() async throws {
        let sentinels = try await RedisTestSentinels.shared.value
        let sentinel = sentinels.sentinels[0]
        func trouble(_ address: String) async throws -> String {
            let store = try RedisStore(try RedisAddress(address), services: ["profile"])
            await #expect(throws: StoreError.self) { try await store.load(SessionID(high: 1, low: 1)) }
            return try #require(store.trouble)
        }
        let unknown = try await trouble("redis+sentinel://127.0.0.1:\(sentinel.port)/other")
        #expect(unknown.contains("knows no master \"other\""), "\(unknown)")
        let none = try await trouble("redis+sentinel://127.0.0.1:1,127.0.0.1:2/mymaster")
        #expect(none.contains("No sentinel names a master \"mymaster\""), "\(none)")
        let replica = try RedisTestServer(sentinelOf: sentinels.replica, quorum: 1, timeout: 60_000)
        let other = try await trouble("redis+sentinel://127.0.0.1:\(replica.port)/mymaster")
        #expect(other.contains("127.0.0.1:\(sentinels.replica.port), which the sentinel"), "\(other)")
        #expect(other.contains("is not a master"), "\(other)")
    }

    @Test("sentinels and servers have passwords of their own")
    func passwords() async throws {
        let server = try RedisTestServer(["--requirepass", "one"])
        let sentinel = try RedisTestServer(
            sentinelOf: server, quorum: 1, timeout: 60_000, ["sentinel auth-pass mymaster one", "requirepass two"])
        var address = try RedisAddress("redis+sentinel://127.0.0.1:\(sentinel.port)/mymaster/3")
        (address.password, address.sentinelPassword) = ("one", "two")
        let store = try RedisStore(address, services: ["profile"])
        let id = SessionID(random: SystemRandom())
        try await store.create(Samples.session(id))
        #expect(try await store.load(id) != nil)
        address.sentinelPassword = "one"
        let wrong = try RedisStore(address, services: ["profile"])
        await #expect(throws: StoreError.self) { try await wrong.load(id) }
        #expect(wrong.trouble?.contains("WRONGPASS") == true, "\(wrong.trouble ?? "")")
    }

    @Test("a write that the replica does not get in time is not acknowledged, and reads go on")
    func stopped() async throws {
        let replicated = try await RedisTestSentinels(count: 1, timeout: 60_000)
        let fixture = try await RedisFixture(sentinels: replicated)
        let store = try fixture.store()
        let id = SessionID(random: SystemRandom())
        try await store.create(Samples.session(id))
        replicated.replica.send(SIGSTOP)
        let document = Samples.document(revision: 2)
        do throws(StoreError) {
            try await store.commit(Samples.commit(Samples.record(id, revision: 2, [document]), over: 1))
            Issue.record("it was acknowledged")
        } catch {
            #expect("\(error)".contains("Only 0 of 1 replicas"), "\(error)")
        }
        #expect(try await store.load(id)?.record.revision == 2)
        // What a failover may lose is not told to others either.
        let digest = ShortDigest(SHA256Digest(of: Array("a request".utf8)))
        let lone = LoneReplay(id: digest, fingerprint: digest, endsAt: 60_000, content: .response([1]))
        for store in [store, try fixture.store()] {
            let error = await #expect(throws: StoreError.self) { try await store.keep(lone, now: 0, atMost: 10) }
            #expect(String(describing: error).contains("Only 0 of 1 replicas"), "\(String(describing: error))")
        }
        replicated.replica.send(SIGCONT)
        try await replicated.master.waitForReplica()
        try await store.commit(
            Samples.commit(Samples.record(id, revision: 3, [Samples.document(revision: 3)]), over: 2))
    }

    @Test("a store leaves a master that was replaced and does not know it, and shows nothing of it")
    func cutOff() async throws {
        let replicated = try await RedisTestSentinels(count: 3, timeout: 60_000, replicas: 2)
        let replicating = try await RedisFixture(sentinels: replicated)
        var fixture = replicating
        fixture.replicas = 0
        let (store, other) = (try fixture.store(), try replicating.store())
        let id = SessionID(random: SystemRandom())
        try await store.create(Samples.session(id))
        #expect(try await other.load(id) != nil)
        // As when it is cut off from its sentinels and replicas: nobody can tell it.
        try replicated.master.ask("ACL", "SETUSER", "default", "-replicaof", "-slaveof")
        let reads = Mutex<[ContinuousClock.Instant]>([])
        let reading = Task {
            while !Task.isCancelled {
                let start = ContinuousClock.now
                if (try? await store.standing(of: id)) != nil { reads.withLock { $0.append(start) } }
            }
        }
        try replicated.sentinels[0].ask("SENTINEL", "FAILOVER", "mymaster")
        let new = try await replicated.newMaster()
        let changed = ContinuousClock.now
        try await new.waitForReplica()
        var ended: ContinuousClock.Instant?
        while ended == nil {
            try #require(.now - changed < .seconds(60), "\(other.trouble ?? "")")
            // A replica that has not left the former master may still confirm it there.
            let isDone = (try? await other.end(id)) == true
            if isDone, try new.ask("HEXISTS", .text(store.keys.session(id)), "r").number == 0 { ended = .now }
        }
        // Nobody has told the former master.
        #expect(try replicated.master.ask("ROLE")[0].text == "master")
        while try await store.standing(of: id) != nil { try #require(.now - changed < .seconds(60)) }
        reading.cancel()
        await reading.value
        let after = try #require(ended)
        let late = reads.withLock(\.self).filter { $0 > after }
        #expect(late.isEmpty, "\(late.count) reads showed a session that has ended")
        #expect(store.trouble == nil)
        await store.close()
        await other.close()
    }

    @Test("a master that was frozen while it was replaced acknowledges nothing, and nothing is read from it")
    func frozen() async throws {
        let replicated = try await RedisTestSentinels(count: 3, timeout: 1_000)
        var fixture = try await RedisFixture(sentinels: replicated)
        fixture.replicas = 0
        let (store, id) = (
            try fixture.store(deadline: .seconds(60), grace: .seconds(1)), SessionID(random: SystemRandom())
        )
        try await store.create(Samples.session(id))
        try await replicated.master.waitForReplica()
        replicated.master.send(SIGSTOP)
        let start = ContinuousClock.now
        let results = CommitResults()
        for revision in (2...20).map(UInt64.init) {
            let document = Samples.document(revision: revision)
            store.commit(Samples.commit(Samples.record(id, revision: revision, [document]), over: revision - 1)) {
                results.add("\(revision)", $0)
            }
        }
        while store.trouble == nil { try #require(.now - start < .seconds(20)) }
        let notReady = ContinuousClock.now - start
        let new = try await replicated.newMaster()
        replicated.master.send(SIGCONT)
        let done = await results.wait(for: 19).filter { $0.error == nil }.compactMap { UInt64($0.name) }
        _ = try await fixture.recovery(of: store)
        let key = store.keys.session(id)
        let stored = try #require(try new.ask("HGET", .text(key), "r").text.flatMap { UInt64($0) })
        // What was acknowledged is where everybody reads.
        #expect(done.allSatisfy { $0 <= stored }, "\(done) and \(stored)")
        #expect(try await store.standing(of: id)?.revision == stored)
        // Two seconds where nothing else runs.
        #expect(notReady < .seconds(6), "\(notReady)")
        await store.close()
    }

    @Test("while too few replicas are connected everything is refused, and the store is in trouble")
    func alone() async throws {
        let replicated = try await RedisTestSentinels(count: 1, timeout: 60_000)
        let fixture = try await RedisFixture(sentinels: replicated)
        let (store, id) = (try fixture.store(), SessionID(random: SystemRandom()))
        try await store.create(Samples.session(id))
        replicated.replica.kill()
        let start = ContinuousClock.now
        var refusal: String?
        while refusal == nil {
            try #require(.now - start < .seconds(20))
            do throws(StoreError) {
                _ = try await store.load(id)
            } catch {
                refusal = "\(error)"
            }
        }
        #expect(refusal?.contains("0 of 1 replicas") == true, "\(refusal ?? "")")
        #expect(store.trouble?.contains("0 of 1 replicas") == true, "\(store.trouble ?? "")")
        try replicated.replica.start(["--replicaof", "127.0.0.1 \(replicated.master.port)"])
        _ = try await fixture.recovery(of: store)
        #expect(try await store.load(id) != nil && store.trouble == nil)
        await store.close()
    }

    @Test("a failover in the middle of a load loses no write that was acknowledged")
    func failover() async throws {
        let replicated = try await RedisTestSentinels(count: 3, timeout: 1_000)
        let load = try await RedisLoad(try await RedisFixture(sentinels: replicated), sessions: 6, commits: 4_000)
        enum Phase {
            case before
            case stopped(Int)
            case after
        }
        var phase = Phase.before
        try await load.run { progress in
            switch phase {
            case .before where progress.count >= 2_000:
                // From here on the replica gets nothing, so that what is acknowledged without it would be lost.
                replicated.replica.send(SIGSTOP)
                try replicated.master.ask("CLIENT", "KILL", "TYPE", "REPLICA")
                phase = .stopped(progress.count)
            case .stopped(let count) where progress.count > count + 100 || !progress.failures.isEmpty:
                replicated.master.kill()
                replicated.replica.send(SIGCONT)
                try await replicated.sentinels[0].wait("SENTINEL", "GET-MASTER-ADDR-BY-NAME", "mymaster") {
                    $0[1].number == Int64(replicated.replica.port)
                }
                // Only with a replica anything is acknowledged again, reads as well.
                await #expect(throws: StoreError.self) { try await load.stores[0].standing(of: load.ids[0]) }
                try replicated.master.start(["--replicaof", "127.0.0.1 \(replicated.replica.port)"])
                let time = try await load.fixture.recovery(of: load.stores[0])
                #expect(time < .seconds(15), "\(time)")
                phase = .after
            default: break
            }
        }
        try await load.check()
        #expect(load.failures.allSatisfy { $0.hasPrefix("unavailable") })
    }
}
