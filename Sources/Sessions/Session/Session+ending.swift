extension Session {
    /// Marks the session ended: no token is accepted any more. Call it after the store knows, because a caller who
    /// learns of the end must find it so after a crash as well.
    ///
    /// - Returns: whether the session had not ended before.
    @discardableResult
    func markEnded() -> Bool {
        let last = state.withLock { state -> Last? in
            state.isEnded ? nil : state.end(environment)
        }
        guard let last else { return false }
        settle(last)
        return true
    }

    /// The state of a session that may have expired.
    enum Expiry {
        /// It has not expired.
        case open
        /// It must end for another reason (``hold()``).
        case held
        /// It has expired, and stays for its work until that time.
        case kept(until: Int64)
        /// It has ended just now.
        case expired
        /// It had ended before.
        case ended
    }

    /// Marks the session ended if it has expired and has no work. Those that watch it are told that it has expired.
    func expire(now: Int64) -> Expiry {
        let settings = environment.settings
        let (expiry, last, isKeptNow) = state.withLock { state -> (Expiry, Last?, isKeptNow: Bool) in
            switch state.stage {
            case .ended: return (.ended, nil, false)
            case .held: return (.held, nil, false)
            // Tokens are refused by the time alone, whatever the store contains, now and after a crash.
            case .open where now < state.deadline(settings): return (.open, nil, false)
            case .open where now < state.end(settings):
                defer { state.isKept = true }
                return (.kept(until: state.end(settings)), nil, !state.isKept)
            case .open: return (.expired, state.end(environment), false)
            }
        }
        if let last { settle(last) }
        if isKeptNow {
            environment.keptCount.wrappingAdd(1, ordering: .relaxed)
            tellWatchers(of: .expired)
        }
        return expiry
    }

    /// A session's state when it ended.
    fileprivate typealias Last = (record: SessionRecord, memory: JourneyMemory?)

    private func settle(_ last: Last) {
        if last.memory != nil { environment.remembered.remove(self, last.record.id) }
    }

    /// Refuses all tokens although the store could not be told that the session must end.
    func hold() {
        state.withLock { state in
            if state.stage == .open { state.stage = .held }
        }
    }
}

extension Session.State {
    fileprivate mutating func end(_ environment: SessionEnvironment) -> Session.Last {
        stage = .ended
        if isKept { environment.keptCount.wrappingSubtract(1, ordering: .relaxed) }
        count(-1, environment)
        defer { memory = nil }
        return (record, memory)
    }

    /// Counts what is in memory: every living instance, and the bytes.
    func count(_ difference: Int, _ environment: SessionEnvironment) {
        countLive(difference, environment.definitions.catalog)
        environment.countBytes(difference * (record.writtenBytes + Session.footprint))
    }

    /// Counts every living instance once, written or not.
    func countLive(_ difference: Int, _ catalog: ServiceCatalog) {
        for document in record.services { catalog[document.service].countLive(difference) }
        for instance in unwritten where record.document(of: instance.service) == nil {
            catalog[instance.service].countLive(difference)
        }
    }
}
