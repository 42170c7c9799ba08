import Synchronization

/// Of all callers that ask for a session that is not in memory, one loads it.
extension SessionRegistry {
    /// Tells the caller what to do: at once, or when another caller's load has ended.
    func claimLoad(_ id: SessionID, _ caller: UnsafeContinuation<SessionLoad.Outcome, Never>) {
        let outcome = shards.withLock(place(of: id)) { content -> SessionLoad.Outcome? in
            if let session = content.sessions[id] { return .resident(session) }
            if content.loads[id]?.waiting.append(caller) != nil { return nil }
            content.loads[id] = SessionLoad()
            return .mine(lastUse: content.unsavedUse(of: id))
        }
        if let outcome { caller.resume(returning: outcome) }
    }

    /// Adds the loaded session, unless it ended in the meantime, and passes it to all callers that wait.
    ///
    /// - Parameter result: `nil` when the store has none.
    /// - Returns: the session in memory.
    func finishLoad(
        _ id: SessionID, _ result: Result<Session?, SessionError>, deadline: Int64 = 0
    ) -> Session? {
        let (found, waiting) = shards.withLock(place(of: id)) { content in
            let load = content.loads.removeValue(forKey: id)
            let waiting = load?.waiting ?? []
            guard load?.isCancelled == false else { return (nil as Session?, waiting) }
            if let other = content.sessions[id] { return (other, waiting) }
            guard case .success(let session?) = result else { return (nil, waiting) }
            content.sessions[id] = session
            content.expiry.insert(id, deadline: deadline)
            return (session, waiting)
        }
        let outcome: SessionLoad.Outcome =
            if case .failure(let error) = result { .failed(error) } else { .loaded(found) }
        for continuation in waiting { continuation.resume(returning: outcome) }
        return found
    }
}

/// A session that is being loaded into memory, and the callers that wait for it.
struct SessionLoad {
    var waiting: [UnsafeContinuation<Outcome, Never>] = []
    /// The session ended after the load began, so the loaded state is out of date.
    var isCancelled = false

    /// What a caller that wants a session is told.
    enum Outcome: Sendable {
        /// It is in memory.
        case resident(Session)
        /// The caller has to load it, and to call ``SessionRegistry/finishLoad(_:_:deadline:)`` in any case.
        ///
        /// - lastUse: a use that the store may not know yet.
        case mine(lastUse: Int64?)
        /// Another caller has loaded it; `nil` when there is no such session.
        case loaded(Session?)
        case failed(SessionError)
    }
}
