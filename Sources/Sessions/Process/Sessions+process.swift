import ServiceLocator

// The documents of the process: see ``ProcessDocuments``.
extension Sessions {
    /// How often a server looks at what others have written.
    private static let processInterval: Int64 = 250

    /// The documents of the process, for a caller that may write them (``ServiceCaller/process``).
    package func processDocuments() async throws(SessionError) -> Session {
        if let session = try? environment.processDocuments.session {
            if !environment.isShared { return session }
            if try await session.catchUp() { return session }
        }
        guard let session = try await openProcessDocuments() else {
            throw .serviceFailed(service: "", reason: "The catalogue has no documents of the process.")
        }
        return session
    }

    /// Reads the documents of the process, or makes a place for them if the catalogue has any. Until then all have
    /// their defaults.
    @discardableResult
    package func openProcessDocuments() async throws(SessionError) -> Session? {
        let generation = environment.generation
        let former = environment.processDocuments.now.record
        do throws(StoreError) {
            guard let stored = try await environment.store.load(SessionID.process) else {
                return environment.processDocuments.areDeclared ? try await makeProcessDocuments(after: former) : nil
            }
            // It was counted with the others when the store was opened.
            if former == nil { registry.giveBack(1) }
            return open(stored, generation)
        } catch {
            let error = SessionError(error)
            if case .damaged = error { environment.processDocuments.fail(error) }
            throw error
        }
    }

    private func makeProcessDocuments(after former: SessionRecord?) async throws(StoreError) -> Session {
        let id = SessionID.process
        // If the store has lost them, no entity tag comes back.
        let record = SessionRecord(
            id: id, token: SessionToken(for: id, random: environment.random).digest,
            createdAt: environment.clock.now(), expiresAt: ProcessDocuments.never, revision: 1, services: [],
            details: SessionDetails(revisionFloor: former?.highestRevision ?? 0))
        let new = StoredSession(record: record, lastUsedAt: ProcessDocuments.never)
        let generation = environment.generation
        do {
            try await environment.store.create(new)
            return open(new, generation)
        } catch .conflict {
            // Another server was quicker.
            guard let stored = try await environment.store.load(id) else { throw .conflict }
            return open(stored, generation)
        }
    }

    private func open(_ stored: StoredSession, _ generation: UInt8) -> Session {
        let session = Session(stored, environment: environment, generation: generation)
        // So that its commits are told to those who watch a session.
        session.state.withLock { $0.isWatched = true }
        environment.processDocuments.open(session)
        environment.tellProcessChanges()
        return session
    }

    /// Takes over what other servers write into the documents of the process, until the task is cancelled. Reads ask
    /// nobody.
    package func runProcessDocuments() async {
        guard environment.processDocuments.areDeclared else { return }
        while !Task.isCancelled {
            try? await environment.clock.sleep(milliseconds: Self.processInterval)
            guard environment.isShared else { continue }
            // What cannot be read now is read next time.
            _ = try? await processDocuments()
            environment.tellProcessChanges()
        }
    }

    /// How many sessions the store has.
    var storedCount: Int { environment.store.sessionCount - (environment.processDocuments.isStored ? 1 : 0) }
}

extension SessionEnvironment {
    /// The state of a service of the process as it is sent.
    func processDocument(
        of service: RegisteredService
    ) throws(SessionError) -> (bytes: [UInt8], etag: ServiceETag) {
        if let kept = try processDocuments.now.document(of: service), let bytes = try service.readable(kept) {
            return (bytes, ServiceETag(revision: kept.revision))
        }
        try processDocuments.session?.live(service)
        return (service.defaultBytes, .unwritten)
    }

    /// What lives of the process; nothing if that cannot be read.
    var livingOfProcess: LivingServices<ServiceDocument> {
        guard processDocuments.areDeclared, let session = try? processDocuments.session else { return .init() }
        return session.state.withLock { state in
            state.record.living(with: state.unwritten, catalog, now: clock.now()).living
        }
    }

    /// Tells everybody who watches a session what has changed in the documents of the process. There may be many, and
    /// the caller has other work.
    func tellProcessChanges() {
        Task { [self] in await processDocuments.news.tell(self) }
    }
}
