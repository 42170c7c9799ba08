import API
import Configuration
import HTTPServer
import Operations
import RedisStorage
import Sessions
import Storage
import Synchronization

/// Whether this server is ready for traffic, and if not, why.
final class Readiness: Sendable {
    struct Check: Sendable {
        let name: String
        /// Why the check failed, as a sentence; `nil` if it passed.
        let failure: String?
    }

    private enum Phase: UInt8, AtomicRepresentable { case starting, serving, draining }

    private let phase = Atomic(Phase.starting)
    private let opened = Atomic(false)
    /// Why the store is not opened, although it is there.
    private let obstacle = Mutex<String?>(nil)
    private let store: any SessionStore
    private struct Server { weak var server: HTTPServer? }
    private let server = Mutex(Server())

    /// A worker that does not come back to its connections for this long is stuck.
    private let longestTurn: Duration

    init(store: any SessionStore, longestTurn: Duration = .seconds(5)) {
        self.store = store
        self.longestTurn = longestTurn
    }

    func beginServing(on server: HTTPServer) {
        self.server.withLock { $0.server = server }
        phase.store(.serving, ordering: .releasing)
    }

    /// Whether requests that need the store are let through.
    var isOpen: Bool { opened.load(ordering: .acquiring) }

    func open() { opened.store(true, ordering: .releasing) }

    func hold(_ reason: String) { obstacle.withLock { $0 = reason } }

    func beginDraining() { phase.store(.draining, ordering: .releasing) }

    /// How long a worker has not come back to its connections, if that is too long; `nil` when all respond.
    var blockedFor: Duration? {
        let blocked = server.withLock(\.server)?.blockedFor ?? .zero
        return blocked < longestTurn ? nil : blocked
    }

    func write(to metrics: inout OpenMetricsWriter) {
        metrics.gauge(
            "concierge_ready", help: "1 while the server is ready for traffic, as /health/ready says.",
            checks.allSatisfy { $0.failure == nil } ? 1 : 0)
    }

    var checks: [Check] {
        let failure: String? =
            switch phase.load(ordering: .acquiring) {
            case .starting: "The server is starting."
            case .serving: isOpen ? nil : obstacle.withLock(\.self) ?? "The server waits for its store."
            case .draining: "The server is stopping."
            }
        return [
            Check(name: "serving", failure: failure), Check(name: "store", failure: store.trouble),
            Check(
                name: "workers",
                failure: blockedFor.map {
                    "A worker has been busy with one request for \($0.components.seconds) s."
                }),
        ]
    }
}

/// The store in the log and in the statistics: its kind, and when a write is durable.
struct StoreDescription: Sendable {
    let kind: String
    /// The policy in force; nil when Redis does not tell it.
    private let policy: @Sendable () -> Durability?

    init(_ configuration: Configuration, _ store: any SessionStore) {
        kind = configuration.store.kind
        let configured = configuration.storeDurability
        switch configuration.store {
        // Sessions in memory end with the process, whatever is configured.
        case .memory: policy = { Durability.none }
        case .sqlite: policy = { configured }
        // Its own configuration decides, and may change.
        case .redis: policy = { (store as? RedisStore)?.durability }
        }
    }

    /// As in the configuration, or `unknown`.
    var durability: String {
        guard let policy = policy() else { return Self.unknown }
        return switch policy {
        case .commit: Configuration.Durability.commit.rawValue
        case .interval: Configuration.Durability.interval.rawValue
        case .none: Configuration.Durability.none.rawValue
        }
    }

    /// `nil` if the policy has none.
    var syncInterval: Duration? { if case .interval(let interval)? = policy() { interval } else { nil } }

    static let unknown = "unknown"
}

/// The metrics for their own endpoint, which is one of the routes that they count. A reload keeps them.
final class LateMetrics: Sendable {
    private let storage = Mutex<Metrics?>(nil)

    var metrics: Metrics? { storage.withLock { $0 } }

    func set(_ metrics: Metrics) { storage.withLock { $0 = metrics } }
}

/// Refuses requests until ``Application`` has checked the store: that journeys in it can go on with the loaded flows,
/// before any further one starts. A server whose store was away when it started listens earlier.
struct OpeningMiddleware: HTTPMiddleware {
    let readiness: Readiness

    func respond(to request: HTTPRequest, next: @escaping HTTPHandler) throws -> HTTPOutcome {
        guard readiness.isOpen else { throw Problem(.storeUnavailable, fields: [.retryAfter: "1"]) }
        return try next(request)
    }
}
