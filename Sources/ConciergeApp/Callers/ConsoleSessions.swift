import Configuration
import HTTPServer
import Sessions

/// Sign-ins to the console. Each is a cookie that says until when it holds, signed under a key that is made of the
/// admin key that was shown. The server keeps nothing of it, so a sign-out is the browser's to do: a copy of the cookie
/// holds for ``idleTime``.
struct ConsoleSessions: Sendable {
    struct Session {
        /// The name of the admin key.
        let key: String
        /// That of the cookie.
        let name: String
        /// When it ends unless it is used, and when it does in any case. In steady time.
        let expiresAt, endsAt: Int64
    }

    static let idleTime: Int64 = 15 * 60_000
    static let lifetime: Int64 = 8 * 3_600_000
    /// A cookie that is younger is not renewed.
    private static let renewalTime: Int64 = 60_000
    /// By how much the clock of another server may be ahead.
    private static let clockSkew: Int64 = 60_000

    private let secrets: [(key: String, secret: SHA256Digest)]
    private let clock: any SessionClock
    private let isTLS: Bool

    init(_ keys: [AdminKeyHash], _ plain: Secret?, clock: any SessionClock, isTLS: Bool) {
        self.clock = clock
        self.isTLS = isTLS
        let purpose = Array("the console's cookie".utf8)
        // Several servers with one `admin.key` take each other's cookies. Of other keys the configuration has the
        // digest alone, which must not be enough to make a cookie: theirs end with the process.
        var own = [UInt8](repeating: 0, count: SHA256Digest.byteCount)
        own.withUnsafeMutableBytes { SystemRandom().fill($0) }
        secrets = keys.map { key in
            // Not of the digest, which another configuration may have and show.
            let seed = key.name == AdminKeyHash.plainName ? plain.map { Array($0.revealed.utf8) } : own
            return (key.name, .derived(from: key.digest, for: purpose + (seed ?? own)))
        }
    }

    /// The value of `Set-Cookie` for a caller that has shown a key.
    func begin(_ key: String, by request: HTTPRequest) -> String {
        // A proxy may speak HTTPS for the server.
        let isSecure = isTLS || request.fields[.origin]?.hasPrefix("https://") == true
        let now = clock.now()
        return cookie(
            Session(
                key: key, name: (isSecure ? Self.securePrefix : "") + Self.name, expiresAt: now + Self.idleTime,
                endsAt: now + Self.lifetime))
    }

    /// The session of a request that the console has sent; `nil` for any other request, whatever its cookies.
    func session(of request: HTTPRequest) -> Session? {
        guard request.fields.contains(.cookie), request.isFromOwnPage else { return nil }
        for name in [Self.securePrefix + Self.name, Self.name] {
            let values = SessionCredential.cookies(of: request, named: name)
            guard values.count <= 1 else { return nil }
            if let value = values.first { return session(String(decoding: value, as: UTF8.self), name) }
        }
        return nil
    }

    private func session(_ value: String, _ name: String) -> Session? {
        let parts = value.split(separator: ".", omittingEmptySubsequences: false)
        let now = clock.now()
        guard parts.count == 3, let expiresAt = Int64(parts[0]), let endsAt = Int64(parts[1]),
            now < min(expiresAt, endsAt),
            // Whatever a clock has said when it was made.
            expiresAt <= now + Self.idleTime + Self.clockSkew, endsAt <= now + Self.lifetime + Self.clockSkew
        else { return nil }
        // Their digests are compared in constant time.
        let shown = SHA256Digest(of: parts[2].utf8)
        for (key, secret) in secrets
        where SHA256Digest(of: Self.signature(of: "\(parts[0]).\(parts[1])", secret).utf8) == shown {
            return Session(key: key, name: name, expiresAt: expiresAt, endsAt: endsAt)
        }
        return nil
    }

    /// The value of `Set-Cookie` that extends a session; `nil` when that is not due. A look whether something has
    /// changed is not a use: the console takes one by itself as long as it is open.
    func renewal(of session: Session, by request: HTTPRequest) -> String? {
        let expiresAt = min(clock.now() + Self.idleTime, session.endsAt)
        guard expiresAt - session.expiresAt >= Self.renewalTime, !request.fields.contains(.ifNoneMatch) else {
            return nil
        }
        return cookie(Session(key: session.key, name: session.name, expiresAt: expiresAt, endsAt: session.endsAt))
    }

    /// The value of `Set-Cookie` that makes the browser delete it.
    func end(of session: Session) -> String { "\(session.name)=\(Self.attributes(session.name)); Max-Age=0" }

    private static let name = "concierge-console"
    /// Browsers take a cookie of such a name from HTTPS alone, and from no other host.
    private static let securePrefix = "__Host-"

    private static func attributes(_ name: String) -> String {
        (name.hasPrefix(securePrefix) ? "; Secure" : "") + "; HttpOnly; SameSite=Strict; Path=/"
    }

    private func cookie(_ session: Session) -> String {
        let secret = secrets.first { $0.key == session.key }?.secret
        guard let secret else { preconditionFailure("a console session is of a key that there is") }
        let times = "\(session.expiresAt).\(session.endsAt)"
        let seconds = (session.expiresAt - clock.now()) / 1_000
        return "\(session.name)=\(times).\(Self.signature(of: times, secret))\(Self.attributes(session.name)); "
            + "Max-Age=\(seconds)"
    }

    private static func signature(of times: String, _ secret: SHA256Digest) -> String {
        SHA256Digest.derived(from: secret, for: Array(times.utf8)).text()
    }
}
