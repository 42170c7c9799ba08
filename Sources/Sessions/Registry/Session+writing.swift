extension Session {
    /// Makes the next state and commits it, all or nothing.
    ///
    /// Units of work of one session take turns, so that they do not make each other fail; a session that others do
    /// not write to never waits. Who shares the store with another process can still lose against that one: then
    /// `body` runs again on the newer state.
    ///
    /// - Parameter body: changes the copy it is given and nothing else. When it throws, nothing has happened.
    nonisolated(nonsending) func transact<Result>(_ body: (inout PendingState) throws -> Result) async throws -> Result
    {
        try await takeTurn()
        defer { endTurn() }
        var retries = 0
        while true {
            let attempt = try attempt(body)
            #if PLANTED_BUGS
                if PlantedBug.uncommittedShown.isActive { publish(attempt) }
            #endif
            if let commit = attempt.commit {
                do {
                    try await environment.store.commit(commit)
                } catch .conflict where retries < environment.settings.maxConflictRetries {
                    retries += 1
                    try await reload()
                    continue
                } catch {
                    throw failure(error)
                }
            }
            publish(attempt)
            return attempt.result
        }
    }

    /// The same without waiting, for what nearly every write is.
    ///
    /// - Parameter later: asked when the store has to be waited for and is one that calls back, a
    ///   ``CallingSessionStore``; gives nil who does not want that.
    /// - Returns: nil when `later` has given something. Otherwise when it has to be waited for: for the store, for another writer,
    ///   or because another process was faster. Then nothing has happened: ask ``transact(_:)``.
    func transactAtOnce<Result: Sendable>(
        orLater later: () -> LateEnd<Result>? = { nil }, _ body: (inout PendingState) throws -> Result
    ) throws -> Result? {
        guard environment.writesAtOnce, try takeTurnIfFree() else { return nil }
        var isLate = false
        defer { if !isLate { endTurn() } }
        let attempt = try attempt(body)
        guard let commit = attempt.commit else {
            publish(attempt)
            return attempt.result
        }
        if let prompt = environment.promptStore {
            do throws(StoreError) {
                try prompt.commitAtOnce(commit)
            } catch {
                return try conclude(attempt, error)
            }
            return try conclude(attempt, nil)
        }
        guard let store = environment.callingStore, let tell = later() else { return nil }
        #if PLANTED_BUGS
            if PlantedBug.uncommittedShown.isActive { publish(attempt) }
        #endif
        isLate = true
        finishLater(attempt, commit, in: store, telling: tell)
        return nil
    }

    /// Apart from ``transactAtOnce(orLater:_:)``: what a closure keeps takes memory of its own, also where there is none.
    private func finishLater<Result: Sendable>(
        _ attempt: consuming Attempt<Result>, _ commit: SessionCommit, in store: any CallingSessionStore,
        telling tell: @escaping LateEnd<Result>
    ) {
        let attempt = attempt
        store.commit(commit) { error in
            tell { [self] in
                defer { endTurn() }
                return try conclude(attempt, error)
            }
        }
    }

    /// Who is told that the store has done its part: on a thread of the store's, with what brings the unit of work to its
    /// end, shows it to others and gives its result. That has to be called, once, on whatever thread; until then nobody
    /// else can write to the session. Nil from it: another process was faster, and nothing has happened.
    package typealias LateEnd<Result> = @Sendable (_ end: @escaping @Sendable () throws -> Result?) -> Void

    /// What the store says of an attempt: nil when another process was faster.
    private func conclude<Result>(_ attempt: borrowing Attempt<Result>, _ error: StoreError?) throws -> Result? {
        switch error {
        case nil:
            publish(attempt)
            return attempt.result
        case .conflict: return nil
        case let error?: throw failure(error)
        }
    }

    /// A unit of work that is done on a copy, and not yet committed.
    fileprivate struct Attempt<Result>: ~Copyable {
        let result: Result
        /// Nil when there is nothing for the store.
        let commit: SessionCommit?
        let pending: PendingState
    }

    private func attempt<Result>(_ body: (inout PendingState) throws -> Result) throws -> Attempt<Result> {
        var pending = try pendingState()
        let result = try body(&pending)
        guard pending.isRecordChanged else { return Attempt(result: result, commit: nil, pending: consume pending) }
        var commit = pending.commit()
        commit.newFlows = environment.newFlows(in: commit, pending)
        return Attempt(result: result, commit: commit, pending: consume pending)
    }

    /// What a commit that the store refused means for the session.
    private func failure(_ error: StoreError) -> SessionError {
        if case .gone = error { markEnded() }
        return SessionError(error)
    }

    /// A copy to work on.
    func pendingState() throws(SessionError) -> PendingState {
        let now = environment.clock.now()
        return try state.withLock { state throws(SessionError) in
            guard !state.isEnded else { throw .ended }
            return PendingState(
                base: state.record, unwritten: state.unwritten, catalog: environment.catalog, now: now,
                memory: state.memory)
        }
    }

    /// Shows to others what is committed now.
    private func publish<Result>(_ attempt: borrowing Attempt<Result>) {
        let record = attempt.commit?.record
        if let flows = attempt.commit?.newFlows, !flows.isEmpty { environment.knowFlows(flows) }
        adopt(attempt.pending, record)
        guard let record, !environment.observers.isEmpty else { return }
        environment.notify(record.id, attempt.pending.sessionChanges, revision: record.revision)
    }

    private func adopt(_ pending: borrowing PendingState, _ record: SessionRecord?) {
        var isFirstMemory = false
        state.withLock { state in
            if let memory = pending.newMemory, !state.isEnded {
                isFirstMemory = state.memory == nil
                state.memory = memory
            }
            if pending.journeysBegun != 0, !state.isEnded {
                environment.journeyCount.wrappingAdd(pending.journeysBegun, ordering: .relaxed)
            }
            if let record, state.unwritten.isEmpty, pending.changes.allSatisfy({ $0.kind == .written }),
                record.services.count == state.record.services.count
            {
                // What nearly every write is. The counters are shared by all threads and best left alone.
                state.record = record
                return
            }
            if !state.isEnded { state.countLive(-1, environment.catalog) }
            if let record { state.record = record }
            state.forgetWritten(environment.catalog, now: pending.now)
            // Somebody may have asked for an instance in the meantime: only what this unit of work did is applied.
            for change in pending.changes where change.kind == .removed {
                state.unwritten.removeAll { $0.service == change.service && $0.birth <= change.birth }
            }
            for instance in pending.instances
            where instance.document == nil && !state.unwritten.contains(where: { $0.service == instance.service }) {
                state.unwritten.append(
                    UnwrittenInstance(
                        service: instance.service, birth: instance.birth, createdAt: instance.createdAt))
            }
            if !state.isEnded { state.countLive(1, environment.catalog) }
        }
        if isFirstMemory { environment.remembered.add(self, pending.base.id) }
    }

    /// Takes over what somebody else committed.
    nonisolated(nonsending) private func reload() async throws(SessionError) {
        let stored: StoredSession?
        do {
            stored = try await environment.store.load(id)
        } catch {
            throw SessionError(error)
        }
        guard let stored else {
            markEnded()
            throw .ended
        }
        let former = state.withLock { state -> SessionRecord? in
            guard stored.record.revision > state.record.revision else { return nil }
            let former = state.record
            if !state.isEnded { state.countLive(-1, environment.catalog) }
            state.record = stored.record
            state.forgetWritten(environment.catalog, now: environment.clock.now())
            if !state.isEnded { state.countLive(1, environment.catalog) }
            return state.isEnded ? nil : former
        }
        guard let former else { return }
        environment.countJourneys(of: former, -1)
        environment.countJourneys(of: stored.record, 1)
    }
}

extension Session.State {
    /// Drops unwritten instances that were written, or whose lifetime is over.
    fileprivate mutating func forgetWritten(_ catalog: ServiceCatalog, now: Int64) {
        guard !unwritten.isEmpty else { return }
        unwritten.removeAll { [record] instance in
            let service = catalog.services[Int(instance.service)]
            if service.isOver(createdAt: instance.createdAt, now: now) { return true }
            // What was written before it and is over is not it.
            return record.document(of: instance.service).map { !service.isOver(createdAt: $0.createdAt, now: now) }
                ?? false
        }
        // An empty array that grew keeps its room, a million times.
        if unwritten.isEmpty { unwritten = [] }
    }
}

extension Session.Attempt: Sendable where Result: Sendable {}
