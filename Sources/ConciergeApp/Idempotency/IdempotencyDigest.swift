import CCrypto

/// A SHA-256 over a list of parts.
struct IdempotencyDigest: Sendable, Hashable {
    private let first, second, third, fourth: UInt64

    static let byteCount = 32

    func withBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try withUnsafeBytes(of: self, body)
    }

    /// Takes the parts one by one. Each goes in behind its length, so that no two lists of parts give the same
    /// input, and the first is a label that says what the digest is for, so that no two uses give the same digest.
    struct Builder: ~Copyable {
        private var context = SHA256_CTX()

        init(_ label: String) {
            // SHA256_Init(3): these return 1 for success, and have no way to fail but a null pointer.
            precondition(SHA256_Init(&context) == 1, "libcrypto cannot compute SHA-256")
            add(label)
        }

        mutating func add(_ part: String) {
            var part = part
            part.withUTF8 { add(UnsafeRawBufferPointer($0)) }
        }

        mutating func add(_ part: some Collection<UInt8>) {
            if part.withContiguousStorageIfAvailable({ add(UnsafeRawBufferPointer($0)) }) == nil { add(Array(part)) }
        }

        mutating func add(_ part: UnsafeRawBufferPointer) {
            var length = UInt64(part.count).littleEndian
            SHA256_Update(&context, &length, MemoryLayout.size(ofValue: length))
            SHA256_Update(&context, part.baseAddress, part.count)
        }

        /// A part that comes in pieces. Its length has to follow, as a part of its own.
        mutating func `continue`(with piece: [UInt8]) { SHA256_Update(&context, piece, piece.count) }

        consuming func finish() -> IdempotencyDigest {
            var digest = IdempotencyDigest(first: 0, second: 0, third: 0, fourth: 0)
            withUnsafeMutableBytes(of: &digest) { _ = SHA256_Final($0.baseAddress, &context) }
            return digest
        }
    }
}
