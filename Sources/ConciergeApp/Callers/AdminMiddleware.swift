import HTTPServer
import Sessions

extension HTTPFieldName {
    fileprivate static let adminKey = HTTPFieldName("X-Admin-Key")
}

/// Lets callers with the key use the admin endpoints.
///
/// Without a key the listener is on loopback, and responds only to the names of loopback. Otherwise a web page whose
/// name resolves to 127.0.0.1 could reach it through the browser of a user of this machine.
struct AdminKeyMiddleware: HTTPMiddleware {
    /// Digests have one length and are compared in constant time, so nothing about the key leaks.
    private let digest: SHA256Digest?

    init(key: Secret?) {
        digest = key.map { SHA256Digest(of: $0.revealed.utf8) }
    }

    func respond(to request: HTTPRequest, next: @escaping HTTPHandler) throws -> HTTPOutcome {
        if let digest {
            guard let shown = try key(shownBy: request), SHA256Digest(of: shown) == digest else {
                throw Problem(.adminKeyNeeded, fields: [.wwwAuthenticate: "Bearer"])
            }
        } else if !Self.isLoopback(request.fields[.host] ?? "localhost") {
            throw Problem(.foreignHost)
        }
        return try next(request)
    }

    private func key(shownBy request: HTTPRequest) throws(Problem) -> ArraySlice<UInt8>? {
        let plain = request.fields.bytes(of: .adminKey)
        let authorization = request.fields.bytes(of: .authorization)
        guard plain == nil || authorization == nil, request.fields.count(of: .adminKey) <= 1,
            request.fields.count(of: .authorization) <= 1
        else { throw Problem(.ambiguousCredentials, "The key must be sent in one field, once.") }
        return plain ?? authorization.flatMap(SessionCredential.bearer)
    }

    private static func isLoopback(_ host: String) -> Bool {
        if host.hasPrefix("[") { return host == "[::1]" || host.hasPrefix("[::1]:") }
        let name = host.split(separator: ":", omittingEmptySubsequences: false).first.map(String.init) ?? ""
        return name.lowercased() == "localhost" || AddressSetting.isLoopback(name)
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
