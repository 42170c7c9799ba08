extension Sessions {
    /// A session, from memory or from the store; nil when there is none, or when its time is over and only the store still
    /// has it. However many ask at once, the store is asked
    /// once; other sessions do not wait for that.
    func load(_ id: SessionID) async throws(SessionError) -> Session? {
        while true {
            switch registry.claimLoad(id) {
            case .resident(let session): return session
            case .mine(let lastUse): return try await loadForAll(id, lastUse: lastUse)
            case .others: break
            }
            switch await withCheckedContinuation({ registry.waitForLoad(id, $0) }) {
            case .loaded(let session): return session
            case .failed(let error): throw error
            case .missed: continue
            }
        }
    }

    private func loadForAll(_ id: SessionID, lastUse: Int64?) async throws(SessionError) -> Session? {
        let stored: StoredSession?
        do {
            stored = try await environment.store.load(id)
        } catch {
            let error = SessionError(error)
            _ = registry.finishLoad(id, .failure(error))
            throw error
        }
        let now = environment.clock.now()
        guard let current = stored?.current(lastUse: lastUse, now: now) else {
            return registry.finishLoad(id, .success(nil))
        }
        // A store that ends with the process leaves it to memory to know when its sessions are over.
        if environment.store.outlivesProcess, current.deadline(environment.settings) <= now {
            return registry.finishLoad(id, .success(nil))
        }
        let session = Session(current, environment: environment)
        let found = registry.finishLoad(id, .success(session), deadline: current.deadline(environment.settings))
        // Takes what it counts of live services back.
        if found !== session { session.markEnded() }
        makeRoom(near: id)
        return found
    }

    /// Lets sessions leave memory if one that has come is too many.
    func makeRoom(near id: SessionID) {
        for session in registry.makeRoom(near: id, settings: environment.settings) {
            // Nobody has it. What it counts of live services and journeys is taken back.
            session.markEnded()
        }
    }
}
