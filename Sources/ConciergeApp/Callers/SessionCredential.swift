import API
import Configuration
import HTTPServer
import Sessions

/// The credential of a request: a bearer token, or the session cookie.
struct SessionCredential {
    /// `nil` when the text does not have the form of a token.
    let token: PresentedToken?
    let isCookie: Bool

    /// - Returns: `nil` when the request has none.
    /// - Throws: `Problem` 400 `ambiguous_credentials` when it has more than one.
    static func of(_ request: HTTPRequest, cookieName: String) throws(Problem) -> SessionCredential? {
        if request.fields.contains(.cookie), let credential = try ofCookie(request, named: cookieName) {
            return credential
        }
        switch request.fields.count(of: .authorization) {
        case 0: return nil
        case 1: break
        default: throw Problem(.ambiguousCredentials)
        }
        var token: PresentedToken?
        request.fields.withValue(of: .authorization) { token = bearer($0).flatMap(PresentedToken.init(bytes:)) }
        return SessionCredential(token: token, isCookie: false)
    }

    /// - Returns: `nil` when there is no such cookie.
    private static func ofCookie(
        _ request: HTTPRequest, named name: String
    ) throws(Problem) -> SessionCredential? {
        let cookies = cookies(of: request, named: name)
        guard let cookie = cookies.first else { return nil }
        guard cookies.count == 1, !request.fields.contains(.authorization) else {
            throw Problem(.ambiguousCredentials)
        }
        return SessionCredential(token: cookie.withUnsafeBytes(PresentedToken.init(bytes:)), isCookie: true)
    }

    private static let scheme: StaticString = "bearer "

    /// What follows `Bearer` and a blank, RFC 6750, section 2.1; the scheme's case does not matter.
    static func bearer(_ authorization: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        let length = scheme.utf8CodeUnitCount
        guard authorization.count > length else { return nil }
        for index in 0..<length where authorization[index] | 0x20 != scheme.utf8Start[index] { return nil }
        // The grammar has one blank; more are accepted.
        return UnsafeRawBufferPointer(rebasing: authorization[length...].drop { $0 == UInt8(ascii: " ") })
    }

    /// RFC 6265, section 5.4: pairs separated by semicolons, possibly on several lines.
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

/// The cookie that carries a session's token in cookie mode, RFC 6265 bis.
struct SessionCookie: Sendable {
    let name: String
    private let attributes: String

    init(_ settings: Configuration.Cookie) {
        // The prefix makes browsers require Secure and Path=/ and refuse Domain.
        name = settings.secure ? "__Host-concierge" : "concierge"
        attributes = (settings.secure ? "; Secure" : "") + "; HttpOnly; SameSite=Lax; Path=/"
    }

    /// Whether no page, and no other host, can have set it (RFC 6265 bis, section 4.1.3.2).
    var isProof: Bool { name.hasPrefix("__Host-") }

    /// The value of `Set-Cookie` for a new token, valid until the session's absolute end.
    func carrying(_ token: SessionToken, lifetimeMilliseconds: Int64) -> String {
        "\(name)=\(token.text)\(attributes); Max-Age=\(lifetimeMilliseconds / 1_000)"
    }

    /// The value of `Set-Cookie` that makes the browser delete it.
    var expired: String { "\(name)=\(attributes); Max-Age=0" }
}
