extension Session {
    /// What a token is worth.
    enum Verdict {
        /// - saveUse: whether it is time to tell the store of it.
        case accepted(saveUse: Bool)
        case refused
        /// Good or not, nobody gets in until the store knows that the session has ended.
        case held
        /// It was replaced long enough ago that its owner has no more use for it.
        case stolen
    }

    /// Looks at a token; a good one counts as a use of the session.
    func present(_ token: TokenDigest, now: Int64) -> Verdict {
        state.withLock { state in
            // Also before the sweeper comes by.
            guard state.stage == .open, now < state.deadline(environment.settings) else {
                return state.stage == .held ? .held : .refused
            }
            if token != state.record.token {
                guard let retired = state.record.details.retiredTokens.first(where: { $0.digest == token }) else {
                    return .refused
                }
                guard now < retired.graceEndsAt else { return .stolen }
            }
            return .accepted(saveUse: state.use(now: now, environment.settings) && environment.savesUses)
        }
    }

    /// Whether nobody can use it any more.
    func isOver(now: Int64) -> Bool {
        state.withLock { $0.isEnded || now >= $0.deadline(environment.settings) }
    }
}

extension Session.State {
    /// The last use, of which a commit tells the store.
    mutating func takeUse() -> Int64 {
        unsavedUse = 0
        return lastUsedAt
    }

    /// The store did not take the commit: it is told of the next use at once.
    mutating func giveBackUse() { unsavedUse = .max }

    fileprivate mutating func use(now: Int64, _ settings: SessionSettings) -> Bool {
        guard now > lastUsedAt else { return false }
        unsavedUse = UInt32(clamping: Int64(unsavedUse) + now - lastUsedAt)
        lastUsedAt = now
        guard unsavedUse >= settings.touchInterval else { return false }
        unsavedUse = 0
        return true
    }
}
