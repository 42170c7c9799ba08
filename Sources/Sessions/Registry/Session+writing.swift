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
        try await beginWriting()
        defer { endWriting() }
        var retries = 0
        while true {
            var pending = try pendingState()
            let result = try body(&pending)
            guard pending.isRecordChanged else {
                adopt(pending, nil)
                return result
            }
            let commit = pending.commit()
            do {
                try await environment.store.commit(commit)
            } catch .conflict where retries < environment.settings.maxConflictRetries {
                retries += 1
                try await reload()
                continue
            } catch {
                if case .gone = error { markEnded() }
                throw SessionError(error)
            }
            adopt(pending, commit.record)
            if !environment.observers.isEmpty {
                environment.notify(commit.record.id, pending.sessionChanges, revision: commit.record.revision)
            }
            return result
        }
    }

    /// Marks it ended; from now on nobody gets in, and what is being committed is the last.
    ///
    /// - Returns: whether it was not ended before.
    @discardableResult
    func markEnded() -> Bool {
        state.withLock { state in
            guard !state.isEnded else { return false }
            state.isEnded = true
            state.countLive(-1, environment.catalog)
            return true
        }
    }

    /// Marks it ended if its time is over.
    ///
    /// - Returns: whether its end is to be finished: its time is over, or it was marked and is still here.
    func markExpired(now: Int64) -> Bool {
        let settings = environment.settings
        return state.withLock { state in
            guard !state.isEnded else { return true }
            guard now >= state.deadline(settings) else { return false }
            state.isEnded = true
            state.countLive(-1, environment.catalog)
            return true
        }
    }

    /// The store could not be told that it ended: it goes on.
    func unmarkEnded() {
        state.withLock { state in
            state.isEnded = false
            state.countLive(1, environment.catalog)
        }
    }

    /// Everything that lives, newest first, and the revision.
    var remains: (services: [RegisteredService], revision: UInt64) {
        let (record, unwritten) = state.withLock { ($0.record, $0.unwritten) }
        let births = record.services.map { ($0.birth, $0.service) } + unwritten.map { ($0.birth, $0.service) }
        let services = births.sorted { $0.0 > $1.0 }.map { environment.catalog.services[Int($0.1)] }
        return (services, record.revision)
    }

    nonisolated(nonsending) private func beginWriting() async throws(SessionError) {
        let isFree = try state.withLock { state throws(SessionError) in
            guard !state.isEnded else { throw .ended }
            guard state.isWriting else {
                state.isWriting = true
                return true
            }
            guard state.waitingWriters.count < environment.settings.maxWaitingWriters else { throw .contention }
            return false
        }
        guard !isFree else { return }
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                guard state.isWriting else {
                    state.isWriting = true
                    return true
                }
                state.waitingWriters.append(continuation)
                return false
            }
            if isFree { continuation.resume() }
        }
    }

    private func endWriting() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard state.waitingWriters.isEmpty else { return state.waitingWriters.removeFirst() }
            state.isWriting = false
            // An empty array that grew keeps its room, a million times.
            state.waitingWriters = []
            return nil
        }
        next?.resume()
    }

    private func pendingState() throws(SessionError) -> PendingState {
        let now = environment.clock.now()
        return try state.withLock { state throws(SessionError) in
            guard !state.isEnded else { throw .ended }
            return PendingState(
                base: state.record, unwritten: state.unwritten, catalog: environment.catalog, now: now)
        }
    }

    /// Shows to others what was committed.
    private func adopt(_ pending: PendingState, _ record: SessionRecord?) {
        state.withLock { state in
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
        state.withLock { state in
            guard stored.record.revision > state.record.revision else { return }
            if !state.isEnded { state.countLive(-1, environment.catalog) }
            state.record = stored.record
            state.forgetWritten(environment.catalog, now: environment.clock.now())
            if !state.isEnded { state.countLive(1, environment.catalog) }
        }
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

    /// Counts every instance that lives, written or not, once.
    fileprivate func countLive(_ difference: Int, _ catalog: ServiceCatalog) {
        for document in record.services { catalog.services[Int(document.service)].countLive(difference) }
        for instance in unwritten where record.document(of: instance.service) == nil {
            catalog.services[Int(instance.service)].countLive(difference)
        }
    }
}
