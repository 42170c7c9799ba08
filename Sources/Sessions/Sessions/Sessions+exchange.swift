/// After a sign-in from a flow the client that sent the credentials fetches the session's new token. The old one opens
/// nothing else, and presenting it is no sign of theft: the client's own requests come with it until it knows.
extension Sessions {
    /// The session of a token that a sign-in has ended, for a caller that proves to be the one who had it.
    ///
    /// - Parameter report: called for a wrong proof. The right one still counts: a client with the token alone must not
    ///   be able to lock the owner out, and nobody guesses 256 bits.
    /// - Throws: ``SessionError/unauthenticated`` for anything else; the store's error.
    package func session(
        ofEnded token: PresentedToken, _ proof: ExchangeProof?, onWrongProof report: () -> Void = {}
    ) async throws(SessionError) -> Session {
        guard let session = try await load(token.sessionID), let isRight = session.canExchange(token.digest, proof)
        else { throw .unauthenticated }
        guard isRight else {
            if proof != nil { report() }
            throw .unauthenticated
        }
        return session
    }

    /// Exchanges a token that a sign-in has ended for the session's new one: once, within
    /// ``SessionSettings/rotationGrace`` after the sign-in.
    ///
    /// - Parameter once: the request. Its copies get the same response.
    /// - Throws: ``SessionError/unauthenticated``.
    package func exchange(
        _ former: PresentedToken, _ proof: ExchangeProof, of session: Session, once: Once<SessionToken>? = nil
    ) async throws -> SessionToken {
        let token = SessionToken(for: session.id, random: environment.random)
        let fresh = try await session.transact(once: once) { pending in
            guard let exchange = pending.details.exchange, !exchange.isDone,
                exchange.isOf(former.digest, now: pending.now),
                exchange.isProved(by: proof, in: pending.details.mode)
            else { throw SessionError.unauthenticated }
            pending.details.exchange = exchange.done
            pending.token = token.digest
            return token
        }
        noteUse(of: session)
        return fresh
    }
}
