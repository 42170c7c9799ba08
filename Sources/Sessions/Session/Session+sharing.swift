/// A session that other processes change as well (``SessionStore/isShared``).
extension Session {
    /// Takes over what other processes have committed before this is called. It waits for the store once if there is
    /// nothing to take over.
    ///
    /// - Returns: false when the session has ended.
    nonisolated(nonsending) func catchUp() async throws(SessionError) -> Bool {
        let (known, generation, isOver) = state.withLock { ($0.record.revision, $0.generation, $0.isEnded) }
        if isOver { return false }
        let standing = try await standing()
        if let standing, isCurrent(standing, since: known, generation) { return true }
        do {
            // This process may be about to end it. Readers are not counted: a writer waits for what it changes.
            try await takeTurn(isBounded: false)
            defer { endTurn() }
            // Another caller may have loaded it while this one waited for the turn.
            if let standing, hasTaken(standing, since: known, generation) { return true }
            try await reload()
        } catch .ended {
            return false
        }
        return true
    }

    /// Whether what was committed by then has been taken over since.
    ///
    /// - Parameters:
    ///   - known: the revision before the store was asked.
    ///   - generation: that of the session then.
    private func hasTaken(_ standing: SessionStanding, since known: UInt64, _ generation: UInt8) -> Bool {
        state.withLock { state in
            !state.isEnded && (standing.revision > known || state.generation != generation)
                && state.record.revision >= standing.revision && state.generation == environment.generation
        }
    }

    /// The same without waiting, for a caller that fails with ``Unconfirmed`` when there is something to take over, or
    /// the store does not say so.
    package func confirm(then done: @escaping Completion<Void>) {
        let (id, known, generation) = state.withLock { ($0.record.id, $0.record.revision, $0.generation) }
        environment.store.standing(of: id) { [self] found in
            guard case .success(let standing?) = found, isCurrent(standing, since: known, generation) else {
                return done(.failure(Unconfirmed()))
            }
            done(.success(()))
        }
    }

    /// Whether there is nothing to take over but when the session was last used.
    ///
    /// - Parameter known: its revision before the store was asked. What this process has committed since is newer.
    private func isCurrent(_ standing: SessionStanding, since known: UInt64, _ generation: UInt8) -> Bool {
        let now = environment.clock.now()
        return state.withLock { state in
            state.take(standing, now: now)
            return !state.isEnded && (standing.revision == known || standing.revision == state.record.revision)
        } && generation == environment.generation
    }

    /// How the session is in the store, and takes over when it was last used.
    nonisolated(nonsending) func standing() async throws(SessionError) -> SessionStanding? {
        let standing = try await environment.ask { store throws(StoreError) in try await store.standing(of: id) }
        if let standing { state.withLock { $0.take(standing, now: environment.clock.now()) } }
        return standing
    }

    /// The store has no such session any more.
    func endElsewhere() {
        let isExpired = state.withLock { $0.deadline(environment.settings) <= environment.clock.now() }
        guard markEnded() else { return }
        environment.forget(self)
        tellWatchers(of: isExpired ? .expired : .elsewhere)
    }

    /// Takes over a state that another process committed. The caller has the turn.
    nonisolated(nonsending) func reload() async throws(SessionError) {
        let generation = environment.generation
        let stored = try await environment.ask { store throws(StoreError) in try await store.load(id) }
        guard let stored, !stored.record.hasEnded else {
            endElsewhere()
            throw .ended
        }
        take(stored, generation)
    }

    /// Shows a state that was not made here.
    ///
    /// - Parameters:
    ///   - generation: see ``SessionEnvironment/generation``, before it was read.
    ///   - isReplacement: whether nothing of the old state lives on.
    func take(_ stored: StoredSession, _ generation: UInt8, isReplacement: Bool = false) {
        let record = stored.record
        let (former, isWatched) = state.withLock { state -> (PendingState?, Bool) in
            // The store may have lost a commit and given its revision to another one.
            let isKnown = record.revision == state.record.revision && state.generation == generation
            state.generation = generation
            guard !isKnown, !state.isEnded else { return (nil, false) }
            let former = state.pending(environment.definitions, now: environment.clock.now())
            state.take(stored.standing, now: former.now)
            state.count(-1, environment)
            state.record = record
            state.unwritten.forgetWritten(in: record, former.catalog, now: former.now)
            if isReplacement { state.unwritten = [] }
            state.count(1, environment)
            return (former, state.isWatched)
        }
        guard var pending = former else { return }
        if record.revision == pending.base.revision {
            if record.isSame(as: pending.base) { return }
            letGoOfJourneys()
        }
        guard isWatched else { return }
        // Another session has come in its place, or the store has lost commits.
        guard record.revision > pending.base.revision else { return breakWatch() }
        pending.take(record.services)
        tellWatchers(pending.sessionChanges(environment), record)
    }

    /// Has the store say when another process changes the session, as long as it is watched.
    func follow(_ id: SessionID) {
        let follower = SessionFollower(self)
        environment.store.follow(id) { follower.look() }
    }
}

extension Session.State {
    fileprivate mutating func take(_ standing: SessionStanding, now: Int64) {
        lastUsedAt = max(lastUsedAt, min(standing.lastUsedAt, now))
    }
}

/// Thrown in place of the result of a unit of work that has no commit, when the session was only remembered
/// (``Sessions/Finding``): other processes may have changed it. Nothing was done, so the caller looks the
/// session up and begins again.
package struct Unconfirmed: Error {
    package init() {}
}
