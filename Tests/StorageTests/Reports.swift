import Synchronization

/// The reports of a store.
final class Reports: Sendable {
    private let sentences = Mutex<[String]>([])

    var all: [String] { sentences.withLock { $0 } }

    @Sendable func add(_ sentence: String) { sentences.withLock { $0.append(sentence) } }
}
