import Glibc
import Threads

/// A door that opens once: threads wait in front of it until then, and pass at once afterwards.
///
/// `@unchecked Sendable`: `isOpen` is only touched with the monitor's lock held.
final class Latch: @unchecked Sendable {
    private let monitor = Monitor()
    private var isOpen = false

    func open() {
        monitor.withLock { isOpen = true }
        monitor.broadcast()
    }

    func wait() {
        monitor.withLock {
            while !isOpen { monitor.wait() }
        }
    }
}

/// Tells threads apart while they run: what a factory resolves, it resolves on the thread that called it.
struct ThreadIdentity: Hashable, Sendable {
    private let handle = UInt(pthread_self())

    static var current: ThreadIdentity { ThreadIdentity() }
}
