import CCrypto

/// Base64 with padding (RFC 4648, section 4), of libcrypto.
enum Base64 {
    static func encoded(_ bytes: [UInt8]) -> String {
        var text = [UInt8](repeating: 0, count: (bytes.count + 2) / 3 * 4 + 1)
        let length = Int(EVP_EncodeBlock(&text, bytes, Int32(bytes.count)))
        return String(decoding: text.prefix(length), as: UTF8.self)
    }

    /// Nil for any other text than ``encoded(_:)`` makes of some bytes.
    static func decoded(_ text: [UInt8]) -> [UInt8]? {
        let padding = text.reversed().prefix { $0 == UInt8(ascii: "=") }.count
        guard !text.isEmpty, text.count.isMultiple(of: 4), padding <= 2 else { return nil }
        var bytes = [UInt8](repeating: 0, count: text.count / 4 * 3)
        let length = Int(EVP_DecodeBlock(&bytes, text, Int32(text.count)))
        guard length == bytes.count else { return nil }
        bytes.removeLast(padding)
        // One text for each key: libcrypto also takes blanks, and bits that mean nothing.
        return encoded(bytes) == String(decoding: text, as: UTF8.self) ? bytes : nil
    }
}
