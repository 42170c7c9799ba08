import Glibc
import RedisTestServer
import Synchronization
import Testing

@testable import RedisStorage
@testable import Sessions

/// Redis does not allow that slots move from and to one node at once.
@Suite("A cluster of Redis servers", .serialized, .timeLimit(.minutes(2))) struct RedisClusterTests {
    @Test("slots are those of Redis")
    func slots() async throws {
        #expect(RedisSlot.of("123456789") == 0x31C3)
        let node = try await RedisTestCluster.shared.value.nodes[0]
        for key in ["", "{}", "a{}b{c}", "a{b}c", "{", "}{a}", "{a}}", "{{a}", "a{b", "cg:{ses_1}", "cg:{u:ä}x}"] {
            let slot = try #require(try node.ask("CLUSTER", "KEYSLOT", .text(key)).number)
            #expect(RedisSlot.of(key) == Int(slot), "\(key)")
        }
    }

    @Test(
        "where a node sends a request is read",
        arguments: [
            ("MOVED 3999 127.0.0.1:6381", "127.0.0.1:6381"), ("MOVED 1 ::1:6381", "[::1]:6381"),
            ("MOVED 1 :6381", "later"), ("MOVED 1 ?:6381", "later"), ("MOVED 1 host", "later"),
            ("ASK 1 host:1", "ask host:1"), ("ASK 1 ?:1", "later"), ("TRYAGAIN Multiple keys", "later"),
            ("CLUSTERDOWN Hash slot not served", "later"), ("ERR unknown", "nothing"), ("", "nothing"),
        ])
    func redirections(error: String, meaning: String) {
        let found =
            switch RedisErrand.Redirection(.error(error)) {
            case .node(let node, let isAsking): "\(isAsking ? "ask " : "")\(node)"
            case .later: "later"
            case nil: "nothing"
            }
        #expect(found == meaning)
    }

    @Test("what is no cluster, or cannot be reached, is said")
    func wrong() async throws {
        let server = try RedisTestServer.shared.get()
        for (port, reason) in [(server.port, "cluster support disabled"), (1, "cannot be reached")] {
            let store = try RedisStore(try RedisAddress("redis+cluster://127.0.0.1:\(port)"), services: ["profile"])
            do throws(StoreError) {
                _ = try await store.load(SessionID(high: 1, low: 1))
                Issue.record("nothing was thrown")
            } catch {
                #expect("\(error)".contains(reason), "\(error)")
            }
            #expect(store.trouble?.contains(reason) == true, "\(store.trouble ?? "")")
        }
    }

    @Test("while slots move, commits are done in their order, and no caller gets an error")
    func moving() async throws {
        let cluster = try await RedisTestCluster.shared.value
        let fixture = try await RedisFixture(cluster: cluster)
        let stores = try (0..<2).map { _ in try fixture.store() }
        let ids = (0..<3).map { _ in SessionID(random: SystemRandom()) }
        let slots = ids.map { RedisSlot.of(stores[0].keys.session($0)) }
        for id in ids { try await stores[0].create(Samples.session(id)) }
        let stop = Stop()
        let rounds = try await withThrowingTaskGroup(of: Int?.self) { group in
            for (number, id) in ids.enumerated() {
                group.addTask {
                    try await Self.work(stores[number % 2], reader: stores[(number + 1) % 2], id, until: stop)
                    return nil
                }
            }
            group.addTask {
                var rounds = 0
                let user = RedisSlot.of(stores[0].keys.user("ada"))
                for _ in 0..<12 {
                    for slot in slots + [user] { try await cluster.move(slot) }
                    rounds += 1
                }
                stop.isDone.store(true, ordering: .releasing)
                return rounds
            }
            return try await group.reduce(0) { $0 + ($1 ?? 0) }
        }
        #expect(rounds == 12)
        #expect(try await stores[1].sessions(ofUser: "ada").map(\.record.id).sorted() == ids.sorted())
    }

    private final class Stop: Sendable {
        let isDone = Atomic(false)
    }

    /// Commits, each of which has to succeed.
    private static func work(
        _ store: RedisStore, reader: RedisStore, _ id: SessionID, until stop: Stop
    ) async throws {
        var next: UInt64 = 2
        while !stop.isDone.load(ordering: .acquiring), !Task.isCancelled {
            let results = CommitResults()
            let commits = (next..<next + 20).map { revision in
                let record = Samples.record(
                    id, revision: revision, [Samples.document(revision: revision)],
                    details: SessionDetails(userID: "ada"))
                var commit = Samples.commit(record, over: revision - 1)
                // Some change the user's index, in another slot.
                if revision % 4 == 0 || revision == 2 {
                    commit = SessionCommit(record: record, replacedRevision: revision - 1, changedServices: [0])
                }
                return commit
            }
            store.commit(commits[...], results)
            let all = await results.wait(for: 20)
            #expect(all.map(\.name) == (next..<next + 20).map(String.init))
            #expect(all.allSatisfy { $0.error == nil }, "\(all.first { $0.error != nil }?.error ?? "")")
            next += 20
            #expect(try await reader.load(id)?.record.revision == next - 1)
        }
    }

    @Test("a session is used at its new node while its slot is on its way, also if it is new")
    func asking() async throws {
        let cluster = try await RedisTestCluster.shared.value
        let store = try await RedisFixture(cluster: cluster).store()
        let id = SessionID(random: SystemRandom())
        try await cluster.move(RedisSlot.of(store.keys.session(id))) {
            try await store.create(Samples.session(id))
            let results = CommitResults()
            let commits = (2...30).map(UInt64.init).map { revision in
                let record = Samples.record(id, revision: revision, [Samples.document(revision: revision)])
                return Samples.commit(record, over: revision - 1)
            }
            store.commit(commits[...], results)
            #expect(await results.wait(for: 29).allSatisfy { $0.error == nil })
            #expect(try await store.load(id)?.record.revision == 30)
        }
        #expect(try await store.end(id))
    }

    @Test("a follower is told of changes, also after the slot has moved")
    func following() async throws {
        let cluster = try await RedisTestCluster.shared.value
        let fixture = try await RedisFixture(cluster: cluster)
        let (one, other) = (try fixture.store(), try fixture.store())
        let id = SessionID(random: SystemRandom())
        try await one.create(Samples.session(id))
        let (told, continuation) = AsyncStream.makeStream(of: Void.self)
        one.follow(id) { continuation.yield() }
        var calls = told.makeAsyncIterator()
        await calls.next()
        for revision in (2...7).map(UInt64.init) {
            // The subscription ends at the former node, and the next one tells once.
            try await cluster.move(RedisSlot.of(one.keys.session(id)))
            await calls.next()
            let record = Samples.record(id, revision: revision, [Samples.document(revision: revision)])
            try await other.commit(Samples.commit(record, over: revision - 1))
            await calls.next()
        }
    }

    /// A session is written after what a list needs to find it.
    private static func indexFirst(_ cluster: RedisTestCluster) async throws {
        let store = try await RedisFixture(cluster: cluster).store(deadline: .seconds(60))
        func owner(_ key: String) async throws -> Int { try await cluster.owner(of: RedisSlot.of(key)) }
        var id = SessionID(random: SystemRandom())
        while try await owner(store.keys.session(id)) == owner(store.keys.user("ada")) {
            id = SessionID(random: SystemRandom())
        }
        try await store.create(Samples.session(id))
        let user = cluster.nodes[try await owner(store.keys.user("ada"))]
        try user.ask("CLIENT", "PAUSE", "60000", "WRITE")
        let results = CommitResults()
        let record = Samples.record(id, revision: 2, details: SessionDetails(userID: "ada"))
        store.commit(SessionCommit(record: record, replacedRevision: 1, changedServices: [])) { results.add("", $0) }
        // These go to the session's node after whatever the commit has sent there.
        for _ in 0..<10 { #expect(try await store.standing(of: id)?.revision == 1) }
        try user.ask("CLIENT", "UNPAUSE")
        #expect(await results.wait(for: 1).map(\.error) == [nil])
        #expect(try await store.sessions(ofUser: "ada").map(\.record.id) == [id])
    }

    /// What a cluster loses is what its weakest node loses.
    private static func weakestNode(_ cluster: RedisTestCluster) async throws {
        try cluster.nodes[1].ask("CONFIG", "SET", "appendfsync", "everysec")
        let store = try await RedisFixture(cluster: cluster).store(deadline: .seconds(60))
        while store.trouble != nil { await Task.yield() }
        var id = SessionID(random: SystemRandom())
        while try await cluster.owner(of: RedisSlot.of(store.keys.session(id))) != 0 {
            id = SessionID(random: SystemRandom())
        }
        // Its connection is the newest then.
        try cluster.nodes[0].ask("CLIENT", "KILL", "TYPE", "normal")
        _ = try await store.standing(of: id)
        #expect(store.durability == .interval(.seconds(1)))
        try cluster.nodes[1].ask("CONFIG", "SET", "appendfsync", "always")
    }

    @Test("a replica takes over from a master that is killed, and nothing that was acknowledged is lost")
    func takeover() async throws {
        let cluster = try await RedisTestCluster(timeout: 1_000)
        try await Self.indexFirst(cluster)
        try await Self.weakestNode(cluster)
        var fixture = try await RedisFixture(cluster: cluster)
        fixture.replicas = 1
        let patient = try fixture.store(grace: .seconds(60))
        let impatient = try fixture.store()
        for store in [patient, impatient] { _ = try await store.standing(of: SessionID(high: 1, low: 1)) }
        let load = try await RedisLoad(fixture, sessions: 6, commits: 3_000)
        let dead = try await cluster.owner(of: RedisSlot.of(load.stores[0].keys.session(load.ids[0])))
        load.stores[1].follow(load.ids[0]) {}
        let channel = load.stores[1].keys.session(load.ids[0])
        var isKilled = false
        try await load.run { progress in
            guard !isKilled, progress.count >= 1_000 else { return }
            isKilled = true
            cluster.nodes[dead].kill()
            while impatient.trouble == nil { await Task.yield() }
            #expect(patient.trouble == nil)
            try await cluster.nodes[dead + 3].wait("ROLE") { $0[0].text == "master" }
            // It comes back as a replica; without one nothing is answered.
            try cluster.nodes[dead].start()
            var isCalm = true
            let start = ContinuousClock.now
            // It has no requests, and learns it all the same.
            while impatient.trouble != nil {
                await Task.yield()
                try #require(.now - start < .seconds(20))
                isCalm = isCalm && patient.trouble == nil
            }
            #expect(isCalm)
        }
        try await load.check()
        #expect(patient.trouble == nil)
        // What Redis has refused because a slot had no master was sent again.
        let others = load.failures.filter { !$0.hasPrefix("unavailable") || $0.contains("CLUSTERDOWN") }
        #expect(others.isEmpty, "\(Set(others))")
        try await cluster.nodes[dead + 3].wait("PUBSUB", "SHARDCHANNELS") { $0.list.contains { $0.text == channel } }
    }
}
