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
        request.fields.withValue(of: .authorization) { token = presentedBearer($0) }
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
        return SessionCredential(token: presented(cookie), isCookie: true)
    }

    /// `Bearer` SP token, RFC 6750, section 2.1; the scheme's case does not matter.
    static func bearer(_ authorization: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        authorization.withUnsafeBytes(tokenOffset).map { authorization.dropFirst($0) }
    }

    private static let scheme: StaticString = "bearer "

    private static func tokenOffset(in authorization: UnsafeRawBufferPointer) -> Int? {
        let length = scheme.utf8CodeUnitCount
        guard authorization.count > length else { return nil }
        for index in 0..<length where authorization[index] | 0x20 != scheme.utf8Start[index] { return nil }
        var offset = length
        // The grammar has one blank; more are accepted.
        while offset < authorization.count, authorization[offset] == UInt8(ascii: " ") { offset += 1 }
        return offset
    }

    private static func presentedBearer(_ authorization: UnsafeRawBufferPointer) -> PresentedToken? {
        guard let offset = tokenOffset(in: authorization) else { return nil }
        return PresentedToken(bytes: UnsafeRawBufferPointer(rebasing: authorization[offset...]))
    }

    private static func presented(_ text: ArraySlice<UInt8>) -> PresentedToken? {
        text.withUnsafeBytes { PresentedToken(bytes: $0) }
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

    /// The value of `Set-Cookie` for a new token, valid until the session's absolute end.
    func carrying(_ token: SessionToken, lifetimeMilliseconds: Int64) -> String {
        "\(name)=\(token.text)\(attributes); Max-Age=\(lifetimeMilliseconds / 1_000)"
    }

    /// The value of `Set-Cookie` that makes the browser delete it.
    var expired: String { "\(name)=\(attributes); Max-Age=0" }
}
