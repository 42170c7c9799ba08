import RedisTestServer
import Sessions
import Testing

@testable import RedisStorage

/// Three masters with a replica each.
final class RedisTestCluster: Sendable {
    /// The masters, then the replica of each.
    let nodes: [RedisTestServer]
    let address: RedisAddress
    private let names: [String]

    /// One for all tests that end no node.
    static let shared = Task { try await RedisTestCluster() }

    /// - Parameter timeout: after how many milliseconds a node that does not respond has failed.
    init(timeout: Int = 60_000) async throws {
        let nodes = try await RedisTestServer.all(6) { _ in try .node(timeout: timeout) }
        for (place, node) in nodes.enumerated() {
            try node.ask("CLUSTER", "SET-CONFIG-EPOCH", .text(String(place + 1)))
        }
        for other in nodes[1...] {
            let bus = RedisRequest.Word.text(try other.ask("CONFIG", "GET", "cluster-port")[1].text ?? "")
            try nodes[0].ask("CLUSTER", "MEET", "127.0.0.1", .text(String(other.port)), bus)
        }
        for (place, end) in [5_461, 10_922, 16_383].enumerated() {
            let first = place == 0 ? 0 : [5_461, 10_922][place - 1] + 1
            try nodes[place].ask("CLUSTER", "ADDSLOTSRANGE", .text(String(first)), .text(String(end)))
        }
        names = try nodes.map { try $0.ask("CLUSTER", "MYID").text ?? "" }
        for node in nodes {
            try await node.wait("CLUSTER", "INFO") {
                $0.text?.contains("cluster_known_nodes:6") == true && $0.text?.contains("cluster_state:ok") == true
            }
        }
        for place in 3..<6 { try nodes[place].ask("CLUSTER", "REPLICATE", .text(names[place - 3])) }
        for node in nodes[3...] { try await node.wait("ROLE") { $0[3].text == "connected" } }
        for node in nodes[..<3] { try await node.waitForReplica() }
        self.nodes = nodes
        // Some are enough. The first of these is none.
        address = try RedisAddress("redis+cluster://127.0.0.1:1,127.0.0.1:\(nodes[1].port)")
    }

    /// The place of the master that has a slot, as soon as all masters agree on that and on the epoch: a master that
    /// does not know of the last move would take a slot with the epoch of that move.
    func owner(of slot: Int) async throws -> Int {
        let start = ContinuousClock.now
        while true {
            let views = try nodes[..<3].map { node in
                let owner = try node.ask("CLUSTER", "SLOTS").list.first {
                    ($0[0].number ?? 0)...($0[1].number ?? 0) ~= Int64(slot)
                }?[2][2].text
                let epoch = try node.ask("CLUSTER", "INFO").text?.split(separator: "\r\n").first {
                    $0.hasPrefix("cluster_current_epoch:")
                }
                return "\(owner ?? "") \(epoch ?? "")"
            }
            if Set(views).count == 1, let place = names.firstIndex(where: { views[0].hasPrefix($0 + " ") }) {
                return place
            }
            try #require(.now - start < .seconds(20))
            await Task.yield()
        }
    }

    /// Moves a slot to the next master, key by key.
    ///
    /// - Parameter body: is called when all keys are at the new master, and the old one still has the slot.
    func move(_ slot: Int, _ body: () async throws -> Void = {}) async throws {
        let source = try await owner(of: slot)
        let target = (source + 1) % 3
        let number = RedisRequest.Word.text(String(slot))
        try nodes[target].ask("CLUSTER", "SETSLOT", number, "IMPORTING", .text(names[source]))
        try nodes[source].ask("CLUSTER", "SETSLOT", number, "MIGRATING", .text(names[target]))
        while case let keys = try nodes[source].ask("CLUSTER", "GETKEYSINSLOT", number, "10").list, !keys.isEmpty {
            for key in keys {
                try nodes[source].ask(
                    "MIGRATE", "127.0.0.1", .text(String(nodes[target].port)), .bytes(key.bytes ?? []), "0", "5000")
            }
        }
        try await body()
        for place in [target, source, 3 - source - target] {
            try nodes[place].ask("CLUSTER", "SETSLOT", number, "NODE", .text(names[target]))
        }
    }
}

/// A master with a replica, and sentinels.
final class RedisTestSentinels: Sendable {
    let master: RedisTestServer
    let replicas: [RedisTestServer]
    var replica: RedisTestServer { replicas[0] }
    let sentinels: [RedisTestServer]
    let address: RedisAddress

    /// Those for all tests that end nothing.
    static let shared = Task { try await RedisTestSentinels(count: 1, timeout: 60_000) }

    /// - Parameter timeout: after how many milliseconds a master that does not respond has failed.
    init(count: Int, timeout: Int, replicas replicaCount: Int = 1) async throws {
        let servers = try await RedisTestServer.all(1 + replicaCount) { _ in
            try RedisTestServer(["--repl-diskless-sync-delay", "0"])
        }
        let (master, replicas) = (servers[0], Array(servers.dropFirst()))
        for replica in replicas { try replica.ask("REPLICAOF", "127.0.0.1", .text(String(master.port))) }
        try await master.wait("WAIT", .text(String(replicaCount)), "100") { $0.number == Int64(replicaCount) }
        let sentinels = try await RedisTestServer.all(count) { _ in
            try RedisTestServer(sentinelOf: master, quorum: count / 2 + 1, timeout: timeout)
        }
        for sentinel in sentinels {
            // An answer of INFO, and a message of each other sentinel.
            try await sentinel.wait("SENTINEL", "REPLICAS", "mymaster") { $0.list.count == replicaCount }
            try await sentinel.wait("SENTINEL", "SENTINELS", "mymaster") { $0.list.count == count - 1 }
        }
        (self.master, self.replicas, self.sentinels) = (master, replicas, sentinels)
        // The first of these is none.
        let places = ["127.0.0.1:1"] + sentinels.map { "127.0.0.1:\($0.port)" }
        address = try RedisAddress("redis+sentinel://\(places.joined(separator: ","))/mymaster")
    }

    /// The server that the first sentinel names, once that is another one than the first master.
    func newMaster() async throws -> RedisTestServer {
        var port: Int64?
        try await sentinels[0].wait("SENTINEL", "GET-MASTER-ADDR-BY-NAME", "mymaster") {
            port = $0[1].number
            return port != Int64(master.port)
        }
        return try #require(replicas.first { Int64($0.port) == port })
    }
}
