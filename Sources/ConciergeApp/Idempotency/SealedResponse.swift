import CCrypto
import HTTPServer
import Sessions

/// A response that can only be read with the caller and the idempotency key.
///
/// AES-256-GCM encrypts all of it: status, fields, body. The key is a SHA-256 of a label, the caller and the
/// idempotency key. That derivation suffices: the input holds the whole secret, one key of full length is derived from
/// it, and the entry's id, which another label derives from the same input, does not help to find the key. The entry's
/// id is authenticated too, so a response that was moved to another entry cannot be opened.
struct SealedResponse: Sendable {
    /// Nonce, ciphertext, tag.
    private(set) var sealed: [UInt8]

    /// For the limit of bytes.
    var size: Int { sealed.count + IdempotencyStore.entryOverhead }

    /// For tests that damage it.
    init(sealed: [UInt8]) { self.sealed = sealed }

    /// `nil` when the response is longer than `limit` or cannot be encrypted. Then it is not kept.
    init?(
        _ response: HTTPResponse, atMost limit: Int, key: SHA256Digest, for id: SHA256Digest, random: any RandomSource
    ) {
        guard let text = ResponseBytes.write(response, atMost: limit),
            let sealed = AuthenticatedCipher.seal(text, key: key, authenticating: id, random: random)
        else { return nil }
        self.sealed = sealed
    }

    /// The response; `nil` when the key or the entry is wrong, or any bit has changed.
    func opened(with key: SHA256Digest, for id: SHA256Digest) -> HTTPResponse? {
        AuthenticatedCipher.open(sealed, key: key, authenticating: id).flatMap(ResponseBytes.read)
    }
}

/// AES-256-GCM (NIST SP 800-38D) of libcrypto, EVP_EncryptInit(3).
///
/// The nonce is 12 random bytes, which may begin to repeat after 2³² uses of a key. A key is used once here.
private enum AuthenticatedCipher {
    private static let nonceBytes = 12
    private static let tagBytes = 16
    /// Fetched once: EVP_aes_256_gcm(3) makes libcrypto search for it at each use.
    nonisolated(unsafe) private static let algorithm = EVP_CIPHER_fetch(nil, "AES-256-GCM", nil)

    /// Nonce, encrypted `text` and tag; `nil` when libcrypto has no memory.
    static func seal(
        _ text: [UInt8], key: SHA256Digest, authenticating associated: SHA256Digest, random: any RandomSource
    ) -> [UInt8]? {
        guard let context = EVP_CIPHER_CTX_new() else { return nil }
        defer { EVP_CIPHER_CTX_free(context) }
        var failed = false
        let sealed = [UInt8](unsafeUninitializedCapacity: nonceBytes + text.count + tagBytes) { buffer, count in
            guard let nonce = buffer.baseAddress else { return }
            random.fill(UnsafeMutableRawBufferPointer(start: nonce, count: nonceBytes))
            let body = nonce + nonceBytes
            let tag = body + text.count
            var written: Int32 = 0
            let succeeded =
                start(context, encrypting: true, key: key, nonce: nonce, associated: associated)
                && EVP_EncryptUpdate(context, body, &written, text, Int32(text.count)) == 1
                && EVP_EncryptFinal_ex(context, tag, &written) == 1
                && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, Int32(tagBytes), tag) == 1
            failed = !succeeded
            count = succeeded ? buffer.count : 0
        }
        return failed ? nil : sealed
    }

    /// The plain text; `nil` when key, `associated` or any bit differs.
    static func open(
        _ sealed: [UInt8], key: SHA256Digest, authenticating associated: SHA256Digest
    ) -> [UInt8]? {
        let length = sealed.count - nonceBytes - tagBytes
        guard length >= 0, let context = EVP_CIPHER_CTX_new() else { return nil }
        defer { EVP_CIPHER_CTX_free(context) }
        var failed = true
        let text = [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
            sealed.withUnsafeBufferPointer { sealed in
                guard let nonce = sealed.baseAddress else { return }
                let body = nonce + nonceBytes
                // The call only reads the tag, although its parameter is not const.
                let tag = UnsafeMutablePointer(mutating: body + length)
                var written: Int32 = 0
                var none: UInt8 = 0
                failed =
                    !(start(context, encrypting: false, key: key, nonce: nonce, associated: associated)
                    && EVP_DecryptUpdate(context, buffer.baseAddress, &written, body, Int32(length)) == 1
                    && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(tagBytes), tag) == 1
                    && EVP_DecryptFinal_ex(context, &none, &written) == 1)
            }
            count = failed ? 0 : length
        }
        return failed ? nil : text
    }

    private static func start(
        _ context: OpaquePointer, encrypting: Bool, key: SHA256Digest, nonce: UnsafePointer<UInt8>,
        associated: SHA256Digest
    ) -> Bool {
        var written: Int32 = 0
        let isReady = key.withBytes { key in
            // 12 bytes are the default length of a nonce in GCM.
            EVP_CipherInit_ex(
                context, algorithm, nil, key.assumingMemoryBound(to: UInt8.self).baseAddress, nonce,
                encrypting ? 1 : 0) == 1
        }
        // Without an output the input is only authenticated.
        return isReady
            && associated.withBytes {
                EVP_CipherUpdate(
                    context, nil, &written, $0.assumingMemoryBound(to: UInt8.self).baseAddress, Int32($0.count)) == 1
            }
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
