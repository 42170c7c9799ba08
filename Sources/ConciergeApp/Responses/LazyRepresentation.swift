import Synchronization

/// A representation that is made at its first request, because most servers start without anybody asking for it.
final class LazyRepresentation: Sendable {
    private let make: @Sendable () -> Representation
    private let made = Mutex<Representation?>(nil)

    init(_ make: @escaping @Sendable () -> Representation) { self.make = make }

    /// Two first requests at once may both make it: the lock is not held meanwhile.
    var value: Representation {
        if let known = made.withLock({ $0 }) { return known }
        let new = make()
        made.withLock { $0 = new }
        return new
    }
}
