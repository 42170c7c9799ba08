import Glibc

/// Jobs that wait for a thread.
///
/// `@unchecked Sendable`: `jobs`, `lastCount` and `isClosed` are only touched while `lock` is held. The two pointers
/// never change, and are freed in `deinit`: a waiting thread keeps the queue, so none waits by then. The lock is a
/// pthread mutex because Swift's `Mutex` has no condition.
final class WorkQueue<Job: Sendable>: @unchecked Sendable {
    private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let arrival = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var jobs: [Job] = []
    /// How many jobs there were after the last call of ``letMoreCome()``.
    private var lastCount = 0
    private var isClosed = false

    init() {
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        let results = (pthread_mutex_init(lock, nil), pthread_cond_init(arrival, &attributes))
        precondition(results == (0, 0), "No memory for a mutex and a condition.")
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(arrival)
        pthread_mutex_destroy(lock)
        arrival.deallocate()
        lock.deallocate()
    }

    /// False when the queue is closed: then the job is not in it.
    func append(_ job: Job) -> Bool {
        pthread_mutex_lock(lock)
        let isOpen = !isClosed
        if isOpen { jobs.append(job) }
        pthread_mutex_unlock(lock)
        if isOpen { pthread_cond_signal(arrival) }
        return isOpen
    }

    /// Waits for jobs and takes some of the first, for one of several threads: the others get some, too, and few jobs
    /// wait behind a slow one. Empty when the queue is closed and has no jobs left.
    func takeShare() -> [Job] { take(before: nil) { max(1, jobs.count / 4) } ?? [] }

    /// Waits for jobs and takes the first ones. Empty when the queue is closed and has no jobs left; nil when none has
    /// come before `end`.
    func take(atMost limit: Int, before end: SuspendingClock.Instant?) -> [Job]? {
        take(before: end) {
            if limit > 1 { letMoreCome() }
            return limit
        }
    }

    private func take(before end: SuspendingClock.Instant?, _ limit: () -> Int) -> [Job]? {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        while jobs.isEmpty, !isClosed {
            guard let end else {
                pthread_cond_wait(arrival, lock)
                continue
            }
            var time = Self.monotonicTime(of: end)
            guard pthread_cond_timedwait(arrival, lock, &time) != ETIMEDOUT else { return nil }
        }
        let taken = Array(jobs.prefix(limit()))
        jobs.removeFirst(taken.count)
        return taken
    }

    /// Lets other threads run as long as they bring more jobs, which the next group then includes. Releases the lock
    /// meanwhile.
    ///
    /// Half as many jobs as the last time are enough. Clients that wait for one group have nothing to do while it is
    /// written. So they form two groups: one is written while the other gathers.
    private func letMoreCome() {
        var seen = 0
        defer { lastCount = jobs.count }
        let enough = max(Self.fewest, lastCount / 2)
        while seen < jobs.count, jobs.count < enough, !isClosed {
            seen = jobs.count
            pthread_mutex_unlock(lock)
            sched_yield()
            pthread_mutex_lock(lock)
        }
    }

    /// To wait for smaller groups than this costs more than it saves.
    private static var fewest: Int { 16 }

    private static func monotonicTime(of instant: SuspendingClock.Instant) -> timespec {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        let (seconds, attoseconds) = max(.zero, instant - .now).components
        let nanoseconds = time.tv_nsec + Int(attoseconds / 1_000_000_000)
        return timespec(
            tv_sec: time.tv_sec + Int(seconds) + nanoseconds / 1_000_000_000, tv_nsec: nanoseconds % 1_000_000_000)
    }

    /// Refuses jobs from now on. Threads still take the jobs in the queue.
    func close() {
        pthread_mutex_lock(lock)
        isClosed = true
        pthread_mutex_unlock(lock)
        pthread_cond_broadcast(arrival)
    }
}
