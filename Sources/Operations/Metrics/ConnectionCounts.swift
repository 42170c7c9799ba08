import HTTPServer
import Synchronization

/// The connections of each listener, for the metrics; 0 before it listens. It keeps no server alive.
package final class ConnectionCounts: Sendable {
    private struct Servers {
        weak var publicServer: HTTPServer?
        weak var adminServer: HTTPServer?
    }

    package init() {}

    private let servers = Mutex(Servers())

    package func count(_ publicServer: HTTPServer, _ adminServer: HTTPServer) {
        servers.withLock { $0 = Servers(publicServer: publicServer, adminServer: adminServer) }
    }

    package func write(to metrics: inout OpenMetricsWriter) {
        let servers = servers.withLock { [("public", $0.publicServer), ("admin", $0.adminServer)] }
        metrics.gauge(
            "concierge_connections", help: "Open connections.",
            by: "listener", servers.map { ($0, $1?.connections ?? 0) })
        let lost = servers.map { (listener: $0, counts: $1?.lostConnections ?? (evicted: 0, refused: 0, throttled: 0)) }
        metrics.counter(
            "concierge_connections_evicted",
            help: "Connections closed to make room for others: idle ones, or those of slow clients.",
            by: "listener", lost.map { ($0.listener, Int($0.counts.evicted)) })
        metrics.counter(
            "concierge_connections_refused", help: "Connections beyond the limit of an address.",
            by: "listener", lost.map { ($0.listener, Int($0.counts.refused)) })
        metrics.counter(
            "concierge_connections_throttled", help: "New connections beyond the quota of an address.",
            by: "listener", lost.map { ($0.listener, Int($0.counts.throttled)) })
    }
}
