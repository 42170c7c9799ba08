// The one file of this module that uses the C library: the standard library has a mutex but nothing to wait with.
#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A door that opens once: threads wait in front of it until then, and pass at once afterwards.
///
/// `@unchecked Sendable` is safe because the two pointers never change, what they point to is made for use by several
/// threads, and `isOpen` is only touched with the mutex held. The memory goes back in `deinit`, when nobody has a
/// reference any more, hence nobody waits: a waiting thread holds the latch through the method it is in.
final class Latch: @unchecked Sendable {
    /// On the heap, because both have to stay at one address.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    /// Guarded by `mutex`.
    private var isOpen = false

    init() {
        // With default attributes these fail only for want of memory, where Swift itself would stop as well.
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
        // A loop, because POSIX lets the wait return without cause.
        while !isOpen { pthread_cond_wait(condition, mutex) }
        pthread_mutex_unlock(mutex)
    }
}

/// Tells threads apart while they run: what a factory resolves, it resolves on the thread that called it.
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
