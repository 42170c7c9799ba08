import JSONDocument
import Navigation
import ServiceLocator

// Commands of services: in the session's turn, as a part of a unit of work, or outside of it.
extension Session {
    /// Calls a command within a unit of work.
    func call(
        _ command: ServiceCommand, _ input: JSONDocument?, of operation: ServiceOperation, by caller: ServiceCaller,
        on pending: inout PendingState, _ journeys: inout WrittenJourneys
    ) throws(SessionError) -> JSONDocument? {
        try command.check(input)
        if case .written(let definition) = command.body {
            try check(operation, by: caller, on: pending, &journeys)
            return try run(definition, input, of: operation, on: &pending, &journeys)
        }
        let body = try command.directBody(of: operation.service)
        try check(operation, by: caller, on: pending, &journeys)
        journeys.forget()
        do {
            return try run(command, operation, on: &pending) { place in try body(place, input) }
        } catch {
            throw SessionError(thrown: error, by: operation.service.name)
        }
    }

    /// Runs the code of a command.
    func run<Result>(
        _ command: ServiceCommand, _ operation: ServiceOperation, on pending: inout PendingState,
        _ body: (ServicePlace) throws -> Result
    ) throws -> Result {
        let service = operation.service.name
        return try environment.withLocator(on: &pending, inJourney: operation.journey) { locator in
            try environment.timed(command.name, of: service) { try body(ServicePlace(locator: locator, name: service)) }
        }
    }

    /// Calls a command. One that waits runs outside of the session's turn, which only its updates take.
    nonisolated(nonsending) package func call(
        _ operation: ServiceOperation, by caller: ServiceCaller = .client
    ) async throws -> ServiceOperation.Outcome {
        guard case .call(let command, let input) = operation.action, case .waiting(let body) = command.body else {
            return try await withUnsafeThrowingContinuation { waiting in
                perform(operation, by: caller) { waiting.resume(with: $0) }
            }
        }
        let service = operation.service
        try command.check(input)
        // What is refused anyway is refused before the command has begun something elsewhere.
        let (before, userID) = try await transact { [self] pending in
            var transaction = Transaction(in: self, by: caller)
            try transaction.journeys.settle(operation.journey, in: &pending, environment)
            try check(operation, by: caller, on: pending, &transaction.journeys)
            return (try transaction.outcome(of: operation, on: pending), pending.details.userID)
        }
        let call = WaitingCall(of: command, operation, by: caller, in: self, of: userID)
        do {
            let output = try await body(call, input)
            return .init(service: service, etag: call.etag ?? before.etag, bytes: [], output: output)
        } catch let error as CancellationError {
            throw error
        } catch {
            throw caller.told(SessionError(thrown: error, by: service.name), of: environment.definitions.catalog)
        }
    }

    /// Whether the caller may do an operation on the state as it was before the unit of work.
    func check(
        _ operation: ServiceOperation, by caller: ServiceCaller, on pending: PendingState,
        _ journeys: inout WrittenJourneys
    ) throws(SessionError) {
        guard let owned = try journeys.owner(of: operation, in: pending, environment) else {
            return try pending.check(operation, by: caller)
        }
        try journeys.read(in: pending, environment).check(
            operation, ownedBy: owned.coordinator, in: owned.journey, by: caller)
    }
}

extension ServiceCommand {
    /// What it does, if that waits for nothing.
    fileprivate func directBody(
        of service: RegisteredService
    ) throws(SessionError) -> @Sendable (ServicePlace, JSONDocument?) throws -> JSONDocument? {
        if case .direct(let body) = body { return body }
        throw .serviceFailed(service: service.name, reason: "'\(name)' waits within a unit of work.")
    }
}

extension SessionEnvironment {
    /// Calls a command in a step of a journey.
    ///
    /// - Parameters:
    ///   - now: the time of the step.
    ///   - work: see ``ServiceDocuments``.
    ///   - living: what lives, oldest first.
    ///   - document: the state of a service as the step has it.
    func call(
        _ definitions: SessionDefinitions, _ command: ServiceCommand, _ input: JSONDocument?,
        of service: RegisteredService, now: Int64, work: inout Int, living: [RegisteredService],
        reading document: @escaping (String) -> JSONDocument?
    ) throws(SessionError) -> CommandResult {
        try command.check(input)
        if case .written(let definition) = command.body {
            return try run(
                definition, input, of: service, definitions.catalog, now: now, work: &work, reading: document)
        }
        let body = try command.directBody(of: service)
        do {
            // The unit ends before this returns, and this thread alone uses it.
            nonisolated(unsafe) let document = document
            let unit = UnitOfWork(catalog: definitions.catalog, living: living) { service in
                service.scope == .process || living.contains { $0 === service } ? document(service.name) : nil
            }
            let locator = unit.locator(parent: process)
            return try withExtendedLifetime(locator) {
                let place = ServicePlace(locator: locator, name: service.name)
                let output = try timed(command.name, of: service.name) { try body(place, input) }
                return CommandResult(output: output, changes: try unit.changes())
            }
        } catch {
            throw SessionError(thrown: error, by: service.name)
        }
    }
}
