import CThreads
import Glibc

/// Runs work that takes a processor for long, in milliseconds, beside the server's workers: parsing a large body,
/// validating a large document.
///
/// Its threads have less weight than the workers, which run at once when a request arrives, whatever is done here.
/// Lanes take turns, however much work waits in each of them.
///
/// `@unchecked Sendable`: the monitor guards what changes.
package final class LongWork: @unchecked Sendable {
    package static let shared = LongWork(threads: max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))))

    /// The work of a client, and of the few others that share its lane, in the order of its arrival.
    ///
    /// `@unchecked Sendable`: the monitor of ``LongWork`` guards what changes.
    package final class Lane: TaskExecutor, @unchecked Sendable {
        private let work: LongWork
        fileprivate var waiting = Queue<(job: UnownedJob, since: ContinuousClock.Instant)>()

        fileprivate init(of work: LongWork) { self.work = work }

        package func enqueue(_ job: consuming ExecutorJob) { work.add(UnownedJob(job), to: self) }

        /// Whether work waits here for so long that no more should be begun. What runs here already may go on.
        package var isOverloaded: Bool {
            let oldest = work.monitor.withLock { waiting.first?.since }
            guard let oldest, ContinuousClock.now - oldest > LongWork.mostWait else { return false }
            return LongWork.current !== self
        }
    }

    /// How long the work of a lane may wait before no more is taken for it: beyond that it would be done for clients
    /// that have gone.
    private static let mostWait = Duration.milliseconds(500)

    private let monitor = Monitor()
    private var lanes: [Lane] = []
    /// Those with work that waits; the first one is next.
    private var turns = Queue<Lane>()
    private var waitingCount = 0
    private var idleThreads = 0
    private var threadsToStart: Int

    private init(threads: Int) {
        threadsToStart = threads
        lanes = (0..<256).map { _ in Lane(of: self) }
    }

    /// The lane of the calling thread's work if that is long work, else the client's.
    ///
    /// - Parameter client: any number that others do not have. Which of them share a lane differs between processes.
    package func lane(of client: UInt64) -> Lane {
        if let lane = Self.current { return lane }
        var hasher = Hasher()
        hasher.combine(client)
        return lanes[hasher.finalize() & (lanes.count - 1)]
    }

    private func add(_ job: UnownedJob, to lane: Lane) {
        let needsThread = monitor.withLock {
            if lane.waiting.first == nil { turns.append(lane) }
            lane.waiting.append((job, .now))
            waitingCount += 1
            monitor.signal()
            guard idleThreads < waitingCount, threadsToStart > 0 else { return false }
            threadsToStart -= 1
            return true
        }
        guard needsThread, !DetachedThread.start("long work", isAwaited: false, { self.serve() }) else { return }
        // There may be no other thread.
        let next = monitor.withLock {
            threadsToStart += 1
            return popNext()
        }
        if let next { next.job.runSynchronously(on: next.lane.asUnownedTaskExecutor()) }
    }

    /// The oldest work of the lane whose turn it is. Under the lock.
    private func popNext() -> (job: UnownedJob, lane: Lane)? {
        guard let lane = turns.popFirst(), let (job, _) = lane.waiting.popFirst() else { return nil }
        if lane.waiting.first != nil { turns.append(lane) }
        waitingCount -= 1
        return (job, lane)
    }

    private func serve() {
        ProcessorShare.long.take()
        while true {
            let next = take()
            pthread_setspecific(Self.key, Unmanaged.passUnretained(next.lane).toOpaque())
            next.job.runSynchronously(on: next.lane.asUnownedTaskExecutor())
        }
    }

    private func take() -> (job: UnownedJob, lane: Lane) {
        monitor.withLock {
            idleThreads += 1
            defer { idleThreads -= 1 }
            while true {
                if let next = popNext() { return next }
                monitor.wait()
            }
        }
    }

    /// Of the calling thread.
    private static var current: Lane? {
        pthread_getspecific(key).map { Unmanaged<Lane>.fromOpaque($0).takeUnretainedValue() }
    }

    private static let key = {
        var key = pthread_key_t()
        precondition(pthread_key_create(&key, nil) == 0, "no key for threads")
        return key
    }()
}

/// First in, first out.
private struct Queue<Element> {
    /// The newest last.
    private var arrived: [Element] = []
    /// Older ones, the oldest last.
    private var next: [Element] = []

    var first: Element? { next.last ?? arrived.first }

    mutating func append(_ element: Element) { arrived.append(element) }

    mutating func popFirst() -> Element? {
        if next.isEmpty {
            swap(&next, &arrived)
            next.reverse()
        }
        return next.popLast()
    }
}
