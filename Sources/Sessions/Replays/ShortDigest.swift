/// The first 16 bytes of a SHA-256: names a keyed request, or tells one request from another. A caller would need 2^64
/// attempts to make two of its own alike, which would harm nobody else.
package struct ShortDigest: Sendable, Hashable {
    private let high: UInt64
    private let low: UInt64

    package static let byteCount = 16

    package init(_ digest: SHA256Digest) {
        (high, low) = digest.withBytes {
            ($0.loadUnaligned(as: UInt64.self), $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        }
    }

    /// From the bytes that ``bytes`` returned; `nil` for any other number of bytes.
    package init?(bytes: UnsafeRawBufferPointer) {
        guard bytes.count == Self.byteCount else { return nil }
        high = bytes.loadUnaligned(as: UInt64.self)
        low = bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
    }

    package init?(bytes: [UInt8]) {
        guard let digest = bytes.withUnsafeBytes({ ShortDigest(bytes: $0) }) else { return nil }
        self = digest
    }

    /// From the digits that ``text`` returned.
    package init?(text: some StringProtocol) {
        guard text.utf8.count == 2 * Hexadecimal.wordLength,
            let high = Hexadecimal.word(text.utf8.prefix(Hexadecimal.wordLength)),
            let low = Hexadecimal.word(text.utf8.dropFirst(Hexadecimal.wordLength))
        else { return nil }
        (self.high, self.low) = (high, low)
    }

    package var bytes: [UInt8] { withUnsafeBytes(of: (high, low)) { Array($0) } }

    /// In hexadecimal digits.
    package var text: String { Hexadecimal.text(high) + Hexadecimal.text(low) }

    package func hash(into hasher: inout Hasher) { hasher.combine(high) }
}
