import HTTPServer
import Sessions

/// How a request names its session: a bearer token, or the session cookie.
struct SessionCredential {
    /// Nil when what was sent does not look like a token.
    let token: PresentedToken?
    let isCookie: Bool

    private static let scheme = Array("bearer ".utf8)

    /// - Returns: nil when the request names none.
    /// - Throws: `Problem` 400 `ambiguous_credentials` when it does so more than once.
    static func of(_ request: HTTPRequest, cookieName: String) throws(Problem) -> SessionCredential? {
        let cookies = request.fields.bytes(of: .cookie) == nil ? [] : cookies(of: request, named: cookieName)
        switch request.fields.only(.authorization) {
        case .several: throw Problem(.ambiguousCredentials)
        case .one(let authorization):
            guard cookies.isEmpty else { throw Problem(.ambiguousCredentials) }
            return SessionCredential(token: bearer(authorization).flatMap(presented), isCookie: false)
        case .none:
            guard cookies.count <= 1 else { throw Problem(.ambiguousCredentials) }
            return cookies.first.map { SessionCredential(token: presented($0), isCookie: true) }
        }
    }

    /// `Bearer` SP token, RFC 6750, section 2.1; the scheme's case does not matter.
    static func bearer(_ authorization: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        let isBearer = authorization.withUnsafeBytes { bytes in
            bytes.count > scheme.count && scheme.indices.allSatisfy { bytes[$0] | 0x20 == scheme[$0] }
        }
        guard isBearer else { return nil }
        let token = authorization.dropFirst(scheme.count)
        // One blank is the rule; more are let pass, and rare.
        return token.first == UInt8(ascii: " ") ? token.trimmed : token
    }

    private static func presented(_ text: ArraySlice<UInt8>) -> PresentedToken? {
        text.withUnsafeBytes { PresentedToken(bytes: $0) }
    }

    /// RFC 6265, section 5.4: pairs behind semicolons, possibly on several lines.
    private static func cookies(of request: HTTPRequest, named name: String) -> [ArraySlice<UInt8>] {
        request.fields.values(of: .cookie).flatMap { line in
            ArraySlice(line.utf8).split(separator: UInt8(ascii: ";")).compactMap { pair in
                let pair = pair.trimmed
                guard pair.starts(with: name.utf8), pair.dropFirst(name.utf8.count).first == UInt8(ascii: "=") else {
                    return nil
                }
                return pair.dropFirst(name.utf8.count + 1)
            }
        }
    }
}
