/// The digest of a secret that only the client has: RFC 7636, section 4.2, method S256. The client that shows the
/// secret, the *verifier*, is the one that sent the challenge.
package struct CodeChallenge: Sendable, Equatable {
    /// SHA-256 of the verifier. Compared in constant time.
    let digest: SHA256Digest

    /// Reads `BASE64URL(SHA-256(verifier))`: 43 digits, no padding. `nil` for any other text, also for one of the four
    /// that a careless decoder takes for the same bytes.
    package init?(_ text: String) {
        guard text.utf8.count == Self.length else { return nil }
        // A last digit of zero makes whole groups, and a byte more.
        let digits = Array(text.utf8) + [UInt8(ascii: "A")]
        var bytes = [UInt8](repeating: 0, count: SHA256Digest.byteCount + 1)
        let isWellFormed = digits.withUnsafeBytes { digits in
            bytes.withUnsafeMutableBytes { Base64URL.decode(digits, into: $0) }
        }
        guard isWellFormed, bytes.last == 0, let digest = SHA256Digest(bytes: bytes.dropLast()) else { return nil }
        self.digest = digest
    }

    /// The challenge of a verifier; `nil` for a text that is none: section 4.1, 43 to 128 unreserved characters.
    package init?(ofVerifier text: String) {
        guard (43...128).contains(text.utf8.count), text.utf8.allSatisfy(Self.isUnreserved) else { return nil }
        digest = SHA256Digest(of: text.utf8)
    }

    /// From the 32 bytes of the digest; `nil` for any other number of bytes.
    package init?(bytes: some Collection<UInt8>) {
        guard let digest = SHA256Digest(bytes: bytes) else { return nil }
        self.digest = digest
    }

    package func withBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try digest.withBytes(body)
    }

    private static let length = 43

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-._~".utf8.contains(byte)
        }
    }
}

/// How the sender of an event can prove later that it was the one: by the verifier of a challenge, or by the cookie
/// that came with the event. A task keeps it as a text.
package struct SignInProof: Sendable {
    package let challenge: CodeChallenge?
    package let isByCookie: Bool

    private static let cookie: Character = "*"

    init(_ text: String?) {
        let isByCookie = text?.first == Self.cookie
        self.isByCookie = isByCookie
        challenge = text.flatMap { CodeChallenge(isByCookie ? String($0.dropFirst()) : $0) }
    }

    /// Nil for an event that came with neither.
    package static func text(challenge: String?, isByCookie: Bool) -> String? {
        isByCookie ? "\(cookie)\(challenge ?? "")" : challenge
    }
}
