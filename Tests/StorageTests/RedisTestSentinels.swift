import RedisTestServer
import Sessions
import Testing

@testable import Storage

/// A master with a replica, and sentinels.
final class RedisTestSentinels: Sendable {
    let master: RedisTestServer
    let replica: RedisTestServer
    let sentinels: [RedisTestServer]
    let address: RedisAddress

    /// Those for all tests that end nothing.
    static let shared = Task { try await RedisTestSentinels(count: 1, timeout: 60_000) }

    /// - Parameter timeout: after how many milliseconds a master that does not respond has failed.
    init(count: Int, timeout: Int) async throws {
        let servers = try await RedisTestServer.all(2) { _ in try RedisTestServer(["--repl-diskless-sync-delay", "0"]) }
        let (master, replica) = (servers[0], servers[1])
        try replica.ask("REPLICAOF", "127.0.0.1", .text(String(master.port)))
        try await master.waitForReplica()
        let sentinels = try await RedisTestServer.all(count) { _ in
            try RedisTestServer(sentinelOf: master, quorum: count / 2 + 1, timeout: timeout)
        }
        for sentinel in sentinels {
            // An answer of INFO, and a message of each other sentinel.
            try await sentinel.wait("SENTINEL", "REPLICAS", "mymaster") { $0.list.count == 1 }
            try await sentinel.wait("SENTINEL", "SENTINELS", "mymaster") { $0.list.count == count - 1 }
        }
        (self.master, self.replica, self.sentinels) = (master, replica, sentinels)
        // The first of these is none.
        let places = ["127.0.0.1:1"] + sentinels.map { "127.0.0.1:\($0.port)" }
        address = try RedisAddress("redis+sentinel://\(places.joined(separator: ","))/mymaster")
    }
}
