import HTTPServer

/// Makes `POST` safe to repeat: a request whose `Idempotency-Key` has a response gets the same response again, marked
/// `Idempotency-Replayed: true`, and is not executed twice.
///
/// ```swift
/// let idempotency = IdempotencyMiddleware(
///     store: store, errors: errors, authorize: caller.idempotencyScope, authorizeResident: { _ in nil })
/// routes.group(idempotency) { $0.on(.post, "/v1/sessions/{session}/journeys", start) }
/// ```
///
/// An error is kept like any other response, except errors after which trying again may help (401, 429, 5xx) and failed
/// conditions (412, 428). The response is also kept when the client has disconnected, because that client will ask
/// again.
///
/// `HTTPError`s: 400 `invalid_idempotency_key`; 409 `request_in_progress` with `Retry-After`; 422
/// `idempotency_key_reused` when the request differs from the first one with the key.
package struct IdempotencyMiddleware: HTTPMiddleware {
    /// Finds the owner of the request's key. A replay is authorised again, so it throws what the handler would throw.
    package typealias Authorization = @Sendable (HTTPRequest) async throws -> IdempotencyScope
    /// The same without waiting; `nil` when it has to wait.
    package typealias ResidentAuthorization = @Sendable (HTTPRequest) throws -> IdempotencyScope?

    private let store: IdempotencyStore
    private let errors: any HTTPErrorRenderer
    private let authorize: Authorization
    private let authorizeResident: ResidentAuthorization

    /// - Parameter errors: turns a handler's errors into responses.
    package init(
        store: IdempotencyStore, errors: any HTTPErrorRenderer, authorize: @escaping Authorization,
        authorizeResident: @escaping ResidentAuthorization
    ) {
        self.store = store
        self.errors = errors
        self.authorize = authorize
        self.authorizeResident = authorizeResident
    }

    package func respond(to request: HTTPRequest, next: @escaping HTTPHandler) throws -> HTTPOutcome {
        guard Self.concerns(request) else { return try next(request) }
        if let scope = try authorizeResident(request) { return try respond(to: request, of: scope, next) }
        return .task { try respond(to: request, of: try await authorize(request), next) }
    }

    private static func concerns(_ request: HTTPRequest) -> Bool {
        request.method == .post && request.fields.contains(.idempotencyKey)
    }

    private func respond(
        to request: HTTPRequest, of scope: IdempotencyScope, _ next: @escaping HTTPHandler
    ) throws -> HTTPOutcome {
        let key = try IdempotencyKey(of: request)
        let decision = store.begin(
            scope: scope, key: key, fingerprint: try IdempotencyFingerprint(of: request), of: request.client.network)
        guard case .proceed(let ticket) = decision, store.notes != nil else {
            return try respond(to: request, decision, next)
        }
        return .task { try respond(to: request, try await store.claim(ticket), next) }
    }

    private func respond(
        to request: HTTPRequest, _ decision: IdempotencyStore.Decision, _ next: @escaping HTTPHandler
    ) throws -> HTTPOutcome {
        if case .proceed(let ticket) = decision {
            return try .transforming(request, next) { try finish(ticket, request, $0) }
        }
        return .response(try decision.replay(to: request))
    }

    /// Keeps the response of the first request. An error is kept as its response.
    private func finish(
        _ ticket: IdempotencyStore.Ticket, _ request: HTTPRequest, _ result: Result<HTTPResponse, any Error>
    ) throws -> HTTPResponse {
        let response: HTTPResponse
        switch result {
        case .success(let made): response = made
        case .failure(let error as CancellationError):
            store.abandon(ticket)
            throw error
        case .failure(let error): response = errors.response(to: error, of: request)
        }
        store.finish(ticket, response)
        return response
    }
}

extension IdempotencyStore.Decision {
    /// The response of the first request with the key, marked as replayed. A problem in it names this request.
    /// - Throws: `HTTPError` when there is no such response.
    func replay(to request: HTTPRequest) throws(HTTPError) -> HTTPResponse {
        switch self {
        case .replay(var response):
            response.nameInProblem(request.id.text)
            response.fields[.idempotencyReplayed] = "true"
            return response
        case .mismatch: throw HTTPError.idempotencyKeyReused
        case .inProgress, .proceed: throw HTTPError.requestInProgress
        }
    }
}

extension HTTPError {
    fileprivate static let idempotencyKeyReused = HTTPError(
        .unprocessableContent, code: "idempotency_key_reused",
        detail: "This Idempotency-Key was first sent with another request. Another request needs another key.")
    static let requestInProgress = HTTPError(
        .conflict, code: "request_in_progress",
        detail: "The first request with this Idempotency-Key is still in progress.", fields: [.retryAfter: "1"])
}
