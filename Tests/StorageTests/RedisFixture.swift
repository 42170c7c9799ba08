import RedisTestServer
import Sessions
import Synchronization
import Testing

@testable import Storage

/// Stores on one Redis server that have their keys to themselves.
struct RedisFixture: Sendable {
    let server: RedisTestServer
    let prefix: String

    /// - Parameter server: nil for the server that tests share.
    init(_ server: RedisTestServer? = nil) throws {
        self.server = try server ?? RedisTestServer.shared.get()
        prefix = "test\(SessionID(random: SystemRandom()).low)"
    }

    func store(
        services: [String] = ["profile", "quote"], useLag: Int64 = 0, expiryMargin: Int64? = nil,
        keys: DocumentKeys? = nil, deadline: Duration = .seconds(5), requests: Int = 100_000, port: UInt16? = nil,
        report: @escaping @Sendable (String) -> Void = { _ in }
    ) throws -> RedisStore {
        var settings = RedisStore.Settings()
        settings.prefix = prefix
        settings.useLag = useLag
        settings.expiryMargin = expiryMargin
        return try RedisStore(
            try RedisAddress("redis://127.0.0.1:\(port ?? server.port)"), services: services, settings: settings,
            documentKeys: keys, limits: RedisConnection.Limits(deadline: deadline, requests: requests), report: report)
    }

    /// On a connection of its own.
    @discardableResult
    func ask(_ words: RedisRequest.Word...) throws -> RedisReply {
        let end = ContinuousClock.now + .seconds(10)
        let link = try RedisLink(to: try RedisAddress("redis://127.0.0.1:\(server.port)"), until: end)
        var request = RedisRequest()
        request.add(words)
        return try link.exchange(request, until: end)[0]
    }

    /// What is left after the prefix, of all keys.
    func keyNames() throws -> [String] {
        try ask("KEYS", .text("\(prefix)*")).list.compactMap { $0.text?.dropFirst(prefix.count + 1) }.map(String.init)
            .sorted()
    }

    /// Waits until the store works again, and says how long that took.
    func recovery(of store: RedisStore) async throws -> Duration {
        let start = ContinuousClock.now
        while true {
            do throws(StoreError) {
                _ = try await store.standing(of: SessionID(high: 1, low: 1))
                return .now - start
            } catch {
                try #require(.now - start < .seconds(10))
            }
            try await Task.sleep(for: .milliseconds(5))
        }
    }
}

/// The results of commits, in their order.
final class CommitResults: Sendable {
    private let results = Mutex<[(name: String, error: String?)]>([])
    private let (stream, continuation) = AsyncStream.makeStream(of: Void.self)

    @Sendable func add(_ name: String, _ error: StoreError?) {
        results.withLock { $0.append((name, error.map { "\($0)" })) }
        continuation.yield()
    }

    /// Waits for so many.
    func wait(for count: Int) async -> [(name: String, error: String?)] {
        var iterator = stream.makeAsyncIterator()
        for _ in 0..<count { await iterator.next() }
        return results.withLock(\.self)
    }
}
