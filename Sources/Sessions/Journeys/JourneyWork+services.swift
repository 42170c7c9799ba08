import JSONDocument
import Navigation

// The services that a journey's coordinators own, as clients and operators read and write them.
extension JourneyWork {
    /// The coordinator that owns what a journey's topmost coordinator knows by a name; nil when that is the session's.
    ///
    /// - Throws: ``SessionError/noJourney(_:)``, ``SessionError/journeyMoved(_:)``,
    ///   ``SessionError/journeyRefused(_:)``.
    func owner(
        of service: RegisteredService, in id: String, forWrite: Bool = false
    ) throws(SessionError) -> Int? {
        try checkOwners(of: id, forWrite: forWrite)
        guard let entry = kept[id] else { throw missing(id) }
        return engine.owners(in: entry.journey).level(of: service.name)?.coordinator
    }

    /// As ``absence(of:)``, of an operation on a service.
    func missing(_ id: String) -> SessionError {
        if case .moved = absence(of: id) { .journeyMoved(id) } else { .noJourney(id) }
    }

    /// A journey that is over owns nothing any more: what is read as its service is the session's, but nothing can be
    /// written there by its name. For one whose version is gone it is not known who owns what.
    func checkOwners(of id: String, forWrite: Bool) throws(SessionError) {
        guard let journey = kept[id]?.journey else { throw missing(id) }
        switch journey.status {
        case .finished where forWrite: throw .journeyRefused(.finished(outcome: journey.outcome))
        case .expired where forWrite: throw .journeyRefused(.expired)
        case .finished, .expired: return
        case .active: break
        }
        if let missing = engine.missingVersion(under: journey) {
            throw .journeyRefused(.orphaned(flow: missing.flow, version: missing.version))
        }
    }

    /// The coordinators that own something, as a journey's topmost coordinator sees them, the nearest first.
    func levels(in id: String) throws(SessionError) -> [ServiceOwners.Level] {
        guard let entry = kept[id] else { throw missing(id) }
        return engine.owners(in: entry.journey).levels
    }

    /// A unit of work on what a coordinator owns.
    func unit(of level: ServiceOwners.Level, in id: String) -> UnitOfWork {
        let catalog = pending.catalog
        let states = (kept[id]?.journey.owned ?? []).filter { state in
            state.coordinator == level.coordinator
                && catalog[state.name]?.isOver(createdAt: state.createdAt, now: pending.now) == false
        }
        return UnitOfWork(catalog: catalog, living: states.compactMap { catalog[$0.name] }) { service in
            states.first { $0.name == service.name }?.document
        }
    }

    /// The state of a service that a coordinator owns; nil when nobody has written it, or its time is over.
    func owned(_ service: RegisteredService, by coordinator: Int, in id: String) -> OwnedService? {
        guard let state = kept[id]?.journey.owned(service.name, by: coordinator) else { return nil }
        return service.isOver(createdAt: state.createdAt, now: pending.now) ? nil : state
    }

    func outcome(
        of service: RegisteredService, ownedBy coordinator: Int, in id: String
    ) -> ServiceOperation.Outcome {
        let state = owned(service, by: coordinator, in: id)
        return .init(
            service: service, etag: ServiceETag(revision: state?.revision ?? 0),
            bytes: state?.document.serialized() ?? service.defaultBytes)
    }

    /// The services that the screens on a journey's stack show.
    func inspectServices(of journey: Journey) throws(SessionError) -> [InspectedService] {
        let services = engine.shownServices(of: journey).compactMap { name, owner -> InspectedService? in
            guard let service = pending.catalog[name] else { return nil }
            guard let owner else {
                let etag = ServiceETag(revision: documents.revision(of: name))
                return InspectedService(
                    name: name, owner: "session", etag: etag, bytes: documents.text(of: name) ?? service.defaultBytes)
            }
            let outcome = outcome(of: service, ownedBy: owner.coordinator, in: journey.id)
            return InspectedService(name: name, owner: owner.flow, etag: outcome.etag, bytes: outcome.bytes)
        }
        if let failure = documents.failure { throw failure }
        return services
    }

    /// Does one operation on a service that a coordinator owns.
    ///
    /// - Parameters:
    ///   - tree: what earlier writes of the unit of work have made of the state; nil when there was none. Afterwards
    ///     the state that is still to be written; nil when the operation is done.
    ///   - steps: see ``JSONDocument/apply(_:maximumSize:steps:)``.
    mutating func change(
        _ tree: inout JSONDocument?, by operation: ServiceOperation, ownedBy coordinator: Int, in id: String,
        of caller: ServiceCaller, steps: inout Int
    ) throws(SessionError) {
        let service = operation.service
        let state = owned(service, by: coordinator, in: id)
        try check(operation, ownedBy: coordinator, in: id, by: caller)
        switch operation.action {
        case .clear:
            if state != nil { try setOwned(service, of: coordinator, in: id, to: service.default) }
            tree = nil
        case .remove:
            try setOwned(service, of: coordinator, in: id, to: nil)
            tree = nil
        case .put, .mergePatch, .jsonPatch:
            if tree == nil { tree = state?.document ?? service.default }
            try service.change(&tree, by: operation.action, limit: environment.settings.maxDocumentSize, steps: &steps)
        // Needs a locator: see ``Session/call(_:_:of:by:on:_:)``.
        case .call: break
        }
    }

    /// Whether the caller may do that on a service that a coordinator owns.
    func check(
        _ operation: ServiceOperation, ownedBy coordinator: Int, in id: String, by caller: ServiceCaller
    ) throws(SessionError) {
        try operation.check(by: caller) {
            let service = operation.service
            return etagBefore(owned(service, by: coordinator, in: id), service, coordinator, id)
        }
    }

    /// Writes a state that a client has given, or with nil removes it.
    mutating func setOwned(
        _ service: RegisteredService, of coordinator: Int, in id: String, to document: JSONDocument?
    ) throws(SessionError) {
        guard var journey = kept[id]?.journey else { throw missing(id) }
        var state = document
        if let document {
            _ = try service.bytes(of: document, limit: environment.settings.maxDocumentSize)
            if let violation = document.nestingViolation() { throw .invalid([violation]) }
            state = service.fit(document).state
        }
        // An expired instance is removed, so that the write makes a new one.
        journey.removeOwned { old in
            old.coordinator == coordinator && old.name == service.name
                && service.isOver(createdAt: old.createdAt, now: pending.now)
        }
        journey.setOwned(service.name, of: coordinator, to: state)
        journey.stampOwned(revision: pending.revision, at: pending.now)
        journey.isOfUser = pending.hasUser
        journey = engine.redated(journey, services: documents, now: pending.now) ?? journey
        _ = kept.keep(journey)
        prepared = nil
        try keep()
    }

    /// Determines anew when the journeys are due, after services were written that decide that.
    ///
    /// - Returns: whether any is due at another time.
    mutating func redate() throws(SessionError) -> Bool {
        var isChanged = false
        for entry in kept.entries {
            guard let journey = engine.redated(entry.journey, services: documents, now: pending.now) else { continue }
            _ = kept.keep(journey)
            isChanged = true
        }
        // A service that cannot be read stood as its default.
        guard isChanged, documents.takeFailure() == nil else { return false }
        try keep()
        return true
    }

    /// The entity tag before the unit of work: in a transaction, a client can only know that one.
    private func etagBefore(
        _ state: OwnedService?, _ service: RegisteredService, _ coordinator: Int, _ id: String
    ) -> ServiceETag {
        guard let state, state.revision == pending.revision else { return ServiceETag(revision: state?.revision ?? 0) }
        let before = pending.base.document(of: self.coordinator.index).flatMap { try? KeptJourneys(reading: $0.bytes) }
        return ServiceETag(revision: before?[id]?.journey.owned(service.name, by: coordinator)?.revision ?? 0)
    }
}

/// A service that a screen on a journey's stack shows, for operators.
package struct InspectedService: Sendable {
    package let name: String
    /// `session`, or the flow of the coordinator that owns it.
    package let owner: String
    package let etag: ServiceETag
    /// Its state.
    package let bytes: [UInt8]
}
