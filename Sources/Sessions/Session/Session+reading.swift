// Reads are of the last committed state.
extension SessionRecord {
    /// The stored document of a service; `nil` when there is none, or the instance has expired.
    fileprivate func kept(_ service: RegisteredService, now: Int64) -> ServiceDocument? {
        guard let document = document(of: service.index),
            document.isDamaged || !service.isOver(createdAt: document.createdAt, now: now)
        else { return nil }
        return document
    }
}

extension Session {
    /// - Throws: ``SessionError/ended``.
    package func summary() throws(SessionError) -> SessionSummary {
        let stored = try state.withLock { state throws(SessionError) in
            guard !state.isEnded else { throw .ended }
            return StoredSession(record: state.record, lastUsedAt: state.lastUsedAt)
        }
        return SessionSummary(stored, environment)
    }

    /// The same as it is once a unit of work is committed.
    func summary(after pending: PendingState) -> SessionSummary {
        let record = pending.isRecordChanged ? pending.commit().record : pending.base
        let lastUsedAt = state.withLock(\.lastUsedAt)
        return SessionSummary(StoredSession(record: record, lastUsedAt: lastUsedAt), environment)
    }

    /// Every registered service and whether an instance lives. Creates none.
    ///
    /// - Throws: ``SessionError/ended``.
    package func services() throws(SessionError) -> [ServiceStatus] {
        let (record, unwritten) = try state.withLock { state throws(SessionError) in
            guard !state.isEnded else { throw .ended }
            return (state.record, state.unwritten)
        }
        let catalog = environment.definitions.catalog
        let (living, _) = record.living(with: unwritten, catalog, now: environment.clock.now())
        let process = environment.livingOfProcess
        return catalog.services.map { service in
            ServiceStatus(service, (service.scope == .process ? process : living)[service.index], environment)
        }
    }

    /// The state of a service as it is sent. Reading it creates the instance, which stores nothing.
    ///
    /// It encodes nothing, allocates nothing and does not wait.
    ///
    /// - Throws: ``SessionError/ended``, ``SessionError/damaged(service:reason:)``.
    package func document(of service: RegisteredService) throws(SessionError) -> (bytes: [UInt8], etag: ServiceETag) {
        if service.scope == .process { return try environment.processDocument(of: service) }
        let now = service.lifetime == nil ? 0 : environment.clock.now()
        let kept = try state.withLock { state throws(SessionError) in
            guard !state.isEnded else { throw .ended }
            return state.record.kept(service, now: now)
        }
        return try shown(service, kept)
    }

    /// - Parameter kept: the stored document; `nil` for none, and then the read makes the instance.
    func shown(
        _ service: RegisteredService, _ kept: ServiceDocument?
    ) throws(SessionError) -> (bytes: [UInt8], etag: ServiceETag) {
        if let kept, let bytes = try service.readable(kept) {
            return (service.shown(bytes, environment), ServiceETag(revision: kept.revision))
        }
        live(service)
        return (service.defaultBytes, .unwritten)
    }

    /// Whether services may have other defaults than when the process started.
    package var isReloaded: Bool { environment.definitionsNumber > 1 }

    /// When the stored document of a service reaches the end of its lifetime; `nil` when it has none.
    package func end(of service: RegisteredService) -> Int64? {
        guard let lifetime = service.lifetime else { return nil }
        return state.withLock { $0.record.document(of: service.index).map { $0.createdAt + lifetime } }
    }

    /// The first use makes the instance, once for any number of readers. It stores nothing.
    private func live(_ service: RegisteredService) {
        // Only its hook makes one.
        if service.hooks.create != nil { return }
        let (now, catalog) = (environment.clock.now(), environment.definitions.catalog)
        state.withLock { state in
            let isRead = state.unwritten.contains {
                $0.service == service.index && !service.isOver(createdAt: $0.createdAt, now: now)
            }
            if isRead { return }
            let (living, expired) = state.record.living(with: state.unwritten, catalog, now: now)
            guard !living.isLive(service.index) else { return }
            // Later than every living instance; removed ones do not matter.
            let head = state.pipeline?.head
            let all = state.record.services + state.unwritten + (head?.record.services ?? []) + (head?.unwritten ?? [])
            let birth = all.reduce(0) { max($0, $1.birth + 1) }
            let instance = ServiceDocument(unwritten: service, birth: birth, createdAt: now)
            // An instance whose time is over counts until another one takes its place, or the session is written.
            let isCounted = expired.contains(service.index) || state.unwritten.contains { $0.service == service.index }
            state.unwritten.removeAll { $0.service == service.index }
            state.unwritten.append(instance)
            if let head, head.record.kept(service, now: now) == nil {
                state.pipeline?.head?.unwritten.append(instance)
            }
            if !isCounted, !state.isEnded { service.countLive(1) }
        }
    }

    /// The same as ``document(of:)`` for callers that can wait: of a service that has a hook for the first use, what
    /// that has made.
    nonisolated(nonsending) package func createdDocument(
        of service: RegisteredService
    ) async throws -> (bytes: [UInt8], etag: ServiceETag) {
        while isFirstUse(of: service) {
            try await transact { [environment] pending in
                if !pending.isLive(service) { try environment.create(service, on: &pending) }
            }
        }
        return try document(of: service)
    }

    /// Whether reading the service has to run its hook first: see ``createdDocument(of:)``.
    package func isFirstUse(of service: RegisteredService) -> Bool {
        guard service.hooks.create != nil else { return false }
        return (try? pendingState())?.isLive(service) == false
    }
}
