import HTTPServer
import HTTPTestClient
import Testing

/// Each deadline is configured short, and the others so long that they cannot be what ended the connection.
@Suite("A deadline")
struct DeadlineTests {
    private static let short = Duration.milliseconds(300)

    /// Waits until the server closes a connection on which a byte comes every 100 ms.
    private static func waitUntilClosed(_ connection: RawConnection, byte: String?) {
        for _ in 0..<100 {
            if connection.hasSomethingToRead(withinMilliseconds: 100) { break }
            if let byte { try? connection.send(byte) }
        }
        #expect(connection.isClosedByPeer())
    }

    private static func withTimeouts(
        _ set: (inout HTTPServerConfiguration.Timeouts) -> Void, _ body: @escaping @Sendable (UInt16) throws -> Void
    ) async throws {
        try await withServer {
            set(&$0.timeouts)
        } routes: { routes in
            routes.addUsualRoutes()
            routes.on(.get, "/large") { _ in HTTPResponse(body: [UInt8](repeating: 97, count: 32 << 20)) }
        } _: { server in
            let port = server.port
            try await blocking { try body(port) }
        }
    }

    /// - Parameter start: not after the deadline began to run.
    private static func expectShort(
        _ start: ContinuousClock.Instant, _ location: SourceLocation = #_sourceLocation
    ) {
        let time = start.duration(to: ContinuousClock().now)
        // The clock of the deadlines ticks every 4 ms, and the machine may be busy.
        #expect(time > .milliseconds(280), sourceLocation: location)
        #expect(time < .seconds(8), sourceLocation: location)
    }

    @Test(
        "of the head is not held off by a byte now and then",
        arguments: ["", "G", "GET / HTTP/1.1\r\nHost: h\r\nA", "GET / HTTP/1.1\r\nHost: h\r\n", "\r\n"])
    func header(beginning: String) async throws {
        try await Self.withTimeouts {
            $0.header = Self.short
        } _: { port in
            let start = ContinuousClock().now
            let connection = try RawConnection(port: port)
            try connection.send(beginning)
            Self.waitUntilClosed(connection, byte: beginning.isEmpty ? nil : "a")
            Self.expectShort(start)
        }
    }

    @Test("of the head runs for the second request of a connection as well")
    func secondHeader() async throws {
        try await Self.withTimeouts {
            $0.header = Self.short
        } _: { port in
            let start = ContinuousClock().now
            let connection = try RawConnection(port: port)
            try connection.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(try connection.readResponse().status == 200)
            try connection.send("GET / HTTP/1.1\r\nA")
            Self.waitUntilClosed(connection, byte: "a")
            Self.expectShort(start)
        }
    }

    @Test(
        "of the body is not held off by a byte now and then",
        arguments: [
            "Content-Length: 1000\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n3e8\r\n",
            "Transfer-Encoding: chunked\r\n\r\n0\r\n",
        ])
    func body(fields: String) async throws {
        try await Self.withTimeouts {
            $0.body = Self.short
        } _: { port in
            let start = ContinuousClock().now
            let connection = try RawConnection(port: port)
            try connection.send("POST /echo HTTP/1.1\r\nHost: h\r\n\(fields)")
            Self.waitUntilClosed(connection, byte: "a")
            Self.expectShort(start)
        }
    }

    @Test("of the body runs for a client that asked first and then sends nothing")
    func expectContinue() async throws {
        try await Self.withTimeouts {
            $0.body = Self.short
        } _: { port in
            let start = ContinuousClock().now
            let connection = try RawConnection(port: port)
            try connection.send("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n")
            #expect(try connection.readResponse(passingOverInterim: false).status == 100)
            Self.waitUntilClosed(connection, byte: nil)
            Self.expectShort(start)
        }
    }

    @Test(
        "of idle connections is not held off by a byte now and then",
        // From 1.0 on the library refuses a second empty line.
        arguments: HostileRequest.isBefore1 ? [nil, "\r\n", "G"] : [nil, "G"])
    func idle(byte: String?) async throws {
        try await Self.withTimeouts {
            $0.idle = Self.short
        } _: { port in
            let start = ContinuousClock().now
            let connection = try RawConnection(port: port)
            try connection.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(try connection.readResponse().status == 200)
            Self.waitUntilClosed(connection, byte: byte)
            Self.expectShort(start)
        }
    }

    @Test("of the answer cuts a client that does not read it")
    func write() async throws {
        try await Self.withTimeouts {
            $0.write = Self.short
        } _: { port in
            let start = ContinuousClock().now
            let connection = try RawConnection(port: port)
            try connection.send("GET /large HTTP/1.1\r\nHost: h\r\n\r\n")
            connection.waitForHangUp(withinMilliseconds: 10_000)
            Self.expectShort(start)
            let received = try connection.readToEnd().count
            #expect(received < 32 << 20)
        }
    }

    @Test("of the answer leaves a client alone that reads")
    func writeInTime() async throws {
        try await Self.withTimeouts {
            $0.write = .seconds(20)
        } _: { port in
            let connection = try RawConnection(port: port)
            try connection.send("GET /large HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(try connection.readResponse().body.count == 32 << 20)
        }
    }

    @Test("of a handler answers 504 and cancels it, and the connection goes on")
    func handler() async throws {
        let cancelled = Event()
        let finished = Event()
        try await withServer {
            $0.timeouts.handler = Self.short
        } routes: { routes in
            routes.addUsualRoutes()
            routes.on(.get, "/never") { _ in
                await Event.cancellation()
                cancelled.happen()
                // What it says now comes too late.
                defer { finished.happen() }
                return HTTPResponse(text: "never")
            }
        } _: { server in
            let port = server.port
            try await blocking {
                let start = ContinuousClock().now
                let connection = try RawConnection(port: port)
                try connection.send("GET /never HTTP/1.1\r\nHost: h\r\n\r\n")
                #expect(try connection.readResponse().status == 504)
                Self.expectShort(start)
                try connection.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
                #expect(try connection.readResponse().text == "ok")
            }
            await cancelled.wait()
            await finished.wait()
        }
    }

    @Test("of a handler does not wait for one that ignores its cancellation")
    func stubbornHandler() async throws {
        let release = Event()
        try await withServer {
            $0.timeouts.handler = Self.short
        } routes: { routes in
            routes.on(.get, "/stubborn") { _ in
                await release.wait()
                return HTTPResponse(text: "late")
            }
        } _: { server in
            let port = server.port
            try await blocking {
                let connection = try RawConnection(port: port)
                try connection.send("GET /stubborn HTTP/1.1\r\nHost: h\r\n\r\n")
                #expect(try connection.readResponse().status == 504)
                try connection.send("GET /stubborn HTTP/1.1\r\nHost: h\r\n\r\n")
                #expect(try connection.readResponse().status == 504)
            }
        }
        release.happen()
    }
}
