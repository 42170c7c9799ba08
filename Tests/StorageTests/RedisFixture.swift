import RedisTestServer
import Sessions
import Storage
import Synchronization
import Testing
import Threads

@testable import RedisStorage

/// Stores in one Redis that have their keys to themselves.
struct RedisFixture: Sendable {
    /// Of several one.
    let server: RedisTestServer
    let address: RedisAddress
    let prefix = "test\(SessionID(random: SystemRandom()).low)"
    var replicas = 0

    /// - Parameter server: nil for the server that tests share.
    init(_ server: RedisTestServer? = nil) throws {
        self.server = try server ?? RedisTestServer.shared.get()
        address = try RedisAddress("redis://127.0.0.1:\(self.server.port)")
    }

    /// - Parameter cluster: nil for the one that tests share.
    init(cluster: RedisTestCluster? = nil) async throws {
        let cluster = if let cluster { cluster } else { try await RedisTestCluster.shared.value }
        server = cluster.nodes[0]
        address = cluster.address
    }

    /// - Parameter sentinels: nil for those that tests share. Writes wait for the replica.
    init(sentinels: RedisTestSentinels?) async throws {
        let sentinels = if let sentinels { sentinels } else { try await RedisTestSentinels.shared.value }
        server = sentinels.master
        address = sentinels.address
        replicas = 1
    }

    func store(
        services: [String] = ["profile", "quote"], useLag: Int64 = 0, expiryMargin: Int64? = nil,
        keys: DocumentKeys? = nil, clock: any SessionClock = SystemClock(), deadline: Duration = .seconds(5),
        requests: Int = 100_000, port: UInt16? = nil,
        grace: Duration = .zero, user: String? = nil, password: String? = nil,
        report: @escaping @Sendable (String) -> Void = { _ in }, warn: @escaping @Sendable (String) -> Void = { _ in }
    ) throws -> RedisStore {
        var settings = RedisStore.Settings()
        settings.prefix = prefix
        settings.useLag = useLag
        settings.expiryMargin = expiryMargin
        (settings.deadline, settings.requests) = (deadline, requests)
        (settings.replicas, settings.grace) = (replicas, grace)
        var address = address
        if user != nil || port != nil {
            address = try RedisAddress("redis://\(user.map { "\($0)@" } ?? "")127.0.0.1:\(port ?? server.port)")
        }
        if let password { address.password = password }
        return try RedisStore(
            address, services: ServiceNames(services), settings: settings, documentKeys: keys, clock: clock,
            report: report,
            warn: warn)
    }

    /// On a connection of its own.
    @discardableResult
    func ask(_ words: RedisRequest.Word...) throws -> RedisReply { try server.ask(words) }

    /// Makes a user of that name, with the password "word", and the rights that docs/scaling.md names.
    func addUser(_ name: String, _ changes: String...) throws {
        let rules = RedisRights.rules(prefix: prefix) + [">word"] + changes
        let end = ContinuousClock.now + .seconds(10)
        var request = RedisRequest()
        request.add(["ACL", "SETUSER", .text(name), "reset"] + rules.map { .text($0) })
        let link = try RedisLink(to: try RedisAddress("redis://127.0.0.1:\(server.port)"), until: end)
        _ = try link.exchange(request, until: end)
    }

    /// What is left after the prefix, of all keys but the mark of the installation.
    func keyNames() throws -> [String] {
        try ask("KEYS", .text("\(prefix)*")).list.compactMap { $0.text?.dropFirst(prefix.count) }.map(String.init)
            .filter { $0 != "{mark}" }.sorted()
    }

    /// Waits until the store works again, and says how long that took.
    func recovery(of store: RedisStore) async throws -> Duration {
        let start = ContinuousClock.now
        while true {
            do throws(StoreError) {
                _ = try await store.standing(of: SessionID(high: 1, low: 1))
                return .now - start
            } catch {
                try #require(.now - start < .seconds(30))
            }
            try await Task.sleep(for: .milliseconds(5))
        }
    }
}

extension RedisTestServer {
    /// Starts several at once, on threads of their own, since that blocks.
    static func all(
        _ count: Int, _ make: @escaping @Sendable (Int) throws -> RedisTestServer
    ) async throws -> [RedisTestServer] {
        try await withThrowingTaskGroup(of: (Int, RedisTestServer).self) { group in
            for number in 0..<count {
                group.addTask {
                    let made = await withUnsafeContinuation { waiting in
                        DetachedThread.run("redis start") { waiting.resume(returning: Result { try make(number) }) }
                    }
                    return (number, try made.get())
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }

    @discardableResult
    func ask(_ words: RedisRequest.Word...) throws -> RedisReply { try ask(words) }

    /// On a connection of its own.
    func ask(_ words: [RedisRequest.Word]) throws -> RedisReply {
        let end = ContinuousClock.now + .seconds(10)
        let link = try RedisLink(to: try RedisAddress("redis://127.0.0.1:\(port)"), until: end)
        var request = RedisRequest()
        request.add(words)
        return try link.exchange(request, until: end)[0]
    }

    func waitForReplica() async throws { try await wait("WAIT", "1", "100") { $0.number == 1 } }

    /// Waits until a reply is as it should be, which only the server knows.
    func wait(
        _ words: RedisRequest.Word..., sourceLocation: SourceLocation = #_sourceLocation,
        until isRight: (RedisReply) -> Bool
    ) async throws {
        let end = ContinuousClock.now + .seconds(60)
        while true {
            let reply = try ask(words)
            if isRight(reply) { return }
            try #require(.now < end, "still \(reply)", sourceLocation: sourceLocation)
            try await Task.sleep(for: .milliseconds(10))
        }
    }
}

extension RedisStore {
    /// Does commits of one session, each when it is known what has become of the one before.
    func commit(_ commits: ArraySlice<SessionCommit>, _ results: CommitResults) {
        guard let first = commits.first else { return }
        commit(first) { [self] error in
            results.add("\(first.record.revision)", error)
            commit(commits.dropFirst(), results)
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
