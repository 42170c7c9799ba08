extension Session {
    /// What the session knows of the request of that id; `nil` when it was not executed, as far as is committed.
    package func replay(of id: ShortDigest) -> ReplayEntry? {
        let now = environment.clock.now()
        return state.withLock { $0.record.replays.entry(of: id, now: now) }
    }

    /// All that it knows.
    package var replays: [ReplayEntry] { state.withLock(\.record.replays) }

    /// Keeps the response to a request that has changed nothing in the session: in a commit of its own.
    ///
    /// - Throws: ``ExecutedBefore`` when a copy of the request was executed meanwhile, ``SessionError``.
    nonisolated(nonsending) package func keep(_ replay: Replay) async throws {
        try await transact(once: Once(id: replay.entry.id) { _ in replay }) { _ in }
    }

    /// The sealed response that the session keeps; `nil` when it is there no more.
    nonisolated(nonsending) package func response(_ id: ShortDigest) async throws(SessionError) -> [UInt8]? {
        try await environment.ask { store throws(StoreError) in try await store.replays.response(id, of: self.id) }
    }

    /// Whether a token opens the session: its own, or one that was replaced and is in its grace.
    package func isOpened(by token: TokenDigest) -> Bool {
        let now = environment.clock.now()
        return state.withLock { state in
            guard state.stage == .open, now < state.deadline(environment.settings) else { return false }
            return token == state.record.token
                || state.record.details.retiredTokens.contains { $0.digest == token && now < $0.graceEndsAt }
        }
    }
}

extension PendingState {
    /// - Throws: ``ExecutedBefore`` when the request of that id was executed.
    func checkIsNew(_ id: ShortDigest, in session: Session) throws {
        if let entry = base.replays.entry(of: id, now: now) { throw ExecutedBefore(.session(session, entry)) }
    }
}
