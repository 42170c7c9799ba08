import JSONDocument

extension Session {
    /// Replaces the session's state by another one, with entity tags that no client has seen.
    ///
    /// - Returns: false when the session has ended.
    nonisolated(nonsending) func replace(with arrival: ArchivedSession) async throws(SessionError) -> Bool {
        do {
            try await takeTurn()
        } catch .ended {
            return false
        }
        defer { endTurn() }
        let former = stored
        let record = try SessionRecord(
            arrival.stored.record, inPlaceOf: former.record, coordinator: environment.definitions.coordinator)
        let next = StoredSession(
            record: record, lastUsedAt: max(arrival.stored.lastUsedAt, former.lastUsedAt))
        let (tasks, generation) = (environment.tasks(of: record), environment.generation)
        do {
            try await environment.store.receive(
                SessionArrival(
                    session: next, replacedRevision: former.record.revision, newFlows: arrival.flows, tasks: tasks))
        } catch .gone {
            markEnded()
            breakWatch()
            return false
        } catch {
            throw SessionError(error)
        }
        environment.noteMoved(id)
        breakWatch()
        take(next, generation, isReplacement: true)
        environment.tasks.tell(tasks.map { .begun($0) })
        return true
    }
}

extension SessionRecord {
    /// The record as the successor of another state of the session: its revision, which becomes the tag of every
    /// service, is larger than both revisions, and so are the steps of journeys. The higher of two floors stays in
    /// force.
    ///
    /// - Throws: ``SessionError/serviceFailed(service:reason:)`` when the old journeys cannot be read, because then
    ///   their steps are unknown.
    convenience init(
        _ arrival: SessionRecord, inPlaceOf former: SessionRecord, coordinator: RegisteredService
    ) throws(SessionError) {
        let revision = max(arrival.highestRevision, former.highestRevision) + 1
        var services = arrival.services.map { document in
            ServiceDocument(
                service: document.service, birth: document.birth, revision: revision, createdAt: document.createdAt,
                updatedAt: document.updatedAt, bytes: document.bytes)
        }
        if let kept = former.document(of: coordinator.index) {
            _ = try coordinator.readable(kept)
            do {
                try Self.continueJourneys(of: &services, after: kept, revision)
            } catch {
                throw .serviceFailed(
                    service: coordinator.name,
                    reason: "The stored journeys cannot be read from byte \(error.offset) on.")
            }
        }
        var details = arrival.details
        details.revisionFloor = max(details.revisionFloor, former.details.revisionFloor)
        self.init(
            id: arrival.id, token: arrival.token, createdAt: arrival.createdAt, expiresAt: arrival.expiresAt,
            revision: revision, services: services, times: arrival.times, details: details)
    }

    private static func continueJourneys(
        of services: inout [ServiceDocument], after former: ServiceDocument, _ revision: UInt64
    ) throws(JSONReadError) {
        let place = services.firstIndex { $0.service == former.service }
        var kept = KeptJourneys()
        if let place { kept = try KeptJourneys(reading: services[place].bytes) }
        kept.takePlace(of: try KeptJourneys(reading: former.bytes), revision)
        // Without journeys, before or now, there are no steps to go on from.
        guard !kept.isEmpty else { return }
        let bytes = kept.bytes(former: former.bytes.count)
        let document = place.map { services[$0] }
        let made = ServiceDocument(
            service: former.service, birth: document?.birth ?? (services.last.map { $0.birth + 1 } ?? 0),
            revision: revision, createdAt: document?.createdAt ?? former.createdAt,
            updatedAt: document?.updatedAt ?? former.updatedAt, bytes: bytes)
        if let place { services[place] = made } else { services.append(made) }
    }
}
