import Sessions

/// Something to be written together with what else waits.
protocol WriteJob: AnyObject, Sendable {
    /// Does it within a transaction. May be asked again, in another transaction, when this one could not be committed.
    func apply(to writer: SessionWriter) throws(SQLiteError)

    /// The transaction is durable, or failed and nothing has happened. Comes once, in the order of the jobs.
    func finish(_ error: SQLiteError?)
}

/// A commit of a session, which nearly every write is: without a generic class and a continuation, which would cost
/// two thousand instructions more.
///
/// `@unchecked Sendable`: `failure` is touched by the writer's thread alone, and nothing else changes.
final class CommitJob: WriteJob, @unchecked Sendable {
    private let commit: SessionCommit
    private let done: @Sendable (StoreError?) -> Void
    private var failure: StoreError?

    init(_ commit: SessionCommit, then done: @escaping @Sendable (StoreError?) -> Void) {
        self.commit = commit
        self.done = done
    }

    func apply(to writer: SessionWriter) throws(SQLiteError) {
        failure = try writer.room.isLow ? .diskIsFull : writer.commit(commit)
    }

    func finish(_ error: SQLiteError?) { done(error?.storeError ?? failure) }
}

/// Any other write, for which a task waits.
///
/// `@unchecked Sendable`: `result` is touched by the writer's thread alone, and nothing else changes.
final class Write<Result: Sendable>: WriteJob, @unchecked Sendable {
    private let body: @Sendable (SessionWriter) throws(SQLiteError) -> Result
    private let continuation: CheckedContinuation<Swift.Result<Result, StoreError>, Never>
    private var result: Result?

    init(
        _ body: @escaping @Sendable (SessionWriter) throws(SQLiteError) -> Result,
        _ continuation: CheckedContinuation<Swift.Result<Result, StoreError>, Never>
    ) {
        self.body = body
        self.continuation = continuation
    }

    func apply(to writer: SessionWriter) throws(SQLiteError) { result = try body(writer) }

    func finish(_ error: SQLiteError?) {
        if let error {
            continuation.resume(returning: .failure(error.storeError))
        } else if let result {
            continuation.resume(returning: .success(result))
        } else {
            continuation.resume(returning: .failure(.unavailable("The store was closed.")))
        }
    }
}
