extension Sessions {
    /// The session of a token.
    ///
    /// - Parameters:
    ///   - token: `nil` when the request has none, or one that is malformed.
    ///   - isUse: whether finding the session counts as a use of it; see also ``noteUse(of:)``.
    ///   - isRepeated: asked before the use of a replaced token ends the session: whether the request is the copy of
    ///     one that the session has executed. Then it does not end, and nothing but the response may be given.
    ///   - report: called when the token was replaced so long ago that its use ends the session, once for a session.
    /// - Throws: ``SessionError/unauthenticated`` for every bad token; the store's error when the session is not in
    ///   memory and the store cannot be asked.
    package func authenticate(
        _ token: PresentedToken?, isUse: Bool = true, unless isRepeated: (Session) -> Bool = { _ in false },
        onTheft report: () -> Void = {}
    ) async throws(SessionError) -> Session {
        guard let token, let session = try await load(token.sessionID) else { throw .unauthenticated }
        if try accept(token, of: session, isUse: isUse) || isRepeated(session) { return session }
        // Both the owner and the thief are locked out. If the store cannot be told, this process refuses the session's
        // tokens, and the sweeper tells the store later.
        do {
            if try await dismiss(session, .tokenReused) { noteTheft(report) }
        } catch {
            noteTheft(report)
            session.hold()
            registry.reconsider(token.sessionID, at: environment.clock.now())
        }
        throw .unauthenticated
    }

    private func noteTheft(_ report: () -> Void) {
        stolenCount.wrappingAdd(1, ordering: .relaxed)
        report()
    }

    /// What memory says of a token.
    package enum Finding {
        case found(Session)
        /// Other processes may have changed the session since. The commit of a unit of work shows whether they have,
        /// and counts as the use (``Session/perform(_:by:presenting:once:then:)``); for anything else the store is
        /// asked (``Session/confirm(then:)``), and then the token is shown again (``accept(_:of:isUse:)``).
        case remembered(Session)
        /// Memory is not enough: call ``authenticate(_:isUse:onTheft:)``.
        case elsewhere
    }

    /// The session of a token without waiting, which suffices for nearly every request.
    package func find(_ token: PresentedToken, isUse: Bool = true) throws(SessionError) -> Finding {
        guard let session = registry[token.sessionID] else { return .elsewhere }
        guard environment.isShared else {
            return try accept(token, of: session, isUse: isUse) ? .found(session) : .elsewhere
        }
        let (now, generation) = (environment.clock.now(), environment.generation)
        let isRight = session.state.withLock { state in
            // After a use of it the deadline is later, never earlier.
            state.stage == .open && now < state.deadline(environment.settings) && state.record.token == token.digest
                && state.generation == generation
        }
        return isRight ? .remembered(session) : .elsewhere
    }

    /// Shows a token to the session as it is in memory.
    ///
    /// - Returns: false for a token whose use ends the session, which takes time: call
    ///   ``authenticate(_:isUse:onTheft:)``.
    package func accept(
        _ token: PresentedToken, of session: Session, isUse: Bool = true
    ) throws(SessionError) -> Bool {
        let now = environment.clock.now()
        switch session.present(token.digest, now: now, isUse: isUse) {
        case .accepted(let saveUse):
            if saveUse { registry.noteUse(token.sessionID, at: now) }
            return true
        case .refused: throw .unauthenticated
        // The caller is not told that the session has ended, because that must also hold after a crash.
        case .held: throw .storeUnavailable(reason: Self.heldReason)
        case .stolen: return false
        }
    }

    static let heldReason = "The end of a session could not be stored."

    /// Counts a use of a session that was found without one.
    package func noteUse(of session: Session) {
        let now = environment.clock.now()
        if session.use(now: now) { registry.noteUse(session.id, at: now) }
    }

    /// Issues a new token. The old one works for ``SessionSettings/rotationGrace``; using it after that ends the
    /// session.
    ///
    /// - Parameters:
    ///   - presented: the token of the request. It is checked again: a sign-in may have replaced it while the request
    ///     was on its way, and then it gets no new token.
    ///   - once: the request, if its copies must not be executed again.
    /// - Throws: ``SessionError/unauthenticated`` when `presented` is no longer valid, ``SessionError/tokenReplaced``
    ///   in its grace: of two tokens for one, the client might keep the one that is replaced first.
    package func rotate(
        _ session: Session, presenting presented: PresentedToken? = nil, once: Once<SessionToken>? = nil
    ) async throws -> SessionToken {
        let settings = environment.settings
        let token = SessionToken(for: session.id, random: environment.random)
        let digest = token.digest
        return try await session.transact(once: once) { pending in
            if let presented, presented.digest != pending.base.token {
                throw pending.isInGrace(presented.digest) ? SessionError.tokenReplaced : .unauthenticated
            }
            let givenAt = pending.details.retiredTokens.last?.retiredAt ?? pending.base.createdAt
            pending.details.retiredTokens.append(
                RetiredToken(
                    digest: pending.token, givenAt: givenAt, retiredAt: pending.now, grace: settings.rotationGrace))
            pending.details.forgetOneToken()
            let exchange = pending.details.exchange
            if let exchange, exchange.endsAt <= pending.now { pending.details.exchange = nil }
            pending.token = digest
            return token
        }
    }
}

extension PendingState {
    fileprivate func isInGrace(_ token: TokenDigest) -> Bool {
        details.retiredTokens.contains { $0.digest == token && now < $0.graceEndsAt }
    }
}

extension Sessions {
    /// A session, from memory or from the store; `nil` when there is none or when it has expired and only the store
    /// still has it. Any number of callers ask the store once; other sessions do not wait for that.
    ///
    /// - Parameter isForMoment: whether it is only for a moment, and no other session has to leave memory for it.
    func load(_ id: SessionID, isForMoment: Bool = false) async throws(SessionError) -> Session? {
        if id == SessionID.process { return nil }
        while true {
            switch await withUnsafeContinuation({ registry.claimLoad(id, $0) }) {
            case .resident(let session):
                guard environment.isShared else { return session }
                if let session = try await caughtUp(session) { return session }
                // Another one of its id may have been imported.
                continue
            case .mine(let lastUse): return try await loadForAll(id, lastUse: lastUse, isForMoment)
            // Another process may have changed it since that load began.
            case .loaded where environment.isShared: continue
            case .loaded(let session): return session
            case .failed(let error): throw error
            }
        }
    }

    private func loadForAll(
        _ id: SessionID, lastUse: Int64?, _ isForMoment: Bool
    ) async throws(SessionError) -> Session? {
        let stored: StoredSession?
        let generation = environment.generation
        do {
            stored = try await environment.store.load(id)
        } catch {
            let error = SessionError(error)
            _ = registry.finishLoad(id, .failure(error))
            throw error
        }
        let now = environment.clock.now()
        guard let current = stored?.current(lastUse: lastUse, now: now), !current.record.hasEnded else {
            return registry.finishLoad(id, .success(nil))
        }
        // If the store ends with the process, memory must know when its sessions expire. One that is over may be due.
        let isOver = current.end(environment.settings) <= now && current.record.times.dueAt > now
        if environment.store.outlivesProcess, isOver {
            return registry.finishLoad(id, .success(nil))
        }
        environment.noteMoves(of: current.record)
        let session = Session(current, environment: environment, generation: generation)
        let look = environment.settings.look(before: current.deadline(environment.settings), from: now)
        let found = registry.finishLoad(id, .success(session), deadline: look)
        // Takes back its count of living services.
        if found !== session { session.markEnded() }
        if !isForMoment { registry.makeRoom(near: id, environment) }
        return found
    }

    /// A session that is in memory, as it is in the store; nil when it has ended there.
    nonisolated(nonsending) func caughtUp(_ session: Session) async throws(SessionError) -> Session? {
        if try await session.catchUp() { return session }
        // One of its id may be imported later.
        registry.remove(session.id, session)
        return nil
    }

    /// Other processes create and end sessions, too.
    func countStored() {
        if environment.isShared { registry.setTotal(storedCount) }
    }

    /// Another process that begins may take back a version of a flow that no journey is on at that moment.
    func forgetFlows() {
        if environment.isShared { environment.knownFlows.withLock { $0 = KnownFlows() } }
    }
}
