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
    let residentSession: PromptLookUp?

    typealias PromptLookUp = @Sendable (HTTPRequest) throws -> Session?

    /// The place of `{name}` among the parameters of its routes.
    private static let nameParameter = 1

    func add(to routes: inout RouterBuilder) {
        let services = "/v1/sessions/{session}/services"
        routes.on(.get, services, list)
        routes.on(.delete, services, removeAll)
        routes.on(.get, "\(services)/{name}", promptly: showPromptly, show)
        routes.on(.put, "\(services)/{name}", replace)
        routes.on(.patch, "\(services)/{name}", patch)
        routes.on(.delete, "\(services)/{name}", remove)
        routes.on(.delete, "\(services)/{name}/state", clear)
    }

    private func show(_ request: HTTPRequest) async throws -> HTTPResponse {
        try show(request, of: try await session(request))
    }

    private func showPromptly(_ request: HTTPRequest) throws -> HTTPResponse? {
        guard let session = try residentSession?(request) else { return nil }
        return try show(request, of: session)
    }

    private func show(_ request: HTTPRequest, of session: Session) throws -> HTTPResponse {
        let service = try service(of: request)
        let (bytes, etag) = try session.read { $0.document(of: service) }
        try Conditions.checkRead(request, service: service.name, etag)
        return try Conditions.isNotModified(request, etag)
            ? .state(.notModified, bytes, etag) : .state(.ok, bytes, etag)
    }

    private func list(_ request: HTTPRequest) async throws -> HTTPResponse {
        let services = try await session(request).read(\.services)
        return .json { json in
            json.name("items")
            json.beginArray()
            for service in services { json.service(service) }
            json.endArray()
        }
    }

    private func replace(_ request: HTTPRequest) async throws -> HTTPResponse {
        let session = try await session(request)
        let service = try service(of: request)
        return try await write(
            .put(try RequestBody.check(request, as: RequestBody.jsonOnly).content), to: service, of: session, request)
    }

    private func patch(_ request: HTTPRequest) async throws -> HTTPResponse {
        let session = try await session(request)
        let service = try service(of: request)
        let (type, patch) = try RequestBody.check(request, as: RequestBody.patches)
        let action: ServiceOperation.Action =
            type == RequestBody.jsonPatch ? .jsonPatch(try RequestBody.document(of: patch)) : .mergePatch(patch)
        return try await write(action, to: service, of: session, request)
    }

    private func clear(_ request: HTTPRequest) async throws -> HTTPResponse {
        try await leave(.clear, request)
    }

    private func remove(_ request: HTTPRequest) async throws -> HTTPResponse {
        try await leave(.remove, request)
    }

    private func removeAll(_ request: HTTPRequest) async throws -> HTTPResponse {
        try await session(request).removeAllServices(by: caller)
        return .done
    }

    private func write(
        _ action: ServiceOperation.Action, to service: RegisteredService, of session: Session, _ request: HTTPRequest
    ) async throws -> HTTPResponse {
        let operation = ServiceOperation(action, on: service, condition: try Conditions.ofWrite(request))
        let outcome = try await session.perform(operation, by: caller)
        return request.minimized(.state(.ok, outcome.bytes, outcome.etag))
    }

    private func leave(_ action: ServiceOperation.Action, _ request: HTTPRequest) async throws -> HTTPResponse {
        let session = try await session(request)
        let operation = ServiceOperation(
            action, on: try service(of: request), condition: try Conditions.ofWrite(request))
        let outcome = try await session.perform(operation, by: caller)
        var response = HTTPResponse.done
        response.fields.add(.etag, outcome.etag.description)
        return response
    }

    private func service(of request: HTTPRequest) throws -> RegisteredService {
        // An escaped name is still that name, and not worth being fast about.
        if let service = catalog.service(named: request.parameterBytes(Self.nameParameter)) { return service }
        return try catalog.service(named: request.parameter("name"))
    }
}

extension HTTPResponse {
    /// A service's state with its version.
    fileprivate static func state(_ status: HTTPStatus, _ bytes: [UInt8], _ etag: ServiceETag) -> HTTPResponse {
        var response = HTTPResponse(status, body: bytes)
        if status == .ok { response.fields.add(.contentType, RequestBody.json) }
        response.fields.add(.etag, etag.description)
        response.fields.add(.cacheControl, "no-store")
        return response
    }
}
