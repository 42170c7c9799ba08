import API
import Configuration
import HTTPServer
import Operations
import Sessions
import Synchronization

extension HTTPFieldName {
    fileprivate static let adminKey = HTTPFieldName("X-Admin-Key")
}

/// Decides which requests may use the admin endpoints.
///
/// Without a key the listener is on loopback, and responds only to the names of loopback. Otherwise a web page whose
/// name resolves to 127.0.0.1 could reach it through the browser of a user of this machine. Pages of other sites are
/// refused with and without a key. The console shows the key once, and then its cookie (``ConsoleSessions``).
final class AdminAccess: Sendable {
    private let keys: [AdminKeyHash]
    /// Wrong keys of each address; `nil` for any number.
    private let tries: TokenBuckets?
    private let refusedTries = Atomic(0)
    let audit: AuditLog
    let console: ConsoleSessions

    /// - Parameter isTLS: whether the listener speaks HTTPS.
    init(_ settings: Configuration.Admin, isTLS: Bool, clock: any SessionClock, audit: AuditLog) {
        let plain = settings.key.map {
            AdminKeyHash(name: AdminKeyHash.plainName, digest: SHA256Digest(of: $0.revealed.utf8))
        }
        keys = [plain].compactMap { $0 } + settings.keyHashes
        tries = settings.failedTries.map { TokenBuckets($0) }
        self.audit = audit
        console = ConsoleSessions(keys, settings.key, clock: clock, isTLS: isTLS)
    }

    /// What lets a request in.
    struct Admission {
        /// The name of the key, or `loopback` when none is needed.
        let key: String
        /// That of the console by whose cookie it was let in.
        var session: ConsoleSessions.Session?
    }

    /// What lets the request in: the key that it shows, or a session of the console.
    ///
    /// - Throws: `Problem` 400 `ambiguous_credentials`, 401, 403 `foreign_host` and `cross_site_request`, 429.
    func admit(_ request: HTTPRequest) throws(Problem) -> Admission {
        if keys.isEmpty, !isAddressedToLoopback(request) { throw Problem(.foreignHost) }
        if isFromAnotherSite(request) {
            throw Problem(.crossSite, "The admin listener does not respond to pages of other sites.")
        }
        guard !keys.isEmpty else { return Admission(key: AdminKeyHash.loopbackName) }
        guard let shown = try key(shownBy: request) else {
            guard let session = console.session(of: request) else { throw Self.needed }
            return Admission(key: session.key, session: session)
        }
        // The address of the connection: what a proxy says of the client costs a guesser nothing.
        let network = request.peer.network
        if let tries {
            // While none is left not even the right key is compared, or else guessing could go on.
            let reading = tries.look(network, now: request.receivedAt)
            guard reading.wait == 0 else {
                refusedTries.wrappingAdd(1, ordering: .relaxed)
                throw Quotas.refusal(by: tries.quota, named: Self.quotaName, reading)
            }
        }
        // Digests have one length and are compared in constant time, and all keys are compared.
        let digest = SHA256Digest(of: shown)
        var found: String?
        for key in keys where key.digest == digest { found = key.name }
        if let found { return Admission(key: found) }
        _ = tries?.take(network, now: request.receivedAt)
        audit.write("admin_key_refused", .warning, of: request, by: nil)
        throw Self.needed
    }

    /// Requests that were refused because their address had shown too many wrong keys.
    var refusals: (quota: String, count: Int) { (Self.quotaName, refusedTries.load(ordering: .relaxed)) }

    private static let quotaName = "admin_tries"
    static var needed: Problem { Problem(.adminKeyNeeded, fields: [.wwwAuthenticate: "Bearer"]) }

    private func key(shownBy request: HTTPRequest) throws(Problem) -> ArraySlice<UInt8>? {
        guard request.fields.count(of: .adminKey) <= 1, request.fields.count(of: .authorization) <= 1 else {
            throw Problem(.ambiguousCredentials, "The key must be sent in one field, once.")
        }
        let bearer = request.fields.bytes(of: .authorization)?.withUnsafeBytes {
            SessionCredential.bearer($0).map { ArraySlice($0) }
        }
        guard let plain = request.fields.bytes(of: .adminKey) else { return bearer }
        // Beside the key, `Authorization` is that of a gateway, unless it has the token of a session.
        if let bearer, bearer.withUnsafeBytes(PresentedToken.mayBe) { throw Problem(.ambiguousCredentials) }
        return plain
    }

    /// RFC 9112, section 3.2.2: the host of a target in absolute-form takes the place of the field. Here both count.
    private func isAddressedToLoopback(_ request: HTTPRequest) -> Bool {
        [request.targetAuthority, request.fields[.host]].compactMap { $0 }.allSatisfy(Self.isLoopback)
    }

    private static func isLoopback(_ authority: String) -> Bool {
        var host = Substring(authority)
        if let colon = host.lastIndex(of: ":"), host.last != "]" {
            guard host[host.index(after: colon)...].utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
                return false
            }
            host = host[..<colon]
        }
        return host == "[::1]" || host.lowercased() == "localhost"
            || (!host.contains(":") && ListenAddress.isLoopback(String(host)))
    }

    /// Whether a browser says that a page of another origin caused the request. Other clients do not send the fields.
    private func isFromAnotherSite(_ request: HTTPRequest) -> Bool {
        switch request.fields.only(.secFetchSite) {
        case .none: break
        case .one(let site) where site.equals("same-origin") || site.equals("none"): break
        case .one, .several: return true
        }
        switch request.fields.only(.origin) {
        case .none: return false
        case .several: return true
        case .one(let origin): return !request.isOwnOrigin(origin)
        }
    }
}

/// Lets requests in that may use the admin endpoints, and records what they change and which data of persons they read;
/// see ``AdminAccess``.
struct AdminMiddleware: HTTPMiddleware {
    let access: AdminAccess

    /// Whatever is below these has data of persons.
    private static let personal = ["/v1/sessions", "/v1/users", "/v1/tasks", "/v1/journeys"]
    /// But this counts.
    private static let census = "/v1/journeys/census"

    private static func readsPersons(_ request: HTTPRequest) -> Bool {
        guard request.method.isSafe, let route = request.match.route?.pattern.text else { return false }
        return route != census && personal.contains { route == $0 || route.hasPrefix("\($0)/") }
    }

    func respond(to request: HTTPRequest, next: @escaping HTTPHandler) throws -> HTTPOutcome {
        let admission = try access.admit(request)
        let cookie = admission.session.flatMap { access.console.renewal(of: $0, by: request) }
        let isRead = request.method.isSafe
        if isRead, cookie == nil, !Self.readsPersons(request) { return try next(request) }
        return try .transforming(request, next) { [access] result in
            let status =
                switch result {
                case .success(let response): response.status
                case .failure(let error): Problem(for: error, of: request)?.kind.status ?? .internalServerError
                }
            let isOf =
                isRead
                ? (200..<300).contains(status.code) && Self.readsPersons(request)
                // Where the store fails in the middle, a part was done.
                : !(400..<500).contains(status.code) && !request.hasChangedNothing
            if isOf {
                access.audit.write(isRead ? "admin_read" : "admin_change", of: request, by: admission.key) { line in
                    if request.isFromOwnPage { line.add("through", "console") }
                    for (name, count) in request.counts { line.add(name, count) }
                    line.add("status", Int(status.code))
                }
            }
            var response = try result.get()
            // A sign-out has one of its own.
            if let cookie, response.fields[.setCookie] == nil { response.fields.add(.setCookie, cookie) }
            return response
        }
    }
}

/// On the admin listener, a session that ends during a request does not exist. Its own client would get a problem about
/// its token, which an admin does not have.
struct EndedSessionMiddleware: HTTPMiddleware {
    func respond(to request: HTTPRequest, next: @escaping HTTPHandler) throws -> HTTPOutcome {
        try .transforming(request, next) { result in
            do {
                return try result.get()
            } catch SessionError.ended {
                throw Problem(.sessionNotFound)
            }
        }
    }
}
