import API
import HTTPServer
import JSONDocument
import Sessions

/// A caller's own session.
struct SessionEndpoints: Sendable {
    let sessions: Sessions
    let caller: SessionCaller

    func add(to routes: inout RouterBuilder) {
        routes.on(.post, "/v1/sessions", handler: create)
        routes.on(.get, "/v1/sessions", listOfUser)
        routes.on(.delete, "/v1/sessions", endOthers)
        routes.on(.get, "/v1/sessions/{session}", handler: caller.inPath.handler(show))
        routes.on(.patch, "/v1/sessions/{session}", handler: caller.inPath.task(update))
        routes.on(.delete, "/v1/sessions/{session}", end)
        routes.on(.post, SessionCaller.tokens, replaceToken)
    }

    private func create(_ request: HTTPRequest) throws -> HTTPOutcome {
        let (labels, mode) = try Self.wishes(request)
        let response = UnitResponse(to: request) { (new: (Session, SessionToken)) in
            try created(new.0, new.1, mode, request)
        }
        return .deferred { responder in
            sessions.create(
                labels: labels, mode: mode, once: response.once, mostLone: request.mostLone,
                then: responder.completion { try response.of($0.get()) })
        }
    }

    /// The requested labels and mode of a new session.
    private static func wishes(_ request: HTTPRequest) throws -> (labels: JSONDocument?, mode: SessionMode) {
        let body = try BodyMembers(request, known: ["labels", "mode"], isOptional: true)
        return (body["labels"], try mode(body["mode"]))
    }

    private func created(
        _ session: Session, _ token: SessionToken, _ mode: SessionMode, _ request: HTTPRequest
    ) throws -> HTTPResponse {
        let summary = try session.summary()
        request.note(summary.id)
        request.carries(token)
        var response = HTTPResponse.json(.created) { json in
            json.name("session")
            json.session(summary)
            if mode == .bearer {
                json.token(token)
            }
        }
        let location = Self.location(of: summary.id)
        response.fields.add(.location, request.basePath.isEmpty ? location : request.basePath + location)
        if mode == .cookie { response.fields.add(.setCookie, cookie(carrying: token, of: summary)) }
        return response
    }

    private static func location(of id: SessionID) -> String {
        let path: StaticString = "/v1/sessions/"
        let count = path.utf8CodeUnitCount + SessionID.length
        return String(unsafeUninitializedCapacity: count) { buffer in
            let text = UnsafeMutableRawBufferPointer(buffer)
            text.copyMemory(from: UnsafeRawBufferPointer(start: path.utf8Start, count: path.utf8CodeUnitCount))
            id.write(into: .init(rebasing: text[path.utf8CodeUnitCount...]))
            return count
        }
    }

    @Sendable private func show(_ request: HTTPRequest, _ found: FoundSession) throws -> HTTPOutcome {
        .response(.session(try found.session.summary()))
    }

    @Sendable private func update(_ request: HTTPRequest, _ found: FoundSession) async throws -> HTTPResponse {
        let session = found.session
        let patch = try RequestBody.read(request, as: [MediaType.mergePatch, MediaType.json])
        let members = try RequestBody.members(of: patch, at: "", known: ["labels"])
        guard let labels = members["labels"] else { return request.minimized(.session(try session.summary())) }
        let response = UnitResponse<SessionSummary>(to: request) { request.minimized(.session($0)) }
        return try response.of(await session.updateLabels(labels, once: response.once))
    }

    private func end(_ request: HTTPRequest) async throws -> HTTPResponse {
        let own = try await caller.session(of: request).session
        let session = try await session(toEnd: request, own)
        let mode = try session.summary().mode
        try await sessions.end(session)
        var response = HTTPResponse.done
        guard session === own, mode == .cookie else { return response }
        response.fields.add(.setCookie, caller.cookie.expired)
        response.fields.add("Clear-Site-Data", "\"storage\"")
        return response
    }

    /// The caller's session, or another one of the same user.
    private func session(toEnd request: HTTPRequest, _ own: Session) async throws -> Session {
        let id = SessionID(request.parameter("session"))
        if let id, id != own.id, let user = try own.summary().userID, let other = try await sessions.session(id),
            (try? other.summary().userID) == user
        {
            return other
        }
        try caller.checkPath(of: request, names: own)
        return own
    }

    private func replaceToken(_ request: HTTPRequest) async throws -> HTTPResponse {
        do {
            let found = try await caller.session(of: request)
            try caller.checkPath(of: request, names: found.session)
            return try await rotate(request, found)
        } catch SessionError.unauthenticated {
            let (found, proof) = try await caller.sessionOfEndedToken(of: request)
            try caller.checkPath(of: request, names: found.session)
            return try await exchange(request, found, proof)
        }
    }

    private func rotate(_ request: HTTPRequest, _ found: FoundSession) async throws -> HTTPResponse {
        // The verifier of a client whose sign-in has not come yet is not needed.
        let verifier = try BodyMembers(request, known: ["verifier"], isOptional: true)["verifier"]
        guard verifier.map({ $0.string.flatMap(CodeChallenge.init(ofVerifier:)) != nil }) ?? true else {
            throw BodyMembers.refusal("verifier", "must be 43 to 128 of A-Za-z0-9._~-")
        }
        let response = replaced(request, found.session)
        return try response.of(
            await sessions.rotate(found.session, presenting: found.token, once: response.once))
    }

    private func exchange(
        _ request: HTTPRequest, _ found: FoundSession, _ proof: ExchangeProof
    ) async throws -> HTTPResponse {
        guard let token = found.token else { throw SessionError.unauthenticated }
        let response = replaced(request, found.session)
        return try response.of(
            await sessions.exchange(token, proof, of: found.session, once: response.once))
    }

    private func replaced(_ request: HTTPRequest, _ session: Session) -> UnitResponse<SessionToken> {
        UnitResponse(to: request) { token in
            request.carries(token)
            let summary = try session.summary()
            guard summary.mode == .cookie else {
                return .json(.created) { $0.token(token) }
            }
            var response = HTTPResponse.json(.created) { _ in }
            response.fields.add(.setCookie, cookie(carrying: token, of: summary))
            return response
        }
    }

    private func listOfUser(_ request: HTTPRequest) async throws -> HTTPResponse {
        let user = try await user(of: request).id
        let page = try PageRequest(request)
        return .list(try await sessions.page(after: page.cursor, limit: page.limit, userID: user, isActive: true))
    }

    private func endOthers(_ request: HTTPRequest) async throws -> HTTPResponse {
        let (user, session) = try await user(of: request)
        let count = try await sessions.endSessions(ofUser: user, except: session.id)
        return .json { $0.member("count", count) }
    }

    private func user(of request: HTTPRequest) async throws -> (id: String, session: Session) {
        let session = try await caller.session(of: request).session
        guard let user = try session.summary().userID else { throw Problem(.noUser) }
        return (user, session)
    }

    private func cookie(carrying token: SessionToken, of session: SessionSummary) -> String {
        let left = session.expiresAt.millisecondsSince1970 - session.lastUsedAt.millisecondsSince1970
        return caller.cookie.carrying(token, lifetimeMilliseconds: left)
    }

    private static func mode(_ value: JSONDocument?) throws(Problem) -> SessionMode {
        guard let value else { return .bearer }
        guard let mode = value.string.flatMap(SessionMode.init(rawValue:)) else {
            throw BodyMembers.refusal("mode", "must be \"bearer\" or \"cookie\"")
        }
        return mode
    }
}

extension HTTPResponse {
    static func session(_ session: SessionSummary) -> HTTPResponse {
        var json = JSONWriter(reservingCapacity: 512)
        json.session(session)
        return .json(bytes: json.bytes)
    }

    /// A page of sessions.
    static func list(_ page: Sessions.Page) -> HTTPResponse {
        .json { json in
            json.array("items") { json in
                for session in page.sessions { json.session(session) }
            }
            if let next = page.next { json.member("next", next.text) }
        }
    }
}

extension SessionEndpoints {
    static let operations: [APIOperation] = [
        APIOperation(
            method: .post, path: "/v1/sessions", id: "createSession",
            summary: "Creates a session with its own empty service locator", access: .anyone,
            parameters: [.idempotencyKey], body: .json("SessionCreation", isRequired: false),
            responses: [
                .json(
                    "The session, and in bearer mode its token.", "CreatedSession", status: .created,
                    headers: [.location, .setCookie])
            ],
            problems: [.invalidState, .tooManySessions, .storeUnavailable, .storageFull]),
        APIOperation(
            method: .get, path: "/v1/sessions", id: "listOwnSessions", summary: "The sessions of the caller's user",
            parameters: [.limit, .cursor], responses: [.json("A page of sessions.", "SessionList")],
            problems: [.invalidInput, .noUser]),
        APIOperation(
            method: .delete, path: "/v1/sessions", id: "endOtherSessions",
            summary: "Ends all other sessions of the caller's user",
            parameters: [.idempotencyKey], responses: [.json("How many were ended.", "EndedSessions")],
            problems: [.noUser, .storageFull]),
        APIOperation(
            method: .get, path: "/v1/sessions/{session}", id: "getSession", summary: "The session",
            responses: [.json("The session.", "Session")]),
        APIOperation(
            method: .patch, path: "/v1/sessions/{session}", id: "updateSession",
            summary: "Changes the session's labels",
            parameters: [.prefer, .idempotencyKey],
            body: APIBody([
                (MediaType.mergePatch, "SessionPatch"), (MediaType.json, "SessionPatch"),
            ]),
            responses: [.json("The session.", "Session"), .minimal],
            problems: [.invalidState, .contention, .storageFull]),
        APIOperation(
            method: .delete, path: "/v1/sessions/{session}", id: "endSession",
            summary: "Ends the session, or another one of the same user: its services are removed, and its token ends",
            parameters: [.idempotencyKey], responses: [.done("Ended.", headers: [.setCookie, .clearSiteData])],
            problems: [.storageFull]),
        APIOperation(
            method: .post, path: "/v1/sessions/{session}/tokens", id: "rotateToken",
            summary:
                "A new token. The old one works for a short grace time; using it later ends the session. After a sign-in "
                + "from a flow the old token opens this alone, with the verifier of the challenge that was sent",
            parameters: [.idempotencyKey], body: .json("TokenRotation", isRequired: false),
            responses: [
                .json(
                    "The token; in cookie mode it is in Set-Cookie only.", "IssuedToken", status: .created,
                    headers: [.setCookie])
            ],
            problems: [.tokenReplaced, .contention, .storageFull]),
    ]
}
