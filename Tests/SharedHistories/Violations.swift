import Synchronization

/// What no order of the operations explains, in sentences.
final class Violations: Sendable {
    private let sentences = Mutex<[String]>([])

    func add(_ sentence: String) { sentences.withLock { $0.append(sentence) } }

    var all: [String] { sentences.withLock(\.self) }
}
