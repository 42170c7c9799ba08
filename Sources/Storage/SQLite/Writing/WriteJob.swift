import Sessions

/// Something to be written together with what else waits.
protocol WriteJob: AnyObject, Sendable {
    /// Does it within a transaction. May be asked again, in another transaction, when this one could not be committed.
    func apply(to writer: SessionWriter) throws(SQLiteError)

    /// The transaction is durable, or failed and nothing has happened. Comes once.
    func finish(_ error: SQLiteError?)
}

/// A write that somebody waits for.
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
