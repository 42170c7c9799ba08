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
        let authorization = request.fields.bytes(of: .authorization)
        let cookies = request.fields.bytes(of: .cookie) == nil ? [] : cookies(of: request, named: cookieName)
        guard authorization == nil || cookies.isEmpty, cookies.count <= 1 else {
            throw Problem(.ambiguousCredentials)
        }
        if let authorization {
            guard request.fields.count(of: .authorization) == 1 else { throw Problem(.ambiguousCredentials) }
            return SessionCredential(token: bearer(authorization).flatMap(presented), isCookie: false)
        }
        return cookies.first.map { SessionCredential(token: presented($0), isCookie: true) }
    }

    /// `Bearer` SP token, RFC 6750, section 2.1; the scheme's case does not matter.
    static func bearer(_ authorization: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard authorization.count > scheme.count,
            zip(authorization, scheme).allSatisfy({ $0 | 0x20 == $1 | 0x20 })
        else { return nil }
        return authorization.dropFirst(scheme.count).trimmed
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
