import Glibc

/// Work that waits for a thread.
///
/// `@unchecked Sendable`: `jobs` and `isClosed` are only touched while `lock` is held; the two pointers never change
/// and go in `deinit`, when no thread can wait any more: a waiting thread holds the queue. The lock is one of pthreads
/// since `Mutex` has no condition to wait for.
final class WorkQueue<Job: Sendable>: @unchecked Sendable {
    private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let arrival = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var jobs: [Job] = []
    private var isClosed = false

    init() {
        let results = (pthread_mutex_init(lock, nil), pthread_cond_init(arrival, nil))
        precondition(results == (0, 0), "No memory for a mutex and a condition.")
    }

    deinit {
        pthread_cond_destroy(arrival)
        pthread_mutex_destroy(lock)
        arrival.deallocate()
        lock.deallocate()
    }

    /// False when the queue is closed, and the job is not in it.
    func append(_ job: Job) -> Bool {
        pthread_mutex_lock(lock)
        let isOpen = !isClosed
        if isOpen { jobs.append(job) }
        pthread_mutex_unlock(lock)
        if isOpen { pthread_cond_signal(arrival) }
        return isOpen
    }

    /// Waits for jobs and takes the first ones; none when the queue is closed and everything was taken.
    func take(atMost limit: Int) -> [Job] {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        while jobs.isEmpty, !isClosed { pthread_cond_wait(arrival, lock) }
        var seen = 0
        while limit > 1, seen < jobs.count, !isClosed {
            seen = jobs.count
            pthread_mutex_unlock(lock)
            sched_yield()
            pthread_mutex_lock(lock)
        }
        guard jobs.count > limit else {
            let taken = jobs
            jobs = []
            return taken
        }
        let taken = Array(jobs[..<limit])
        jobs.removeFirst(limit)
        return taken
    }

    /// No job is taken in any more; those in it still are done.
    func close() {
        pthread_mutex_lock(lock)
        isClosed = true
        pthread_mutex_unlock(lock)
        pthread_cond_broadcast(arrival)
    }
}
