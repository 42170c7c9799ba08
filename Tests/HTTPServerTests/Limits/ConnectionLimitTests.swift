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
        try await withServer(setting: \.limits.connections, to: 2) { server in
            let port = server.port
            try await blocking {
                let inside = try (0..<2).map { _ in try RawConnection(port: port) }
                for connection in inside {
                    #expect(try connection.get().status == 200)
                }
                let outside = try RawConnection(port: port, sending: "GET / HTTP/1.1\r\nHost: h\r\n\r\n")
                for _ in 0..<100 {
                    for connection in inside {
                        #expect(try connection.get().status == 200)
                    }
                }
                #expect(!outside.hasSomethingToRead(withinMilliseconds: 0))
                inside[0].finishSending()
                #expect(inside[0].isClosedByPeer())
                #expect(try outside.readResponse().status == 200)
            }
        }
    }

    @Test("closes the connections that have been idle for longest, for clients that wait", arguments: [1, 2])
    func idleMakeRoom(workers: Int) async throws {
        try await withServer {
            $0.workers = workers
            $0.limits.connections = 8
            $0.timeouts.idle = .seconds(3_000)
            $0.timeouts.header = .seconds(3_000)
        } _: { server in
            let port = server.port
            try await blocking {
                let request = "GET / HTTP/1.1\r\nHost: h\r\n\r\n"
                // Twice as many as there may be. Each asks once, and stays. One sends nothing at all.
                var idle = [try RawConnection(port: port)]
                for _ in 0..<16 {
                    let connection = try RawConnection(port: port)
                    try connection.send(request)
                    #expect(try connection.readResponse().status == 200)
                    idle.append(connection)
                }
                // Those that came last are still there, and can go on.
                for connection in idle.suffix(2) {
                    try connection.send(request)
                    #expect(try connection.readResponse().status == 200)
                }
                #expect(idle[1].isClosedByPeer())
            }
            #expect(server.connections <= 8)
            #expect(server.lostConnections.evicted >= 8)
        }
    }

    @Test(
        "closes the connections whose requests have been unfinished for longest, too",
        arguments: ["GET / HTTP/1.1\r\nHost: h", "POST /length HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\n1"])
    func slowMakeRoom(part: String) async throws {
        try await withServer {
            $0.workers = 1
            $0.limits.connections = 8
            $0.timeouts.header = .seconds(3_000)
            $0.timeouts.body = .seconds(3_000)
        } _: { server in
            let port = server.port
            try await blocking {
                let slow = try (0..<16).map { _ in
                    let connection = try RawConnection(port: port)
                    try connection.send(part)
                    return connection
                }
                let good = try RawConnection(port: port)
                #expect(try good.get().status == 200)
                #expect(slow[0].isClosedByPeer() && !slow[15].hasHungUp())
            }
            #expect(server.lostConnections.evicted >= 9)
        }
    }

    @Test("of a listener that admits at once: requests that wait take no place, unfinished ones make room")
    func admitsAtOnce() async throws {
        let gate = Event()
        try await withServer {
            $0.workers = 1
            $0.limits.connections = 32
            $0.limits.admitsAtOnce = true
            $0.timeouts.header = .seconds(3_000)
        } routes: { routes in
            routes.addUsualRoutes()
            routes.on(.get, "/wait") { request in
                request.bePatient()
                return .task {
                    await gate.wait()
                    return .response(HTTPResponse(text: "waited"))
                }
            }
        } _: { server in
            let port = server.port
            try await blocking {
                let waiting = try (0..<40).map { _ in
                    let connection = try RawConnection(port: port, sending: "GET /wait HTTP/1.1\r\nHost: h\r\n\r\n")
                    return connection
                }
                let unfinished = try (0..<100).map { _ in
                    let connection = try RawConnection(port: port, sending: "GET / HTTP/1.1\r\nHost: h")
                    return connection
                }
                let good = try RawConnection(port: port)
                #expect(try good.get().status == 200)
                #expect(unfinished[0].isClosedByPeer() && !unfinished[99].hasHungUp())
                #expect(server.connections > 40 && server.connections <= 72)
                gate.happen()
                for connection in waiting { #expect(try connection.readResponse().status == 200) }
            }
        }
    }

    @Test("of a listener that admits at once: a slow client stays while others have been without a request for longer")
    func oldestGoesFirst() async throws {
        try await withServer {
            $0.workers = 1
            $0.limits.connections = 32
            $0.limits.admitsAtOnce = true
            $0.timeouts.idle = .seconds(3_000)
        } _: { server in
            let port = server.port
            try await blocking {
                func ask() throws -> RawConnection {
                    let connection = try RawConnection(port: port)
                    #expect(try connection.get().status == 200)
                    return connection
                }
                let idle = try (0..<40).map { _ in try ask() }
                let slow = try RawConnection(port: port, sending: "GET / HTTP/1.1\r\n")
                for _ in 0..<4 { _ = try ask() }
                try slow.send("Host: h\r\n\r\n")
                #expect(try slow.readResponse().status == 200)
                #expect(idle[0].isClosedByPeer())
            }
        }
    }

    @Test("of an address closes its further connections at once, and counts those that are open")
    func ofAddress() async throws {
        try await withServer(setting: \.limits.connectionsOfAddress, to: 2) { server in
            let port = server.port
            try await blocking {
                let request = "GET / HTTP/1.1\r\nHost: h\r\n\r\n"
                var inside: [RawConnection] = []
                for _ in 0..<2 {
                    inside.append(try RawConnection(port: port))
                    try inside[inside.count - 1].send(request)
                    #expect(try inside[inside.count - 1].readResponse().status == 200)
                }
                #expect(try RawConnection(port: port).isClosedByPeer())
                inside[0].finishSending()
                #expect(inside[0].isClosedByPeer())
                let later = try RawConnection(port: port)
                try later.send(request)
                #expect(try later.readResponse().status == 200)
            }
            #expect(server.lostConnections == (0, 1, 0))
        }
    }

    @Test("of an address are new so often: what is beyond is closed at once and counted, and open ones go on")
    func quota() async throws {
        try await withServer {
            // A token comes back after longer than the test takes.
            $0.limits.newConnectionsOfAddress = Quota(count: 3, window: .seconds(3_600))
        } _: { server in
            let port = server.port
            try await blocking {
                let request = "GET / HTTP/1.1\r\nHost: h\r\n\r\n"
                let kept = try (0..<3).map { _ in try RawConnection(port: port) }
                for connection in kept {
                    try connection.send(request)
                    #expect(try connection.readResponse().status == 200)
                }
                for _ in 0..<5 { #expect(try RawConnection(port: port).isClosedByPeer()) }
                // A connection that ends gives no token back.
                kept[0].finishSending()
                #expect(kept[0].isClosedByPeer())
                #expect(try RawConnection(port: port).isClosedByPeer())
                for connection in kept[1...] {
                    try connection.send(request)
                    #expect(try connection.readResponse().status == 200)
                }
            }
            #expect(server.lostConnections == (0, 0, 6))
        }
    }

    @Test("of an address is not for proxies that are trusted, nor for others that are named", arguments: [true, false])
    func uncounted(isProxy: Bool) async throws {
        let here = try #require(AddressRange("127.0.0.0/8"))
        try await withServer {
            $0.limits.connectionsOfAddress = 1
            $0.limits.newConnectionsOfAddress = Quota(count: 1, window: .seconds(3_600))
            if isProxy {
                $0.trustedProxies = TrustedProxies(networks: [here], field: .forwarded)
            } else {
                $0.limits.uncountedAddresses = [here]
            }
        } _: { server in
            let port = server.port
            try await blocking {
                let connections = try (0..<3).map { _ in try RawConnection(port: port) }
                for connection in connections {
                    #expect(try connection.get().status == 200)
                }
            }
        }
    }

    @Test("leaves the workers with about as many connections each", arguments: [2, 4])
    func evenly(workers: Int) async throws {
        try await withServer(setting: \.workers, to: workers) { routes in
            routes.on(.get, "/") { HTTPResponse(text: "\($0.worker)") }
        } _: { server in
            let port = server.port
            try await blocking {
                let count = 400
                var ofWorker = [Int](repeating: 0, count: workers)
                let connections = try (0..<count).map { _ in
                    let connection = try RawConnection(port: port, sending: "GET / HTTP/1.1\r\nHost: h\r\n\r\n")
                    ofWorker[try #require(Int(try connection.readResponse().text))] += 1
                    return connection
                }
                #expect(try #require(ofWorker.min()) * workers > count * 8 / 10, "\(ofWorker)")
                // As many again, all at once: a worker that is awake accepts several before the others are.
                let more = try (0..<count).map { _ in
                    let connection = try RawConnection(port: port, sending: "GET / HTTP/1.1\r\nHost: h\r\n\r\n")
                    return connection
                }
                for connection in more { ofWorker[try #require(Int(try connection.readResponse().text))] += 1 }
                #expect(try #require(ofWorker.min()) * workers > count * 2 * 4 / 10, "\(ofWorker)")
                withExtendedLifetime(connections) {}
            }
        }
    }

    @Test("128 requests that come at once, as many as the library takes of events, are answered at once")
    func manyAtOnce() async throws {
        // Each holds up the one thread, so that the others' requests pile up behind it.
        let gate = ThreadGate()
        try await withRoutes { routes in
            routes.addUsualRoutes()
            routes.addBlock(gate)
        } _: { server in
            let port = server.port
            try await blocking {
                let blocker = try RawConnection(port: port)
                let connections = try (0..<256).map { _ in try RawConnection(port: port) }
                for connection in connections {
                    #expect(try connection.get().status == 200)
                }
                let clock = ContinuousClock()
                var rounds: [Duration] = []
                // Were they to wait for the loop's own 250 ms, each would: a machine in a hurry slows some of them.
                while !rounds.contains(where: { $0 < .milliseconds(200) }), rounds.count < 50 {
                    let count = rounds.isEmpty ? 256 : 128
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
                #expect(try isSanitized || #require(rounds.min()) < .milliseconds(200), "\(rounds)")
            }
        }
    }
}
