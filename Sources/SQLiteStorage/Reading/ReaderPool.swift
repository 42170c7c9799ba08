import CSQLite
import Sessions
import Storage
import Threads

/// Threads that read, each with its own connection. They never wait for the writer.
final class ReaderPool: Sendable {
    typealias Job = @Sendable (SessionReader) -> Void
    private let queue = WorkQueue<Job>()

    /// - Parameter open: opens the database for reading; called for each thread.
    init(
        threads: Int, open: @escaping @Sendable () throws(SQLiteError) -> SessionReader
    ) throws {
        for _ in 0..<threads {
            // Made before the thread starts, and used by that thread alone.
            nonisolated(unsafe) let reader = try open()
            let isStarted = DetachedThread.start("store reader") { [queue] in
                while true {
                    let jobs = queue.takeShare()
                    guard !jobs.isEmpty else { return }
                    for job in jobs { job(reader) }
                }
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
}
