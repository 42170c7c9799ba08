import CCrypto
import Sessions
import Storage

/// A secret of Standard Webhooks (<https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md>):
/// `whsec_` and the base64 of 24 to 64 random bytes.
package struct WebhookSecret: Sendable, Equatable, CustomStringConvertible, CustomReflectable {
    private let key: [UInt8]

    private static let prefix = "whsec_"
    /// "Between 24 bytes (192 bits) and 64 bytes (512 bits)", says the specification.
    private static let lengths = 24...64
    package static let allowed = "\"whsec_\" and the base64 of 24 to 64 bytes"

    /// Nil for anything else than ``allowed``.
    package init?(_ text: String) {
        guard text.hasPrefix(Self.prefix), let key = Base64.decoded(Array(text.utf8.dropFirst(Self.prefix.utf8.count))),
            Self.lengths.contains(key.count)
        else { return nil }
        self.key = key
    }

    /// The value of `webhook-signature` for a message.
    ///
    /// - Parameters:
    ///   - id: the value of `webhook-id`, without a dot.
    ///   - timestamp: that of `webhook-timestamp`: seconds since 1970.
    package func signature(id: String, timestamp: Int64, body: [UInt8]) -> String {
        let signed = Array("\(id).\(timestamp).".utf8) + body
        var digest = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_LENGTH))
        var length: UInt32 = 0
        HMAC(EVP_sha256(), key, Int32(key.count), signed, signed.count, &digest, &length)
        return "v1," + Base64.encoded(digest)
    }

    package var description: String { Secret.mask }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// The key of the hash by which the log names users. Without it nobody can tell whose lines they are, not even with a
/// list of all users.
package struct UserHashKey: Sendable, Equatable, CustomStringConvertible, CustomReflectable {
    private let key: [UInt8]
    /// HMAC-SHA256 (RFC 2104) up to where the text begins: each line hashes only the user's id.
    private let inner, outer: SHA256Hasher

    private static let keyBytes = 32
    /// The block of SHA-256.
    private static let blockBytes = 64
    static let allowed = "the base64 of \(keyBytes) random bytes (openssl rand -base64 \(keyBytes))"

    private init(_ key: [UInt8]) {
        func hasher(_ pad: UInt8) -> SHA256Hasher {
            var hasher = SHA256Hasher()
            hasher.add(key.map { $0 ^ pad } + [UInt8](repeating: pad, count: Self.blockBytes - key.count))
            return hasher
        }
        self.key = key
        (inner, outer) = (hasher(0x36), hasher(0x5C))
    }

    /// The key in a file; nil for anything else than ``allowed``.
    package init?(_ text: String) {
        guard let key = Base64.decoded(Array(text.utf8)), key.count == Self.keyBytes else { return nil }
        self.init(key)
    }

    /// A new key.
    package init(random: some RandomSource) {
        var key = [UInt8](repeating: 0, count: Self.keyBytes)
        key.withUnsafeMutableBytes { random.fill($0) }
        self.init(key)
    }

    /// The first 16 bytes of the HMAC of a user's id, in hexadecimal digits.
    package func hash(of user: String) -> String {
        var (text, digest) = (inner, outer)
        text.add(user.utf8)
        text.digest.withBytes { digest.add($0) }
        return digest.digest.text(ofFirst: 16)
    }

    package static func == (one: Self, other: Self) -> Bool { one.key == other.key }
    package var description: String { Secret.mask }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

extension DocumentKeys {
    static let allowed =
        "one line NAME:BASE64 for each key, where names are letters, digits, dots, hyphens and underlines and occur once, and "
        + "BASE64 is that of \(keyBytes) random bytes (openssl rand -base64 \(keyBytes))"

    /// The keys of a file; lines beginning with `#` are comments. `nil` for anything else than ``allowed``.
    package init?(_ file: [UInt8]) {
        var keys: [(id: String, secret: [UInt8])] = []
        for line in String(decoding: file, as: UTF8.self).split(whereSeparator: \.isNewline) where line.first != "#" {
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let secret = Base64.decoded(Array(parts[1].utf8)) else { return nil }
            keys.append((String(parts[0]), secret))
        }
        self.init(keys)
    }
}

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
