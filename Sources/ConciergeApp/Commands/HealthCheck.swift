import Glibc

/// `concierge health`: asks the server that runs with this configuration whether it is ready. For containers, whose
/// health check has no shell and no other program to ask with.
enum HealthCheck {
    /// A server that does not answer within this is as good as none.
    private static let timeoutSeconds = 2

    /// - Returns: nil when it is ready, otherwise why not.
    static func failure(of configuration: Configuration) -> String? {
        let host = loopback(for: configuration.host)
        guard let answer = get("/health/ready", host: host, port: configuration.port) else {
            return "nothing answers at \(host), port \(configuration.port)"
        }
        return answer.hasPrefix("HTTP/1.1 200 ") ? nil : "not ready: \(answer.prefix { $0 != "\r" })"
    }

    /// Where this machine reaches a listener on that address.
    private static func loopback(for host: String) -> String {
        switch host {
        case "0.0.0.0", "localhost": "127.0.0.1"
        case "::": "::1"
        default: host
        }
    }

    private static func get(_ path: String, host: String, port: Int) -> String? {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV
        var found: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, String(port), &hints, &found) == 0, let address = found else { return nil }
        defer { freeaddrinfo(found) }
        let descriptor = socket(address.pointee.ai_family, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var timeout = timeval(tv_sec: timeoutSeconds, tv_usec: 0)
        let size = socklen_t(MemoryLayout<timeval>.size)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, size)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &timeout, size)
        guard connect(descriptor, address.pointee.ai_addr, address.pointee.ai_addrlen) == 0 else { return nil }
        let name = host.contains(":") ? "[\(host)]" : host
        let request = Array("GET \(path) HTTP/1.1\r\nHost: \(name)\r\nConnection: close\r\n\r\n".utf8)
        guard send(descriptor, request, request.count, Int32(MSG_NOSIGNAL)) == request.count else { return nil }
        // The status line is all that is looked at; it is far shorter than this.
        var answer = [UInt8](repeating: 0, count: 256)
        let count = recv(descriptor, &answer, answer.count, 0)
        return count > 0 ? String(decoding: answer[..<count], as: UTF8.self) : nil
    }
}
