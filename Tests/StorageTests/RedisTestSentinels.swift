import RedisTestServer
import Sessions
import Testing

@testable import RedisStorage

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
