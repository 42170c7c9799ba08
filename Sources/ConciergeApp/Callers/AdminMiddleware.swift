import API
import Configuration
import HTTPServer
import Operations
import Sessions
import Synchronization

extension HTTPFieldName {
    fileprivate static let adminKey = HTTPFieldName("X-Admin-Key")
}

/// Decides which requests may use the admin endpoints, and records what they changed.
///
/// Without a key the listener is on loopback, and responds only to the names of loopback. Otherwise a web page whose
/// name resolves to 127.0.0.1 could reach it through the browser of a user of this machine. Pages of other sites are
/// refused with and without a key.
final class AdminAccess: Sendable {
    private let keys: [AdminKeyHash]
    /// Wrong keys of each address; `nil` for any number.
    private let tries: TokenBuckets?
    private let refusedTries = Atomic(0)
    private let log: Log

    init(_ settings: Configuration.Admin, log: Log) {
        let plain = settings.key.map {
            AdminKeyHash(name: AdminKeyHash.plainName, digest: SHA256Digest(of: $0.revealed.utf8))
        }
        keys = [plain].compactMap { $0 } + settings.keyHashes
        tries = settings.failedTries.map { TokenBuckets($0) }
        self.log = log
    }

    /// The name of the key that the request shows, or `loopback` when no key is needed.
    ///
    /// - Throws: `Problem` 400 `ambiguous_credentials`, 401, 403 `foreign_host` and `cross_site_request`, 429.
    func admit(_ request: HTTPRequest) throws(Problem) -> String {
        if keys.isEmpty, !isAddressedToLoopback(request) { throw Problem(.foreignHost) }
        if isFromAnotherSite(request) {
            throw Problem(.crossSite, "The admin listener does not respond to pages of other sites.")
        }
        guard !keys.isEmpty else { return AdminKeyHash.loopbackName }
        guard let shown = try key(shownBy: request) else { throw Self.needed }
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
        if let found { return found }
        _ = tries?.take(network, now: request.receivedAt)
        log.write(.warning, "admin_key_refused") { line in
            line.add("request_id", request.id)
            line.add("client", request.client)
            line.add("peer", request.peer)
            line.add("route", request.match.route?.pattern.text ?? "-")
        }
        throw Self.needed
    }

    /// Requests that were refused because their address had shown too many wrong keys.
    var refusals: (quota: String, count: Int) { (Self.quotaName, refusedTries.load(ordering: .relaxed)) }

    /// The parameters of paths that the line has, and their names there. The session is noted with the request.
    private static let recorded: [(parameter: String, key: StaticString)] = [
        ("name", "service"), ("user", "user"), ("id", "id"),
    ]
    private static let quotaName = "admin_tries"
    private static var needed: Problem { Problem(.adminKeyNeeded, fields: [.wwwAuthenticate: "Bearer"]) }

    /// Writes the line about a request that may have changed something, or has read data of a person, whatever the
    /// level of the log. It holds nothing of what was written or read.
    func audit(_ request: HTTPRequest, by key: String, _ status: HTTPStatus) {
        log.append(.info, request.method.isSafe ? "admin_read" : "admin_change", at: LogTime.now()) { line in
            line.add("request_id", request.id)
            line.add("key", key)
            line.add("client", request.client)
            line.add("peer", request.peer)
            line.add("method", request.method.description)
            line.add("route", request.match.route?.pattern.text ?? "-")
            let parameters = request.match.route?.pattern.parameterNames ?? []
            for (parameter, key) in Self.recorded where parameters.contains(parameter) {
                line.add(key, request.parameter(parameter))
            }
            if let user = (try? request.query)?["user_id"] { line.add("user", user) }
            if let session = request.note { line.add("session_id", "ses_", high: session.high, low: session.low) }
            line.add("status", Int(status.code))
        }
    }

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

/// Lets those in who may use the admin endpoints, and records what they change; see ``AdminAccess``.
struct AdminMiddleware: HTTPMiddleware {
    let access: AdminAccess

    func respond(to request: HTTPRequest, next: @escaping HTTPHandler) throws -> HTTPOutcome {
        let key = try access.admit(request)
        if request.method.isSafe, !JourneyEndpoints.isRead(by: request) { return try next(request) }
        return try .transforming(request, next) { [access] result in
            let status =
                switch result {
                case .success(let response): response.status
                case .failure(let error): Problem(for: error, of: request)?.kind.status ?? .internalServerError
                }
            // Where the store fails in the middle, a part was done.
            if !(400..<500).contains(status.code), !request.hasChangedNothing { access.audit(request, by: key, status) }
            return try result.get()
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
