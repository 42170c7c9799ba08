import JSONDocument
import Navigation

// Commands that service files declare. Like a step of a journey they run on documents, without a locator: there is no
// code of a service that needs an object.
extension Session {
    /// Runs a command in a unit of work, and makes its changes.
    func run(
        _ definition: CommandDefinition, _ input: JSONDocument?, of operation: ServiceOperation,
        on pending: inout PendingState, _ journeys: inout WrittenJourneys
    ) throws(SessionError) -> JSONDocument? {
        try createUsed(by: definition, for: operation, on: &pending, &journeys)
        let seen = try SeenServices(of: operation, in: self, on: pending, &journeys)
        var work = pending.listWork
        let result: CommandResult
        do {
            result = try environment.run(
                definition, input, of: operation.service, pending.catalog, now: pending.now, work: &work,
                reading: seen.document)
        } catch {
            // What cannot be read stood as its default.
            throw seen.failure ?? error
        }
        if let failure = seen.failure { throw failure }
        pending.listWork = work
        for change in result.changes {
            let service = try pending.catalog.service(named: change.service)
            // The file was checked against what services were then.
            guard service.scope == operation.service.scope, service.isOpenToFlows || service.scope == .process else {
                throw .readOnly(service: service.name)
            }
            do throws(SessionError) {
                if let owner = seen.owner(of: change.service) {
                    try make(change.effect, on: service, of: owner, to: &pending)
                } else {
                    try make(change.effect, on: service, to: &pending)
                }
            } catch .invalid(let errors) {
                throw Self.refusal(of: service, errors)
            }
        }
        journeys.forget()
        return result.output
    }

    /// A result that does not fit a service's schema: no client has written it, so it is no mistake of the input.
    private static func refusal(of service: RegisteredService, _ errors: [JSONViolation]) -> SessionError {
        let error = errors.first ?? JSONViolation(pointer: "", detail: "does not fit its schema")
        let place = JSONPointer([service.name]).description + error.pointer
        let reason = JSONViolation(pointer: place, detail: error.detail, translations: error.translations)
        return .refused(Refusal("action_failed", reason, isOutside: true))
    }

    /// Makes the session's instances that the command uses and that have a hook for that.
    private func createUsed(
        by definition: CommandDefinition, for operation: ServiceOperation, on pending: inout PendingState,
        _ journeys: inout WrittenJourneys
    ) throws(SessionError) {
        guard pending.catalog.hasCreated else { return }
        let seen = try SeenServices(of: operation, in: self, on: pending, &journeys)
        for name in definition.services.sorted() where seen.owner(of: name) == nil {
            guard let service = pending.catalog[name], !pending.isLive(service) else { continue }
            try environment.create(service, on: &pending)
            journeys.forget()
        }
    }

    private func make(
        _ effect: ServiceChange.Effect, on service: RegisteredService, to pending: inout PendingState
    ) throws(SessionError) {
        switch effect {
        case .written(let document):
            pending.write(service, try service.bytes(of: document, limit: environment.settings.maxDocumentSize))
        case .cleared: pending.clear(service)
        case .removed: pending.remove(service)
        }
    }

    private func make(
        _ effect: ServiceChange.Effect, on service: RegisteredService, of owner: ServiceOwner,
        to pending: inout PendingState
    ) throws(SessionError) {
        var work = try JourneyWork(on: pending, environment)
        var document: JSONDocument?
        switch effect {
        case .written(let new): document = new
        case .cleared, .removed:
            guard work.owned(service, by: owner.coordinator, in: owner.journey) != nil else { return }
            if effect == .cleared { document = service.default }
        }
        try work.setOwned(service, of: owner.coordinator, in: owner.journey, to: document)
        pending = work.pending
    }
}

/// The services as the caller of a command sees them: what the topmost coordinator of a journey owns, the session's,
/// and those of the process.
private final class SeenServices {
    private let journey: (id: String, work: JourneyWork, levels: [ServiceOwners.Level])?
    /// For a command of the process: its own documents are what the unit of work has made of them.
    private let process: PendingState?
    private let documents: SessionDocuments
    private var ownFailure: SessionError?

    init(
        of operation: ServiceOperation, in session: Session, on pending: PendingState,
        _ journeys: inout WrittenJourneys
    ) throws(SessionError) {
        process = operation.service.scope == .process ? pending : nil
        guard let id = operation.journey else {
            journey = nil
            documents = SessionDocuments(pending.living.instances, session.environment, pending.definitions)
            return
        }
        let work = try journeys.read(in: pending, session.environment)
        journey = (id, work, try work.levels(in: id))
        documents = work.documents
    }

    /// Why a document could not be read.
    var failure: SessionError? { ownFailure ?? documents.failure }

    func owner(of name: String) -> ServiceOwner? {
        guard let journey, let level = journey.levels.first(where: { $0.names.contains(name) }) else { return nil }
        return ServiceOwner(journey: journey.id, coordinator: level.coordinator)
    }

    func document(of name: String) -> JSONDocument? {
        if let journey, let owner = owner(of: name), let service = journey.work.pending.catalog[name] {
            return journey.work.owned(service, by: owner.coordinator, in: owner.journey)?.document ?? service.default
        }
        guard let process else { return documents.document(of: name) }
        guard let service = process.catalog[name], service.scope == .process else { return nil }
        do throws(SessionError) {
            return try service.document(parsing: service.readable(process.document(of: service)))
        } catch {
            ownFailure = error
            return service.default
        }
    }
}

extension SessionEnvironment {
    /// Runs a command on documents. It changes nothing itself.
    ///
    /// - Parameters:
    ///   - now: the time of the unit of work, or of the step.
    ///   - work: see ``CommandDefinition/run(with:on:now:work:)``.
    ///   - document: the state of a service; nil when there is none of that name.
    func run(
        _ definition: CommandDefinition, _ input: JSONDocument?, of service: RegisteredService,
        _ catalog: ServiceCatalog, now: Int64, work: inout Int, reading document: @escaping (String) -> JSONDocument?
    ) throws(SessionError) -> CommandResult {
        do throws(CommandFailure) {
            return try timed(definition.name, of: service.name) { () throws(CommandFailure) in
                try definition.run(
                    with: input, on: CommandDocuments(catalog: catalog, reading: document), now: now, work: &work)
            }
        } catch {
            switch error {
            case .input(let violations): throw .inputInvalid(violations)
            case .refused(let code, let reason, let isOutside):
                throw .refused(Refusal(code, reason, isOutside: isOutside))
            }
        }
    }
}

/// Services as a command reads them.
private struct CommandDocuments: ServiceDocuments {
    let catalog: ServiceCatalog
    let reading: (String) -> JSONDocument?

    func document(of name: String) -> JSONDocument? { reading(name) }

    func defaultDocument(of name: String) -> JSONDocument? {
        catalog[name].flatMap { $0.isKeptOtherwise ? nil : $0.default }
    }

    func violations(of document: JSONDocument, in name: String) -> [JSONViolation] {
        catalog[name]?.fit(document).violations ?? []
    }
}
