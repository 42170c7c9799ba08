import CCrypto
import HTTPServer

extension HTTPFieldName {
    fileprivate static let adminKey = HTTPFieldName("X-Admin-Key")
}

/// Lets through to the admin endpoints who shows the key.
///
/// Without a key the listener is on loopback only, and answers only to the names of loopback: a web page that had
/// its own name resolve to 127.0.0.1 would otherwise reach it through the browser of whoever works on this machine.
struct AdminKeyMiddleware: HTTPMiddleware {
    private let digest: [UInt8]?

    init(key: Secret?) {
        digest = key.map { Self.digest(of: ArraySlice($0.revealed.utf8)) }
    }

    func respond(to request: HTTPRequest, next: @escaping HTTPHandler) throws -> HTTPOutcome {
        if let digest {
            guard let shown = try key(shownBy: request), Self.equal(Self.digest(of: shown), digest) else {
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
        else { throw Problem(.ambiguousCredentials, "The key stands in one field, once.") }
        return plain ?? authorization.flatMap(SessionCredential.bearer)
    }

    /// Digests have one length, so that comparing them tells nothing of the key's.
    private static func digest(of key: ArraySlice<UInt8>) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: Int(SHA256_DIGEST_LENGTH)) { digest, count in
            _ = key.withUnsafeBufferPointer { SHA256($0.baseAddress, $0.count, digest.baseAddress) }
            count = digest.count
        }
    }

    private static func equal(_ one: [UInt8], _ other: [UInt8]) -> Bool {
        one.count == other.count && CRYPTO_memcmp(one, other, one.count) == 0
    }

    private static func isLoopback(_ host: String) -> Bool {
        if host.hasPrefix("[") { return host == "[::1]" || host.hasPrefix("[::1]:") }
        let name = host.split(separator: ":", omittingEmptySubsequences: false).first.map(String.init) ?? ""
        return name.lowercased() == "localhost" || AddressSetting.isLoopback(name)
    }
}
