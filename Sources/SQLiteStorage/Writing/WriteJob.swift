import Sessions

/// Something to be written together with what else waits.
protocol WriteJob: AnyObject, Sendable {
    /// Does it within a transaction. May be asked again, in another transaction, when this one could not be committed.
    func apply(to writer: SessionWriter) throws(SQLiteError)

    /// The transaction is durable, or failed and nothing has happened. Comes once, in the order of the jobs.
    func finish(_ error: SQLiteError?)
}

/// A write, and what is called when it is durable or has failed.
///
/// `@unchecked Sendable`: `result` is touched by the writer's thread alone, and nothing else changes.
final class Write<Value: Sendable>: WriteJob, @unchecked Sendable {
    private let body: @Sendable (SessionWriter) throws(SQLiteError) -> Value
    private let done: @Sendable (Result<Value, StoreError>) -> Void
    private var result: Value?

    init(
        _ body: @escaping @Sendable (SessionWriter) throws(SQLiteError) -> Value,
        then done: @escaping @Sendable (Result<Value, StoreError>) -> Void
    ) {
        self.body = body
        self.done = done
    }

    func apply(to writer: SessionWriter) throws(SQLiteError) { result = try body(writer) }

    func finish(_ error: SQLiteError?) {
        if let error {
            done(.failure(error.storeError))
        } else if let result {
            done(.success(result))
        } else {
            done(.failure(.unavailable("The store was closed.")))
        }
    }
}
