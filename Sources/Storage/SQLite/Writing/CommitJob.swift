import Sessions

/// A commit that a request waits for.
///
/// What nearly every write is, and so without what is general in ``Write``: a generic class and a continuation that looks
/// after itself cost two thousand instructions more. That ``finish(_:)`` comes once is ``GroupCommit``'s promise.
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

    func apply(to writer: SessionWriter) throws(SQLiteError) { failure = try writer.commit(commit) }

    func finish(_ error: SQLiteError?) { done(error?.storeError ?? failure) }
}
