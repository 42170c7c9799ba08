import JSONDocument
import Navigation

extension Session {
    /// Attaches the user whom the result of a task signs in, on the state before the task's step.
    ///
    /// The client that sent the event which led to the task fetches the new token. Without a challenge only the back
    /// end can hand it over, except to a browser that keeps its token in a cookie.
    ///
    /// - Parameter canHandOver: whether the response to the back end can have the new token.
    /// - Throws: ``TaskError/over``, ``SessionError/inputInvalid(_:)`` when nobody could get the new token.
    func attach(
        _ signIn: SignIn, endingTask id: TaskID, canHandOver: Bool, in work: inout JourneyWork
    ) throws {
        guard let task = work.kept[id.journey]?.journey.task, task.number == id.number else { throw TaskError.over }
        var pending = work.pending
        guard !task.hasMoved else {
            throw SessionError.inputInvalid([
                JSONViolation(pointer: "/sign_in", detail: "The task came from another session than this one.")
            ])
        }
        let proof = SignInProof(task.challenge)
        let isByCookie = proof.isByCookie && pending.details.mode == .cookie && environment.settings.cookiesAreProof
        let isFetched = proof.challenge != nil || isByCookie
        guard isFetched || canHandOver else {
            throw SessionError.inputInvalid([
                JSONViolation(
                    pointer: "/sign_in",
                    detail: "The event that led to the task had no challenge, so nobody could get the new token.")
            ])
        }
        let exchange = isFetched ? pending.exchange(proof.challenge, isByCookie: isByCookie, environment.settings) : nil
        try attach(signIn, leaving: exchange, keeping: id.journey, on: &pending)
        try work.begin(on: pending)
    }

    /// What the response says.
    func signedIn(_ signIn: SignIn, after pending: PendingState) -> SignedIn {
        let stored = StoredSession(record: pending.commit().record, lastUsedAt: state.withLock(\.lastUsedAt))
        return SignedIn(
            session: SessionSummary(stored, environment),
            token: pending.details.exchange == nil ? signIn.token : nil)
    }

    /// Whether a token has ended by a sign-in and can be exchanged with that proof, or was a moment ago.
    ///
    /// - Returns: nil when it is no such token; false for a wrong proof.
    func canExchange(_ token: TokenDigest, _ proof: ExchangeProof?) -> Bool? {
        let now = environment.clock.now()
        return state.withLock { state in
            guard state.stage == .open, now < state.deadline(environment.settings) else { return nil }
            let details = state.record.details
            guard let exchange = details.exchange, exchange.isOf(token, now: now) else { return nil }
            return exchange.isProved(by: proof, in: details.mode)
        }
    }
}

extension PendingState {
    /// What a sign-in leaves of the token: of the one before, if nobody has fetched the token of an earlier sign-in.
    fileprivate func exchange(
        _ challenge: CodeChallenge?, isByCookie: Bool, _ settings: SessionSettings
    ) -> TokenExchange {
        let earlier = details.exchange.flatMap { $0.isDone || $0.endsAt <= now ? nil : $0.former }
        return TokenExchange(
            former: earlier ?? token, challenge: challenge, isByCookie: isByCookie,
            endsAt: now + settings.rotationGrace)
    }
}
