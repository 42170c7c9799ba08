import HTTPServer
import HTTPTestClient
import Testing

@Suite("A client that leaves")
struct ClientGoneTests {
    enum Manner: CaseIterable { case close, reset }

    @Test("while its handler waits does the server no harm", arguments: Manner.allCases)
    func whileWaiting(_ manner: Manner) async throws {
        let arrived = Event()
        let release = Event()
        let finished = Event()
        try await withRoutes { routes in
            routes.addUsualRoutes()
            routes.on(.get, "/wait") { _ in
                arrived.happen()
                await release.wait()
                defer { finished.happen() }
                return HTTPResponse(body: [UInt8](repeating: 97, count: 1 << 20))
            }
        } _: { server in
            let port = server.port
            let connection = try await blocking {
                let connection = try RawConnection(port: port, sending: "GET /wait HTTP/1.1\r\nHost: h\r\n\r\n")
                return Handed(connection)
            }
            await arrived.wait()
            connection.value.close(withReset: manner == .reset)
            release.happen()
            await finished.wait()
            let status = try await blocking { try statusOfGoodRequest(port: port) }
            #expect(status == 200)
        }
    }

    @Test("by a reset has its handler cancelled")
    func cancels() async throws {
        let arrived = Event()
        let cancelled = Event()
        try await withRoutes { routes in
            routes.on(.get, "/wait") { _ in
                arrived.happen()
                await Event.cancellation()
                cancelled.happen()
                return HTTPResponse()
            }
        } _: { server in
            let connection = try await server.seen { connection in
                try connection.send("GET /wait HTTP/1.1\r\nHost: h\r\n\r\n")
                return Handed(connection)
            }
            await arrived.wait()
            connection.value.close(withReset: true)
            await cancelled.wait()
        }
    }

    @Test("in the middle of anything leaves no connection behind", arguments: Manner.allCases)
    func leavesNothing(_ manner: Manner) async throws {
        let beginnings = [
            "", "GET", "GET / HTTP/1.1\r\n", "GET / HTTP/1.1\r\nHost: h\r\n", "GET / HTTP/1.1\r\nHost: h\r\n\r\n",
            "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nhello",
            "POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel",
            "POST /later HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello",
            "GET /large HTTP/1.1\r\nHost: h\r\n\r\n", "GET /nowhere HTTP/1.1\r\nHost: h\r\n\r\n",
            "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 10000000\r\n\r\nhello", "GET / HTTP/9.9\r\n\r\n",
        ]
        try await withServer { configuration in
            configuration.timeouts.header = .milliseconds(500)
            configuration.timeouts.body = .milliseconds(500)
        } routes: { routes in
            routes.addUsualRoutes()
            routes.on(.get, "/large") { _ in HTTPResponse(body: [UInt8](repeating: 97, count: 8 << 20)) }
        } _: { server in
            let port = server.port
            try await blocking {
                for _ in 0..<10 {
                    for beginning in beginnings {
                        let connection = try RawConnection(port: port)
                        try connection.send(beginning)
                        connection.close(withReset: manner == .reset)
                    }
                }
                #expect(try statusOfGoodRequest(port: port) == 200)
            }
            let clock = ContinuousClock()
            let start = clock.now
            while server.connections > 0, start.duration(to: clock.now) < .seconds(5) { await Task.yield() }
            #expect(server.connections == 0)
        }
    }
}
