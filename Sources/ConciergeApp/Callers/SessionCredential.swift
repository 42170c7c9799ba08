import API
import Configuration
import HTTPServer
import Sessions

/// The credential of a request: a bearer token, in `Authorization` or in `Session-Token`, or the session cookie.
///
/// A gateway in front of the server may take `Authorization` for itself. Whatever has another scheme there, or another
/// form than a token of ours, is the gateway's and is ignored.
struct SessionCredential {
    /// `nil` when the text does not have the form of a token.
    let token: PresentedToken?
    let isCookie: Bool

    /// The fields that may have one.
    static let fields: [HTTPFieldName] = [.authorization, .sessionToken, .cookie]

    /// - Returns: `nil` when the request has none.
    /// - Throws: `Problem` 400 `ambiguous_credentials` when it has more than one.
    static func of(_ request: HTTPRequest, cookieName: String) throws(Problem) -> SessionCredential? {
        var credential: SessionCredential?
        if request.fields.contains(.authorization) {
            guard request.fields.count(of: .authorization) == 1 else { throw Problem(.ambiguousCredentials) }
            request.fields.withValue(of: .authorization) { value in
                guard let text = bearer(value), PresentedToken.mayBe(text) else { return }
                credential = SessionCredential(token: PresentedToken(bytes: text), isCookie: false)
            }
        }
        if request.fields.contains(.sessionToken) {
            guard credential == nil, request.fields.count(of: .sessionToken) == 1 else {
                throw Problem(.ambiguousCredentials)
            }
            request.fields.withValue(of: .sessionToken) {
                credential = SessionCredential(token: PresentedToken(bytes: $0), isCookie: false)
            }
        }
        if request.fields.contains(.cookie), let cookie = try ofCookie(request, named: cookieName) {
            guard credential == nil else { throw Problem(.ambiguousCredentials) }
            credential = cookie
        }
        return credential
    }

    /// - Returns: `nil` when there is no such cookie.
    private static func ofCookie(
        _ request: HTTPRequest, named name: String
    ) throws(Problem) -> SessionCredential? {
        let cookies = cookies(of: request, named: name)
        guard let cookie = cookies.first else { return nil }
        guard cookies.count == 1 else { throw Problem(.ambiguousCredentials) }
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
    static func cookies(of request: HTTPRequest, named name: String) -> [ArraySlice<UInt8>] {
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
        name = (settings.secure ? "__Host-" : "") + settings.name
        let sameSite =
            switch settings.sameSite {
            case .strict: "Strict"
            case .lax: "Lax"
            case .none: "None"
            }
        attributes =
            (settings.secure ? "; Secure" : "") + "; HttpOnly; SameSite=\(sameSite)"
            + "; Path=/" + (settings.partitioned ? "; Partitioned" : "")
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
