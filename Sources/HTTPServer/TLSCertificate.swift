import CMicroHTTPD

/// A certificate with its private key, for ``HTTPServerConfiguration/tls`` and ``HTTPServer/replaceCertificate(_:)``.
///
/// `@unchecked Sendable`: what the pointer names never changes and counts its references atomically.
public final class TLSCertificate: @unchecked Sendable {
    /// The first moment at which it is valid, in seconds since 1970.
    public let begins: Int
    /// The last such moment.
    public let ends: Int
    let pointer: OpaquePointer

    /// Why texts are no certificate and key. It holds nothing of them. The numbers are those of `cmhd_tls_problem`.
    public enum Problem: UInt32, Error, Sendable {
        /// There is no certificate in PEM, or one that cannot be read.
        case certificate = 1
        /// There is no private key in PEM, or it is encrypted.
        case key
        /// The key is not that of the first certificate.
        case mismatch
        /// There is no certificate in PEM among those of authorities.
        case clientAuthorities
        /// There is no memory for them.
        case outOfMemory
    }

    /// - Parameters:
    ///   - certificate: PEM: the server's own certificate first, then those that signed it, up to the root.
    ///   - key: PEM, not encrypted.
    ///   - clientAuthorities: PEM: clients must show a certificate that one of these has signed; `nil` to ask for none.
    public init(certificate: [UInt8], key: [UInt8], clientAuthorities: [UInt8]? = nil) throws(Problem) {
        var problem = CMHD_TLS_GOOD
        var (begins, ends) = (Int64(0), Int64(0))
        let made = certificate.withUnsafeBufferPointer { certificate in
            key.withUnsafeBufferPointer { key in
                (clientAuthorities ?? []).withUnsafeBufferPointer { authorities in
                    var texts = cmhd_tls_texts(
                        certificate: certificate.baseAddress, certificate_length: certificate.count,
                        key: key.baseAddress, key_length: key.count,
                        authorities: clientAuthorities == nil ? nil : authorities.baseAddress,
                        authorities_length: authorities.count)
                    return cmhd_tls_new(&texts, &problem, &begins, &ends)
                }
            }
        }
        guard let made else { throw Problem(rawValue: problem.rawValue) ?? .outOfMemory }
        pointer = made
        (self.begins, self.ends) = (Int(begins), Int(ends))
    }

    deinit { cmhd_tls_release(pointer) }
}
