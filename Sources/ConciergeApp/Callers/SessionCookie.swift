import Sessions

/// The cookie that carries a session's token in cookie mode, RFC 6265 bis.
struct SessionCookie: Sendable {
    let name: String
    private let attributes: String

    init(_ settings: Configuration.Cookie) {
        // The prefix makes browsers insist on Secure, on Path=/ and on no Domain.
        name = settings.secure ? "__Host-concierge" : "concierge"
        attributes = (settings.secure ? "; Secure" : "") + "; HttpOnly; SameSite=Lax; Path=/"
    }

    /// The value of `Set-Cookie` that hands the token out, until the session's absolute end.
    func carrying(_ token: SessionToken, lifetimeMilliseconds: Int64) -> String {
        "\(name)=\(token.text)\(attributes); Max-Age=\(lifetimeMilliseconds / 1_000)"
    }

    /// The value of `Set-Cookie` that makes the browser forget it.
    var expired: String { "\(name)=\(attributes); Max-Age=0" }
}
