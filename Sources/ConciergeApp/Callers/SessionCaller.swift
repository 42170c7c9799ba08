import API
import HTTPServer
import Operations
import Sessions

extension FoundSession {
    var keyOwner: KeyOwner {
        let (id, userID) = session.identity
        return KeyOwner(.session(id, userID: userID), .session(session), token)
    }
}

extension HTTPFieldName {
    static let secFetchSite = HTTPFieldName("Sec-Fetch-Site")
}

/// The caller on the public listener: the session of the request's token. A class for the reason of ``SessionFinder``.
final class SessionCaller: Sendable {
    let sessions: Sessions
    let cookie: SessionCookie
    let allowedOrigins: WebOrigins
    let watchingExtends: Bool
    let quotas: Quotas
    let log: Log

    init(
        sessions: Sessions, cookie: SessionCookie, allowedOrigins: WebOrigins, watchingExtends: Bool, quotas: Quotas,
        log: Log
    ) {
        self.sessions = sessions
        self.cookie = cookie
        self.allowedOrigins = allowedOrigins
        self.watchingExtends = watchingExtends
        self.quotas = quotas
        self.log = log
    }

    /// The caller's session, whatever the path names.
    ///
    /// Every bad token gives the same response, so that it reveals nothing.
    /// - Throws: `Problem` 401, 400 `ambiguous_credentials`, 403 `cross_site_request`; the store's error.
    func session(of request: HTTPRequest) async throws -> FoundSession {
        try await load(try presentedToken(of: request), of: request)
    }

    /// The session of a token, from the store if necessary.
    ///
    /// - Parameter isRepeated: see ``Sessions/authenticate(_:isUse:unless:onTheft:)``.
    func load(
        _ token: PresentedToken, of request: HTTPRequest, isUse: Bool = true,
        unless isRepeated: (Session) -> Bool = { _ in false }
    ) async throws -> FoundSession {
        let session = try await sessions.authenticate(token, isUse: isUse, unless: isRepeated) { [log] in
            log.write(.warning, "token_reused") { line in
                line.add("request_id", request.id)
                line.add("client", request.client)
                line.add("session_id", "ses_", high: token.sessionID.high, low: token.sessionID.low)
            }
        }
        try note(token, of: request, session)
        return FoundSession(session: session, token: token)
    }

    /// The same from memory; `nil` when that is not enough.
    func find(_ token: PresentedToken, of request: HTTPRequest, isUse: Bool = true) throws -> FoundSession? {
        switch try sessions.find(token, isUse: isUse) {
        case .found(let session):
            try note(token, of: request, session)
            return FoundSession(session: session, token: token)
        case .remembered(let session):
            try note(token, of: request, session)
            return FoundSession(session: session, token: token, isRemembered: true)
        case .elsewhere: return nil
        }
    }

    /// Notes whose request it is, and counts it.
    func note(_ token: PresentedToken, of request: HTTPRequest, _ session: Session) throws(Problem) {
        // A request may look for its session more than once.
        guard request.note == nil else { return }
        try quotas.count(
            request, of: token.sessionID, watchers: request.method.isSafe ? 0 : session.watcherCount)
        request.note(session, of: log)
    }

    /// Finds the session that the path names, which must be the caller's own: `current`, or its id; 404 for another.
    var inPath: SessionFinder { SessionFinder(of: self, isUse: isUse) }

    /// The same for a client that watches.
    var watching: SessionFinder { SessionFinder(of: self) { [watchingExtends] _ in watchingExtends } }

    /// Whether finding the session is a use of it. A read of what the client may know already becomes one when the
    /// response is new.
    @Sendable private func isUse(_ request: HTTPRequest) -> Bool {
        !request.fields.contains(.ifNoneMatch) || !request.method.isSafe || watchingExtends
    }

    /// The token of the request, if it may be used from the origin of the request.
    func presentedToken(of request: HTTPRequest) throws(Problem) -> PresentedToken {
        if request.fields.contains(.idempotencyKey), let token = request.keyToken { return token }
        guard let credential = try SessionCredential.of(request, cookieName: cookie.name) else {
            throw Problem.unauthenticated
        }
        if credential.isCookie { try checkSite(of: request) }
        guard let token = credential.token else { throw Problem.unauthenticated }
        return token
    }

    func checkPath(of request: HTTPRequest, names session: Session) throws(Problem) {
        var isSame = false
        request.withParameter(0) { name in
            isSame = name.isExactly("current") || name.elementsEqual(session.id.description.utf8)
        }
        guard isSame else { throw Problem(.sessionNotFound) }
    }

    /// The owner of an `Idempotency-Key`: the session, or the peer while a session is being created.
    @Sendable func keyOwner(of request: HTTPRequest) async throws -> KeyOwner {
        guard Self.namesSession(request) else { return try Self.peer(request) }
        do {
            // A client that has not had the response with its new token comes again with the old one, and with the key,
            // which nobody else knows.
            let (token, key) = (try presentedToken(of: request), try? IdempotencyKey(of: request))
            return try await load(token, of: request) { session in
                let scope = FoundSession(session: session, token: token).keyOwner.scope
                return key.map { session.replay(of: Idempotency.id($0, of: scope)) != nil } ?? false
            }.keyOwner
        } catch SessionError.unauthenticated {
            return try await ownerOfEndedToken(of: request)
        }
    }

    /// The same without waiting; `nil` when the store has to be asked.
    @Sendable func residentKeyOwner(of request: HTTPRequest) throws -> KeyOwner? {
        guard Self.namesSession(request) else { return try Self.peer(request) }
        do {
            let found = try find(try presentedToken(of: request), of: request)
            return found?.isRemembered == false ? found?.keyOwner : nil
        } catch SessionError.unauthenticated where request.match.route?.pattern.text == Self.tokens {
            return nil
        }
    }

    private static func peer(_ request: HTTPRequest) throws -> KeyOwner {
        guard try IdempotencyKey(of: request).bytes.count >= leastKeyLength else {
            throw HTTPError(
                .badRequest, code: "invalid_idempotency_key",
                detail:
                    "Without a token, Idempotency-Key must have at least \(leastKeyLength) characters that nobody else "
                    + "can guess, such as a random UUID: the response has the token of the new session.")
        }
        return KeyOwner(.peer(trace(of: request)), .newSession)
    }

    /// The fewest characters of a key without a token: a client that guesses it gets the token of the new
    /// session.
    static let leastKeyLength = 16

    private static func namesSession(_ request: HTTPRequest) -> Bool {
        // A new session comes of the only POST without one.
        request.match.route?.pattern.parameterNames.isEmpty == false || request.method != .post
    }

    /// Distinguishes callers without a token. The address alone may be a proxy's, or that of a whole office.
    ///
    /// What proxies and clients say of themselves proves nothing, and need not: more of it makes more callers, never
    /// fewer. A client that invents some of it becomes a different caller, but never an existing one.
    private static func trace(of request: HTTPRequest) -> String {
        var lines = [request.peer.host]
        for name in traces { lines += request.fields.values(of: name).map { "\(name.text): \($0)" } }
        return lines.joined(separator: "\n")
    }

    private static let traces: [HTTPFieldName] = [
        "Forwarded", "X-Forwarded-For", "X-Real-IP", "User-Agent", "Accept-Language", "Origin",
    ].map { HTTPFieldName($0) }

    /// A browser also sends the cookie with requests that other sites cause. So a request that changes something must
    /// show where it comes from.
    private func checkSite(of request: HTTPRequest) throws(Problem) {
        if request.method.isSafe { return }
        let site = request.fields.only(.secFetchSite)
        // A repeated field is ambiguous.
        if case .one(let site) = site, site.equals("same-origin") || site.equals("none") { return }
        if case .one(let origin) = request.fields.only(.origin) {
            if allowedOrigins.contains(origin) { return }
            // Browsers send the first field over HTTPS and to localhost only.
            if case .none = site, request.isOwnOrigin(origin) { return }
        }
        throw Problem(.crossSite)
    }
}
