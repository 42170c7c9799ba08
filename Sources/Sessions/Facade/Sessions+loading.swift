extension Sessions {
    /// A session, from memory or from the store; `nil` when there is none or when it has expired and only the store
    /// still has it. Any number of callers ask the store once; other sessions do not wait for that.
    func load(_ id: SessionID) async throws(SessionError) -> Session? {
        if id == SessionID.process { return nil }
        while true {
            switch registry.claimLoad(id) {
            case .resident(let session):
                guard environment.isShared else { return session }
                if let session = try await caughtUp(session) { return session }
                // Another one of its id may have been imported.
                continue
            case .mine(let lastUse): return try await loadForAll(id, lastUse: lastUse)
            case .others: break
            }
            switch await withCheckedContinuation({ registry.waitForLoad(id, $0) }) {
            // Another process may have changed it since that load began.
            case .loaded where environment.isShared: continue
            case .loaded(let session): return session
            case .failed(let error): throw error
            case .missed: continue
            }
        }
    }

    private func loadForAll(_ id: SessionID, lastUse: Int64?) async throws(SessionError) -> Session? {
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
        guard let current = stored?.current(lastUse: lastUse, now: now) else {
            return registry.finishLoad(id, .success(nil))
        }
        // If the store ends with the process, memory must know when its sessions expire.
        if environment.store.outlivesProcess, current.deadline(environment.settings) <= now {
            return registry.finishLoad(id, .success(nil))
        }
        let session = Session(current, environment: environment, generation: generation)
        let found = registry.finishLoad(id, .success(session), deadline: current.deadline(environment.settings))
        // Takes back its count of living services.
        if found !== session { session.markEnded() }
        registry.makeRoom(near: id, environment)
        return found
    }
}
