import HTTPServer
import Synchronization

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
