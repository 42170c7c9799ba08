import CTLSClient
import Glibc
import HTTPTestClient
import Support
import Testing

/// A TLS connection of OpenSSL's library to a port of this machine. It does not check the server's certificate; tests
/// look at it. Every call blocks, up to a minute.
final class TLSClient {
    struct Offer: Sendable {
        var versions = TLS1_2_VERSION...TLS1_3_VERSION
        /// Of TLS 1.2 and before, as OpenSSL names them.
        var ciphers: String?
        var protocols: [String] = []
        /// Files with certificate and key.
        var certificate: (certificate: String, key: String)?
    }

    /// The handshake failed, with OpenSSL's words for the alert.
    struct Refused: Error, CustomStringConvertible {
        let description: String
    }

    let connection: RawConnection
    private let context: OpaquePointer
    private let session: OpaquePointer

    /// - Parameter header: what a proxy sends before the handshake.
    init(port: UInt16, _ offer: Offer = Offer(), after header: [UInt8] = []) throws {
        guard let context = SSL_CTX_new(TLS_client_method()), let session = SSL_new(Self.prepare(context, offer)) else {
            throw Refused(description: "no memory")
        }
        (self.context, self.session) = (context, session)
        connection = try RawConnection(port: port)
        try connection.send(header)
        connection.layer = RawConnection.Layer(
            send: { Int(SSL_write(session, $0, Int32($0.count))) },
            receive: { Int(SSL_read(session, &$0, Int32($0.count))) })
        let list = offer.protocols.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) }
        if !list.isEmpty { SSL_set_alpn_protos(session, list, UInt32(list.count)) }
        SSL_set_fd(session, connection.descriptor)
        ERR_clear_error()
        guard SSL_connect(session) == 1 else { throw Self.refusal }
    }

    deinit {
        SSL_shutdown(session)
        SSL_free(session)
        SSL_CTX_free(context)
    }

    private static func prepare(_ context: OpaquePointer, _ offer: Offer) -> OpaquePointer {
        // Otherwise OpenSSL itself would leave the weak ones out.
        SSL_CTX_set_security_level(context, 0)
        _ = ctls_set_versions(context, offer.versions.lowerBound, offer.versions.upperBound)
        if let ciphers = offer.ciphers { SSL_CTX_set_cipher_list(context, ciphers) }
        if let files = offer.certificate {
            SSL_CTX_use_certificate_file(context, files.certificate, SSL_FILETYPE_PEM)
            SSL_CTX_use_PrivateKey_file(context, files.key, SSL_FILETYPE_PEM)
        }
        return context
    }

    private static var refusal: Refused {
        let code = ERR_get_error()
        guard code != 0, let text = ERR_reason_error_string(code) else { return Refused(description: "closed") }
        return Refused(description: String(cString: text))
    }

    var spokenVersion: String { String(cString: SSL_get_version(session)) }
    var cipher: String { String(cString: SSL_CIPHER_get_name(SSL_get_current_cipher(session))) }

    /// The protocol that the server chose; nil when it chose none.
    var chosenProtocol: String? {
        var name: UnsafePointer<UInt8>?
        var length: UInt32 = 0
        SSL_get0_alpn_selected(session, &name, &length)
        return name.map { String(decoding: UnsafeBufferPointer(start: $0, count: Int(length)), as: UTF8.self) }
    }

    /// The names of the certificates that came, the server's own first.
    var chain: [String] {
        guard let list = SSL_get_peer_cert_chain(session) else { return [] }
        return (0..<OPENSSL_sk_num(list)).map { index in
            var text = [CChar](repeating: 0, count: 256)
            X509_NAME_oneline(X509_get_subject_name(OpaquePointer(OPENSSL_sk_value(list, index))), &text, 256)
            return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
    }

    /// Whether the server has said that nothing more comes, after everything was read.
    var wasEndedProperly: Bool { SSL_get_shutdown(session) & SSL_RECEIVED_SHUTDOWN != 0 }

    /// One request and its response.
    func request(_ head: String, body: String = "", type: String = "application/json") throws -> TestResponse {
        let length = body.isEmpty ? "" : "Content-Type: \(type)\r\nContent-Length: \(body.utf8.count)\r\n"
        try connection.send("\(head)\r\n\(length)\r\n\(body)")
        return try connection.readResponse()
    }

    /// What a client gets that asks on a connection of its own.
    /// - Throws: also where the server refuses only after the handshake, as it may in TLS 1.3.
    func version() throws -> TestResponse { try request("GET /version HTTP/1.1\r\nHost: h") }
}

/// Certificates in a folder of their own, made by OpenSSL's program:
///
/// - `root.pem` has signed `inner.pem`, which has signed `a.pem` and `b.pem`, those of the server with their chain in
///   one file;
/// - `clients.pem` has signed `ada.pem`; `stranger.pem` and `lonely.pem` have signed themselves; `old.pem` has expired;
///   `elsewhere.pem` has another name; `locked.key` is `ada.key` with a password.
///
/// The keys are beside them, as `a.key`. In `services` is a service that takes any document, `large`.
func withCertificates<Result>(_ body: (String) async throws -> Result) async throws -> Result {
    let files = ["make": commands, "services/large.json": #"{"name": "large", "schema": {}, "default": {}}"#]
    return try await withFolder(files) { _, folder in
        _ = try await ShellCommand.outputs(of: ShellCommand.all(in: "$ bash -e make"), in: folder, addresses: [:])
        return try await body(folder)
    }
}

private let commands = """
    key() { openssl ecparam -name prime256v1 -genkey -noout -out $1.key 2>/dev/null; }
    own() { key $1; openssl req -x509 -new -key $1.key -subj /CN=$1 -days 30 -out $1.pem -addext "$2"; }
    signed() { # name, by whom, extensions
        key $1
        openssl req -new -key $1.key -subj /CN=$1 -out $1.csr
        openssl x509 -req -in $1.csr -CA $2.pem -CAkey $2.key -days ${4-30} -out $1.pem -extfile <(echo "$3") 2>/dev/null
    }
    own root basicConstraints=critical,CA:TRUE
    own clients basicConstraints=critical,CA:TRUE
    own stranger extendedKeyUsage=clientAuth
    signed inner root basicConstraints=critical,CA:TRUE
    for name in a b; do
        signed $name inner subjectAltName=DNS:localhost,IP:127.0.0.1
        cat inner.pem >>$name.pem
    done
    signed ada clients extendedKeyUsage=clientAuth
    signed serveronly clients extendedKeyUsage=serverAuth
    signed old root subjectAltName=DNS:localhost -1
    own lonely subjectAltName=DNS:localhost,IP:127.0.0.1
    openssl ec -in ada.key -aes128 -passout pass:word -out locked.key 2>/dev/null
    signed elsewhere root subjectAltName=DNS:elsewhere.example,IP:127.0.0.2
    """
