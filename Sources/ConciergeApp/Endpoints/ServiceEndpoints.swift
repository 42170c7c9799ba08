import API
import HTTPServer
import JSONDocument
import Sessions

/// The services of a session. Clients use those of their own session. The admin listener reads those of any session,
/// and also writes services that clients may only read.
struct ServiceEndpoints: Sendable {
    let catalog: ServiceCatalog
    let caller: ServiceCaller
    /// The session that the request's first parameter names.
    let session: SessionFinder
    private var place = Place.session

    private enum Place {
        case session
        /// What the topmost coordinator of a journey sees.
        case journey
        case process
    }

    init(catalog: ServiceCatalog, caller: ServiceCaller, session: SessionFinder) {
        self.catalog = catalog
        self.caller = caller
        self.session = session
    }

    /// The documents of the process.
    init(catalog: ServiceCatalog, of sessions: Sessions) {
        self.catalog = catalog
        caller = .process
        place = .process
        session = SessionFinder(any: { [catalog] request in
            _ = try Self.processDocument(named: request.parameter("name"), catalog)
            return try await sessions.processDocuments()
        })
    }

    /// The same for the services that the topmost coordinator of a journey sees.
    var ofJourney: ServiceEndpoints {
        var endpoints = self
        endpoints.place = .journey
        return endpoints
    }

    /// The place of `{name}` among the parameters of its routes.
    private var nameParameter: Int {
        switch place {
        case .session: 1
        case .journey: 2
        case .process: 0
        }
    }

    private var path: String {
        switch place {
        case .session: Self.ofSession
        case .journey: Self.ofJourney
        case .process: Self.ofProcess
        }
    }

    func add(to routes: inout RouterBuilder) {
        if place != .process { routes.on(.get, path, handler: session.task(list)) }
        routes.on(.get, "\(path)/{name}", allow: methods(isState: false), handler: session.handler(show))
    }

    /// Adds what changes something, which may have an `Idempotency-Key`.
    func addWrites(to routes: inout RouterBuilder) {
        let services = path
        if place == .session { routes.on(.delete, services, handler: session.task(removeAll)) }
        addWrite(.put, "\(services)/{name}", of: replacing, answer: Self.stateNow, to: &routes)
        addWrite(.patch, "\(services)/{name}", of: patching, answer: Self.stateNow, to: &routes)
        addWrite(.delete, "\(services)/{name}", of: leaving(.remove), answer: Self.versionNow, to: &routes)
        addWrite(
            .delete, "\(services)/{name}/state", isState: true, of: leaving(.clear), answer: Self.versionNow,
            to: &routes)
        routes.on(.post, "\(services)/{name}/commands/{command}", handler: session.writer(call))
    }

    @Sendable private func call(_ request: HTTPRequest, _ found: FoundSession) throws -> HTTPOutcome {
        let service = try service(of: request)
        let command = try service.command(named: request.parameter("command"))
        var input: JSONDocument?
        // A body that comes without being needed is checked, too.
        if command.input != nil || !RequestBody.isLeftOut(by: request) { input = try RequestBody.read(request) }
        let operation = ServiceOperation(
            .call(command, input), on: service, condition: try Conditions.ofWrite(request),
            journey: journey(of: request))
        let response = UnitResponse(to: request) { Self.result(request, $0) }
        let caller = caller
        if command.isWaiting {
            // It is many units of work.
            if found.isRemembered { throw Unconfirmed() }
            return .task { .response(try response.of(try await found.session.call(operation, by: caller))) }
        }
        return .deferred { responder in
            found.session.perform(
                operation, by: caller, presenting: found.unconfirmed, once: response.once,
                then: responder.completion { result in
                    do {
                        return try response.of(result.get())
                    } catch let error as SessionError where !command.languages.isEmpty {
                        throw Problem(error).translated(to: command.languages, for: request)
                    }
                })
        }
    }

    private static func result(_ request: HTTPRequest, _ outcome: ServiceOperation.Outcome) -> HTTPResponse {
        guard let output = outcome.output else { return versionNow(request, outcome) }
        var response = HTTPResponse.json { $0.member("output", output) }
        response.fields.add(entityTag: outcome.etag.revision)
        return request.minimized(response)
    }

    /// The methods of a service, or of its state. They depend on the caller.
    private func methods(isState: Bool) -> AllowRule {
        { request in
            let service = try service(of: request)
            var methods = service.isRemovable(by: caller) ? ["DELETE"] : []
            methods += isState ? ["OPTIONS"] : ["GET", "HEAD", "OPTIONS"]
            if !isState, service.isWritable(by: caller) { methods += ["PATCH", "PUT"] }
            return methods.joined(separator: ", ")
        }
    }

    /// Adds a write of a service: `operation` reads what the request asks for, `answer` makes the response.
    private func addWrite(
        _ method: HTTPMethod, _ path: String, isState: Bool = false,
        of operation: @escaping @Sendable (HTTPRequest) throws -> ServiceOperation,
        answer: @escaping @Sendable (HTTPRequest, ServiceOperation.Outcome) -> HTTPResponse,
        to routes: inout RouterBuilder
    ) {
        let allow = methods(isState: isState)
        let caller = caller
        let handler = session.writer { request, found in
            try checkMethod(request, allow)
            let operation = try operation(request)
            let response = UnitResponse(to: request) { answer(request, $0) }
            return .deferred { responder in
                found.session.perform(
                    operation, by: caller, presenting: found.unconfirmed, once: response.once,
                    then: responder.completion { try response.of($0.get()) })
            }
        }
        routes.on(method, path, allow: allow, handler: handler)
    }

    /// Refuses a method that the caller cannot use on the service, whatever else is in the request.
    private func checkMethod(_ request: HTTPRequest, _ allow: AllowRule) throws {
        let service = try service(of: request)
        let isAllowed =
            request.method == .delete ? service.isRemovable(by: caller) : service.isWritable(by: caller)
        guard !isAllowed, let possible = try allow(request) else { return }
        let error = SessionError.readOnly(service: service.name)
        throw Problem(.methodNotAllowed, error.description, fields: [.allow: possible])
    }

    @Sendable private func show(_ request: HTTPRequest, _ found: FoundSession) throws -> HTTPOutcome {
        let session = found.session
        let service = try service(of: request)
        let journey = journey(of: request)
        if let wait = ChangeWait(request) {
            return .task {
                .response(
                    try await wait.respond(found) {
                        let state =
                            if let journey {
                                try await session.document(of: service, inJourney: journey)
                            } else {
                                try await session.createdDocument(of: service)
                            }
                        let response = try answer(request, service, state)
                        let dueAt =
                            if let journey { try session.residentJourney(journey)?.dueAt } else {
                                session.end(of: service)
                            }
                        return ChangeWait.Look(response: response, dueAt: dueAt)
                    })
            }
        }
        if let journey {
            return .task {
                try counted(request, service, try await session.document(of: service, inJourney: journey), in: session)
            }
        }
        if session.isFirstUse(of: service) {
            return .task { try counted(request, service, try await session.createdDocument(of: service), in: session) }
        }
        return try counted(request, service, try session.document(of: service), in: session)
    }

    private func counted(
        _ request: HTTPRequest, _ service: RegisteredService, _ state: (bytes: [UInt8], etag: ServiceETag),
        in session: Session
    ) throws -> HTTPOutcome {
        let response = try answer(request, service, state)
        // "0" stands for the default, which a reload may have replaced. It is shown again, and looking at it is no use.
        // One who waits waits for a write.
        if response.status == .notModified, state.etag == .unwritten, session.isReloaded {
            return .response(.state(.ok, state.bytes, state.etag))
        }
        return .response(self.session.counted(response, request, session))
    }

    private func answer(
        _ request: HTTPRequest, _ service: RegisteredService, _ state: (bytes: [UInt8], etag: ServiceETag)
    ) throws -> HTTPResponse {
        let (bytes, etag) = state
        if request.fields.contains(.ifMatch) { try Conditions.checkRead(request, service: service.name, etag) }
        let isKnown = try Conditions.isNotModified(request, etag)
        return .state(isKnown ? .notModified : .ok, bytes, etag)
    }

    @Sendable private func list(_ request: HTTPRequest, _ found: FoundSession) async throws -> HTTPResponse {
        let session = found.session
        if let journey = journey(of: request) {
            let services = try await session.services(inJourney: journey).filter { isShown($0.status) }
            return .page(try ListPage(of: services, try PageRequest(request), named: \.status.name)) {
                $0.service($1.status, owner: $1.owner)
            }
        }
        let services = try session.services().filter(isShown)
        return .page(try ListPage(of: services, try PageRequest(request), named: \.name)) { $0.service($1) }
    }

    private func isShown(_ status: ServiceStatus) -> Bool { catalog[status.name]?.isShown(to: caller) ?? true }

    @Sendable private func removeAll(_ request: HTTPRequest, _ found: FoundSession) async throws -> HTTPResponse {
        let response = UnitResponse<Void>(to: request) { _ in .done }
        return try response.of(await found.session.removeAllServices(by: caller, once: response.once))
    }

    @Sendable private func replacing(_ request: HTTPRequest) throws -> ServiceOperation {
        let service = try service(of: request)
        let state = try RequestBody.read(request)
        return ServiceOperation(
            .put(state), on: service, condition: try Conditions.ofWrite(request), journey: journey(of: request))
    }

    @Sendable private func patching(_ request: HTTPRequest) throws -> ServiceOperation {
        let service = try service(of: request)
        let (type, patch) = try RequestBody.readTyped(request, as: RequestBody.patches)
        let action: ServiceOperation.Action = type == MediaType.jsonPatch ? .jsonPatch(patch) : .mergePatch(patch)
        return ServiceOperation(
            action, on: service, condition: try Conditions.ofWrite(request), journey: journey(of: request))
    }

    private func leaving(_ action: ServiceOperation.Action) -> @Sendable (HTTPRequest) throws -> ServiceOperation {
        { request in
            ServiceOperation(
                action, on: try service(of: request), condition: try Conditions.ofWrite(request),
                journey: journey(of: request))
        }
    }

    @Sendable private static func stateNow(_ request: HTTPRequest, _ outcome: ServiceOperation.Outcome) -> HTTPResponse
    {
        request.minimized(.state(.ok, outcome.bytes, outcome.etag))
    }

    @Sendable private static func versionNow(
        _ request: HTTPRequest, _ outcome: ServiceOperation.Outcome
    ) -> HTTPResponse {
        var response = HTTPResponse.done
        response.fields.add(entityTag: outcome.etag.revision)
        return response
    }

    /// The journey that the path names; nil for a path of the session's own services.
    private func journey(of request: HTTPRequest) -> String? { place == .journey ? request.parameter("id") : nil }

    private func service(of request: HTTPRequest) throws -> RegisteredService {
        // An escaped name is rare and takes the slow path.
        var service: RegisteredService?
        request.withParameter(nameParameter) { service = catalog.service(named: $0) }
        if let service, place != .process, service.isShown(to: caller) { return service }
        let name = request.parameter("name")
        return try place == .process
            ? Self.processDocument(named: name, catalog) : catalog.service(named: name, for: caller)
    }

    /// - Throws: 404 for a service of each session, too.
    private static func processDocument(
        named name: String, _ catalog: ServiceCatalog
    ) throws -> RegisteredService {
        let service = try catalog.service(named: name)
        guard service.scope == .process else {
            throw Problem(.serviceNotFound, "Each session has its own '\(name)': it is not a service of the process.")
        }
        return service
    }
}
