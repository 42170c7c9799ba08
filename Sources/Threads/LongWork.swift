import CThreads
import Glibc

/// Runs work that takes a processor for long, in milliseconds, beside the server's workers: parsing a large body,
/// validating a large document.
///
/// Its threads have less weight than the workers, which run at once when a request arrives, whatever is done here.
package final class LongWork: TaskExecutor {
    package static let shared = LongWork(threads: max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))))

    /// `@unchecked Sendable`: the monitor guards what changes.
    private final class Queue: @unchecked Sendable {
        let monitor = Monitor()
        /// The newest last.
        var arrived: [Waiting] = []
        /// Older ones, the oldest last.
        var next: [Waiting] = []
        var idleThreads = 0
        var threads: [pthread_t] = []
        var threadsToStart: Int

        init(threads: Int) { threadsToStart = threads }

        func pop() -> UnownedJob? {
            if next.isEmpty {
                swap(&next, &arrived)
                next.reverse()
            }
            return next.popLast()?.job
        }
    }

    private struct Waiting {
        let job: UnownedJob
        let since = ContinuousClock.now
    }

    /// The longest that work may wait. Each client that is refused beyond it waits no longer either, so what is done is
    /// done for clients that are still there.
    private static let mostWait = Duration.milliseconds(500)

    /// Whether work waits for so long that no more should be begun. What runs here already may go on.
    package var isOverloaded: Bool {
        queue.monitor.withLock {
            guard let oldest = queue.next.last ?? queue.arrived.first else { return false }
            guard ContinuousClock.now - oldest.since > Self.mostWait else { return false }
            return !queue.threads.contains { pthread_equal($0, pthread_self()) != 0 }
        }
    }

    private let queue: Queue

    private init(threads: Int) { queue = Queue(threads: threads) }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let needsThread = queue.monitor.withLock {
            queue.arrived.append(Waiting(job: job))
            queue.monitor.signal()
            guard queue.idleThreads < queue.arrived.count + queue.next.count, queue.threadsToStart > 0 else {
                return false
            }
            queue.threadsToStart -= 1
            return true
        }
        guard needsThread, !DetachedThread.start("long work", isEndless: true, { self.serve() }) else { return }
        // There may be no other thread.
        let oldest = queue.monitor.withLock {
            queue.threadsToStart += 1
            return queue.pop()
        }
        oldest?.runSynchronously(on: asUnownedTaskExecutor())
    }

    private func serve() {
        // Of this thread alone (setpriority(2), "C library/kernel differences").
        setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 5)
        queue.monitor.withLock { queue.threads.append(pthread_self()) }
        while true { take().runSynchronously(on: asUnownedTaskExecutor()) }
    }

    private func take() -> UnownedJob {
        queue.monitor.withLock {
            queue.idleThreads += 1
            defer { queue.idleThreads -= 1 }
            while true {
                if let job = queue.pop() { return job }
                queue.monitor.wait()
            }
        }
    }
}
