import Glibc
import Synchronization

/// A mutex and a condition: what `Mutex` of the standard library lacks is something to wait for.
///
/// The owner keeps the state that it guards, and touches it only between ``lock()`` and ``unlock()``.
///
/// `@unchecked Sendable`: the two pointers never change, and what they point to is made for several threads. `deinit`
/// runs when no thread can wait any more, because a waiting thread holds a reference.
package final class Monitor: @unchecked Sendable {
    // On the heap, because both must stay at one address.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    package init() {
        var monotonic = pthread_condattr_t()
        pthread_condattr_init(&monotonic)
        pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC)
        // These fail only for want of memory, where Swift itself would stop as well.
        let results = (pthread_mutex_init(mutex, nil), pthread_cond_init(condition, &monotonic))
        precondition(results == (0, 0), "No memory for a mutex and a condition.")
        pthread_condattr_destroy(&monotonic)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    package func lock() { pthread_mutex_lock(mutex) }

    package func unlock() { pthread_mutex_unlock(mutex) }

    package func withLock<Result>(_ body: () throws -> Result) rethrows -> Result {
        lock()
        defer { unlock() }
        return try body()
    }

    /// Waits for a signal with the lock held, and releases it meanwhile. May return without cause: call it in a loop.
    package func wait() { pthread_cond_wait(condition, mutex) }

    /// As ``wait()``, but not longer than until `deadline`, a time of the monotonic clock.
    ///
    /// - Returns: false when the deadline has passed.
    package func wait(until deadline: timespec) -> Bool {
        var deadline = deadline
        return pthread_cond_timedwait(condition, mutex, &deadline) != ETIMEDOUT
    }

    /// Wakes one thread that waits.
    package func signal() { pthread_cond_signal(condition) }

    /// Wakes every thread that waits.
    package func broadcast() { pthread_cond_broadcast(condition) }

    /// A deadline for ``wait(until:)``.
    package static func deadline(after duration: Duration) -> timespec {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        let (seconds, attoseconds) = max(.zero, duration).components
        let nanoseconds = time.tv_nsec + Int(attoseconds / 1_000_000_000)
        return timespec(
            tv_sec: time.tv_sec + Int(seconds) + nanoseconds / 1_000_000_000, tv_nsec: nanoseconds % 1_000_000_000)
    }
}

/// Something that happens once, and that tasks wait for.
package final class Completion: Sendable {
    private let state = Mutex<(isReached: Bool, waiting: [UnsafeContinuation<Void, Never>])>((false, []))

    package init() {}

    package func reach() {
        let waiting = state.withLock { state in
            defer { state = (true, []) }
            return state.waiting
        }
        for waiting in waiting { waiting.resume() }
    }

    package func wait() async {
        await withUnsafeContinuation { waiting in
            let isReached = state.withLock { state in
                if !state.isReached { state.waiting.append(waiting) }
                return state.isReached
            }
            if isReached { waiting.resume() }
        }
    }
}
