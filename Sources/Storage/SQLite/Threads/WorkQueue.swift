import Glibc
import Threads

/// Work that waits for a thread.
///
/// `@unchecked Sendable`: `jobs`, `first`, `lastCount` and `isClosed` are only touched with the monitor's lock held.
final class WorkQueue<Job: Sendable>: @unchecked Sendable {
    private let monitor = Monitor()
    /// Those before `first` are taken.
    private var jobs: [Job?] = []
    private var first = 0
    /// How many were taken the last time that more were let come.
    private var lastCount = 0
    private var isClosed = false

    /// False when the queue is closed, and the job is not in it.
    func append(_ job: Job) -> Bool {
        let isOpen = monitor.withLock {
            if !isClosed { jobs.append(job) }
            return !isClosed
        }
        if isOpen { monitor.signal() }
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
        monitor.lock()
        defer { monitor.unlock() }
        while count == 0, !isClosed {
            guard let end else {
                monitor.wait()
                continue
            }
            guard monitor.wait(until: Monitor.deadline(after: end - .now)) else { return nil }
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
            monitor.unlock()
            sched_yield()
            monitor.lock()
        }
    }

    /// Smaller groups than this cost more than is won.
    private static var fewest: Int { 16 }

    /// No job is taken in any more; those in it still are done.
    func close() {
        monitor.withLock { isClosed = true }
        monitor.broadcast()
    }
}
