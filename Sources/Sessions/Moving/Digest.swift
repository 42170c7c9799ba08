import CCrypto

/// SHA-256 of bytes that come one after the other.
struct Digest {
    private var context = SHA256_CTX()

    init() {
        // SHA256_Init(3): these return 1 for success, and have no way to fail but a null pointer.
        precondition(SHA256_Init(&context) == 1, "libcrypto cannot compute SHA-256")
    }

    mutating func add(_ bytes: some Sequence<UInt8>) {
        let isAdded =
            bytes.withContiguousStorageIfAvailable { SHA256_Update(&context, $0.baseAddress, $0.count) == 1 }
        if isAdded == nil {
            let copy = Array(bytes)
            precondition(SHA256_Update(&context, copy, copy.count) == 1, "libcrypto cannot compute SHA-256")
        }
    }

    /// The first `count` of its 32 bytes as hexadecimal digits, of what was added so far.
    func text(ofFirst count: Int = 32) -> String {
        var context = context
        let bytes = [UInt8](unsafeUninitializedCapacity: Int(SHA256_DIGEST_LENGTH)) { buffer, size in
            _ = SHA256_Final(buffer.baseAddress, &context)
            size = buffer.count
        }
        return Hexadecimal.text(bytes.prefix(count))
    }
}

/// Lower-case digits, two for each byte.
enum Hexadecimal {
    static func text(_ bytes: some Collection<UInt8>) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    /// Nil for anything else.
    static func bytes(_ text: String) -> [UInt8]? {
        guard text.utf8.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        var high: UInt8?
        for byte in text.utf8 {
            let digit: UInt8
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
            default: return nil
            }
            if let first = high { bytes.append(first << 4 | digit) }
            high = high == nil ? digit : nil
        }
        return bytes
    }
}
