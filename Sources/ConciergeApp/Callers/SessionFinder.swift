import HTTPServer
import Sessions

/// Finds the session of a request, if the caller may use it.
struct SessionFinder: Sendable {
    typealias Handler = @Sendable (HTTPRequest, Session) throws -> HTTPOutcome
    /// - token: see ``Session/perform(_:by:presenting:once:then:)``.
    typealias Writer = @Sendable (HTTPRequest, Session, _ token: TokenDigest?) throws -> HTTPOutcome

    /// Loads the session from the store if necessary.
    private let any: @Sendable (HTTPRequest, PresentedToken?) async throws -> Session
    /// Nil for callers that may use any session.
    private let caller: SessionCaller?
    /// Whether finding the session is a use of it.
    private let isUse: @Sendable (HTTPRequest) -> Bool

    /// Finds any session.
    init(any: @escaping @Sendable (HTTPRequest) async throws -> Session) {
        self.any = { request, _ in try await any(request) }
        caller = nil
        isUse = { _ in false }
    }

    /// Finds the caller's own.
    init(of caller: SessionCaller, isUse: @escaping @Sendable (HTTPRequest) -> Bool) {
        any = { try await caller.sessionInPath(of: $0, presenting: $1, isUse: isUse($0)) }
        self.caller = caller
        self.isUse = isUse
    }

    func find(_ request: HTTPRequest) async throws -> Session { try await any(request, try presented(request)) }

    /// The caller's token, if it has one.
    func token(_ request: HTTPRequest) throws -> TokenDigest? { try presented(request)?.digest }

    private func presented(_ request: HTTPRequest) throws -> PresentedToken? {
        try caller?.presentedToken(of: request)
    }

    /// The response to a GET, which counts as a use if it is new to a client that named what it knows.
    func counted(_ response: HTTPResponse, _ request: HTTPRequest, _ session: Session) -> HTTPResponse {
        if let caller, response.isNews(to: request) { caller.sessions.noteUse(of: session) }
        return response
    }

    /// The same as ``handler(_:)`` for requests that may wait for a change.
    func patientHandler(_ handle: @escaping Handler) -> HTTPHandler {
        let handler = handler(handle)
        return { request in
            if ChangeWait(request) != nil { request.bePatient() }
            return try handler(request)
        }
    }

    /// A handler of requests about a session. It waits only for a session that is not in memory, or that other
    /// processes may have changed.
    func handler(_ handle: @escaping Handler) -> HTTPHandler {
        { request in try answer(request, try presented(request), handle) }
    }

    /// A handler of requests that write to a session by one unit of work. For a session that other processes may have
    /// changed its commit shows whether they have.
    func writer(_ handle: @escaping Writer) -> HTTPHandler {
        let plain: Handler = { try handle($0, $1, nil) }
        return { request in
            let token = try presented(request)
            // Whatever is wrong may be right for the session as it is now.
            guard let caller, let token, let session = try? caller.remembered(token, of: request) else {
                return try answer(request, token, plain)
            }
            try caller.note(token, of: request, session)
            guard let outcome = try? handle(request, session, token.digest) else {
                return try answer(request, token, plain)
            }
            let begun: HTTPHandler = { _ in outcome }
            return try .following(request, begun) { result in
                if case .failure(let error) = result, error is Unconfirmed { return found(request, token, plain) }
                return .response(try result.get())
            }
        }
    }

    private func answer(
        _ request: HTTPRequest, _ token: PresentedToken?, _ handle: @escaping Handler
    ) throws -> HTTPOutcome {
        guard let caller, let token else { return found(request, token, handle) }
        if let session = try caller.resident(token, of: request, isUse: isUse(request)) {
            return try handle(request, session)
        }
        guard let session = try? caller.remembered(token, of: request) else { return found(request, token, handle) }
        try caller.note(token, of: request, session)
        let confirming: HTTPHandler = { _ in Self.confirming(session) }
        return try .following(request, confirming) { result in
            guard case .success = result,
                try caller.resident(token, of: request, isUse: isUse(request), isConfirmed: true) === session
            else { return found(request, token, handle) }
            return request.isLong ? .task { try handle(request, session) } : try handle(request, session)
        }
    }

    /// Fails when other processes have changed the session.
    private static func confirming(_ session: Session) -> HTTPOutcome {
        .deferred { responder in
            session.confirm(
                then: responder.completion {
                    try $0.get()
                    return HTTPResponse()
                })
        }
    }

    private func found(_ request: HTTPRequest, _ token: PresentedToken?, _ handle: @escaping Handler) -> HTTPOutcome {
        .task { try handle(request, try await any(request, token)) }
    }
}

extension HTTPResponse {
    /// Whether the request named what its client knows, and this is something else.
    func isNews(to request: HTTPRequest) -> Bool { status != .notModified && request.fields.contains(.ifNoneMatch) }
}

extension HTTPRequest {
    /// Leaves the id of the session for the log.
    func note(_ session: SessionID) { note = Note(high: session.high, low: session.low) }
}
