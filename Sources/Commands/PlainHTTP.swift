import CCurl
import Configuration
import Glibc
import HTTPServer

/// A minimal HTTP client for commands that talk to a running server. Each request has its own connection.
struct PlainHTTP {
    struct Answer {
        let status: Int
        let body: [UInt8]
    }

    /// Which certificate a server must have that speaks HTTPS.
    enum Trust {
        /// Any: the request has no secret, and the response none.
        case anyCertificate
        /// One of this file, for whatever name: the server of this configuration.
        case certificate(in: String)
        /// For its name, by an authority that the system trusts.
        case system
    }

    /// Without the path.
    let url: String
    /// `nil` for plain HTTP.
    let trust: Trust?
    /// The path of the socket at which the server listens; `nil` for the address in the URL.
    private let socket: String?
    /// A server that does not respond in this time is taken for absent; one whose response has a sink, if nothing of it
    /// comes for so long.
    var timeoutSeconds = 2

    /// - Parameters:
    ///   - host: as in the configuration, or `unix:` and a path.
    ///   - trust: `nil` for plain HTTP.
    init(host: String, port: Int, trust: Trust?) {
        socket = ListenAddress.path(host).map { String($0) }
        let authority = socket == nil ? "\(host.contains(":") ? "[\(host)]" : host):\(port)" : "localhost"
        url = "\(trust == nil ? "http" : "https")://\(authority)"
        self.trust = trust
    }

    /// - Parameters:
    ///   - url: `http://host:port` or `https://host:port`, optionally with a path; or `unix:` and the path of a socket.
    ///     `nil` for anything else.
    ///   - certificate: the file with the certificate that a server at `https` must have; `nil` to trust the system's
    ///     authorities.
    init?(url: String, certificate: String? = nil) {
        if let path = ListenAddress.path(url), !path.isEmpty {
            (socket, self.url, trust) = (String(path), "http://localhost", nil)
            return
        }
        guard let scheme = ["http://", "https://"].first(where: { url.hasPrefix($0) }) else { return nil }
        var address = url.dropFirst(scheme.count)
        if address.hasSuffix("/") { address.removeLast() }
        let authority = address.prefix { $0 != "/" }
        guard !authority.isEmpty, !address.contains(where: { "?#@".contains($0) }) else { return nil }
        if let colon = authority.lastIndex(of: ":"), authority.last != "]" {
            let port = UInt16(authority[authority.index(after: colon)...])
            guard let port, port > 0, colon > authority.startIndex else { return nil }
        }
        socket = nil
        self.url = scheme + address
        trust = scheme == "https://" ? certificate.map { .certificate(in: $0) } ?? .system : nil
    }

    /// Nothing responded, or not in HTTP, or the response broke off: why.
    struct Silence: Error {
        let reason: String
    }

    /// - Parameter sink: gets the body of a response 200 as it comes; false ends the transfer.
    func send(
        _ method: String, _ path: String, fields: [(name: String, value: String)] = [], body: [UInt8] = [],
        into sink: ((UnsafeRawBufferPointer) -> Bool)? = nil
    ) throws(Silence) -> Answer {
        guard Self.isInitialized, let easy = curl_easy_init() else { throw Silence(reason: "no memory for a request") }
        var list: UnsafeMutablePointer<curl_slist>?
        defer {
            curl_easy_cleanup(easy)
            curl_slist_free_all(list)
        }
        for field in fields { list = curl_slist_append(list, "\(field.name): \(field.value)") }
        let received = Received(easy, sink)
        // It lives until the transfer is over.
        let context = Unmanaged.passUnretained(received).toOpaque()
        let result = withExtendedLifetime(received) {
            let settings = [
                ccurl_set_text(easy, CURLOPT_URL, url + path), ccurl_set_text(easy, CURLOPT_CUSTOMREQUEST, method),
                ccurl_set_text(easy, CURLOPT_PROTOCOLS_STR, "http,https"), ccurl_set_text(easy, CURLOPT_PROXY, ""),
                ccurl_set_number(easy, CURLOPT_NOSIGNAL, 1), ccurl_set_number(easy, CURLOPT_PATH_AS_IS, 1),
                ccurl_set_number(easy, CURLOPT_LOW_SPEED_LIMIT, 1),
                ccurl_set_number(easy, CURLOPT_LOW_SPEED_TIME, timeoutSeconds),
                ccurl_set_number(easy, CURLOPT_TIMEOUT, sink == nil ? timeoutSeconds : 0),
                ccurl_set_pointer(easy, CURLOPT_HTTPHEADER, list),
                ccurl_set_receiver(easy, CURLOPT_WRITEFUNCTION, receive),
                ccurl_set_pointer(easy, CURLOPT_WRITEDATA, context),
            ]
            guard settings.allSatisfy({ $0 == CURLE_OK }), setSocket(easy), setTrust(easy), setBody(easy, body) else {
                return CURLE_FAILED_INIT
            }
            return curl_easy_perform(easy)
        }
        guard result == CURLE_OK else {
            let code = ccurl_system_error(easy)
            throw Silence(
                reason: code == 0 ? String(cString: curl_easy_strerror(result)) : String(cString: strerror(Int32(code)))
            )
        }
        return Answer(status: Int(ccurl_status(easy)), body: received.bytes)
    }

    private static let isInitialized = ccurl_global_init() == CURLE_OK

    private func setSocket(_ easy: UnsafeMutableRawPointer) -> Bool {
        socket.map { ccurl_set_text(easy, CURLOPT_UNIX_SOCKET_PATH, $0) == CURLE_OK } ?? true
    }

    private func setTrust(_ easy: UnsafeMutableRawPointer) -> Bool {
        switch trust {
        case nil, .system: return true
        case .anyCertificate:
            guard ccurl_set_number(easy, CURLOPT_SSL_VERIFYPEER, 0) == CURLE_OK else { return false }
        case .certificate(let file):
            guard ccurl_set_text(easy, CURLOPT_CAINFO, file) == CURLE_OK else { return false }
        }
        return ccurl_set_number(easy, CURLOPT_SSL_VERIFYHOST, 0) == CURLE_OK
    }

    private func setBody(_ easy: UnsafeMutableRawPointer, _ body: [UInt8]) -> Bool {
        guard !body.isEmpty else { return true }
        return ccurl_set_number(easy, CURLOPT_POSTFIELDSIZE, body.count) == CURLE_OK
            && body.withUnsafeBytes {
                // libcurl copies as many bytes as it was told.
                ccurl_set_pointer(
                    easy, CURLOPT_COPYPOSTFIELDS, UnsafeMutableRawPointer(mutating: $0.baseAddress)) == CURLE_OK
            }
    }
}

private final class Received {
    private let easy: UnsafeMutableRawPointer
    private let sink: ((UnsafeRawBufferPointer) -> Bool)?
    var bytes: [UInt8] = []
    /// Far more than any response has that is kept in memory.
    private static let limit = 64 << 20

    init(_ easy: UnsafeMutableRawPointer, _ sink: ((UnsafeRawBufferPointer) -> Bool)?) {
        self.easy = easy
        self.sink = sink
    }

    /// Returns false to end the transfer.
    func take(_ piece: UnsafeRawBufferPointer) -> Bool {
        if let sink, ccurl_status(easy) == 200 { return sink(piece) }
        guard bytes.count + piece.count <= Self.limit else { return false }
        bytes += piece
        return true
    }
}

/// Called by libcurl with each piece of the body. Fewer bytes than there are end the transfer.
private func receive(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let context, let bytes else { return 0 }
    let received = Unmanaged<Received>.fromOpaque(context).takeUnretainedValue()
    return received.take(UnsafeRawBufferPointer(start: bytes, count: size * count)) ? size * count : 0
}

/// `concierge health`: asks the server of this configuration whether it is ready. It is for the health check of a
/// container that has neither a shell nor another client.
enum HealthCheck {
    /// - Returns: `nil` when it is ready, otherwise why not.
    static func failure(of configuration: Configuration) -> String? {
        let publicHost = loopback(for: configuration.host)
        // Where the public listener wants a header of the PROXY protocol from this machine, the admin one is asked.
        let asksAdmin =
            configuration.proxies.field == .proxyProtocol
            && PeerAddress(publicHost).map { here in configuration.proxies.networks.contains { $0.contains(here) } }
                ?? true
        let host = asksAdmin ? loopback(for: configuration.admin.host) : publicHost
        let port = asksAdmin ? configuration.admin.port : configuration.port
        let server = PlainHTTP(
            host: host, port: port,
            trust: configuration.tls.certificate == nil ? nil : .anyCertificate)
        do {
            let answer = try server.send("GET", "/health/ready")
            return answer.status == 200 ? nil : "not ready: its status is \(answer.status)"
        } catch {
            return "no server responds at \(place(host, port)): \(error.reason)"
        }
    }

    /// Where a listener is, for people.
    static func place(_ host: String, _ port: Int) -> String {
        ListenAddress.hasPort(host) ? "\(host), port \(port)" : host
    }

    /// The address at which this machine reaches the listener.
    static func loopback(for host: String) -> String {
        switch host {
        case "0.0.0.0", "localhost", ListenAddress.inherited: "127.0.0.1"
        case "::": "::1"
        default: host
        }
    }
}

/// The admin listener of the server that the configuration describes, for commands that talk to it.
struct AdminListener {
    private let server: PlainHTTP
    /// Where it is, for people.
    let place: String
    private let key: Secret?

    /// The server that `CONCIERGE_URL` names, or else that of the configuration.
    init(of loaded: LoadedConfiguration, timeoutSeconds: Int) throws(UsageError) {
        guard let url = loaded.clientURL else {
            self.init(loaded.configuration, timeoutSeconds: timeoutSeconds)
            return
        }
        guard let listener = AdminListener(at: url, loaded.configuration, timeoutSeconds: timeoutSeconds) else {
            throw UsageError(
                "CONCIERGE_URL is \(url.quoted); allowed is the address of an admin listener, as in http://127.0.0.1:8081"
            )
        }
        self = listener
    }

    /// - Parameter timeoutSeconds: for how long nothing may come of a response.
    init(_ configuration: Configuration, timeoutSeconds: Int) {
        let host = HealthCheck.loopback(for: configuration.admin.host)
        var server = PlainHTTP(
            host: host, port: configuration.admin.port,
            trust: configuration.tls.certificate.map { .certificate(in: $0) })
        server.timeoutSeconds = timeoutSeconds
        self.server = server
        place = HealthCheck.place(host, configuration.admin.port)
        key = configuration.admin.key
    }

    /// - Parameter url: where it is. Key and certificate are those of the configuration.
    init?(at url: String, _ configuration: Configuration, timeoutSeconds: Int) {
        guard var server = PlainHTTP(url: url, certificate: configuration.tls.certificate) else { return nil }
        server.timeoutSeconds = timeoutSeconds
        self.server = server
        place = url
        key = configuration.admin.key
    }

    /// - Parameter sink: gets the body of a response 200 as it comes; false ends the transfer.
    /// - Throws: when nothing responds, or the response breaks off.
    func send(
        _ method: String, _ path: String, type: String? = nil, fields: [(name: String, value: String)] = [],
        body: [UInt8] = [], into sink: ((UnsafeRawBufferPointer) -> Bool)? = nil
    ) throws(CommandFailure) -> PlainHTTP.Answer {
        var fields = fields + (key.map { [(name: "X-Admin-Key", value: $0.revealed)] } ?? [])
        if let type { fields.append((name: "Content-Type", value: type)) }
        do {
            return try server.send(method, path, fields: fields, body: body, into: sink)
        } catch {
            throw CommandFailure("no server responds at \(place): \(error.reason)")
        }
    }

    /// Why a request was refused, in a sentence.
    func refusal(_ answer: PlainHTTP.Answer) -> String {
        answer.status == 401
            ? "the server at \(place) requires its key: give it with --admin-key-file"
            : "the server at \(place) responds with status \(answer.status)"
    }
}
