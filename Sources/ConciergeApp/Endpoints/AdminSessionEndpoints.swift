import API
import HTTPServer
import JSONDocument
import Operations
import Sessions

/// Any session, for trusted back ends.
struct AdminSessionEndpoints: Sendable {
    let sessions: Sessions
    let log: Log

    func add(to routes: inout RouterBuilder) {
        routes.on(.get, "/v1/sessions", list)
        routes.on(.delete, "/v1/sessions", endMany)
        routes.on(.get, Self.path, show)
        routes.on(.delete, Self.path, end)
        routes.on(.put, "\(Self.path)/user", signIn)
        routes.on(.delete, "\(Self.path)/user", signOut)
        routes.on(.get, "/v1/users/{user}/sessions", listOfUser)
        routes.on(.delete, "/v1/users/{user}/sessions", endOfUser)
    }

    /// The owner of an `Idempotency-Key`: responses are kept with the session that the path names, except that of its
    /// end.
    @Sendable func keyOwner(of request: HTTPRequest) async throws -> KeyOwner {
        let route = request.match.route?.pattern
        let isEnd = request.method == .delete && route?.text == Self.path
        let namesSession = route?.parameterNames.contains("session") == true
        return .administrator(namesSession && !isEnd ? try await session(of: request) : nil)
    }

    private static let path = "/v1/sessions/{session}"

    /// The session that the path names.
    @Sendable func session(of request: HTTPRequest) async throws -> Session {
        guard let id = SessionID(request.parameter("session")), let session = try await sessions.session(id) else {
            throw Problem(.sessionNotFound)
        }
        request.note(session, of: log)
        return session
    }

    private func list(_ request: HTTPRequest) async throws -> HTTPResponse {
        var query = try QueryReader(request)
        let isActive = query.flag(.active)
        let page = try PageRequest(&query)
        return .list(
            try await sessions.page(
                after: page.cursor, limit: page.limit, userID: query.text(.userID), isActive: isActive))
    }

    /// Those of a user whose id no path can carry, such as an address; or all.
    private func endMany(_ request: HTTPRequest) async throws -> HTTPResponse {
        let count =
            if let user = try QueryReader(request).text(.userID) {
                try await sessions.endSessions(ofUser: user)
            } else if try request.body.isEmpty, !request.target.contains("?") {
                try await sessions.endAllSessions()
            } else {
                // A filter that has got lost would end them all.
                throw Problem(.invalidInput, "Only the path alone ends all sessions; ?user_id=… those of a user.")
            }
        return .json { $0.member("count", count) }
    }

    private func show(_ request: HTTPRequest) async throws -> HTTPResponse {
        .session(try await session(of: request).summary())
    }

    private func end(_ request: HTTPRequest) async throws -> HTTPResponse {
        do {
            try await sessions.end(session(of: request))
        } catch SessionError.damaged {
            guard let id = SessionID(request.parameter("session")), try await sessions.endStored(id) else {
                throw Problem(.sessionNotFound)
            }
            request.note(id)
        }
        return .done
    }

    private func signIn(_ request: HTTPRequest) async throws -> HTTPResponse {
        let session = try await session(of: request)
        let user = try UserClaims(RequestBody.read(request), at: "")
        let response = UnitResponse<(session: SessionSummary, token: SessionToken)>(to: request) {
            request.carries($0.token)
            return .signedIn($0.session, $0.token)
        }
        do {
            return try response.of(await sessions.attach(user, to: session, once: response.once))
        } catch SessionError.ended {
            // One that has expired and stays for its work, too.
            throw Problem(.sessionNotFound)
        }
    }

    private func signOut(_ request: HTTPRequest) async throws -> HTTPResponse {
        let response = UnitResponse<Void>(to: request) { _ in .done }
        return try response.of(await sessions.detachUser(from: session(of: request), once: response.once))
    }

    private func listOfUser(_ request: HTTPRequest) async throws -> HTTPResponse {
        let page = try PageRequest(request)
        return .list(
            try await sessions.page(
                after: page.cursor, limit: page.limit, userID: request.parameter("user"), isActive: true))
    }

    private func endOfUser(_ request: HTTPRequest) async throws -> HTTPResponse {
        let count = try await sessions.endSessions(ofUser: request.parameter("user"))
        return .json { $0.member("count", count) }
    }
}

extension HTTPResponse {
    /// A session that a user has signed in to, and its new token.
    static func signedIn(_ session: SessionSummary, _ token: SessionToken) -> HTTPResponse {
        .json { json in
            json.name("session")
            json.session(session)
            json.token(token)
        }
    }
}

extension AdminSessionEndpoints {
    static let operations: [APIOperation] = [
        APIOperation(
            method: .get, path: "/v1/sessions", id: "listSessions", summary: "Sessions, oldest first",
            parameters: [.userID, .active, .limit, .cursor],
            responses: [.json("A page of sessions.", "SessionList")], problems: [.invalidInput]),
        APIOperation(
            method: .delete, path: "/v1/sessions", id: "endAllSessions",
            summary: "Ends the sessions of a user, or without one all sessions of all users",
            parameters: [.userID, .idempotencyKey],
            responses: [.json("How many were ended.", "EndedSessions")], problems: [.storageFull]),
        APIOperation(
            method: .get, path: "/v1/sessions/{session}", id: "getSession", summary: "The session",
            responses: [.json("The session.", "Session")]),
        APIOperation(
            method: .delete, path: "/v1/sessions/{session}", id: "endSession", summary: "Ends the session",
            parameters: [.idempotencyKey], responses: [.done("Ended.")], problems: [.storageFull]),
        APIOperation(
            method: .put, path: "/v1/sessions/{session}/user", id: "signIn",
            summary: "Attaches a user and gives the session a new token; the old one ends at once",
            parameters: [.idempotencyKey], body: .json("SignIn"),
            responses: [.json("The session and its new token.", "SignedIn")],
            problems: [.invalidState, .tooManySessionsOfUser, .contention, .storageFull]),
        APIOperation(
            method: .delete, path: "/v1/sessions/{session}/user", id: "signOut",
            summary: "Detaches the user and removes the services that are bound to a user",
            parameters: [.idempotencyKey], responses: [.done("Signed out, or no user was signed in.")],
            problems: [.contention, .storageFull]),
        APIOperation(
            method: .get, path: "/v1/users/{user}/sessions", id: "listUserSessions", summary: "The sessions of a user",
            parameters: [.limit, .cursor], responses: [.json("A page of sessions.", "SessionList")],
            problems: [.invalidInput]),
        APIOperation(
            method: .delete, path: "/v1/users/{user}/sessions", id: "endUserSessions",
            summary: "Ends the sessions of a user", parameters: [.idempotencyKey],
            responses: [.json("How many were ended.", "EndedSessions")],
            problems: [.storageFull]),
    ]
}
