import Synchronization

/// How many responses were problems, by their codes.
final class ProblemCounts: Sendable {
    private let counts = Mutex<[String: Int]>([:])

    var all: [(code: String, count: Int)] {
        counts.withLock { counts in counts.map { ($0.key, $0.value) }.sorted { $0.0 < $1.0 } }
    }

    func count(_ kind: ProblemKind) { counts.withLock { $0[kind.code, default: 0] += 1 } }
}
