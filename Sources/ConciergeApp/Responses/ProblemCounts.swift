import API
import Operations
import Synchronization

/// How many responses were problems, by their codes.
final class ProblemCounts: Sendable {
    private let counts = Mutex<[String: Int]>([:])

    func count(_ kind: ProblemKind) { counts.withLock { $0[kind.code, default: 0] += 1 } }

    func write(to metrics: inout OpenMetricsWriter) {
        metrics.counter(
            "concierge_problems", help: "Responses that were problems, by their codes.",
            by: "code", counts.withLock { $0.sorted { $0.key < $1.key }.map { ($0.key, $0.value) } })
    }
}
