import HTTPServer
import Sessions

/// Finds the session of a request, if the caller may use it.
struct SessionFinder: Sendable {
    /// Loads it from the store if necessary.
    let any: @Sendable (HTTPRequest) async throws -> Session
    /// Looks only into memory; `nil` when the session may be in the store.
    let resident: @Sendable (HTTPRequest) throws -> Session?
    /// The caller's token, if it has one.
    let token: @Sendable (HTTPRequest) throws -> TokenDigest?
    /// Counts a use of the session by a request that found it without one, see ``SessionCaller/isUse(_:)``.
    let used: @Sendable (Session) -> Void

    init(
        any: @escaping @Sendable (HTTPRequest) async throws -> Session,
        resident: @escaping @Sendable (HTTPRequest) throws -> Session? = { _ in nil },
        token: @escaping @Sendable (HTTPRequest) throws -> TokenDigest? = { _ in nil },
        used: @escaping @Sendable (Session) -> Void = { _ in }
    ) {
        self.any = any
        self.resident = resident
        self.token = token
        self.used = used
    }

    /// The response to a GET, which counts as a use if it is new to a client that named what it knows.
    func counted(_ response: HTTPResponse, _ request: HTTPRequest, _ session: Session) -> HTTPResponse {
        if response.isNews(to: request) { used(session) }
        return response
    }

    /// The same as ``handler(_:)`` for requests that may wait for a change.
    func patientHandler(
        _ handle: @escaping @Sendable (HTTPRequest, Session) throws -> HTTPOutcome
    ) -> HTTPHandler {
        let handler = handler(handle)
        return { request in
            if ChangeWait(request) != nil { request.bePatient() }
            return try handler(request)
        }
    }

    /// A handler of requests about a session. It waits only for a session that is not in memory.
    func handler(_ handle: @escaping @Sendable (HTTPRequest, Session) throws -> HTTPOutcome) -> HTTPHandler {
        { request in
            guard let session = try resident(request) else {
                return .task { try handle(request, try await any(request)) }
            }
            return try handle(request, session)
        }
    }
}

extension HTTPResponse {
    /// Whether the request named what its client knows, and this is something else.
    func isNews(to request: HTTPRequest) -> Bool { status != .notModified && request.fields.contains(.ifNoneMatch) }
}
