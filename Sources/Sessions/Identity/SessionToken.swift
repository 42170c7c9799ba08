/// The SHA-256 of a token's text: all that the server keeps of a token.
package typealias TokenDigest = SHA256Digest

extension TokenDigest {
    /// Of no token: it is that of the empty text.
    static let ofNobody = TokenDigest(of: [UInt8]())

    /// Of a session that has ended (``SessionRecord/hasEnded``). No token has this text.
    static let ofEnded = TokenDigest(of: Array("ended".utf8))
}

/// The credential of a session: `cg_` and 64 base64url digits, which hold the session's id (16 bytes) and a secret (32
/// bytes).
///
/// It contains the id of its session, so one index, by id, is enough. It is shown once and never kept: the server keeps
/// only its ``TokenDigest``. `description` is masked, so that a token does not get into a log; ``text`` is the token
/// itself.
package struct SessionToken: Sendable {
    package let sessionID: SessionID
    /// What a client sends. A secret. Stored in place, so that sending it takes no memory.
    private let digits: InlineArray<67, UInt8>
    /// All that the server keeps of it.
    let digest: TokenDigest

    /// A fresh token for `sessionID`, with 256 bits from `random`.
    init(for sessionID: SessionID, random: some RandomSource) {
        self.sessionID = sessionID
        // The id in big-endian order, so that bytes are ordered as ids are.
        var content: TokenContent = (sessionID.high.bigEndian, sessionID.low.bigEndian, 0, 0, 0, 0)
        withUnsafeMutableBytes(of: &content) { random.fill(.init(rebasing: $0[16...])) }
        var digits = InlineArray<67, UInt8>(repeating: 0)
        var mutable = digits.mutableSpan
        digest = mutable.withUnsafeMutableBytes { text in
            text.copyBytes(from: Self.prefix)
            withUnsafeBytes(of: &content) { Base64URL.encode($0, into: .init(rebasing: text[Self.prefix.count...])) }
            return TokenDigest(of: UnsafeRawBufferPointer(text))
        }
        self.digits = digits
    }

    /// What a client sends. A secret.
    package var text: String { digits.span.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }

    /// The text, without making a string.
    /// - Precondition: `buffer` has room for `length` bytes.
    package func write(into buffer: UnsafeMutableRawBufferPointer) {
        digits.span.withUnsafeBytes { buffer.copyMemory(from: $0) }
    }

    /// Bytes of its text.
    package static let length = 67

    /// The token as a request presents it.
    package var presented: PresentedToken { PresentedToken(sessionID: sessionID, digest: digest) }

    static let prefix: [UInt8] = Array("cg_".utf8)
}

extension SessionToken: CustomStringConvertible {
    package var description: String { "cg_…" }
}

/// Six words: id, then secret.
private typealias TokenContent = (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64)

/// A token as a request presents it: the id of the session and the digest of the text. It holds no secret.
package struct PresentedToken: Sendable {
    package let sessionID: SessionID
    package let digest: TokenDigest

    init(sessionID: SessionID, digest: TokenDigest) {
        self.sessionID = sessionID
        self.digest = digest
    }

    /// Whether the text begins as all tokens do, so that nobody else's credential is meant.
    package static func mayBe(_ text: UnsafeRawBufferPointer) -> Bool {
        text.count >= 3 && text[0] == UInt8(ascii: "c") && text[1] == UInt8(ascii: "g") && text[2] == UInt8(ascii: "_")
    }

    /// Reads raw bytes without allocating; `nil` when they do not have the form of a token.
    package init?(bytes: UnsafeRawBufferPointer) {
        guard bytes.count == SessionToken.length, Self.mayBe(bytes) else { return nil }
        // Only the digits of the id are decoded. The secret is checked as a part of the digest: if it is malformed, the
        // digest differs.
        var content: (UInt64, UInt64, UInt16) = (0, 0, 0)
        let isWellFormed = withUnsafeMutableBytes(of: &content) { output in
            Base64URL.decode(
                UnsafeRawBufferPointer(rebasing: bytes[3..<27]), into: .init(rebasing: output[..<18]))
        }
        guard isWellFormed else { return nil }
        sessionID = SessionID(high: UInt64(bigEndian: content.0), low: UInt64(bigEndian: content.1))
        digest = TokenDigest(of: bytes)
    }

    package init?(_ text: String) {
        var text = text
        guard let token = text.withUTF8({ PresentedToken(bytes: UnsafeRawBufferPointer($0)) }) else { return nil }
        self = token
    }
}
