import HTTPServer

/// Makes `POST` safe to send again: a request with an `Idempotency-Key` that was answered before gets that answer,
/// marked `Idempotency-Replayed: true`, and is not done twice.
///
/// ```swift
/// let idempotency = IdempotencyMiddleware(store: store, errors: errors) { request in
///     .session(try await authenticated(request).id)
/// }
/// routes.group(idempotency) { $0.on(.post, "/v1/sessions/{session}/journeys", start) }
/// ```
///
/// An error is an answer like any other, and remembered, unless it says that trying again may help (401, 429, 5xx) or
/// that the condition was not the right one (412, 428). A handler that returns although its client has gone is
/// remembered: that client is the one who will ask again.
///
/// `HTTPError`s: 400 `invalid_idempotency_key`; 409 `request_in_progress` with `Retry-After`; 422
/// `idempotency_key_reused` when the request is not the one that the key was first sent with.
package struct IdempotencyMiddleware: HTTPMiddleware {
    /// Says whose request this is, and throws what the handler would if the caller may not ask at all: a token that
    /// has ended opens no remembered answer either.
    package typealias Authorization = @Sendable (HTTPRequest) async throws -> IdempotencyScope

    private let store: IdempotencyStore
    private let errors: any HTTPErrorRenderer
    private let authorize: Authorization

    /// - Parameter errors: what a thrown error looks like on the wire.
    package init(
        store: IdempotencyStore, errors: any HTTPErrorRenderer, authorize: @escaping Authorization
    ) {
        self.store = store
        self.errors = errors
        self.authorize = authorize
    }

    package func respond(to request: HTTPRequest, next: @escaping HTTPHandler) throws -> HTTPOutcome {
        guard Self.concerns(request) else { return try next(request) }
        return .task {
            let scope = try await authorize(request)
            guard let key = try IdempotencyKey(of: request) else { return try next(request) }
            switch store.begin(scope: scope, key: key, fingerprint: try IdempotencyFingerprint(of: request)) {
            case .proceed(let ticket): return try .transforming(request, next) { try remember($0, as: ticket, request) }
            case .replay(var response):
                response.nameInProblem(request.id.text)
                response.fields[.idempotencyReplayed] = "true"
                return .response(response)
            case .mismatch: throw HTTPError.idempotencyKeyReused
            case .inProgress: throw HTTPError.requestInProgress
            }
        }
    }

    private func remember(
        _ result: Result<HTTPResponse, any Error>, as ticket: IdempotencyStore.Ticket, _ request: HTTPRequest
    ) throws -> HTTPResponse {
        let response: HTTPResponse
        do {
            response = try result.get()
        } catch is CancellationError {
            store.abandon(ticket)
            throw CancellationError()
        } catch {
            response = errors.response(to: error, of: request)
        }
        store.finish(ticket, response)
        return response
    }

    private static func concerns(_ request: HTTPRequest) -> Bool {
        request.method == .post && request.fields.bytes(of: .idempotencyKey) != nil
    }
}

extension HTTPError {
    static let idempotencyKeyReused = HTTPError(
        .unprocessableContent, code: "idempotency_key_reused",
        detail: "This Idempotency-Key was first sent with another request. Another request needs another key.")
    static let requestInProgress = HTTPError(
        .conflict, code: "request_in_progress",
        detail: "The first request with this Idempotency-Key is still being worked on.", fields: [.retryAfter: "1"])
}
