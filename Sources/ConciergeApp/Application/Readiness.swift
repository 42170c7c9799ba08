import HTTPServer
import Sessions
import Synchronization

/// Whether this server wants traffic, and if not, why.
final class Readiness: Sendable {
    struct Check: Sendable {
        let name: String
        /// What is wrong, in a sentence; nil when nothing is.
        let failure: String?
    }

    private enum Phase: UInt8, AtomicRepresentable { case starting, serving, draining }

    private let phase = Atomic(Phase.starting)
    private let store: any SessionStore

    init(store: any SessionStore) { self.store = store }

    func beginServing() { phase.store(.serving, ordering: .releasing) }
    func beginDraining() { phase.store(.draining, ordering: .releasing) }

    var checks: [Check] {
        let failure: String? =
            switch phase.load(ordering: .acquiring) {
            case .starting: "The server is starting."
            case .serving: nil
            case .draining: "The server is stopping."
            }
        return [Check(name: "serving", failure: failure), Check(name: "store", failure: store.trouble)]
    }
}

/// What operators are told of the store, in the log and in the statistics: what it is, and what an answer to a write is
/// worth.
struct StoreDescription: Sendable {
    let kind: String
    /// The policy in force: sessions in memory end with the process, whatever is configured.
    let durability: Configuration.Durability
    /// Nil where the policy has none.
    let syncInterval: Duration?

    init(_ configuration: Configuration) {
        kind = configuration.store.kind
        durability = configuration.store == .memory ? .none : configuration.durability
        syncInterval = durability == .interval ? configuration.syncInterval : nil
    }
}

/// The metrics, for the endpoint that shows them and is itself one of the routes that they count.
final class LateMetrics: Sendable {
    private let storage = Mutex<Metrics?>(nil)

    var metrics: Metrics? { storage.withLock { $0 } }

    func set(_ metrics: Metrics) { storage.withLock { $0 = metrics } }
}

/// How many connections each listener has, for the metrics; none before it listens. Holds no server alive.
final class ConnectionCounts: Sendable {
    private struct Servers {
        weak var publicServer: HTTPServer?
        weak var adminServer: HTTPServer?
    }

    private let servers = Mutex(Servers())

    func count(_ publicServer: HTTPServer, _ adminServer: HTTPServer) {
        servers.withLock { $0 = Servers(publicServer: publicServer, adminServer: adminServer) }
    }

    var current: [(listener: String, count: Int)] {
        let servers = servers.withLock { ($0.publicServer, $0.adminServer) }
        return [("public", servers.0?.connections ?? 0), ("admin", servers.1?.connections ?? 0)]
    }
}
