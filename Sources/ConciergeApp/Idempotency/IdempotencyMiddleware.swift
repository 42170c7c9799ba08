import HTTPServer

/// Makes `POST` safe to send again: a request with an `Idempotency-Key` that was answered before gets the same response,
/// marked `Idempotency-Replayed: true`, and is not done twice.
///
/// ```swift
/// let idempotency = IdempotencyMiddleware(
///     store: store, errors: errors, authorize: caller.idempotencyScope, authorizeResident: { _ in nil })
/// routes.group(idempotency) { $0.on(.post, "/v1/sessions/{session}/journeys", start) }
/// ```
///
/// An error is a response like any other, and kept, unless it says that trying again may help (401, 429, 5xx) or that the
/// condition did not hold (412, 428). The response of a handler that returns although its client has gone is kept: that
/// client is the one who will ask again.
///
/// `HTTPError`s: 400 `invalid_idempotency_key`; 409 `request_in_progress` with `Retry-After`; 422
/// `idempotency_key_reused` when the request is not the one that the key was first sent with.
package struct IdempotencyMiddleware: HTTPMiddleware {
    /// Says whose request this is. A replay is authorised again: throws what the handler would if the caller may not ask.
    package typealias Authorization = @Sendable (HTTPRequest) async throws -> IdempotencyScope
    /// The same without waiting; nil when it has to wait.
    package typealias ResidentAuthorization = @Sendable (HTTPRequest) throws -> IdempotencyScope?

    private let store: IdempotencyStore
    private let errors: any HTTPErrorRenderer
    private let authorize: Authorization
    private let authorizeResident: ResidentAuthorization

    /// - Parameter errors: renders what a handler throws.
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
        switch store.begin(scope: scope, key: key, fingerprint: try IdempotencyFingerprint(of: request)) {
        case .proceed(let ticket): return try .transforming(request, next) { try finish(ticket, request, $0) }
        case .replay(var response):
            response.nameInProblem(request.id.text)
            response.fields[.idempotencyReplayed] = "true"
            return .response(response)
        case .mismatch: throw HTTPError.idempotencyKeyReused
        case .inProgress: throw HTTPError.requestInProgress
        }
    }

    /// Keeps the response of the first request, of an error the one that it is rendered as.
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

extension HTTPError {
    static let idempotencyKeyReused = HTTPError(
        .unprocessableContent, code: "idempotency_key_reused",
        detail: "This Idempotency-Key was first sent with another request. Another request needs another key.")
    static let requestInProgress = HTTPError(
        .conflict, code: "request_in_progress",
        detail: "The first request with this Idempotency-Key is still in progress.", fields: [.retryAfter: "1"])
}
