extension Session {
    /// Raised by every commit: what was made of the state at one revision holds as long as that is the revision.
    package var revision: UInt64 { state.withLock { $0.record.revision } }

    /// Whether what was shown at that revision is what would be shown now. Costs next to nothing.
    ///
    /// - Parameter dueAt: ``ShownJourney/dueAt``.
    /// - Returns: false also when the session has ended.
    package func stillHolds(revision: UInt64, dueAt: Int64?) -> Bool {
        let isCurrent = state.withLock { !$0.isEnded && $0.record.revision == revision }
        guard isCurrent, let dueAt else { return isCurrent }
        return environment.clock.now() < dueAt
    }
}
