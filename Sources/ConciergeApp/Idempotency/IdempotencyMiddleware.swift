import HTTPServer
import Sessions

/// Makes what changes something safe to repeat: a request whose `Idempotency-Key` has a response gets the same response
/// again, marked `Idempotency-Replayed: true`, and is not executed twice.
///
/// ```swift
/// let idempotency = IdempotencyMiddleware(
///     idempotency, errors: errors, owner: caller.keyOwner, residentOwner: caller.residentKeyOwner)
/// routes.group(idempotency) { $0.on(.post, "/v1/sessions/{session}/journeys", start) }
/// ```
///
/// What changes a session keeps its response itself, in the same commit (``KeyedRequest/once``). Any other response is
/// kept after the handler: of an error too, except errors after which trying again may help (401, 429, 5xx) and failed
/// conditions (412, 428). If a copy of the request was executed meanwhile, at another server, both get its response.
/// The response is also kept when the client has disconnected, because that client will ask again.
///
/// `HTTPError`s: 400 `invalid_idempotency_key`; 409 `request_in_progress` with `Retry-After`, and `replay_expired`; 422
/// `idempotency_key_reused` when the request differs from the first one with the key.
package struct IdempotencyMiddleware: HTTPMiddleware {
    /// Finds the owner of the request's key. A replay is authorised again, so it throws what the handler would throw.
    package typealias Owner = @Sendable (HTTPRequest) async throws -> KeyOwner
    /// The same without waiting; `nil` when it has to wait.
    package typealias ResidentOwner = @Sendable (HTTPRequest) throws -> KeyOwner?

    private let idempotency: Idempotency
    private let errors: any HTTPErrorRenderer
    private let owner: Owner
    private let residentOwner: ResidentOwner

    /// - Parameter errors: turns a handler's errors into responses.
    package init(
        _ idempotency: Idempotency, errors: any HTTPErrorRenderer, owner: @escaping Owner,
        residentOwner: @escaping ResidentOwner
    ) {
        self.idempotency = idempotency
        self.errors = errors
        self.owner = owner
        self.residentOwner = residentOwner
    }

    package func respond(to request: HTTPRequest, next: @escaping HTTPHandler) throws -> HTTPOutcome {
        guard Self.concerns(request) else { return try next(request) }
        if let owner = try residentOwner(request) { return try respond(to: request, of: owner, next) }
        return .task { try respond(to: request, of: try await owner(request), next) }
    }

    private static func concerns(_ request: HTTPRequest) -> Bool {
        request.fields.contains(.idempotencyKey) && !request.method.isSafe
    }

    private func respond(
        to request: HTTPRequest, of owner: KeyOwner, _ next: @escaping HTTPHandler
    ) throws -> HTTPOutcome {
        let key = try IdempotencyKey(of: request)
        let fingerprint = try IdempotencyFingerprint.of(request, keptIn: owner.place)
        let keyed = try idempotency.begin(owner.scope, key, fingerprint, of: owner.token)
        switch owner.place {
        // Looked for after the key is ours: a copy that has just ended has left its response.
        case .session(let session):
            if let entry = session.replay(of: keyed.id) { return replay(.session(session, entry), keyed, request) }
            // The first copy may have come before the sign-in that this one comes after.
            if let guest = owner.scope.asGuest {
                let former = try idempotency.begin(guest, key, fingerprint)
                if let entry = session.replay(of: former.id) {
                    keyed.end()
                    return replay(.session(session, entry), former, request)
                }
                former.end()
            }
        case .newSession: break
        case .none:
            return .task { [idempotency] in
                do {
                    guard let lone = try await idempotency.sessions.loneReplay(keyed.id) else {
                        return try execute(request, keyed, owner, next)
                    }
                    defer { keyed.end() }
                    return .response(try idempotency.replay(lone, of: keyed, to: request))
                } catch {
                    keyed.end()
                    throw error
                }
            }
        }
        return try execute(request, keyed, owner, next)
    }

    private func execute(
        _ request: HTTPRequest, _ keyed: KeyedRequest, _ owner: KeyOwner, _ next: @escaping HTTPHandler
    ) throws -> HTTPOutcome {
        request.attachment = keyed
        return try .following(request, next) { result in try finish(request, keyed, owner, result) }
    }

    /// Keeps the response, unless that is done. An error is kept as its response.
    private func finish(
        _ request: HTTPRequest, _ keyed: KeyedRequest, _ owner: KeyOwner, _ result: Result<HTTPResponse, any Error>
    ) throws -> HTTPOutcome {
        let response: HTTPResponse
        switch result {
        case .success(let made):
            response = made
            if keyed.isKept {
                keyed.end()
                return .response(response)
            }
        case .failure(let executed as ExecutedBefore): return replay(executed.place, keyed, request)
        case .failure(let error as CancellationError):
            keyed.end()
            throw error
        case .failure(let error): response = errors.response(to: error, of: request)
        }
        guard Idempotency.isKept(response.status) else {
            keyed.end()
            return .response(response)
        }
        return .task { [idempotency] in
            defer { keyed.end() }
            return .response(try await idempotency.keep(response, of: keyed, in: owner.place, to: request))
        }
    }

    private func replay(
        _ executed: ExecutedBefore.Place, _ keyed: KeyedRequest, _ request: HTTPRequest
    ) -> HTTPOutcome {
        .task { [idempotency] in
            defer { keyed.end() }
            return .response(try await idempotency.replay(executed, of: keyed, to: request))
        }
    }
}
