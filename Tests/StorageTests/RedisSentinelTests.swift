import Glibc
import RedisTestServer
import Sessions
import Testing

@testable import Storage

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
        let (key, other) = (SHA256Digest(of: Array("a request".utf8)), try fixture.store())
        let note = [UInt8](repeating: 1, count: SharedNoteMark.length)
        for store in [store, other] {
            let error = await #expect(throws: SessionError.self) {
                try await store.note(note, of: key, for: 60_000)
            }
            #expect(String(describing: error).contains("Only 0 of 1 replicas"), "\(String(describing: error))")
        }
        replicated.replica.send(SIGCONT)
        try await replicated.master.waitForReplica()
        try await store.commit(
            Samples.commit(Samples.record(id, revision: 3, [Samples.document(revision: 3)]), over: 2))
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
                let time = try await load.fixture.recovery(of: load.stores[0])
                #expect(time < .seconds(15), "\(time)")
                // Only with a replica writes are acknowledged again.
                try replicated.master.start(["--replicaof", "127.0.0.1 \(replicated.replica.port)"])
                phase = .after
            default: break
            }
        }
        try await load.check()
        #expect(load.failures.allSatisfy { $0.hasPrefix("unavailable") })
    }
}
