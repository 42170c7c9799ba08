import Synchronization

/// Of all callers that ask for a session that is not in memory, one loads it.
extension SessionRegistry {
    func claimLoad(_ id: SessionID) -> SessionLoad.Claim {
        shards.withLock(place(of: id)) { content in
            if let session = content.sessions[id] { return .resident(session) }
            guard content.loads[id] == nil else { return .others }
            content.loads[id] = SessionLoad()
            return .mine(lastUse: content.unsavedUse(of: id))
        }
    }

    func waitForLoad(_ id: SessionID, _ continuation: CheckedContinuation<SessionLoad.Outcome, Never>) {
        let isUnderWay = shards.withLock(place(of: id)) { content in
            content.loads[id]?.waiting.append(continuation) != nil
        }
        if !isUnderWay { continuation.resume(returning: .missed) }
    }

    /// Adds the loaded session, unless it ended in the meantime, and passes it to all callers that wait.
    ///
    /// - Parameter result: `nil` when the store has none.
    /// - Returns: the session in memory.
    func finishLoad(
        _ id: SessionID, _ result: Result<Session?, SessionError>, deadline: Int64 = 0
    ) -> Session? {
        let (found, waiting, isAdded) = shards.withLock(place(of: id)) { content in
            let load = content.loads.removeValue(forKey: id)
            let waiting = load?.waiting ?? []
            guard load?.isCancelled == false else { return (nil as Session?, waiting, false) }
            if let other = content.sessions[id] { return (other, waiting, false) }
            guard case .success(let session?) = result else { return (nil, waiting, false) }
            content.sessions[id] = session
            content.expiry.insert(id, deadline: deadline)
            return (session, waiting, true)
        }
        if isAdded { residentCount.wrappingAdd(1, ordering: .relaxed) }
        let outcome: SessionLoad.Outcome =
            if case .failure(let error) = result { .failed(error) } else { .loaded(found) }
        for continuation in waiting { continuation.resume(returning: outcome) }
        return found
    }
}

/// A session that is being loaded into memory, and the callers that wait for it.
struct SessionLoad {
    var waiting: [CheckedContinuation<Outcome, Never>] = []
    /// The session ended after the load began, so the loaded state is out of date.
    var isCancelled = false

    /// The result for the callers that wait.
    enum Outcome: Sendable {
        /// `nil` when there is no such session.
        case loaded(Session?)
        case failed(SessionError)
        /// The load was cancelled: look again.
        case missed
    }

    /// What a caller that wants a session must do.
    enum Claim {
        /// Nothing: it is in memory.
        case resident(Session)
        /// Load it, and call ``SessionRegistry/finishLoad(_:_:deadline:)`` in any case.
        ///
        /// - lastUse: a use that the store may not know yet.
        case mine(lastUse: Int64?)
        /// Wait for another caller's load: ``SessionRegistry/waitForLoad(_:_:)``.
        case others
    }
}
