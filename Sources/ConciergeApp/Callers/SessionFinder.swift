import HTTPServer
import Sessions

/// A session that was found for a request.
struct FoundSession: Sendable {
    let session: Session
    /// The caller's token; `nil` for callers that may use any session.
    var token: PresentedToken?
    /// Whether only a commit shows that the session is still as memory has it; see ``Sessions/Finding``.
    var isRemembered = false

    /// See ``Session/perform(_:by:presenting:once:then:)``.
    var unconfirmed: TokenDigest? { isRemembered ? token?.digest : nil }
}

/// Finds the session of a request, if the caller may use it. A class: each request would copy all that a structure has.
final class SessionFinder: Sendable {
    typealias Handler = @Sendable (HTTPRequest, FoundSession) throws -> HTTPOutcome

    private enum Owner: Sendable {
        /// Callers may use any session.
        case anybody(@Sendable (HTTPRequest) async throws -> Session)
        /// - isUse: whether finding the session is a use of it.
        case caller(SessionCaller, isUse: @Sendable (HTTPRequest) -> Bool)
    }

    private let owner: Owner

    /// Finds any session.
    init(any find: @escaping @Sendable (HTTPRequest) async throws -> Session) { owner = .anybody(find) }

    /// Finds the caller's own.
    init(of caller: SessionCaller, isUse: @escaping @Sendable (HTTPRequest) -> Bool) {
        owner = .caller(caller, isUse: isUse)
    }

    /// Loads the session from the store if necessary.
    private func load(_ request: HTTPRequest, _ token: PresentedToken?) async throws -> FoundSession {
        switch owner {
        case .anybody(let find): return FoundSession(session: try await find(request))
        case .caller(let caller, let isUse):
            let token = try token ?? caller.presentedToken(of: request)
            let found = try await caller.load(token, of: request, isUse: isUse(request))
            try caller.checkPath(of: request, names: found.session)
            return found
        }
    }

    /// The response to a GET, which counts as a use if it is new to a client that named what it knows.
    func counted(_ response: HTTPResponse, _ request: HTTPRequest, _ session: Session) -> HTTPResponse {
        if case .caller(let caller, _) = owner, response.isNews(to: request) { caller.sessions.noteUse(of: session) }
        return response
    }

    /// A handler of requests about a session, which may wait for a change. Finding waits only for a session that is not
    /// in memory, or that other processes may have changed.
    func handler(_ handle: @escaping Handler) -> HTTPHandler {
        { request in
            if ChangeWait(request) != nil { request.bePatient() }
            return try self.answer(request, handle)
        }
    }

    /// The same for requests that write to a session by one unit of work. For a session that other processes may have
    /// changed its commit shows whether they have.
    func writer(_ handle: @escaping Handler) -> HTTPHandler {
        { request in try self.answer(request, commits: true, handle) }
    }

    /// The same for work that has to wait.
    func task(_ handle: @escaping @Sendable (HTTPRequest, FoundSession) async throws -> HTTPResponse) -> HTTPHandler {
        { request in
            .task {
                let found = try await self.load(request, nil)
                return .response(self.counted(try await handle(request, found), request, found.session))
            }
        }
    }

    private func answer(
        _ request: HTTPRequest, commits: Bool = false, _ handle: @escaping Handler
    ) throws -> HTTPOutcome {
        guard case .caller(let caller, let isUse) = owner else { return later(request, nil, handle) }
        let token = try caller.presentedToken(of: request)
        guard let found = try caller.find(token, of: request, isUse: isUse(request)) else {
            return later(request, token, handle)
        }
        if !found.isRemembered {
            try caller.checkPath(of: request, names: found.session)
            return try handle(request, found)
        }
        // Whatever is wrong may be right for the session as it is now.
        guard (try? caller.checkPath(of: request, names: found.session)) != nil,
            let outcome = commits ? (try? handle(request, found)) : Self.confirming(found.session)
        else { return later(request, token, handle) }
        let begun: HTTPHandler = { _ in outcome }
        return try .following(request, begun) { result in
            if case .failure(let error) = result, error is Unconfirmed || !commits {
                return self.later(request, token, handle)
            }
            if commits { return .response(try result.get()) }
            guard try caller.sessions.accept(token, of: found.session, isUse: isUse(request)) else {
                return self.later(request, token, handle)
            }
            let confirmed = FoundSession(session: found.session, token: token)
            return request.isLong ? .task { try handle(request, confirmed) } : try handle(request, confirmed)
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

    private func later(_ request: HTTPRequest, _ token: PresentedToken?, _ handle: @escaping Handler) -> HTTPOutcome {
        .task { try handle(request, try await self.load(request, token)) }
    }
}

extension HTTPResponse {
    /// Whether the request named what its client knows, and this is something else.
    func isNews(to request: HTTPRequest) -> Bool { status != .notModified && request.fields.contains(.ifNoneMatch) }
}
