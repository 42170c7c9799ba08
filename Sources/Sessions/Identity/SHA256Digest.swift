import CCrypto

/// The 32 bytes of a SHA-256 digest.
package struct SHA256Digest: Sendable {
    private let words: (UInt64, UInt64, UInt64, UInt64)

    package static let byteCount = 32

    package init(words: (UInt64, UInt64, UInt64, UInt64)) {
        self.words = words
    }

    /// Hashes `bytes` without allocating.
    package init(of bytes: UnsafeRawBufferPointer) {
        var hasher = SHA256Hasher()
        hasher.add(bytes)
        self = hasher.digest
    }

    package init(of bytes: some Collection<UInt8>) {
        var hasher = SHA256Hasher()
        hasher.add(bytes)
        self = hasher.digest
    }

    /// From the 32 bytes that ``bytes`` returned; `nil` for any other number of bytes.
    package init?(bytes: some Collection<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        withUnsafeMutableBytes(of: &words) { $0.copyBytes(from: bytes) }
        self.words = words
    }

    package func withBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try withUnsafeBytes(of: words, body)
    }

    package var bytes: [UInt8] { withBytes { Array($0) } }

    /// The first `count` bytes as lower-case hexadecimal digits.
    package func text(ofFirst count: Int = byteCount) -> String { Hexadecimal.text(bytes.prefix(count)) }
}

extension SHA256Digest: Hashable {
    /// Compares every word, so the time does not reveal the first difference.
    package static func == (left: Self, right: Self) -> Bool {
        let difference =
            (left.words.0 ^ right.words.0) | (left.words.1 ^ right.words.1) | (left.words.2 ^ right.words.2)
            | (left.words.3 ^ right.words.3)
        return difference == 0
    }

    /// A digest is uniformly distributed, so one word is enough.
    package func hash(into hasher: inout Hasher) { hasher.combine(words.0) }
}

/// Computes the SHA-256 of bytes that arrive in pieces.
package struct SHA256Hasher {
    private var context = SHA256_CTX()

    package init() {
        // SHA256_Init(3): these calls return 1 for success, and fail only for a null pointer.
        precondition(SHA256_Init(&context) == 1, "libcrypto cannot compute SHA-256")
    }

    package mutating func add(_ bytes: UnsafeRawBufferPointer) {
        SHA256_Update(&context, bytes.baseAddress, bytes.count)
    }

    package mutating func add(_ bytes: some Collection<UInt8>) {
        let isAdded: Void? = bytes.withContiguousStorageIfAvailable { add(UnsafeRawBufferPointer($0)) }
        if isAdded == nil { Array(bytes).withUnsafeBytes { add($0) } }
    }

    /// The digest of everything so far; more may be added.
    package var digest: SHA256Digest {
        var context = context
        var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        withUnsafeMutableBytes(of: &words) { _ = SHA256_Final($0.baseAddress, &context) }
        return SHA256Digest(words: words)
    }
}

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
