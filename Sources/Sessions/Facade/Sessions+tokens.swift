extension Sessions {
    /// The session that a token opens, which is a use of it.
    ///
    /// - Parameter token: nil when the request has none, or one that does not look like one.
    /// - Throws: ``SessionError/unauthenticated``, the same for all bad tokens; what the store says when it cannot be
    ///   asked about a session that is not in memory.
    package func authenticate(_ token: PresentedToken?) async throws(SessionError) -> Session {
        guard let token else { throw .unauthenticated }
        if let session = try authenticateResident(token) { return session }
        guard let session = try await load(token.sessionID) else { throw .unauthenticated }
        let now = environment.clock.now()
        switch session.present(token.digest, now: now) {
        case .accepted(let saveUse):
            if saveUse { registry.noteUse(token.sessionID, at: now) }
            return session
        case .refused: throw .unauthenticated
        case .held: throw Self.held
        case .stolen:
            // Its owner and the thief are both out. When the store cannot be told, nobody gets in here at least, and the
            // sweeper tells it later.
            do {
                _ = try await end(session, .tokenReused)
            } catch {
                session.hold()
                registry.reconsider(token.sessionID, at: environment.clock.now())
            }
            throw .unauthenticated
        }
    }

    /// The same without waiting, for what nearly every request is.
    ///
    /// - Returns: nil when more than a look into memory is needed: ask ``authenticate(_:)``.
    package func authenticateResident(_ token: PresentedToken) throws(SessionError) -> Session? {
        guard let session = registry[token.sessionID] else { return nil }
        let now = environment.clock.now()
        switch session.present(token.digest, now: now) {
        case .accepted(let saveUse):
            if saveUse { registry.noteUse(token.sessionID, at: now) }
            return session
        case .refused: throw .unauthenticated
        case .held: throw Self.held
        case .stolen: return nil
        }
    }

    /// Not that it has ended: that is only said when it will be so after a crash as well.
    private static let held = SessionError.storeUnavailable(reason: heldReason)
    static let heldReason = "It could not be told that a session has ended."

    /// A fresh token. The one before still works for ``SessionSettings/rotationGrace``; whoever uses it after that
    /// ends the session.
    ///
    /// - Parameter presented: the token of the request that asks for it. It is looked at once more: while the request
    ///   was on its way somebody may have signed in and made it worthless, and then it earns no fresh one.
    /// - Throws: ``SessionError/unauthenticated`` when `presented` does not open the session any more.
    package func rotate(_ session: Session, presenting presented: PresentedToken? = nil) async throws -> SessionToken {
        let settings = environment.settings
        let token = SessionToken(for: session.id, random: environment.random)
        let digest = token.digest
        try await session.transact { pending in
            if let presented, !pending.isOpened(by: presented.digest) { throw SessionError.unauthenticated }
            let givenAt = pending.details.retiredTokens.last?.retiredAt ?? pending.base.createdAt
            pending.details.retiredTokens.append(
                RetiredToken(
                    digest: pending.token, givenAt: givenAt, retiredAt: pending.now, grace: settings.rotationGrace))
            pending.details.forgetOneToken()
            pending.token = digest
        }
        return token
    }
}

extension PendingState {
    fileprivate func isOpened(by token: TokenDigest) -> Bool {
        token == base.token || details.retiredTokens.contains { $0.digest == token && now < $0.graceEndsAt }
    }
}
