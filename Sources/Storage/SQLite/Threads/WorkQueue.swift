import Glibc

/// Work that waits for a thread.
///
/// `@unchecked Sendable`: `jobs`, `first`, `lastCount` and `isClosed` are only touched while `lock` is held; the two pointers never change
/// and go in `deinit`, when no thread can wait any more: a waiting thread holds the queue. The lock is one of pthreads
/// since `Mutex` has no condition to wait for.
final class WorkQueue<Job: Sendable>: @unchecked Sendable {
    private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let arrival = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    /// Those before `first` are taken.
    private var jobs: [Job?] = []
    private var first = 0
    /// How many were taken the last time that more were let come.
    private var lastCount = 0
    private var isClosed = false

    init() {
        var steady = pthread_condattr_t()
        pthread_condattr_init(&steady)
        pthread_condattr_setclock(&steady, CLOCK_MONOTONIC)
        let results = (pthread_mutex_init(lock, nil), pthread_cond_init(arrival, &steady))
        precondition(results == (0, 0), "No memory for a mutex and a condition.")
        pthread_condattr_destroy(&steady)
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

    /// Waits for jobs and takes the first ones, for one of several threads: a part of them, so that the others have some,
    /// and few are behind one that takes long. None when the queue is closed and everything was taken.
    func takeShare() -> [Job] { take(before: nil) { max(1, count / 4) } ?? [] }

    /// Waits for jobs and takes the first ones; none when the queue is closed and everything was taken, nil when nothing has
    /// come by then.
    func take(atMost limit: Int, before end: SuspendingClock.Instant?) -> [Job]? {
        take(before: end) {
            if limit > 1 { letMoreCome() }
            return limit
        }
    }

    private func take(before end: SuspendingClock.Instant?, _ limit: () -> Int) -> [Job]? {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        while count == 0, !isClosed {
            guard let end else {
                pthread_cond_wait(arrival, lock)
                continue
            }
            var time = Self.time(of: end)
            guard pthread_cond_timedwait(arrival, lock, &time) != ETIMEDOUT else { return nil }
        }
        let end = first + min(limit(), count)
        let taken = jobs[first..<end].compactMap(\.self)
        for place in first..<end { jobs[place] = nil }
        first = end
        // Moving the rest to the front is paid for by as many that were taken.
        if first * 2 >= jobs.count {
            jobs.removeFirst(first)
            first = 0
        }
        return taken
    }

    private var count: Int { jobs.count - first }

    /// Lets other threads run as long as they bring more: what is about to come is then taken with what is there. With the
    /// lock held, which it lets go of for that.
    ///
    /// Half as many as the last time are enough. Where all of those who wrote wait for each other's group they have nothing
    /// to do while it is written; so they come to write in two groups, of which one is written while the other gathers.
    private func letMoreCome() {
        var seen = 0
        defer { lastCount = count }
        let enough = max(Self.fewest, lastCount / 2)
        while seen < count, count < enough, !isClosed {
            seen = count
            pthread_mutex_unlock(lock)
            sched_yield()
            pthread_mutex_lock(lock)
        }
    }

    /// Smaller groups than this cost more than is won.
    private static var fewest: Int { 16 }

    /// As the condition counts time.
    private static func time(of instant: SuspendingClock.Instant) -> timespec {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        let (seconds, attoseconds) = max(.zero, instant - .now).components
        let nanoseconds = time.tv_nsec + Int(attoseconds / 1_000_000_000)
        return timespec(
            tv_sec: time.tv_sec + Int(seconds) + nanoseconds / 1_000_000_000, tv_nsec: nanoseconds % 1_000_000_000)
    }

    /// No job is taken in any more; those in it still are done.
    func close() {
        pthread_mutex_lock(lock)
        isClosed = true
        pthread_mutex_unlock(lock)
        pthread_cond_broadcast(arrival)
    }
}
