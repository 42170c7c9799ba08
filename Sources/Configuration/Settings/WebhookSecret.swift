import CCrypto

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
