import Synchronization

/// Counts from any thread.
final class Counter: Sendable {
    private let count = Atomic<Int>(0)

    /// The new count.
    @discardableResult
    func increment() -> Int { count.add(1, ordering: .relaxed).newValue }
}
