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
        if let session = try await openProcessDocuments() { return session }
        return try await makeProcessDocuments()
    }

    /// Reads the documents of the process. Until then all have their defaults.
    ///
    /// - Returns: `nil` when there are none: the first who writes makes a place for them.
    @discardableResult
    package func openProcessDocuments() async throws(SessionError) -> Session? {
        environment.processDocuments.areDeclared ? try await readProcessDocuments() : nil
    }

    private func readProcessDocuments() async throws(SessionError) -> Session? {
        let generation = environment.generation
        do throws(StoreError) {
            guard let stored = try await environment.store.load(.process) else { return nil }
            return open(stored, generation, isCounted: true)
        } catch {
            let error = SessionError(error)
            if case .damaged = error { environment.processDocuments.fail(error) }
            throw error
        }
    }

    /// Replaces the services and flows of all sessions, for units of work that begin from now on. What the store has of
    /// a service stays, whatever its schema is now, and also when it is not declared any more. Journeys go on in the
    /// versions that they are on.
    ///
    /// - Parameter catalog: with the ``ServiceCatalog/names`` of the former one.
    package func replaceDefinitions(
        _ catalog: ServiceCatalog, _ journeys: JourneySettings
    ) async throws(SessionError) {
        precondition(catalog.names === self.catalog.names, "documents know services by their places")
        if catalog.services.contains(where: { $0.scope == .process }) {
            // When they are damaged, as at a start, they are 503 and everything else goes on.
            do { _ = try await readProcessDocuments() } catch  where !error.isDamage { throw error } catch {}
        }
        environment.replaceDefinitions(catalog, journeys)
    }

    private func makeProcessDocuments() async throws(SessionError) -> Session {
        // If the store has lost them, this server still knows what they were.
        let former = environment.processDocuments.now.record
        let now = environment.clock.now()
        // Where nobody knows, as after a repair or another start with a store in memory, the time is larger than any
        // revision was: no entity tag comes back.
        let floor = max(former?.highestRevision ?? 0, UInt64(clamping: environment.clock.wall(at: now)))
        let record = SessionRecord(
            id: .process, token: SessionToken(for: .process, random: environment.random).digest, createdAt: now,
            expiresAt: ProcessDocuments.never, revision: former.map { $0.highestRevision + 1 } ?? 1,
            services: former?.services ?? [], details: SessionDetails(revisionFloor: floor))
        let new = StoredSession(record: record, lastUsedAt: ProcessDocuments.never)
        let generation = environment.generation
        do throws(StoreError) {
            do {
                try await environment.store.create(new)
                return open(new, generation, isCounted: false)
            } catch .conflict {
                // Somebody else was quicker.
                guard let stored = try await environment.store.load(.process) else { throw .conflict }
                return open(stored, generation, isCounted: false)
            }
        } catch {
            throw SessionError(error)
        }
    }

    /// - Parameter isCounted: whether it was counted with the sessions when the store was opened.
    private func open(_ stored: StoredSession, _ generation: UInt8, isCounted: Bool) -> Session {
        let new = Session(stored, environment: environment, generation: generation)
        // So that its commits are told to those who watch a session.
        new.state.withLock { $0.isWatched = true }
        let (session, isFirst) = environment.processDocuments.open(new)
        if session !== new { new.markEnded() }
        if isFirst, isCounted, !environment.isShared { registry.giveBack(1) }
        environment.tellProcessChanges()
        return session
    }

    /// Takes over what other servers write into the documents of the process, until the task is cancelled. Reads ask
    /// nobody.
    package func runProcessDocuments() async {
        guard environment.isShared else { return }
        while !Task.isCancelled {
            try? await environment.clock.sleep(milliseconds: Self.processInterval)
            guard environment.processDocuments.areDeclared else { continue }
            do throws(SessionError) {
                if environment.processDocuments.isStored {
                    _ = try await processDocuments()
                } else {
                    try await openProcessDocuments()
                }
            } catch {
                // What cannot be read now is read next time.
            }
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
        guard let session = try processDocuments.session else { return (service.defaultBytes, .unwritten) }
        return try session.shown(service, session.state.withLock { $0.record.document(of: service.index) })
    }

    /// What lives of the process; nothing if that cannot be read.
    var livingOfProcess: LivingServices<ServiceDocument> {
        guard processDocuments.areDeclared, let session = try? processDocuments.session else { return .init() }
        return session.state.withLock { state in
            state.record.living(with: state.unwritten, definitions.catalog, now: clock.now()).living
        }
    }

    /// Tells everybody who watches a session what has changed in the documents of the process. There may be many, and
    /// the caller has other work.
    ///
    /// - Parameter changes: of the last commit, if it was this server's.
    func tellProcessChanges(_ changes: [SessionChange] = []) {
        Task { [self] in await processDocuments.news.tell(self, changes) }
    }
}
