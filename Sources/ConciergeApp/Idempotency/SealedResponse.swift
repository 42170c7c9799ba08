import HTTPServer
import Sessions

/// A response that can only be read with the caller and the idempotency key.
///
/// AES-256-GCM encrypts all of it: status, fields, body. The key is a SHA-256 of a label, the caller and the
/// idempotency key, used once. That derivation suffices: the input holds the whole secret, one key of full length is
/// derived from it, and the entry's id, which another label derives from the same input, does not help to find the key.
/// The entry's id is authenticated too, so a response that was moved to another entry cannot be opened.
struct SealedResponse: Sendable {
    let response: HTTPResponse
    /// Of the token that the response has, if it has one.
    let secret: TokenDigest?

    /// Nonce, ciphertext, tag; nothing when the response is longer than `limit`.
    static func seal(
        _ response: HTTPResponse, _ secret: TokenDigest?, atMost limit: Int, key: SHA256Digest, for id: ShortDigest,
        random: any RandomSource
    ) -> [UInt8] {
        guard let text = ResponseBytes.write(response, secret, atMost: limit) else { return [] }
        return id.bytes.withUnsafeBytes { AuthenticatedCipher.seal(text, key: key, authenticating: $0, random: random) }
    }

    /// Opens what ``seal(_:_:atMost:key:for:random:)`` has made; `nil` when the key or the entry is wrong, or any bit
    /// has changed.
    init?(_ sealed: [UInt8], key: SHA256Digest, for id: ShortDigest) {
        let text = sealed.withUnsafeBytes { sealed in
            id.bytes.withUnsafeBytes { AuthenticatedCipher.open(sealed, key: key, authenticating: $0) }
        }
        guard let (response, secret) = text.flatMap(ResponseBytes.read) else { return nil }
        (self.response, self.secret) = (response, secret)
    }
}

/// A response as bytes: format (1), whether it has a token (1), the digest of that (32, if it has one), status, length
/// of the fields, the fields as they are sent, body. Numbers have 32 bits, little-endian.
private enum ResponseBytes {
    private static let format: UInt8 = 1

    static func write(_ response: HTTPResponse, _ secret: TokenDigest?, atMost limit: Int) -> [UInt8]? {
        let fields = response.fields.wholeText
        let count = 10 + (secret == nil ? 0 : TokenDigest.byteCount) + fields.count + response.body.count
        guard count <= limit else { return nil }
        var bytes: [UInt8] = [format, secret == nil ? 0 : 1]
        bytes.reserveCapacity(count)
        secret?.withBytes { bytes.append(contentsOf: $0) }
        for number in [UInt32(response.status.code), UInt32(fields.count)] {
            withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
        }
        bytes += fields
        bytes += response.body
        return bytes
    }

    /// `nil` when ``write(_:_:atMost:)`` did not make it.
    static func read(_ bytes: [UInt8]) -> (HTTPResponse, TokenDigest?)? {
        guard bytes.count >= 10, bytes[0] == format, bytes[1] <= 1 else { return nil }
        var rest = bytes[2...]
        var secret: TokenDigest?
        if bytes[1] == 1 {
            secret = TokenDigest(bytes: rest.prefix(TokenDigest.byteCount))
            guard secret != nil else { return nil }
            rest = rest.dropFirst(TokenDigest.byteCount)
        }
        guard rest.count >= 8 else { return nil }
        let (status, length) = rest.withUnsafeBytes {
            (
                UInt32(littleEndian: $0.loadUnaligned(as: UInt32.self)),
                Int(UInt32(littleEndian: $0.loadUnaligned(fromByteOffset: 4, as: UInt32.self)))
            )
        }
        rest = rest.dropFirst(8)
        guard let status = UInt16(exactly: status), length <= rest.count else { return nil }
        var fields = HTTPFields(wholeText: Array(rest.prefix(length)))
        // It names the first request. Every response has an id of its own.
        if fields[.requestID] != nil { fields[.requestID] = nil }
        return (HTTPResponse(HTTPStatus(status), fields: fields, body: Array(rest.dropFirst(length))), secret)
    }
}
