import HTTPServer
import Sessions

/// A response that can only be read with the caller and the idempotency key.
///
/// AES-256-GCM encrypts all of it: status, fields, body. The key is a SHA-256 of a label, the caller and the
/// idempotency key, used once. That derivation suffices: the input holds the whole secret, one key of full length is
/// derived from it, and the entry's id, which another label derives from the same input, does not help to find the key.
/// The entry's id is authenticated too, so a response that was moved to another entry cannot be opened.
struct SealedResponse: Sendable {
    /// Nonce, ciphertext, tag.
    private(set) var sealed: [UInt8]

    /// For the limit of bytes.
    var size: Int { sealed.count + IdempotencyStore.entryOverhead }

    /// As it was kept.
    init(sealed: [UInt8]) { self.sealed = sealed }

    /// `nil` when the response is longer than `limit` or cannot be encrypted. Then it is not kept.
    init?(
        _ response: HTTPResponse, atMost limit: Int, key: SHA256Digest, for id: SHA256Digest, random: any RandomSource
    ) {
        guard let text = ResponseBytes.write(response, atMost: limit),
            let sealed = id.withBytes({
                AuthenticatedCipher.seal(text, key: key, authenticating: $0, random: random)
            })
        else { return nil }
        self.sealed = sealed
    }

    /// The response; `nil` when the key or the entry is wrong, or any bit has changed.
    func opened(with key: SHA256Digest, for id: SHA256Digest) -> HTTPResponse? {
        sealed.withUnsafeBytes { sealed in
            id.withBytes { AuthenticatedCipher.open(sealed, key: key, authenticating: $0) }
        }.flatMap(ResponseBytes.read)
    }
}

/// A response as bytes: status, length of the fields, the fields as they are sent, body. Numbers have 32 bits. The
/// process that writes it also reads it, so it needs no version.
private enum ResponseBytes {
    static func write(_ response: HTTPResponse, atMost limit: Int) -> [UInt8]? {
        let fields = response.fields.wholeText
        let count = 8 + fields.count + response.body.count
        guard count <= limit else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        for number in [UInt32(response.status.code), UInt32(fields.count)] {
            withUnsafeBytes(of: number) { bytes.append(contentsOf: $0) }
        }
        bytes += fields
        bytes += response.body
        return bytes
    }

    /// `nil` when ``write(_:atMost:)`` did not make it.
    static func read(_ bytes: [UInt8]) -> HTTPResponse? {
        guard bytes.count >= 8 else { return nil }
        let (status, length) = bytes.withUnsafeBytes {
            ($0.loadUnaligned(as: UInt32.self), Int($0.loadUnaligned(fromByteOffset: 4, as: UInt32.self)))
        }
        guard let status = UInt16(exactly: status), length <= bytes.count - 8 else { return nil }
        var fields = HTTPFields(wholeText: Array(bytes[8..<8 + length]))
        // It names the first request. Every response has an id of its own.
        if fields[.requestID] != nil { fields[.requestID] = nil }
        return HTTPResponse(HTTPStatus(status), fields: fields, body: Array(bytes[(8 + length)...]))
    }
}
