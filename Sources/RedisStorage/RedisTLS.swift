import CTLSClient
import Glibc

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

/// TLS on a socket that does not block. For the thread of its ``RedisConnection``, in which SIGPIPE is blocked.
final class RedisTLSLayer {
    private let context: OpaquePointer
    private let session: OpaquePointer
    private let address: RedisAddress
    /// Why the check of the certificate failed.
    private var refusal: String?
    /// Whether ``receive(_:)`` has left something that no socket will announce.
    private(set) var hasMore = false
    /// Whether Redis has sent anything. With TLS 1.3 it looks at our certificate after the handshake, and when it then
    /// closes the connection, its reason may be lost.
    private var hasReceived = false

    /// Agrees on keys, and checks whether the certificate is the address'.
    ///
    /// - Parameter descriptor: stays the caller's.
    init(
        on descriptor: Int32, to address: RedisAddress, _ settings: RedisTLS, until deadline: ContinuousClock.Instant
    ) throws(RedisFailure) {
        self.address = address
        do throws(RedisTLS.Problem) {
            context = try settings.context()
        } catch {
            throw RedisFailure("\(address) cannot be reached: \(error).")
        }
        guard let session = SSL_new(context) else {
            SSL_CTX_free(context)
            throw RedisFailure("There is no memory for a connection to Redis.")
        }
        self.session = session
        SSL_set_fd(session, descriptor)
        // Fewer system calls. Whatever was read is taken out before the socket is waited for, see `hasMore`.
        SSL_set_read_ahead(session, 1)
        checkCertificate()
        try connect(descriptor, until: deadline)
    }

    deinit {
        SSL_free(session)
        SSL_CTX_free(context)
    }

    // MARK: The certificate

    private func checkCertificate() {
        // RFC 9525: a name counts where it is a name of the server, and not where it is a text for people.
        SSL_set_hostflags(session, UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT))
        if X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(session), address.host) != 1 {
            SSL_set1_host(session, address.host)
            _ = ctls_set_server_name(session, address.host)
        }
        SSL_set_ex_data(session, 0, Unmanaged.passUnretained(self).toOpaque())
        SSL_set_verify(session, SSL_VERIFY_PEER) { isTrusted, store in
            if isTrusted != 1, let session = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()),
                let layer = SSL_get_ex_data(OpaquePointer(session), 0)
            {
                Unmanaged<RedisTLSLayer>.fromOpaque(layer).takeUnretainedValue().refuse(store)
            }
            return isTrusted
        }
    }

    private func refuse(_ store: OpaquePointer?) {
        var name = [CChar](repeating: 0, count: 256)
        X509_NAME_oneline(X509_get_subject_name(X509_STORE_CTX_get_current_cert(store)), &name, Int32(name.count))
        let code = X509_STORE_CTX_get_error(store)
        let reason = X509_verify_cert_error_string(Int(code)).map { String(cString: $0) } ?? "\(code)"
        let advice =
            switch code {
            case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH: ": it is not for \(address.host)"
            case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT, X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN,
                X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY, X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
                ": name the file of its authority in redis_tls.ca"
            default: ""
            }
        let subject = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        refusal = "the certificate \(subject) is refused, \(reason)\(advice)"
    }

    // MARK: Handshake, sending and receiving

    private func connect(_ descriptor: Int32, until deadline: ContinuousClock.Instant) throws(RedisFailure) {
        while true {
            ERR_clear_error()
            let result = SSL_connect(session)
            if result == 1 { return }
            let event: Int32
            switch SSL_get_error(session, result) {
            case SSL_ERROR_WANT_READ: event = POLLIN
            case SSL_ERROR_WANT_WRITE: event = POLLOUT
            case let code:
                throw RedisFailure("\(address) cannot be reached: \(refusal ?? "TLS failed, \(reason(code))").")
            }
            var places = [pollfd(fd: descriptor, events: Int16(event), revents: 0)]
            guard RedisLink.wait(&places, until: deadline) else {
                // A Redis that reads the first bytes as a command waits for its end.
                throw RedisFailure(
                    "\(address) cannot be reached: TLS failed, \(RedisLink.text(ETIMEDOUT))\(Self.speaksTLS).")
            }
        }
    }

    /// How much was sent; nil when the socket takes nothing now.
    func send(_ bytes: UnsafeRawBufferPointer) throws(RedisFailure) -> Int? {
        ERR_clear_error()
        var count = 0
        let result = SSL_write_ex(session, bytes.baseAddress, bytes.count, &count)
        return try result == 1 ? count : check(result)
    }

    /// How much has arrived, 0 at the end; nil when there is nothing now.
    func receive(_ buffer: inout [UInt8]) throws(RedisFailure) -> Int? {
        var total = 0
        while total < buffer.count {
            ERR_clear_error()
            var count = 0
            let room = buffer.count - total
            let result = buffer.withUnsafeMutableBytes {
                SSL_read_ex(session, $0.baseAddress.map { $0 + total }, room, &count)
            }
            guard result == 1 else {
                hasMore = false
                if total > 0 { return total }
                return try check(result)
            }
            total += count
            hasReceived = true
        }
        hasMore = true
        return total
    }

    private func check(_ result: Int32) throws(RedisFailure) -> Int? {
        switch SSL_get_error(session, result) {
        // Without renegotiation each is about the direction that was asked for, except when keys change: the next call
        // sends those few bytes.
        case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return nil
        case SSL_ERROR_ZERO_RETURN: return 0
        case let code:
            let reason = reason(code)
            let isSaid = hasReceived || reason.hasSuffix(Self.wantsCertificate)
            throw RedisLink.lost("TLS failed, \(reason)\(isSaid ? "" : Self.wantsCertificate)")
        }
    }

    private func reason(_ code: Int32) -> String {
        let (error, number) = (ERR_get_error(), errno)
        guard error != 0 else {
            return code == SSL_ERROR_SYSCALL && number != 0 ? RedisLink.text(number) : "Redis has closed the connection"
        }
        let reason = ERR_reason_error_string(error).map { String(cString: $0) } ?? "error \(error)"
        return reason + Self.advice(ERR_GET_REASON(error))
    }

    private static let wantsCertificate = ": does Redis want a certificate, redis_tls.certificate?"
    private static let speaksTLS = ": does Redis speak TLS on this port?"

    private static func advice(_ reason: Int32) -> String {
        switch reason {
        case SSL_R_WRONG_VERSION_NUMBER: speaksTLS
        case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED, SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE:
            wantsCertificate
        default: ""
        }
    }
}
