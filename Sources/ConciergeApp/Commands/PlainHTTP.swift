import Glibc

/// A minimal HTTP client for commands that talk to a running server. Each request has its own connection, and the
/// response ends with it.
struct PlainHTTP {
    struct Answer {
        let status: Int
        let body: [UInt8]
    }

    let host: String
    let port: Int
    /// A server that does not respond in this time is taken for absent.
    var timeoutSeconds = 2
    /// Far more than any response.
    private static let longestAnswer = 64 << 20

    init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    /// - Parameter url: `http://host:port`, optionally with a slash. `nil` for anything else.
    init?(url: String) {
        let scheme = "http://"
        guard url.hasPrefix(scheme) else { return nil }
        var authority = url.dropFirst(scheme.count)
        if authority.hasSuffix("/") { authority.removeLast() }
        guard !authority.contains(where: { "/?#@".contains($0) }) else { return nil }
        var port = 80
        if let colon = authority.lastIndex(of: ":"), authority.last != "]" {
            guard let number = UInt16(authority[authority.index(after: colon)...]), number > 0 else { return nil }
            port = Int(number)
            authority = authority[..<colon]
        }
        if authority.first == "[", authority.last == "]" { authority = authority.dropFirst().dropLast() }
        guard !authority.isEmpty else { return nil }
        self.init(host: String(authority), port: port)
    }

    /// - Returns: `nil` when nothing responds in HTTP.
    func get(_ path: String, fields: [(name: String, value: String)] = []) -> Answer? {
        send("GET", path, fields: fields)
    }

    /// - Returns: nil when nothing answers, or not in HTTP.
    func send(
        _ method: String, _ path: String, fields: [(name: String, value: String)] = [], body: [UInt8] = []
    ) -> Answer? {
        guard let descriptor = connection() else { return nil }
        defer { close(descriptor) }
        let name = host.contains(":") ? "[\(host)]" : host
        var head = "\(method) \(path) HTTP/1.1\r\nHost: \(name):\(port)\r\nConnection: close\r\n"
        for field in fields { head += "\(field.name): \(field.value)\r\n" }
        if !body.isEmpty { head += "Content-Length: \(body.count)\r\n" }
        var rest = (Array((head + "\r\n").utf8) + body)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return nil }
            rest = rest.dropFirst(count)
        }
        return Self.answer(everything(from: descriptor))
    }

    private func connection() -> Int32? {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_NUMERICSERV
        var found: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, String(port), &hints, &found) == 0 else { return nil }
        defer { freeaddrinfo(found) }
        var next = found
        while let address = next?.pointee {
            if let descriptor = connect(to: address) { return descriptor }
            next = address.ai_next
        }
        return nil
    }

    private func connect(to address: addrinfo) -> Int32? {
        let descriptor = socket(address.ai_family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        var timeout = timeval(tv_sec: timeoutSeconds, tv_usec: 0)
        let size = socklen_t(MemoryLayout<timeval>.size)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, size)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &timeout, size)
        guard Glibc.connect(descriptor, address.ai_addr, address.ai_addrlen) == 0 else {
            close(descriptor)
            return nil
        }
        return descriptor
    }

    private func everything(from descriptor: Int32) -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16_384)
        while bytes.count < Self.longestAnswer {
            let count = recv(descriptor, &chunk, chunk.count, 0)
            guard count > 0 else { break }
            bytes += chunk[..<count]
        }
        return bytes
    }

    /// `HTTP/1.1 200 OK`, fields, an empty line, the body.
    private static func answer(_ bytes: [UInt8]) -> Answer? {
        let line = bytes.prefix { $0 != UInt8(ascii: "\r") }
        let parts = line.split(separator: UInt8(ascii: " "))
        guard parts.count >= 2, parts[0].elementsEqual("HTTP/1.1".utf8),
            let status = Int(String(decoding: parts[1], as: UTF8.self)),
            let end = bytes.indices.first(where: { bytes[$0...].starts(with: "\r\n\r\n".utf8) })
        else { return nil }
        return Answer(status: status, body: Array(bytes[(end + 4)...]))
    }
}

/// `concierge health`: asks the server of this configuration whether it is ready. It is for the health check of a
/// container that has neither a shell nor another client.
enum HealthCheck {
    /// - Returns: `nil` when it is ready, otherwise why not.
    static func failure(of configuration: Configuration) -> String? {
        let host = loopback(for: configuration.host)
        guard let answer = PlainHTTP(host: host, port: configuration.port).get("/health/ready") else {
            return "no server responds at \(host), port \(configuration.port)"
        }
        return answer.status == 200 ? nil : "not ready: its status is \(answer.status)"
    }

    /// The address at which this machine reaches the listener.
    static func loopback(for host: String) -> String {
        switch host {
        case "0.0.0.0", "localhost": "127.0.0.1"
        case "::": "::1"
        default: host
        }
    }
}
