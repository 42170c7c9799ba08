import CTLSClient

/// How connections to Redis are encrypted: with TLS 1.2 or 1.3, to a server whose certificate is checked.
///
/// The files, in PEM, are read for each connection: new ones count from the next connection on.
package struct RedisTLS: Sendable, Equatable {
    /// The authorities that may have signed Redis' certificate; `nil` for those that the system trusts.
    package var authorities: String?
    /// The certificate that the server shows to Redis, followed by those that signed it; `nil` for none.
    package var certificate: String?
    /// The private key of the certificate, without a password.
    package var key: String?

    package init() {}

    /// Why a file cannot be used.
    package struct Problem: Error, CustomStringConvertible {
        package enum File: Sendable { case authorities, certificate, key }

        package let file: File
        /// Whether the key belongs to another certificate.
        package let isMismatch: Bool
        package let description: String
    }

    /// What is wrong with the files; `nil` when they can be used.
    package var problem: Problem? {
        do throws(Problem) {
            SSL_CTX_free(try context())
            return nil
        } catch {
            return error
        }
    }

    /// The caller frees it.
    func context() throws(Problem) -> OpaquePointer {
        guard let context = SSL_CTX_new(TLS_client_method()) else {
            throw Problem(file: .authorities, isMismatch: false, description: "there is no memory for TLS")
        }
        do throws(Problem) {
            try prepare(context)
            return context
        } catch {
            SSL_CTX_free(context)
            throw error
        }
    }

    private func prepare(_ context: OpaquePointer) throws(Problem) {
        _ = ctls_set_versions(context, TLS1_2_VERSION, TLS1_3_VERSION)
        ctls_write_in_parts(context)
        ctls_take_end_of_file(context)
        if let authorities {
            guard SSL_CTX_load_verify_file(context, authorities) == 1 else {
                throw problem(.authorities, "\(authorities) has no certificate in PEM that can be read")
            }
        } else {
            SSL_CTX_set_default_verify_paths(context)
        }
        guard let certificate, let key else { return }
        // A key with a password is refused; OpenSSL would ask for it on the terminal.
        SSL_CTX_set_default_passwd_cb(context) { _, _, _, _ in -1 }
        // The key comes first: then a certificate of another key is no error yet.
        guard SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) == 1 else {
            throw problem(.key, "\(key) has no private key in PEM without a password")
        }
        guard SSL_CTX_use_certificate_chain_file(context, certificate) == 1 else {
            throw problem(.certificate, "\(certificate) has no certificate in PEM that can be read")
        }
        guard SSL_CTX_check_private_key(context) == 1 else {
            throw problem(.key, "\(key) is not the key of the first certificate in \(certificate)", isMismatch: true)
        }
    }

    private func problem(_ file: Problem.File, _ description: String, isMismatch: Bool = false) -> Problem {
        ERR_clear_error()
        return Problem(file: file, isMismatch: isMismatch, description: description)
    }
}
