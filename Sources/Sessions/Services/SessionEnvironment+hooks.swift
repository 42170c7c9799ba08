import Glibc
import JSONDocument
import Navigation
import Synchronization

extension SessionEnvironment {
    /// Makes the instance of a service that has a hook for that.
    ///
    /// - Parameter journey: makes that of the coordinator that owns the service; nil for the session's.
    func create(
        _ service: RegisteredService, inJourney journey: String? = nil, on pending: inout PendingState
    ) throws(SessionError) {
        guard let create = service.hooks.create else { return }
        do {
            try run(create, "created", of: service, on: &pending, inJourney: journey)
        } catch {
            let error = SessionError(thrown: error, by: service.name)
            // It was not a command that was called.
            guard case .refused(let refusal) = error else { throw error }
            throw .serviceFailed(service: service.name, reason: "'created' refused: \(refusal)")
        }
    }

    /// Makes the session's instances that journeys may use and that have a hook for that.
    ///
    /// - Returns: whether there were any to make.
    @discardableResult
    func createForJourneys(on pending: inout PendingState) throws(SessionError) -> Bool {
        let missing = pending.definitions.createdForJourneys.filter { !pending.isLive($0) }
        for service in missing where !pending.isLive(service) { try create(service, on: &pending) }
        return !missing.isEmpty
    }

    /// The user of the session leaves.
    func runSignedOut(on pending: inout PendingState) {
        guard pending.catalog.hasSignedOut, pending.details.userID != nil else { return }
        for instance in pending.living.instances.reversed() {
            let service = pending.catalog[instance.service]
            if let hook = service.hooks.signedOut { runUnhindered(hook, "signedOut", of: service, on: &pending) }
        }
    }

    /// The session has ended, by this process.
    ///
    /// - Parameter record: as it was committed last.
    func runEnded(_ record: SessionRecord) {
        let definitions = definitions
        guard definitions.catalog.hasEnded else { return }
        let now = clock.now()
        let last = PendingState(base: record, unwritten: [], definitions: definitions, now: now, lastUsedAt: now)
        for instance in last.living.instances.reversed() {
            let service = definitions.catalog[instance.service]
            guard let hook = service.hooks.ended else { continue }
            var scratch = last
            runUnhindered(hook, "ended", of: service, on: &scratch)
        }
    }

    /// Whether the last state of a session that ends is needed: for a hook, or to tell back ends.
    private var needsLastState: Bool { definitions.catalog.hasEnded || givesNotice }

    /// Ends a session in the store.
    ///
    /// - Parameters:
    ///   - last: its last state. If that is needed, and other processes may have committed another one, it is set.
    ///   - standing: see ``SessionStore/end(_:as:telling:)``.
    /// - Returns: whether the store had it.
    func end(
        _ last: inout StoredSession, _ end: SessionEnd, as standing: SessionStanding? = nil
    ) async throws(StoreError) -> Bool {
        let id = last.record.id
        if needsLastState, isShared, standing == nil {
            for _ in 0..<settings.maxConflictRetries {
                // One that cannot be read ends as well.
                guard let stored = try? await store.load(id) else { break }
                last = stored
                do {
                    return try await self.end(id, as: stored.standing, telling: notice(of: end, stored))
                } catch .conflict {} catch { throw error }
            }
        }
        return try await self.end(id, as: standing, telling: notice(of: end, last))
    }

    /// The same with what back ends are told.
    func end(
        _ id: SessionID, as standing: SessionStanding?, telling notice: StoredTask?
    ) async throws(StoreError) -> Bool {
        let isEnded = try await store.end(id, as: standing, telling: notice)
        if isEnded, let notice { tasks.tell([.begun(notice)]) }
        return isEnded
    }

    /// Ends the sessions that a query finds, each after it was read if its last state is needed.
    func endExpired(_ query: ExpiryQuery) async throws(StoreError) -> ExpiredSessions {
        guard needsLastState else { return try await store.endExpired(query) }
        let overdue = Mutex<[SessionID]>([])
        var search = query
        search.onOverdue = { id in overdue.withLock { $0.append(id) } }
        let seen = try await store.endExpired(search)
        let count = await withTaskGroup(of: Bool.self) { group in
            for id in overdue.withLock(\.self) {
                group.addTask { (try? await self.endOverdue(id, query)) ?? false }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        return ExpiredSessions(count: count, looked: seen.looked, candidates: seen.candidates, kept: seen.kept)
    }

    func endOverdue(_ id: SessionID, _ query: ExpiryQuery) async throws(StoreError) -> Bool {
        let stored: StoredSession
        do throws(StoreError) {
            guard let found = try await store.load(id) else { return false }
            stored = found
        } catch {
            guard case .damaged = error else { throw error }
            let notice = notice(.ended, of: id, revision: 0, userID: nil, because: .expired, at: query.now)
            return try await end(id, as: nil, telling: notice)
        }
        guard query.isOver(stored), stored.end(settings) <= query.now, !query.isInUse(id),
            try await end(id, as: stored.standing, telling: notice(of: .expired, stored))
        else { return false }
        runEnded(stored.record)
        return true
    }

    private func run(
        _ hook: ServiceHooks.Hook, _ name: String, of service: RegisteredService, on pending: inout PendingState,
        inJourney journey: String? = nil
    ) throws {
        try withLocator(on: &pending, inJourney: journey) { locator in
            try timed(name, of: service.name) { try hook(ServicePlace(locator: locator, name: service.name)) }
        }
    }

    /// Runs a hook whose failure stops nothing.
    private func runUnhindered(
        _ hook: ServiceHooks.Hook, _ name: String, of service: RegisteredService, on pending: inout PendingState
    ) {
        var changed = pending
        do {
            try run(hook, name, of: service, on: &changed)
            try changed.checkSize(limit: settings.maxSessionSize)
            pending = changed
        } catch {
            let error = SessionError(thrown: error, by: service.name)
            note(.failed(service: service.name, hook: name, reason: String(reflecting: error)))
        }
    }

    /// Runs code of a service, and notes when it takes long.
    ///
    /// - Parameter name: of the command or hook.
    func timed<Result, Failure: Error>(
        _ name: String, of service: String, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let begin = ServiceNote.clock
        defer {
            let duration = ServiceNote.clock - begin
            if duration >= ServiceNote.limit { note(.slow(service: service, command: name, duration)) }
        }
        return try body()
    }
}

extension JourneyWork {
    /// What hooks make may lead the journey on, where others are made.
    private static let mostCreations = 100

    /// Makes what the coordinators of a journey own and has a hook for that.
    ///
    /// - Returns: the journey then.
    @discardableResult
    mutating func createOwned(of entry: KeptJourney) throws -> KeptJourney {
        let id = entry.journey.id
        let missing = missingOwned(in: id)
        guard !missing.isEmpty else { return entry }
        creations += 1
        guard creations <= Self.mostCreations else {
            throw JourneyRefusal.endless(flow: entry.journey.flow, state: entry.journey.screen?.state ?? "")
        }
        var changed = pending
        for service in missing { try environment.create(service, inJourney: id, on: &changed) }
        try begin(on: changed)
        // What a coordinator owns lives from its first write on.
        for service in missingOwned(in: id) {
            guard let owner = try owner(of: service, in: id) else { continue }
            try setOwned(service, of: owner, in: id, to: service.default)
        }
        // To standing rules it is as if it had been written from outside.
        if let created = kept[id] { try advance(created) }
        return kept[id] ?? entry
    }

    /// Those that it has to make, as the topmost coordinator sees them.
    func missingOwned(in id: String) -> [RegisteredService] {
        guard pending.catalog.hasCreated, let journey = kept[id]?.journey, journey.isActive else { return [] }
        let owners = engine.owners(in: journey)
        return owners.levels.reversed().flatMap { level in
            level.names.compactMap { pending.catalog[$0] }.filter { service in
                service.hooks.create != nil && owners.level(of: service.name)?.coordinator == level.coordinator
                    && owned(service, by: level.coordinator, in: id) == nil
            }
        }
    }
}

extension FlowCatalog {
    /// The services with a hook for their first use that a flow uses as the session's.
    func named(_ services: ServiceCatalog) -> [RegisteredService] {
        let names = flows.map { flow in
            let used = FlowUses(flow).names
            let called = used.compactMap { services[$0] }.flatMap(\.commands).compactMap(\.definition)
            return called.reduce(used) { $0.union($1.services) }.subtracting(flow.ownership.services)
        }
        return services.services.filter { service in
            service.hooks.create != nil && names.contains { $0.contains(service.name) }
        }
    }
}

/// What the code of a service has done, or has become of a task, that the log should say.
package enum ServiceNote: Sendable {
    /// A result of a task could not be taken, and is kept until an operator ends the task.
    case held(TaskID, name: String, outcome: String, problem: JSONDocument)
    /// A task for which no journey waits was not done: its attempts, or its time, are over.
    case undone(TaskID, name: String, reason: String)
    /// It took long: other sessions of the same worker waited for it. CPU time of the thread.
    case slow(service: String, command: String, Duration)
    /// A hook has failed that stops nothing.
    case failed(service: String, hook: String, reason: String)

    /// Longer than any command or hook should take in the session's turn.
    static let limit = Duration.milliseconds(100)

    /// The CPU time of this thread.
    static var clock: Duration {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
    }
}
