import Synchronization

/// When the certificate of the listeners ends, for the metrics; nothing without HTTPS.
package final class CertificateEnd: Sendable {
    /// In seconds since 1970; 0 for none.
    private let end = Atomic(0)

    package init() {}

    package func note(_ end: Int) { self.end.store(end, ordering: .relaxed) }

    package func write(to metrics: inout OpenMetricsWriter) {
        let end = end.load(ordering: .relaxed)
        guard end != 0 else { return }
        metrics.gauge(
            "concierge_certificate_end_timestamp_seconds", unit: "seconds",
            help: "When the certificate of the listeners ends, in seconds since 1970.", end)
    }
}
