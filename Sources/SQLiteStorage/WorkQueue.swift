import Glibc
import Sessions
import Storage
import Threads

/// Jobs that wait for a thread.
///
/// `@unchecked Sendable`: `jobs`, `lastCount` and `isClosed` are only touched with the monitor's lock held.
final class WorkQueue<Job: Sendable>: @unchecked Sendable {
    private let monitor = Monitor()
    private var jobs: [Job] = []
    /// How many were taken the last time that more were let come.
    private var lastCount = 0
    private var isClosed = false

    var count: Int { monitor.withLock { jobs.count } }

    /// False when the queue is closed, and the job is not in it.
    func append(_ job: Job) -> Bool {
        let isOpen = monitor.withLock {
            if !isClosed { jobs.append(job) }
            return !isClosed
        }
        if isOpen { monitor.signal() }
        return isOpen
    }

    /// Waits for jobs and takes the first ones. Empty when the queue is closed and has no jobs left; nil when none has
    /// come before `end`.
    func take(atMost limit: Int, before end: SuspendingClock.Instant? = nil) -> [Job]? {
        monitor.lock()
        defer { monitor.unlock() }
        while jobs.isEmpty, !isClosed {
            guard let end else {
                monitor.wait()
                continue
            }
            guard monitor.wait(until: Monitor.deadline(after: end - .now)) else { return nil }
        }
        if limit > 1 { letMoreCome() }
        defer { jobs.removeFirst(min(limit, jobs.count)) }
        return Array(jobs.prefix(limit))
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
            monitor.unlock()
            sched_yield()
            monitor.lock()
        }
    }

    /// To wait for smaller groups than this costs more than it saves.
    private static var fewest: Int { 16 }

    /// Refuses jobs from now on. Threads still take the jobs in the queue.
    func close() {
        monitor.withLock { isClosed = true }
        monitor.broadcast()
    }
}

/// Threads that read, each with its own connection. They never wait for the writer.
final class ReaderPool: Sendable {
    typealias Job = @Sendable (SessionReader) -> Void
    private let queue = WorkQueue<Job>()
    /// One for each thread.
    private let ends: [Completion]

    /// - Parameter open: opens the database for reading; called for each thread.
    init(
        threads: Int, open: @escaping @Sendable () throws(SQLiteError) -> SessionReader
    ) throws {
        ends = (0..<threads).map { _ in Completion() }
        for end in ends {
            // Made before the thread starts, and used by that thread alone.
            nonisolated(unsafe) var reader: SessionReader? = try open()
            let isStarted = DetachedThread.start("store reader") { [queue] in
                if let reader { while let job = queue.take(atMost: 1)?.first { job(reader) } }
                // Closes its connection.
                reader = nil
                end.reach()
            }
            guard isStarted else { throw StoreOpeningError.noThread }
        }
    }

    deinit { queue.close() }

    nonisolated(nonsending) func read<Result: Sendable>(
        _ body: @escaping @Sendable (SessionReader) throws(SQLiteError) -> Result
    ) async throws(StoreError) -> Result {
        let outcome = await withCheckedContinuation {
            (continuation: CheckedContinuation<Swift.Result<Result, StoreError>, Never>) in
            let isQueued = queue.append { reader in
                do throws(SQLiteError) {
                    continuation.resume(returning: .success(try body(reader)))
                } catch {
                    continuation.resume(returning: .failure(error.storeError))
                }
            }
            if !isQueued { continuation.resume(returning: .failure(.unavailable("The store was closed."))) }
        }
        return try outcome.get()
    }

    func close() { queue.close() }

    /// Waits, after ``close()``, until all jobs are done and all connections closed.
    func waitForEnd() async { for end in ends { await end.wait() } }
}
