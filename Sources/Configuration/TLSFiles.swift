import Glibc
import HTTPServer

/// The certificates of both listeners, read from the files of `tls.…`: when the configuration is checked, when the
/// server starts and when it gets SIGHUP.
package struct TLSFiles: Sendable {
    package let publicListener: TLSCertificate
    package let adminListener: TLSCertificate

    /// Why there are none, and at which key. It holds nothing of what is in the files.
    package struct Problem: Error, CustomStringConvertible {
        /// Without `tls.`.
        let key: String
        let code: String
        package let description: String
    }

    /// A chain has some kilobytes, and the authorities of a large system some hundred.
    private static let limit = FileReader.defaultLimit

    /// - Returns: `nil` when TLS is not configured.
    package static func read(
        _ settings: Configuration.TLS, with files: FileReader = FileReader()
    ) throws(Problem) -> TLSFiles? {
        guard let certificatePath = settings.certificate, let keyPath = settings.key else {
            guard settings != Configuration.TLS() else { return nil }
            let missing = settings.certificate == nil ? "certificate" : "key"
            throw Problem(
                key: missing, code: "missing_key",
                description: "tls.\(missing) is missing; tls.certificate and tls.key are needed together")
        }
        let certificate = try text("certificate", certificatePath, files)
        let key = try text("key", keyPath, files)
        let authorities: [UInt8]? =
            if let path = settings.clientCA { try text("client_ca", path, files) } else { nil }
        do {
            let publicListener = try TLSCertificate(certificate: certificate, key: key)
            guard let authorities else {
                return TLSFiles(publicListener: publicListener, adminListener: publicListener)
            }
            return TLSFiles(
                publicListener: publicListener,
                adminListener: try TLSCertificate(certificate: certificate, key: key, clientAuthorities: authorities))
        } catch {
            throw problem(error, settings)
        }
    }

    /// A sentence when the certificate is not valid at this moment.
    package func lapse() -> String? {
        let now = time(nil)
        if publicListener.ends < now { return "the certificate has expired" }
        if publicListener.begins > now { return "the certificate is not valid yet" }
        return nil
    }

    private static func text(_ key: String, _ path: String, _ files: FileReader) throws(Problem) -> [UInt8] {
        do {
            return try files.read(path, limit: limit)
        } catch {
            throw Problem(key: key, code: error.code, description: "\(error)")
        }
    }

    private static func problem(_ problem: TLSCertificate.Problem, _ settings: Configuration.TLS) -> Problem {
        switch problem {
        case .certificate:
            Problem(
                key: "certificate", code: "bad_value",
                description: "\(settings.certificate ?? "") has no certificate in PEM that can be read")
        case .key:
            Problem(
                key: "key", code: "bad_value",
                description: "\(settings.key ?? "") has no private key in PEM without a password")
        case .mismatch:
            Problem(
                key: "key", code: "conflict",
                description: "\(settings.key ?? "") is not the key of the first certificate in "
                    + "\(settings.certificate ?? "")")
        case .clientAuthorities:
            Problem(
                key: "client_ca", code: "bad_value",
                description: "\(settings.clientCA ?? "") has no certificate in PEM that can be read")
        case .outOfMemory: Problem(key: "certificate", code: "unreadable_file", description: "out of memory")
        }
    }
}
