import HTTPServer
import HTTPTestClient
import Testing

@Suite("The limit of connections")
struct ConnectionLimitTests {
    @Test("lets more clients wait, and loses none", arguments: [1, 2])
    func moreWait(workers: Int) async throws {
        try await withServer {
            $0.workers = workers
            $0.limits.connections = 4
        } _: { server in
            let port = server.port
            try await blocking {
                // All are connected, as far as they know, and have sent; four at a time are let in.
                let connections = try (0..<40).map { _ in
                    let connection = try RawConnection(port: port)
                    try connection.send("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
                    return connection
                }
                for connection in connections {
                    #expect(try connection.readResponse().status == 200)
                }
            }
        }
    }

    @Test("is per server, not per request: those inside go on")
    func insideGoOn() async throws {
        try await withServer {
            $0.limits.connections = 2
        } _: { server in
            let port = server.port
            try await blocking {
                let inside = try (0..<2).map { _ in try RawConnection(port: port) }
                for connection in inside {
                    try connection.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
                    #expect(try connection.readResponse().status == 200)
                }
                let outside = try RawConnection(port: port)
                try outside.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
                for _ in 0..<100 {
                    for connection in inside {
                        try connection.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
                        #expect(try connection.readResponse().status == 200)
                    }
                }
                #expect(!outside.hasSomethingToRead(withinMilliseconds: 0))
                inside[0].finishSending()
                #expect(inside[0].isClosedByPeer())
                #expect(try outside.readResponse().status == 200)
            }
        }
    }

    @Test("128 requests that come at once, as many as the library takes of events, are answered at once")
    func manyAtOnce() async throws {
        // Each holds up the one thread, so that the others' requests pile up behind it.
        let gate = ThreadGate()
        try await withServer { _ in
        } routes: { routes in
            routes.addUsualRoutes()
            routes.on(.get, "/block") { _ in
                gate.block()
                return HTTPResponse(text: "blocked")
            }
        } _: { server in
            let port = server.port
            try await blocking {
                let blocker = try RawConnection(port: port)
                let connections = try (0..<256).map { _ in try RawConnection(port: port) }
                for connection in connections {
                    try connection.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
                    #expect(try connection.readResponse().status == 200)
                }
                let clock = ContinuousClock()
                var rounds: [Duration] = []
                for count in [128, 128, 128, 128, 256] {
                    try blocker.send("GET /block HTTP/1.1\r\nHost: h\r\n\r\n")
                    gate.waitUntilBlocked()
                    for connection in connections[..<count] {
                        try connection.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
                    }
                    let start = clock.now
                    gate.open()
                    for connection in connections[..<count] {
                        #expect(try connection.readResponse().status == 200)
                    }
                    rounds.append(start.duration(to: clock.now))
                    #expect(try blocker.readResponse().text == "blocked")
                }
                // Were they to wait for the loop's own 250 ms, each would: a machine in a hurry slows some of them.
                #expect(try #require(rounds.min()) < .milliseconds(200), "\(rounds)")
            }
        }
    }
}
