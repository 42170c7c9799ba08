/// A link that takes one journey to another session: `cgl_` and 64 base64url digits, which hold the id of the session
/// that has the journey (16 bytes) and a secret (32 bytes). So the session is found without an index.
///
/// It is shown once and never kept: the session keeps only its digest.
package struct JourneyLink: Sendable {
    /// What is passed on. A secret.
    package let text: String
    package let digest: SHA256Digest

    init(to session: SessionID, random: some RandomSource) {
        // Of the form of a token, by another name: neither opens what the other does, since their digests differ.
        let digits = SessionToken(for: session, random: random).text.dropFirst(SessionToken.prefix.count)
        text = Self.prefix + digits
        digest = SHA256Digest(of: text.utf8)
    }

    fileprivate static let prefix = "cgl_"
}

extension JourneyLink: CustomStringConvertible {
    package var description: String { "cgl_…" }
}

/// A link as a request presents it. It holds no secret.
package struct PresentedLink: Sendable {
    package let session: SessionID
    let digest: SHA256Digest

    /// Nil when the text does not have the form of a link.
    package init?(_ text: String) {
        let token = "cg_" + text.dropFirst(JourneyLink.prefix.count)
        guard text.hasPrefix(JourneyLink.prefix), let presented = PresentedToken(token) else { return nil }
        session = presented.sessionID
        digest = SHA256Digest(of: text.utf8)
    }
}
