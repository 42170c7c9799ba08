/// A session that is being loaded into memory, and the callers that wait for it.
struct SessionLoad {
    var waiting: [CheckedContinuation<Outcome, Never>] = []
    /// The session ended after the load began, so the loaded state is out of date.
    var isCancelled = false

    /// The result for the callers that wait.
    enum Outcome: Sendable {
        /// `nil` when there is no such session.
        case loaded(Session?)
        case failed(SessionError)
        /// The load was cancelled: look again.
        case missed
    }

    /// What a caller that wants a session must do.
    enum Claim {
        /// Nothing: it is in memory.
        case resident(Session)
        /// Load it, and call ``SessionRegistry/finishLoad(_:_:deadline:)`` in any case.
        ///
        /// - lastUse: a use that the store may not know yet.
        case mine(lastUse: Int64?)
        /// Wait for another caller's load: ``SessionRegistry/waitForLoad(_:_:)``.
        case others
    }
}
