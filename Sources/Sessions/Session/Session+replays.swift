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

    /// Whether a token is the one that opens the session. One that was replaced is not, although it works in its grace:
    /// a client that gets it now uses it after that, which ends the session.
    package func isOwn(_ token: TokenDigest) -> Bool {
        let now = environment.clock.now()
        return state.withLock { state in
            state.stage == .open && now < state.deadline(environment.settings) && token == state.record.token
        }
    }
}

extension PendingState {
    /// - Throws: ``ExecutedBefore`` when the request of that id was executed.
    func checkIsNew(_ id: ShortDigest, in session: Session) throws {
        if let entry = base.replays.entry(of: id, now: now) { throw ExecutedBefore(.session(session, entry)) }
    }
}
