import Navigation

extension Session {
    /// A journey as it was shown last, if the view is still current. Costs next to nothing.
    ///
    /// - Parameter id: as it stands in the path.
    /// - Returns: nil when no current view is cached, or the session has ended. Then call ``residentJourney(_:)``.
    package func shownJourney(_ id: UnsafeRawBufferPointer) -> JourneyText? {
        let processRevision = environment.processDocuments.now.revision
        return state.withLock { state in
            guard !state.isEnded, let memory = state.memory else { return nil }
            // By places, which counts no reference to the list.
            for place in memory.views.indices where memory.views[place].isOf(id) {
                let view = memory.views[place]
                guard view.revision == state.record.revision, view.processRevision == processRevision,
                    memory.definitions == environment.definitionsNumber
                else { return nil }
                if let dueAt = view.dueAt, environment.clock.now() >= dueAt { return nil }
                return view
            }
            return nil
        }
    }

    /// Where a journey stands.
    nonisolated(nonsending) package func journey(_ id: String) async throws -> JourneyText {
        try await withTimeEnough {
            if let shown = try self.residentJourney(id) { return shown }
            return try await self.drive(id, isLook: true) { work in try work.text(of: try work.journey(id)) }
        }
    }

    /// The same without waiting.
    ///
    /// - Returns: nil when something has to be committed first: ask ``journey(_:)``.
    package func residentJourney(_ id: String) throws -> JourneyText? {
        try look(at: id) { try $0.text(of: $1) }
    }

    /// The same with the schemas of its events, where they are asked for.
    package func residentForm(_ id: String, withSchemas: Bool) throws -> JourneyForm? {
        try look(at: id) { try $0.form(of: $1, withSchemas: withSchemas) }
    }

    /// The entity tag of ``residentJourney(_:)``.
    func journeyTag(_ id: String) throws -> ServiceETag? {
        try look(at: id) { try $0.etag(of: $1) }
    }

    private func look<Shown>(at id: String, _ show: (inout JourneyWork, KeptJourney) throws -> Shown) throws -> Shown? {
        var work = try JourneyWork(on: try pendingState(), environment)
        guard !work.isUnsettled(id) else { return nil }
        do {
            let shown = try show(&work, try work.journey(id))
            remember(work.pending.newMemory, after: work.pending.memory)
            return shown
        } catch JourneyRefusal.due {
            return nil
        }
    }

    /// Replaces the cache, unless another thread has replaced `former`.
    func remember(_ memory: JourneyMemory?, after former: JourneyMemory?) {
        guard let memory, memory !== former else { return }
        let id = state.withLock { state -> SessionID? in
            guard !state.isEnded else { return nil }
            // Otherwise another thread has replaced it.
            guard state.memory === former else { return nil }
            state.memory = memory
            return former == nil ? state.record.id : nil
        }
        if let id { noteMemory(id) }
    }

    /// Notes that the session has its first memory.
    func noteMemory(_ id: SessionID) {
        environment.remembered.add(self, id)
        // It may have ended in between, and was not in the list to be removed from it.
        if state.withLock(\.isEnded) { environment.remembered.remove(self, id) }
    }

    /// Evicts the memory, and takes the session from the list of those that have one. That list's lock may be taken
    /// under the lock of a registry's shard, because no lock is taken under it.
    func letGoOfJourneys() {
        forgetJourneys()
        environment.remembered.remove(self, id)
    }

    /// Evicts the memory.
    func forgetJourneys() {
        // Freed outside of the lock.
        let memory = state.withLock { state in
            defer { state.memory = nil }
            return state.memory
        }
        withExtendedLifetime(memory) {}
    }

    /// Raised by every commit: what was made of the state at one revision holds as long as that is the revision.
    package var revision: UInt64 { state.withLock { $0.record.revision } }

    /// The state of a service as a journey's topmost coordinator sees it.
    ///
    /// - Throws: ``JourneyError``.
    nonisolated(nonsending) package func document(
        of service: RegisteredService, inJourney id: String
    ) async throws -> (bytes: [UInt8], etag: ServiceETag) {
        let work = try await settledWork(on: id)
        guard let owner = try work.owner(of: service, in: id) else { return try await createdDocument(of: service) }
        let outcome = work.outcome(of: service, ownedBy: owner, in: id)
        return (outcome.bytes, outcome.etag)
    }

    /// Every registered service as a journey's topmost coordinator sees it, with its owner: `session`, or the flow of
    /// the coordinator. Creates none.
    ///
    /// - Throws: ``JourneyError``.
    nonisolated(nonsending) package func services(
        inJourney id: String
    ) async throws -> [(status: ServiceStatus, owner: String)] {
        let work = try await settledWork(on: id)
        try work.checkOwners(of: id, forWrite: false)
        guard let entry = work.kept[id] else { throw work.missing(id) }
        let owners = work.engine.owners(in: entry.journey)
        let services = work.pending.catalog.services
        return zip(services, try self.services()).map { service, status in
            guard let owner = owners.level(of: service.name) else { return (status, "session") }
            let state = work.owned(service, by: owner.coordinator, in: id)
            let own = ServiceStatus(
                service, etag: ServiceETag(revision: state?.revision ?? 0), createdAt: state?.createdAt,
                updatedAt: state?.updatedAt, environment)
            return (own, owner.flow)
        }
    }

    /// The journeys, after what time and standing rules do to one of them.
    nonisolated(nonsending) private func settledWork(on id: String) async throws -> JourneyWork {
        _ = try await journey(id)
        return try JourneyWork(on: try pendingState(), environment)
    }
}
