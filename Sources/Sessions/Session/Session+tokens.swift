extension Session {
    /// The result of checking a token.
    enum Verdict {
        /// - saveUse: whether the store must be told of the use.
        case accepted(saveUse: Bool)
        case refused
        /// No token is accepted until the store knows that the session has ended.
        case held
        /// It was replaced so long ago that its owner no longer uses it.
        case stolen
    }

    /// Checks a token.
    ///
    /// - Parameter isUse: whether a valid one counts as a use of the session.
    func present(_ token: TokenDigest, now: Int64, isUse: Bool) -> Verdict {
        let settings = environment.settings
        let (verdict, extendedTo) = state.withLock { state -> (Verdict, Int64?) in
            // Even before the sweeper has ended the session.
            guard state.stage == .open, now < state.deadline(settings) else {
                return (state.stage == .held ? .held : .refused, nil)
            }
            if token != state.record.token {
                guard let retired = state.record.details.retiredTokens.first(where: { $0.digest == token }) else {
                    return (.refused, nil)
                }
                guard now < retired.graceEndsAt else { return (.stolen, nil) }
            }
            let isFirst = state.lastUsedAt == state.record.createdAt
            state.isUsed = true
            guard isUse else { return (.accepted(saveUse: false), nil) }
            // Another process must not take it for one that nobody uses.
            let saveUse = (state.use(now: now, settings) && environment.savesUses) || (isFirst && environment.isShared)
            return (.accepted(saveUse: saveUse), state.isWatched ? state.deadline(settings) : nil)
        }
        if let extendedTo { tellWatchersOfUse(at: now, idleExpiresAt: extendedTo) }
        return verdict
    }

    /// Counts a use, unless the session is over.
    ///
    /// - Parameter isSaved: whether the store knows of it.
    /// - Returns: whether the store must be told of it.
    func use(now: Int64, isSaved: Bool = false) -> Bool {
        let settings = environment.settings
        let (saveUse, extendedTo) = state.withLock { state -> (Bool, Int64?) in
            guard state.stage == .open, now < state.deadline(settings) else { return (false, nil) }
            state.isUsed = true
            let saveUse = state.use(now: now, settings, isSaved: isSaved) && environment.savesUses
            return (saveUse, state.isWatched ? state.deadline(settings) : nil)
        }
        if let extendedTo { tellWatchersOfUse(at: now, idleExpiresAt: extendedTo) }
        return saveUse
    }

    /// Counts the use that a unit of work is, when it has shown that the caller may use the session.
    func countUse(by work: QueuedWork) {
        // The first run of a unit that changes nothing shows nothing.
        guard let token = work.token, work.result != nil || work.retries > 0,
            token == state.withLock(\.record.token)
        else { return }
        let now = work.result?.pending.now ?? environment.clock.now()
        if use(now: now, isSaved: work.result?.record != nil) { environment.noteUse(of: self, at: now) }
    }

    /// Whether it is gone: its tokens open nothing any more, and no work keeps it.
    func isOver(now: Int64) -> Bool {
        state.withLock { $0.isEnded || now >= $0.end(environment.settings) }
    }

    /// Whether it can be used with a token.
    func isUsable(now: Int64) -> Bool {
        state.withLock {
            $0.stage == .open && $0.record.token != .ofNobody && now < $0.deadline(environment.settings)
        }
    }
}

extension Session.State {
    /// The last use, which a commit reports to the store.
    mutating func takeUse() -> Int64 {
        unsavedUse = 0
        return lastUsedAt
    }

    /// The store refused the commit, so the next use is reported at once.
    mutating func giveBackUse() { unsavedUse = .max }

    fileprivate mutating func use(now: Int64, _ settings: SessionSettings, isSaved: Bool = false) -> Bool {
        guard now > lastUsedAt else { return false }
        if !isSaved { unsavedUse = UInt32(clamping: Int64(unsavedUse) + now - lastUsedAt) }
        lastUsedAt = now
        guard unsavedUse >= settings.touchInterval else { return false }
        unsavedUse = 0
        return true
    }
}
