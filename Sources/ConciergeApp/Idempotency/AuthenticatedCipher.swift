import CCrypto
import Sessions

/// AES-256-GCM (NIST SP 800-38D) of libcrypto, EVP_EncryptInit(3).
///
/// The nonce is 12 random bytes. A key here is as good as never used twice, let alone the 2³² times after which
/// random nonces may begin to repeat.
enum AuthenticatedCipher {
    private static let nonceBytes = 12
    private static let tagBytes = 16

    /// Nonce, encrypted `text`, tag; nil when libcrypto has no memory.
    static func seal(
        _ text: [UInt8], key: IdempotencyDigest, authenticating associated: IdempotencyDigest,
        random: any RandomSource
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

    /// What was sealed; nil when key, `associated` or any bit is not the one it was sealed with.
    static func open(
        _ sealed: [UInt8], key: IdempotencyDigest, authenticating associated: IdempotencyDigest
    ) -> [UInt8]? {
        let length = sealed.count - nonceBytes - tagBytes
        guard length >= 0, let context = EVP_CIPHER_CTX_new() else { return nil }
        defer { EVP_CIPHER_CTX_free(context) }
        var failed = true
        let text = [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
            sealed.withUnsafeBufferPointer { sealed in
                guard let nonce = sealed.baseAddress else { return }
                let body = nonce + nonceBytes
                // The call only reads the tag, though its parameter is not const.
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
        _ context: OpaquePointer, encrypting: Bool, key: IdempotencyDigest, nonce: UnsafePointer<UInt8>,
        associated: IdempotencyDigest
    ) -> Bool {
        var written: Int32 = 0
        let isReady = key.withBytes { key in
            // 12 bytes are the length of a nonce that GCM takes unless told otherwise.
            EVP_CipherInit_ex(
                context, EVP_aes_256_gcm(), nil, key.assumingMemoryBound(to: UInt8.self).baseAddress, nonce,
                encrypting ? 1 : 0) == 1
        }
        // Without an output the input is authenticated only.
        return isReady
            && associated.withBytes {
                EVP_CipherUpdate(
                    context, nil, &written, $0.assumingMemoryBound(to: UInt8.self).baseAddress, Int32($0.count)) == 1
            }
    }
}
