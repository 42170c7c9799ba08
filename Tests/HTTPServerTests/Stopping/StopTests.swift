import HTTPServer
import HTTPTestClient
import Testing

@Suite("Stopping a server")
struct StopTests {
    private static func server(
        named name: String = "s", workers: Int = 2, routes: (inout RouterBuilder) -> Void = { $0.addUsualRoutes() }
    ) throws -> HTTPServer {
        var configuration = HTTPServerConfiguration()
        configuration.workers = workers
        configuration.commonFields = ["X-Server": name]
        var builder = RouterBuilder()
        routes(&builder)
        return try HTTPServer(router: builder.freeze(), configuration: configuration)
    }

    /// Far less than the 30 seconds that stopping may take, and enough for a machine that is busy with other tests.
    private static let shortTime = Duration.seconds(60)

    private static func time(_ body: () async throws -> Void) async rethrows -> Duration {
        let clock = ContinuousClock()
        let start = clock.now
        try await body()
        return start.duration(to: clock.now)
    }

    @Test("without connections takes no time")
    func atOnce() async throws {
        let server = try Self.server()
        let time = await Self.time { await server.stop(timeout: .seconds(120)) }
        #expect(time < Self.shortTime)
        #expect(server.connections == 0)
    }

    @Test("twice at once returns twice, and again later as well")
    func twice() async throws {
        let server = try Self.server()
        await withTaskGroup { group in
            for _ in 0..<4 { group.addTask { await server.stop(timeout: .seconds(5)) } }
        }
        await server.stop(timeout: .seconds(5))
    }

    @Test("closes idle connections, and those on which nothing was sent")
    func idle() async throws {
        let server = try Self.server()
        let port = server.port
        let connections = try await blocking {
            try (0..<10).map { number in
                let connection = try RawConnection(port: port)
                if number % 2 == 0 {
                    let status = try connection.get().status
                    #expect(status == 200)
                }
                return Handed(connection)
            }
        }
        let time = await Self.time { await server.stop(timeout: .seconds(120)) }
        #expect(time < Self.shortTime)
        try await blocking {
            for connection in connections { #expect(connection.value.isClosedByPeer()) }
        }
    }

    @Test("lets handlers that wait finish, and says that the connection closes")
    func waiting() async throws {
        let arrived = Event()
        let release = Event()
        let server = try Self.server { routes in
            routes.on(.get, "/") { _ in
                arrived.happen()
                await release.wait()
                return HTTPResponse(text: "finished")
            }
        }
        let port = server.port
        async let answer = blocking {
            let connection = try RawConnection(port: port)
            let response = try connection.get()
            #expect(response["Connection"]?.lowercased() == "close")
            #expect(connection.isClosedByPeer())
            return response.text
        }
        await arrived.wait()
        async let stopped: Void = server.stop(timeout: .seconds(120))
        // The port refuses once the server has noticed: from then on it drains.
        try await blocking { while (try? RawConnection(port: port)) != nil {} }
        release.happen()
        await stopped
        #expect(try await answer == "finished")
    }

    @Test("answers 503 to handlers that do not finish in time, and cancels them", arguments: [0, 200])
    func stubborn(milliseconds: Int) async throws {
        let arrived = Event()
        let cancelled = Event()
        let server = try Self.server { routes in
            routes.on(.get, "/") { _ in
                arrived.happen()
                await Event.cancellation()
                cancelled.happen()
                return HTTPResponse(text: "too late")
            }
        }
        let port = server.port
        async let answer = blocking {
            let connection = try RawConnection(port: port)
            return try connection.get()
        }
        await arrived.wait()
        let time = await Self.time { await server.stop(timeout: .milliseconds(milliseconds)) }
        #expect(time < Self.shortTime)
        #expect(try await answer.status == 503)
        #expect(try await answer["Connection"]?.lowercased() == "close")
        await cancelled.wait()
    }

    @Test("does not wait for handlers that ignore their cancellation, nor do these harm it later")
    func ignoring() async throws {
        let arrived = Event()
        let release = Event()
        let finished = Event()
        let server = try Self.server { routes in
            routes.on(.get, "/") { _ in
                arrived.happen()
                await release.wait()
                defer { finished.happen() }
                return HTTPResponse(text: "too late")
            }
        }
        let port = server.port
        async let status = blocking {
            let connection = try RawConnection(port: port)
            return try connection.get().status
        }
        await arrived.wait()
        await server.stop(timeout: .milliseconds(100))
        #expect(try await status == 503)
        release.happen()
        await finished.wait()
    }

    @Test("cuts what is still being sent, and a client that does not read, after its time")
    func cuts() async throws {
        let server = try Self.server { routes in
            routes.addUsualRoutes()
            routes.on(.get, "/large") { _ in HTTPResponse(body: [UInt8](repeating: 97, count: 32 << 20)) }
        }
        let port = server.port
        let connections = try await blocking {
            try [
                "GET / HTTP/1.1\r\nHost:", "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhe",
                "GET /large HTTP/1.1\r\nHost: h\r\n\r\n",
                "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999\r\n\r\nhe",
            ].map { text in
                let connection = try RawConnection(port: port)
                try connection.send(text)
                return Handed(connection)
            }
        }
        let time = await Self.time { await server.stop(timeout: .milliseconds(300)) }
        #expect(time < Self.shortTime)
        withExtendedLifetime(connections) {}
    }

    @Test("goes on accepting for as long as it is told to")
    func delay() async throws {
        let server = try Self.server(named: "delaying")
        let port = server.port
        let clock = ContinuousClock()
        let start = clock.now
        async let stopped: Void = server.stop(delay: .milliseconds(400), timeout: .seconds(10))
        let last = try await blocking {
            var last = start
            while let connection = try? RawConnection(port: port) {
                try connection.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
                // The moment of closing may fall between the connecting and the answer.
                guard let response = try? connection.readResponse() else { break }
                // Another test's server may have taken the port over.
                guard response["X-Server"] == "delaying" else { break }
                #expect(response.status == 200)
                last = clock.now
            }
            return last
        }
        await stopped
        #expect(start.duration(to: last) > .milliseconds(300))
    }

    @Test("under load loses no answer", arguments: [1, 2])
    func underLoad(workers: Int) async throws {
        let answered = Counter()
        let server = try Self.server(named: "loaded \(workers)", workers: workers) { routes in
            routes.addUsualRoutes()
            routes.on(.get, "/wait") { _ in
                await Delays.shared.wait(microseconds: 200)
                return HTTPResponse(text: "waited")
            }
        }
        let port = server.port
        let warm = Event()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for client in 0..<16 {
                group.addTask {
                    try await blocking {
                        var connection = try RawConnection(port: port)
                        var isInHandshake = true
                        var sentAt = ContinuousClock.now
                        while true {
                            var isLate = false
                            let path = client % 2 == 0 ? "/" : "/wait"
                            let response: TestResponse
                            do {
                                isLate = .now - sentAt > .milliseconds(250)
                                try connection.send("GET \(path) HTTP/1.1\r\nHost: h\r\n\r\n")
                                isLate = .now - sentAt > .milliseconds(250)
                                sentAt = .now
                                // Throws when the connection ends without a response: that would be a lost one.
                                response = try connection.readResponse()
                            } catch  where isInHandshake || isLate {
                                // A server that stops resets a connection that it has not accepted yet, and closes one
                                // that has been idle for 0.3 seconds.
                                return
                            }
                            isInHandshake = false
                            // Another test's server may have taken the port over.
                            guard response["X-Server"] == "loaded \(workers)" else { return }
                            #expect(response.status == 200)
                            #expect(response.text == (client % 2 == 0 ? "ok" : "waited"))
                            if answered.increment() == 500 { warm.happen() }
                            guard response["Connection"]?.lowercased() == "close" else { continue }
                            #expect(connection.isClosedByPeer())
                            guard let next = try? RawConnection(port: port) else { return }
                            connection = next
                            isInHandshake = true
                        }
                    }
                }
            }
            await warm.wait()
            await server.stop(timeout: .seconds(10))
            try await group.waitForAll()
        }
    }
}
