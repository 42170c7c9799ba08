import CCrypto

/// AES-256-GCM (NIST SP 800-38D) of libcrypto, EVP_EncryptInit(3). Everything that Concierge seals is sealed here.
///
/// The nonce is 12 random bytes. Section 8.3 allows 2³² uses of a key with such nonces, so callers derive a key for
/// each thing that they seal: for a remembered response, or for a session and all that is written to it.
package enum AuthenticatedCipher {
    private static let nonceBytes = 12
    private static let tagBytes = 16
    /// How many bytes longer a text is when it is sealed, its header apart.
    package static let overhead = nonceBytes + tagBytes
    /// Fetched once: EVP_aes_256_gcm(3) makes libcrypto search for it at each use.
    nonisolated(unsafe) private static let algorithm = EVP_CIPHER_fetch(nil, "AES-256-GCM", nil)

    /// `header` as it is, nonce, encrypted `text` and tag.
    ///
    /// - Parameter associated: what has to be the same when it is opened. It is not in the result.
    package static func seal(
        _ text: [UInt8], key: SHA256Digest, authenticating associated: UnsafeRawBufferPointer,
        behind header: [UInt8] = [], random: any RandomSource
    ) -> [UInt8] {
        guard let context = EVP_CIPHER_CTX_new() else { preconditionFailure("libcrypto has no memory") }
        defer { EVP_CIPHER_CTX_free(context) }
        let size = header.count + nonceBytes + text.count + tagBytes
        return [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            guard let start = buffer.baseAddress else { return }
            start.initialize(from: header, count: header.count)
            let nonce = start + header.count
            random.fill(UnsafeMutableRawBufferPointer(start: nonce, count: nonceBytes))
            let body = nonce + nonceBytes
            let tag = body + text.count
            var written: Int32 = 0
            let isSealed =
                begin(context, encrypting: true, key: key, nonce: nonce, associated: associated)
                && EVP_EncryptUpdate(context, body, &written, text, Int32(text.count)) == 1
                && EVP_EncryptFinal_ex(context, tag, &written) == 1
                && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, Int32(tagBytes), tag) == 1
            precondition(isSealed, "libcrypto cannot encrypt with AES-256-GCM")
            count = size
        }
    }

    /// The plain text; `nil` when key, `associated` or any bit differs.
    ///
    /// - Parameter sealed: without the header.
    package static func open(
        _ sealed: UnsafeRawBufferPointer, key: SHA256Digest, authenticating associated: UnsafeRawBufferPointer
    ) -> [UInt8]? {
        let length = sealed.count - nonceBytes - tagBytes
        guard length >= 0, let size = Int32(exactly: length), let context = EVP_CIPHER_CTX_new() else { return nil }
        defer { EVP_CIPHER_CTX_free(context) }
        var failed = true
        // Never 0 bytes, because then the storage that all empty arrays share would be written to.
        let text = [UInt8](unsafeUninitializedCapacity: max(1, length)) { buffer, count in
            guard let nonce = sealed.assumingMemoryBound(to: UInt8.self).baseAddress else { return }
            let body = nonce + nonceBytes
            // The call only reads the tag, although its parameter is not const.
            let tag = UnsafeMutablePointer(mutating: body + length)
            var written: Int32 = 0
            var none: UInt8 = 0
            failed =
                !(begin(context, encrypting: false, key: key, nonce: nonce, associated: associated)
                && EVP_DecryptUpdate(context, buffer.baseAddress, &written, body, size) == 1
                && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(tagBytes), tag) == 1
                && EVP_DecryptFinal_ex(context, &none, &written) == 1)
            count = failed ? 0 : length
        }
        return failed ? nil : text
    }

    private static func begin(
        _ context: OpaquePointer, encrypting: Bool, key: SHA256Digest, nonce: UnsafePointer<UInt8>,
        associated: UnsafeRawBufferPointer
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
            && EVP_CipherUpdate(
                context, nil, &written, associated.assumingMemoryBound(to: UInt8.self).baseAddress,
                Int32(associated.count)) == 1
    }
}

extension SHA256Digest {
    /// HMAC-SHA-256 of `message`, as a key for one purpose or one thing: NIST SP 800-108r1, with HMAC as its function.
    /// The message has to name the purpose.
    package static func derived(from key: SHA256Digest, for message: [UInt8]) -> SHA256Digest {
        var digest = [UInt8](repeating: 0, count: byteCount)
        let isMade = key.withBytes {
            HMAC(EVP_sha256(), $0.baseAddress, Int32($0.count), message, message.count, &digest, nil)
        }
        guard isMade != nil, let derived = SHA256Digest(bytes: digest) else {
            preconditionFailure("libcrypto cannot compute HMAC-SHA-256")
        }
        return derived
    }
}
