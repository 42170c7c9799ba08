extension Sessions {
    /// The result for an imported session.
    enum Arrival: Sendable {
        case new, replaced, expired
        /// A session of its id existed.
        case kept
    }

    /// Imports a session, wholly or not at all.
    ///
    /// - Parameter isTrial: whether to find out the result and change nothing.
    /// - Throws: ``SessionError/tooManySessions``, or the store's error.
    nonisolated(nonsending) func receive(
        _ session: ArchivedSession, _ conflict: SessionImport.Conflict, isTrial: Bool
    ) async throws(SessionError) -> Arrival {
        guard session.stored.end(settings) > environment.clock.now() else { return .expired }
        if isTrial {
            guard let here = try await stored(session.id), !isOver(here) else { return .new }
            return conflict == .skip ? .kept : .replaced
        }
        // It may end just before it is replaced.
        for _ in 0..<settings.maxConflictRetries {
            if try await add(session) { return .new }
            if try await endIfOver(session.id) { continue }
            if conflict == .skip { return .kept }
            if try await replace(with: session) { return .replaced }
        }
        throw .contention
    }

    private nonisolated(nonsending) func stored(_ id: SessionID) async throws(SessionError) -> StoredSession? {
        try await environment.ask { store throws(StoreError) in try await store.load(id) }.map(current)
    }

    private func isOver(_ session: StoredSession) -> Bool {
        session.record.hasEnded || session.end(settings) <= environment.clock.now()
    }

    /// Ends the session of that id if it has expired and is not deleted yet.
    ///
    /// - Returns: whether it did.
    private nonisolated(nonsending) func endIfOver(_ id: SessionID) async throws(SessionError) -> Bool {
        guard let here = try await stored(id), isOver(here) else { return false }
        if let session = registry[id] {
            _ = try await end(session, .expired)
        } else {
            var last = here
            let isEnded = try await environment.ask { _ throws(StoreError) in
                try await environment.end(&last, .expired)
            }
            if isEnded {
                countEnd()
                environment.runEnded(last.record)
            }
        }
        return true
    }

    /// False when a session of its id exists.
    private nonisolated(nonsending) func add(_ session: ArchivedSession) async throws(SessionError) -> Bool {
        guard registry.reserve(limit: settings.maxSessions) else {
            if try await stored(session.id) != nil { return false }
            throw .tooManySessions
        }
        let tasks = environment.tasks(of: session.stored.record)
        do {
            try await environment.store.receive(
                SessionArrival(
                    session: session.stored, replacedRevision: nil, newFlows: session.flows, tasks: tasks))
        } catch .conflict {
            registry.giveBack(1)
            return false
        } catch {
            registry.giveBack(1)
            throw SessionError(error)
        }
        environment.noteMoved(session.id)
        environment.tasks.tell(tasks.map { .begun($0) })
        // If the store ends with the process, memory must know when its sessions expire.
        if !environment.store.outlivesProcess {
            if session.stored.record.hasEnded { environment.remains.add(session.stored) }
            _ = try await load(session.id)
        }
        createdCount.wrappingAdd(1, ordering: .relaxed)
        return true
    }

    /// False when no session of its id exists.
    private nonisolated(nonsending) func replace(with arrival: ArchivedSession) async throws(SessionError) -> Bool {
        guard let session = try await load(arrival.id), try await session.replace(with: arrival) else { return false }
        // It may expire earlier than the one that it replaces.
        registry.reconsider(arrival.id, at: session.stored.deadline(settings))
        return true
    }

    /// Imports the documents of the process, all or none.
    ///
    /// - Parameter isTrial: whether to find out the result and change nothing.
    nonisolated(nonsending) func receive(
        _ archived: ArchivedProcess, _ conflict: SessionImport.Conflict, isTrial: Bool
    ) async throws -> ImportReport.Process {
        let session = try await processDocuments()
        return try await session.transact { pending in
            let areNew = pending.documents.isEmpty
            guard areNew || conflict == .replace else { return .skipped }
            if !isTrial {
                pending.removeAll()
                for document in archived.services {
                    pending.write(pending.catalog[document.service], document.bytes)
                }
            }
            return areNew ? .imported : .replaced
        }
    }

    nonisolated(nonsending) func outcome(
        of session: ArchivedSession, _ conflict: SessionImport.Conflict, isTrial: Bool
    ) async -> Result<Arrival, SessionError> {
        do throws(SessionError) {
            return .success(try await receive(session, conflict, isTrial: isTrial))
        } catch {
            return .failure(error)
        }
    }
}
