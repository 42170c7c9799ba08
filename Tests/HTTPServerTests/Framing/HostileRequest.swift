import HTTPServer

/// Bytes that no server may take for a request, or not for the one that they look like.
struct HostileRequest: Sendable, CustomStringConvertible {
    let name: String
    let bytes: [UInt8]
    /// Nil where the connection ends without an answer.
    let status: Int?

    /// Whether the library that is loaded is older than 1.0.
    static let isBefore1 = HTTPServer.libraryVersion.hasPrefix("0.")

    var description: String { name }

    init(_ name: String, _ text: String, _ status: Int?) {
        self.init(name, bytes: Array(text.utf8), status)
    }

    init(_ name: String, bytes: [UInt8], _ status: Int?) {
        self.name = name
        self.bytes = bytes
        self.status = status
    }

    /// A GET with these field lines behind a good Host.
    static func fields(_ name: String, _ lines: String, _ status: Int?) -> HostileRequest {
        HostileRequest(name, "GET / HTTP/1.1\r\nHost: h\r\n\(lines)\r\n", status)
    }

    /// A POST with these field lines behind a good Host, and five bytes of body.
    static func post(_ name: String, _ lines: String, body: String = "hello", _ status: Int?) -> HostileRequest {
        HostileRequest(name, "POST /echo HTTP/1.1\r\nHost: h\r\n\(lines)\r\n\(body)", status)
    }

    /// A GET of that target.
    static func target(_ name: String, _ target: String, method: String = "GET", _ status: Int?) -> HostileRequest {
        HostileRequest(name, "\(method) \(target) HTTP/1.1\r\nHost: h\r\n\r\n", status)
    }
}
