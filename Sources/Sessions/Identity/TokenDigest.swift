import CCrypto

/// The SHA-256 of a token's text: all that the server keeps of a token.
package struct TokenDigest: Sendable, Equatable {
    private let words: (UInt64, UInt64, UInt64, UInt64)

    package init(words: (UInt64, UInt64, UInt64, UInt64)) {
        self.words = words
    }

    /// Hashes `text` without allocating.
    init(of text: UnsafeRawBufferPointer) {
        var context = SHA256_CTX()
        var digest: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        // SHA256_Init(3): these return 1 for success, and have no way to fail but a null pointer.
        let succeeded = withUnsafeMutableBytes(of: &digest) { output in
            SHA256_Init(&context) == 1
                && SHA256_Update(&context, text.baseAddress, text.count) == 1
                && SHA256_Final(output.baseAddress, &context) == 1
        }
        precondition(succeeded, "libcrypto cannot compute SHA-256")
        words = digest
    }

    /// Compares in a time that does not tell where the first difference is: every word is looked at.
    package static func == (left: Self, right: Self) -> Bool {
        let difference =
            (left.words.0 ^ right.words.0) | (left.words.1 ^ right.words.1) | (left.words.2 ^ right.words.2)
            | (left.words.3 ^ right.words.3)
        return difference == 0
    }

    /// Gives the 32 bytes to `body`, for stores that write them.
    package func withBytes(_ body: (UnsafeRawBufferPointer) -> Void) { withUnsafeBytes(of: words) { body($0) } }

    /// The 32 bytes.
    package var bytes: [UInt8] {
        withUnsafeBytes(of: words) { Array($0) }
    }

    /// From the 32 bytes that ``bytes`` gave.
    package init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 32 else { return nil }
        var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        withUnsafeMutableBytes(of: &words) { $0.copyBytes(from: bytes) }
        self.words = words
    }
}
