import Glibc
import Threads

/// Threads wait until the latch is opened; afterwards they do not wait any more.
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
            // A loop, because POSIX allows spurious wakeups.
            while !isOpen { monitor.wait() }
        }
    }
}

/// Identifies a thread while it runs: a factory resolves its needs on the thread that called it.
struct ThreadIdentity: Hashable, Sendable {
    private let handle = UInt(pthread_self())

    static var current: ThreadIdentity { ThreadIdentity() }
}
