import HTTPServer
import JSONDocument
import Sessions

/// Any session, for trusted back ends.
struct AdminSessionEndpoints: Sendable {
    let sessions: Sessions

    func add(to routes: inout RouterBuilder) {
        routes.on(.get, "/v1/sessions", list)
        routes.on(.delete, "/v1/sessions", endAll)
        routes.on(.get, "/v1/sessions/{session}", show)
        routes.on(.delete, "/v1/sessions/{session}", end)
        routes.on(.put, "/v1/sessions/{session}/user", signIn)
        routes.on(.delete, "/v1/sessions/{session}/user", signOut)
        routes.on(.get, "/v1/users/{user}/sessions", listOfUser)
        routes.on(.delete, "/v1/users/{user}/sessions", endOfUser)
    }

    /// The session that the path names.
    @Sendable func session(of request: HTTPRequest) async throws -> Session {
        guard let id = SessionID(request.parameter("session")), let session = try await sessions.session(id) else {
            throw Problem(.sessionNotFound)
        }
        request.note(id)
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

    private func endAll(_ request: HTTPRequest) async throws -> HTTPResponse {
        let count = try await sessions.endAllSessions()
        return .json { json in
            json.name("count")
            json.int(count)
        }
    }

    private func show(_ request: HTTPRequest) async throws -> HTTPResponse {
        let summary = try await session(of: request).summary()
        var json = JSONWriter()
        json.session(summary)
        return .json(bytes: json.bytes)
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
        let body = try RequestBody.readMembers(request, known: ["user_id", "claims"])
        guard let user = body["user_id"]?.string else {
            throw Problem(.invalidInput, errors: [InvalidInput(pointer: "/user_id", detail: "must be a string")])
        }
        let claims = body["claims"] ?? .emptyObject
        guard claims.kind == .object else {
            throw Problem(.invalidInput, errors: [InvalidInput(pointer: "/claims", detail: "must be an object")])
        }
        let token = try await sessions.attachUser(user, claims: claims, to: session)
        let summary = try session.summary()
        return .json { json in
            json.name("session")
            json.session(summary)
            json.token(token)
        }
    }

    private func signOut(_ request: HTTPRequest) async throws -> HTTPResponse {
        try await sessions.detachUser(from: session(of: request))
        return .done
    }

    private func listOfUser(_ request: HTTPRequest) async throws -> HTTPResponse {
        let page = try PageRequest(request)
        return .list(
            try await sessions.page(
                after: page.cursor, limit: page.limit, userID: request.parameter("user"), isActive: true))
    }

    private func endOfUser(_ request: HTTPRequest) async throws -> HTTPResponse {
        let count = try await sessions.endSessions(ofUser: request.parameter("user"))
        return .json { json in
            json.name("count")
            json.int(count)
        }
    }
}
