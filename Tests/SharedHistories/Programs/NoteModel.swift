import Synchronization

/// What may become of requests with an idempotency key, of which each adds a number to the service `notes` of its session.
final class NoteModel: Sendable {
    private let acknowledged = Mutex<Set<Int>>([])
    private let name: String
    private let violations: Violations

    init(_ name: String, _ violations: Violations) {
        self.name = name
        self.violations = violations
    }

    func acknowledge(_ number: Int) { acknowledged.withLock { _ = $0.insert(number) } }

    /// - Parameter notes: what is there at the end.
    func finish(_ notes: [Int]) {
        let counts = Dictionary(notes.map { ($0, 1) }, uniquingKeysWith: +)
        for (number, count) in counts where count > 1 {
            violations.add("\(name): the request with key \(number) was executed \(count) times")
        }
        for number in acknowledged.withLock(\.self) where counts[number] == nil {
            violations.add("\(name): the request with key \(number) was acknowledged and is lost")
        }
    }
}
