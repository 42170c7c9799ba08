// The one file of this module that uses the C library: the standard library has a mutex but nothing to wait with.
#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Threads wait until the latch is opened; afterwards they do not wait any more.
///
/// `@unchecked Sendable` is safe because the two pointers never change, what they point to is made for use by several
/// threads, and `isOpen` is only used with the mutex locked. `deinit` frees the memory, when no thread has a
/// reference, and so none waits: a waiting thread holds a reference through the method that it is in.
final class Latch: @unchecked Sendable {
    /// On the heap, because both have to stay at one address.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    /// Guarded by `mutex`.
    private var isOpen = false

    init() {
        // With default attributes these fail only without memory, where Swift itself would stop, too.
        let results = (pthread_mutex_init(mutex, nil), pthread_cond_init(condition, nil))
        precondition(results == (0, 0), "No memory for a mutex and a condition.")
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    func open() {
        pthread_mutex_lock(mutex)
        isOpen = true
        pthread_cond_broadcast(condition)
        pthread_mutex_unlock(mutex)
    }

    func wait() {
        pthread_mutex_lock(mutex)
        // A loop, because POSIX allows spurious wakeups.
        while !isOpen { pthread_cond_wait(condition, mutex) }
        pthread_mutex_unlock(mutex)
    }
}

/// Identifies a thread while it runs: a factory resolves its needs on the thread that called it.
struct ThreadIdentity: Hashable, Sendable {
    private let handle: UInt

    static var current: ThreadIdentity {
        #if canImport(Glibc)
            ThreadIdentity(handle: UInt(pthread_self()))
        #else
            ThreadIdentity(handle: UInt(bitPattern: pthread_self()))
        #endif
    }
}
