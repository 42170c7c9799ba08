/// A session that is being brought into memory, and who else waits for it.
struct SessionLoad {
    var waiting: [CheckedContinuation<Outcome, Never>] = []
    /// The session ended after it began: what it brings is out of date.
    var isCancelled = false

    /// What those who wait are told.
    enum Outcome: Sendable {
        /// Nil when there is no such session, or no longer.
        case loaded(Session?)
        case failed(SessionError)
        /// There is none to wait for any more: look again.
        case missed
    }

    /// What somebody is to do who wants a session.
    enum Claim {
        /// Nothing: there it is.
        case resident(Session)
        /// Load it, and tell ``SessionRegistry/finishLoad(_:_:deadline:)``, whatever comes of it.
        ///
        /// - lastUse: a use of which the store may not know yet.
        case mine(lastUse: Int64?)
        /// Wait for somebody else who does: ``SessionRegistry/waitForLoad(_:_:)``.
        case others
    }
}
