import Glibc
import HTTPTestClient
import RedisTestServer
import Testing

/// What histories rely on: that the faults happen.
@Suite("A proxy that fails when it is told to", .serialized)
struct FaultProxyTests {
    private let server: RedisTestServer
    private let proxy: FaultProxy

    init() throws {
        server = try RedisTestServer.shared.get()
        proxy = try FaultProxy(to: server.port)
    }

    private func connection() async throws -> RawConnection {
        let count = proxy.accepted + 1
        let connection = try RawConnection(port: proxy.port)
        await proxy.wait(forConnections: count)
        return connection
    }

    /// So many bytes, or fewer when the connection ends.
    private func receive(_ count: Int, on connection: RawConnection) async throws -> String {
        var bytes = [UInt8](repeating: 0, count: count)
        var place = 0
        let end = ContinuousClock.now + .seconds(20)
        while place < count {
            let got = recv(connection.descriptor, &bytes[place], count - place, Int32(MSG_DONTWAIT))
            if got < 0, errno == EAGAIN {
                try #require(ContinuousClock.now < end)
                // Blocking would keep a thread of all tests.
                try await Task.sleep(for: .milliseconds(1))
                continue
            }
            guard got > 0 else { break }
            place += got
        }
        return String(decoding: bytes[..<place], as: UTF8.self)
    }

    private func key() -> String { "proxy\(UInt64.random(in: 0 ... .max))" }

    @Test("passes everything on, and may be slow")
    func passes() async throws {
        let connection = try await connection()
        try connection.send("PING\r\n")
        #expect(try await receive(7, on: connection) == "+PONG\r\n")
        for direction in FaultProxy.Direction.allCases { await proxy.cause(.delay(50, direction)) }
        let start = ContinuousClock.now
        // The fault is caused before the next bytes are read.
        try connection.send("PING\r\nPING\r\n")
        #expect(try await receive(14, on: connection) == "+PONG\r\n+PONG\r\n")
        #expect(.now - start >= .milliseconds(50))
        proxy.close()
    }

    @Test("cuts in the middle of a request, which the server does not do, or of a reply")
    func cuts() async throws {
        let key = key()
        let first = try await connection()
        await proxy.cause(.cutAfter(20, .toServer))
        try first.send("SET \(key)cut 1\r\n")
        #expect(try await receive(5, on: first) == "")
        let second = try await connection()
        #expect(proxy.accepted == 2)
        try second.send("EXISTS \(key)cut\r\n")
        #expect(try await receive(4, on: second) == ":0\r\n")
        await proxy.cause(.cutAfter(3, .toClient))
        try second.send("PING\r\n")
        #expect(try await receive(7, on: second) == "+PO")
        let third = try await connection()
        await proxy.cause(.cut)
        #expect(try await receive(1, on: third) == "")
        proxy.close()
    }

    @Test("delivers late what a client has sent that it has cut off")
    func late() async throws {
        let key = key()
        let first = try await connection()
        try first.send("PING\r\n")
        #expect(try await receive(7, on: first) == "+PONG\r\n")
        try first.send("SET \(key) 1\r\n")
        await proxy.cause(.cutLate(50))
        _ = try await receive(5, on: first)
        let second = try await connection()
        while true {
            try second.send("EXISTS \(key)\r\n")
            if try await receive(4, on: second) == ":1\r\n" { break }
        }
        proxy.close()
    }

    @Test("swallows one direction, and tells nobody", arguments: FaultProxy.Direction.allCases)
    func swallows(_ direction: FaultProxy.Direction) async throws {
        let key = key()
        let first = try await connection()
        try first.send("PING\r\n")
        #expect(try await receive(7, on: first) == "+PONG\r\n")
        await proxy.cause(.swallow(direction))
        try first.send("SET \(key) 1\r\n")
        let direct = try RawConnection(port: server.port)
        if direction == .toClient {
            while true {
                try direct.send("EXISTS \(key)\r\n")
                if try await receive(4, on: direct) == ":1\r\n" { break }
            }
        }
        var byte: UInt8 = 0
        #expect(recv(first.descriptor, &byte, 1, Int32(MSG_DONTWAIT)) == -1 && errno == EAGAIN)
        if direction == .toServer {
            try direct.send("EXISTS \(key)\r\n")
            #expect(try await receive(4, on: direct) == ":0\r\n")
        }
        proxy.close()
    }

    @Test("refuses connections, accepts them and is silent, and is open again")
    func doors() async throws {
        _ = try await connection()
        await proxy.set(.refusing)
        while (try? RawConnection(port: proxy.port)) != nil {}
        await proxy.set(.silent)
        var silent: RawConnection?
        while silent == nil { silent = try? RawConnection(port: proxy.port) }
        try silent?.send("PING\r\n")
        await proxy.set(.open)
        let open = try await connection()
        try open.send("PING\r\n")
        #expect(try await receive(7, on: open) == "+PONG\r\n")
        var byte: UInt8 = 0
        #expect(recv(silent?.descriptor ?? -1, &byte, 1, Int32(MSG_DONTWAIT)) == -1 && errno == EAGAIN)
        proxy.close()
    }
}
