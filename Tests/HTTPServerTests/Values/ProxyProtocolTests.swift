import Glibc
import HTTPServer
import HTTPTestClient
import Testing

/// A proxy that passes bytes on and says before them whose they are.
@Suite("The PROXY protocol")
struct ProxyProtocolTests {
    static let signature: [UInt8] = [0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A]

    /// - Parameters:
    ///   - command: version and command.
    ///   - length: what the header says of what follows it; nil for the truth.
    static func header(_ command: UInt8 = 0x21, family: UInt8, _ rest: [UInt8], length: Int? = nil) -> [UInt8] {
        let length = length ?? rest.count
        return signature + [command, family, UInt8(length >> 8), UInt8(length & 0xFF)] + rest
    }

    /// From 203.0.113.7, port 4711, to 10.0.0.1, port 443.
    static let ipv4 = header(family: 0x11, [203, 0, 113, 7, 10, 0, 0, 1, 0x12, 0x67, 0x01, 0xBB])
    /// From 2003:1::7.
    static let ipv6 = header(
        family: 0x21,
        [0x20, 0x03, 0, 1] + [UInt8](repeating: 0, count: 11) + [7] + [UInt8](repeating: 1, count: 16) + [1, 2, 3, 4])

    /// Version 1.
    static func text(_ line: String) -> [UInt8] { Array("\(line)\r\n".utf8) }

    private static let request = Array("GET / HTTP/1.1\r\nHost: h\r\nX-Forwarded-For: 6.6.6.6\r\n\r\n".utf8)

    private static func withProxies<Result: Sendable>(
        _ networks: [String] = ["127.0.0.1"], _ configure: (inout HTTPServerConfiguration) -> Void = { _ in },
        _ body: (HTTPServer) async throws -> Result
    ) async throws -> Result {
        let networks = try networks.map { try #require(AddressRange($0)) }
        return try await withServer {
            $0.trustedProxies = TrustedProxies(networks: networks, field: .proxyProtocol)
            configure(&$0)
        } routes: { routes in
            routes.on(.get, "/") { HTTPResponse(text: "\($0.client.host) \($0.peer.host)") }
        } _: {
            try await body($0)
        }
    }

    @Test(
        "tells the client's address to all requests of a connection, however its bytes arrive",
        arguments: [
            (ipv4, "203.0.113.7"), (ipv6, "2003:1::7"),
            (text("PROXY TCP4 203.0.113.7 10.0.0.1 4711 443"), "203.0.113.7"),
            (text("PROXY TCP6 2003:1::7 2003:1::1 4711 443"), "2003:1::7"),
            (text("PROXY UNKNOWN"), "127.0.0.1"), (text("PROXY UNKNOWN ffff::1 ffff::2 1 2"), "127.0.0.1"),
            // What follows the addresses is for others.
            (header(family: 0x11, ipv4[16...] + [4, 0, 3, 0, 0, 0]), "203.0.113.7"),
            (header(family: 0x11, ipv4[16...] + [UInt8](repeating: 4, count: 2_020)), "203.0.113.7"),
            // The proxy's own connection, and a client without an address.
            (header(0x20, family: 0x00, []), "127.0.0.1"), (header(0x20, family: 0x11, [1, 2, 3]), "127.0.0.1"),
            (header(0x21, family: 0x00, []), "127.0.0.1"),
            (header(0x21, family: 0x31, [UInt8](repeating: 65, count: 216)), "127.0.0.1"),
        ], [Int.max, 1, 16])
    func address(_ seen: (header: [UInt8], client: String), pieceSize: Int) async throws {
        try await Self.withProxies { server in
            try await server.connected { connection in
                let bytes = seen.header + Self.request
                let size = min(pieceSize, bytes.count)
                for start in stride(from: 0, to: bytes.count, by: size) {
                    try connection.send(Array(bytes[start..<min(start + size, bytes.count)]))
                }
                #expect(try connection.readResponse().text == "\(seen.client) \(seen.client)")
                try connection.send(Self.request)
                #expect(try connection.readResponse().text == "\(seen.client) \(seen.client)")
            }
        }
    }

    @Test(
        "of another form closes the connection without a word",
        arguments: [
            request, [0x0D, 0x0A, 0x0D, 0x0B], Array("PROXY TCP4 203.0.113.7 10.0.0.1 4711 443\n".utf8) + request,
            text("PROXY TCP4 203.0.113.7 10.0.0.1 4711 65536"), text("PROXY TCP4 203.0.113.7 10.0.0.1 4711"),
            text("PROXY TCP4  203.0.113.7 10.0.0.1 4711 443"), text("PROXY TCP4 203.0.113.7 10.0.0.1 +4711 443"),
            text("PROXY TCP4 203.0.113.7 10.0.0.1 04711 443"), text("PROXY TCP4 203.0.113.7 10.0.0.1 4711 443 "),
            text("PROXY TCP4 2003:1::7 2003:1::1 4711 443"), text("PROXY TCP5 203.0.113.7 10.0.0.1 4711 443"),
            text("PROXY TCP4 203.0.113.7 10.0.0.1 4711 -443"), text("PROXY UNKNOWNS"),
            text("PROXY UNKNOWN " + String(repeating: "x", count: 92)), [UInt8](repeating: 65, count: 3_000),
            Array("PROXY ".utf8) + [UInt8](repeating: 65, count: 3_000),
            header(0x11, family: 0x11, Array(ipv4[16...])), header(0x22, family: 0x11, Array(ipv4[16...])),
            header(family: 0x11, Array(ipv4[16..<27])), header(family: 0x21, Array(ipv6[16..<51])),
            header(family: 0x11, Array(ipv4[16...]), length: 2_033),
        ])
    func malformed(_ bytes: [UInt8]) async throws {
        try await Self.withProxies { server in
            let port = server.port
            try await blocking {
                let connection = try RawConnection(port: port)
                try connection.send(bytes)
                #expect(connection.isClosedByPeer())
                let sound = try RawConnection(port: port)
                try sound.send(Self.ipv4 + Self.request)
                #expect(try sound.readResponse().status == 200)
            }
        }
    }

    @Test("that does not come in time closes the connection", arguments: [0, 5, 20])
    func slow(length: Int) async throws {
        try await Self.withProxies {
            $0.timeouts.header = .milliseconds(200)
        } _: { server in
            try await server.connected { connection in
                try connection.send(Array(Self.ipv4.prefix(length)))
                #expect(connection.isClosedByPeer())
            }
        }
    }

    @Test("is no request's beginning where it does not come from a proxy that is trusted")
    func untrusted() async throws {
        try await Self.withProxies(["10.0.0.0/8"]) { server in
            let port = server.port
            try await blocking {
                let connection = try RawConnection(port: port)
                try connection.send(Self.ipv4 + Self.request)
                #expect(try connection.readResponse().status == 400)
                let plain = try RawConnection(port: port)
                try plain.send(Self.request)
                #expect(try plain.readResponse().text == "127.0.0.1 127.0.0.1")
            }
        }
    }

    @Test("counts for the limits of an address")
    func limits() async throws {
        try await Self.withProxies {
            $0.limits.connectionsOfAddress = 1
        } _: { server in
            let port = server.port
            try await blocking {
                let first = try RawConnection(port: port)
                try first.send(Self.ipv4 + Self.request)
                #expect(try first.readResponse().status == 200)
                let second = try RawConnection(port: port)
                try second.send(Self.ipv4)
                #expect(second.isClosedByPeer())
                let other = try RawConnection(port: port)
                try other.send(Self.ipv6 + Self.request)
                #expect(try other.readResponse().status == 200)
            }
        }
    }

    @Test("that has not come yet: its connection counts for the limit of all, and makes room for others")
    func waiting() async throws {
        try await Self.withProxies {
            $0.limits.connections = 2
            $0.timeouts.header = .seconds(3_000)
        } _: { server in
            let port = server.port
            try await blocking {
                let silent = try (0..<2).map { _ in try RawConnection(port: port) }
                for connection in silent { try connection.send(Array(Self.ipv4.prefix(5))) }
                let outside = try RawConnection(port: port)
                try outside.send(Self.ipv4 + Self.request)
                #expect(try outside.readResponse().status == 200)
                #expect(silent[0].isClosedByPeer())
            }
        }
    }

    @Test("that is not there when the server stops holds it up for no longer than an idle connection")
    func stopping() async throws {
        let connection = try await Self.withProxies {
            $0.timeouts.header = .seconds(3_000)
        } _: { server in
            let (port, start) = (server.port, ContinuousClock.now)
            let connection = try RawConnection(port: port)
            try connection.send(Array(Self.ipv4.prefix(5)))
            await server.stop(timeout: .seconds(3_000))
            #expect(.now - start < .seconds(60))
            return UncheckedConnection(connection)
        }
        #expect(connection.value.isClosedByPeer())
    }

    /// `@unchecked Sendable`: one task after the other uses it.
    private struct UncheckedConnection: @unchecked Sendable {
        let value: RawConnection
        init(_ value: RawConnection) { self.value = value }
    }
}
