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
        _ timeout: WritableKeyPath<HTTPServerConfiguration.Timeouts, Duration>, _ duration: Duration = short,
        _ body: @escaping @Sendable (UInt16) throws -> Void
    ) async throws {
        try await withServer {
            $0.timeouts[keyPath: timeout] = duration
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

    /// Does something on a connection, and expects that the server closes it at that deadline.
    private static func expectEnd(
        of timeout: WritableKeyPath<HTTPServerConfiguration.Timeouts, Duration>, byte: String? = "a",
        _ begin: @escaping @Sendable (RawConnection) throws -> Void
    ) async throws {
        try await withTimeouts(timeout) { port in
            let start = ContinuousClock().now
            let connection = try RawConnection(port: port)
            try begin(connection)
            waitUntilClosed(connection, byte: byte)
            expectShort(start)
        }
    }

    @Test(
        "of the head is not held off by a byte now and then",
        arguments: ["", "G", "GET / HTTP/1.1\r\nHost: h\r\nA", "GET / HTTP/1.1\r\nHost: h\r\n", "\r\n"])
    func header(beginning: String) async throws {
        try await Self.expectEnd(of: \.header, byte: beginning.isEmpty ? nil : "a") { try $0.send(beginning) }
    }

    @Test("of the head runs for the second request of a connection as well")
    func secondHeader() async throws {
        try await Self.expectEnd(of: \.header) {
            #expect(try $0.get().status == 200)
            try $0.send("GET / HTTP/1.1\r\nA")
        }
    }

    @Test(
        "of the body is not held off by a byte now and then",
        arguments: [
            "Content-Length: 1000\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n3e8\r\n",
            "Transfer-Encoding: chunked\r\n\r\n0\r\n",
        ])
    func body(fields: String) async throws {
        try await Self.expectEnd(of: \.body) { try $0.send("POST /echo HTTP/1.1\r\nHost: h\r\n\(fields)") }
    }

    @Test("of the body runs for a client that asked first and then sends nothing")
    func expectContinue() async throws {
        try await Self.expectEnd(of: \.body, byte: nil) {
            try $0.send("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n")
            #expect(try $0.readResponse(passingOverInterim: false).status == 100)
        }
    }

    @Test(
        "of idle connections is not held off by a byte now and then",
        // From 1.0 on the library refuses a second empty line.
        arguments: HostileRequest.isBefore1 ? [nil, "\r\n", "G"] : [nil, "G"])
    func idle(byte: String?) async throws {
        try await Self.expectEnd(of: \.idle, byte: byte) {
            let status = try $0.get().status
            #expect(status == 200)
        }
    }

    @Test("of the answer cuts a client that does not read it")
    func write() async throws {
        try await Self.withTimeouts(\.write) { port in
            let start = ContinuousClock().now
            let connection = try RawConnection(port: port, sending: "GET /large HTTP/1.1\r\nHost: h\r\n\r\n")
            connection.waitForHangUp(withinMilliseconds: 10_000)
            Self.expectShort(start)
            let received = try connection.readToEnd().count
            #expect(received < 32 << 20)
        }
    }

    @Test("of the answer leaves a client alone that reads")
    func writeInTime() async throws {
        try await Self.withTimeouts(\.write, .seconds(20)) { port in
            let connection = try RawConnection(port: port)
            #expect(try connection.get("/large").body.count == 32 << 20)
        }
    }

    @Test("of a handler answers 504 and cancels it, and the connection goes on")
    func handler() async throws {
        let cancelled = Event()
        let finished = Event()
        try await withServer(setting: \.timeouts.handler, to: Self.short) { routes in
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
                #expect(try connection.get("/never").status == 504)
                Self.expectShort(start)
                #expect(try connection.get().text == "ok")
            }
            await cancelled.wait()
            await finished.wait()
        }
    }

    @Test("of a handler does not wait for one that ignores its cancellation")
    func stubbornHandler() async throws {
        let release = Event()
        try await withServer(setting: \.timeouts.handler, to: Self.short) { routes in
            routes.on(.get, "/stubborn") { _ in
                await release.wait()
                return HTTPResponse(text: "late")
            }
        } _: { server in
            try await server.connected { (connection) throws in
                #expect(try connection.get("/stubborn").status == 504)
                #expect(try connection.get("/stubborn").status == 504)
            }
        }
        release.happen()
    }
}
