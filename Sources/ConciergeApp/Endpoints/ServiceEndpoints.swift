import HTTPServer
import JSONDocument
import Sessions

/// The services of one session: API, section 4. The same for a client, whose session it is, and for the admin
/// listener, which may look at any and write what clients only read.
struct ServiceEndpoints: Sendable {
    let catalog: ServiceCatalog
    let caller: ServiceCaller
    /// The session that the request's first parameter names, if the caller may see it.
    let session: @Sendable (HTTPRequest) async throws -> Session
    /// The same without waiting; nil when it has to be waited for.
    let residentSession: PromptLookUp

    typealias PromptLookUp = @Sendable (HTTPRequest) throws -> Session?

    /// The place of `{name}` among the parameters of its routes.
    private static let nameParameter = 1

    func add(to routes: inout RouterBuilder) {
        let services = "/v1/sessions/{session}/services"
        routes.on(.get, services, list)
        routes.on(.delete, services, removeAll)
        routes.on(.get, "\(services)/{name}", promptly: showPromptly, allow: methods(isState: false), show)
        addWrite(.put, "\(services)/{name}", of: replacing, answer: Self.stateNow, to: &routes)
        addWrite(.patch, "\(services)/{name}", of: patching, answer: Self.stateNow, to: &routes)
        addWrite(.delete, "\(services)/{name}", of: leaving(.remove), answer: Self.versionNow, to: &routes)
        addWrite(
            .delete, "\(services)/{name}/state", isState: true, of: leaving(.clear), answer: Self.versionNow,
            to: &routes)
    }

    /// What is possible on a service, or on its state: not every caller may write each of them.
    private func methods(isState: Bool) -> AllowRule {
        { request in
            let service = try service(of: request)
            var methods = service.isRemovable(by: caller) ? ["DELETE"] : []
            methods += isState ? ["OPTIONS"] : ["GET", "HEAD", "OPTIONS"]
            if !isState, service.isWritable(by: caller) { methods += ["PATCH", "PUT"] }
            return methods.joined(separator: ", ")
        }
    }

    /// A write of one service: `operation` says what a request asks for, `answer` what is answered when it is done.
    private func addWrite(
        _ method: HTTPMethod, _ path: String, isState: Bool = false,
        of operation: @escaping @Sendable (HTTPRequest) throws -> ServiceOperation,
        answer: @escaping @Sendable (HTTPRequest, ServiceOperation.Outcome) -> HTTPResponse,
        to routes: inout RouterBuilder
    ) {
        let allow = methods(isState: isState)
        @Sendable func explained(_ error: any Error, _ request: HTTPRequest) -> any Error {
            guard case SessionError.readOnly = error, let possible = try? allow(request) else { return error }
            // The path is known, and this method is not possible on it, whoever calls.
            return Problem(.methodNotAllowed, String(describing: error), fields: [.allow: possible])
        }
        let prompt: PromptHandler = { request, deferral in
            guard let session = try residentSession(request) else { return nil }
            do {
                let outcome = try session.perform(operation(request), by: caller) {
                    let late = deferral.begin()
                    return { outcome in
                        late.give {
                            do {
                                return answer(request, try outcome.get())
                            } catch {
                                throw explained(error, request)
                            }
                        }
                    }
                }
                return outcome.map { answer(request, $0) }
            } catch {
                throw explained(error, request)
            }
        }
        let handler: HTTPHandler = { request in
            let session = try await session(request)
            do {
                return answer(request, try await session.perform(operation(request), by: caller))
            } catch {
                throw explained(error, request)
            }
        }
        routes.on(method, path, promptly: prompt, allow: allow, handler)
    }

    private func show(_ request: HTTPRequest) async throws -> HTTPResponse {
        try show(request, of: try await session(request))
    }

    private func showPromptly(_ request: HTTPRequest, _: inout HTTPDeferral) throws -> HTTPResponse? {
        guard let session = try residentSession(request) else { return nil }
        return try show(request, of: session)
    }

    private func show(_ request: HTTPRequest, of session: Session) throws -> HTTPResponse {
        let service = try service(of: request)
        let (bytes, etag) = try session.document(of: service)
        if request.fields.contains(.ifMatch) { try Conditions.checkRead(request, service: service.name, etag) }
        return try Conditions.isNotModified(request, etag)
            ? .state(.notModified, bytes, etag) : .state(.ok, bytes, etag)
    }

    private func list(_ request: HTTPRequest) async throws -> HTTPResponse {
        let services = try await session(request).read(\.services)
        return .page(try ListPage(of: services, try PageRequest(request), named: \.name)) { $0.service($1) }
    }

    private func removeAll(_ request: HTTPRequest) async throws -> HTTPResponse {
        try await session(request).removeAllServices(by: caller)
        return .done
    }

    @Sendable private func replacing(_ request: HTTPRequest) throws -> ServiceOperation {
        let service = try service(of: request)
        let state = try RequestBody.read(request)
        return ServiceOperation(.put(state), on: service, condition: try Conditions.ofWrite(request))
    }

    @Sendable private func patching(_ request: HTTPRequest) throws -> ServiceOperation {
        let service = try service(of: request)
        let (type, patch) = try RequestBody.readTyped(request, as: RequestBody.patches)
        let action: ServiceOperation.Action = type == RequestBody.jsonPatch ? .jsonPatch(patch) : .mergePatch(patch)
        return ServiceOperation(action, on: service, condition: try Conditions.ofWrite(request))
    }

    private func leaving(_ action: ServiceOperation.Action) -> @Sendable (HTTPRequest) throws -> ServiceOperation {
        { request in
            ServiceOperation(action, on: try service(of: request), condition: try Conditions.ofWrite(request))
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

    private func service(of request: HTTPRequest) throws -> RegisteredService {
        // An escaped name is still that name, and not worth being fast about.
        var service: RegisteredService?
        request.lendParameter(Self.nameParameter) { service = catalog.service(named: $0) }
        if let service { return service }
        return try catalog.service(named: request.parameter("name"))
    }
}
