import HTTPServer
import HTTPTestClient
import Synchronization
import Testing

@Suite("Slow clients")
struct SlowClientTests {
    private static let short = Duration.milliseconds(300)
    private static let half = 512 << 10
    /// Less than a response, so that the rest of it waits at the server.
    private static let smallWindow: Int32 = 2048

    private static func addRoutes(_ routes: inout RouterBuilder) {
        routes.addUsualRoutes()
        let half = [UInt8](repeating: 97, count: half)
        routes.on(.get, "/half") { _ in HTTPResponse(body: half) }
        routes.on(.get, "/small") { _ in HTTPResponse(body: Array(half.prefix(16_000))) }
        routes.on(.post, "/length") { request in HTTPResponse(text: "\(try request.body.count)") }
    }

    private static func withShortDeadline(_ body: @escaping @Sendable (UInt16) throws -> Void) async throws {
        try await withServer(setting: \.timeouts.write, to: short) {
            addRoutes(&$0)
        } _: { server in
            let port = server.port
            try await blocking { try body(port) }
        }
    }

    /// A client that asks and reads nothing.
    private static func reader(of path: String, _ port: UInt16) throws -> RawConnection {
        let connection = try RawConnection(port: port, receiveBuffer: smallWindow)
        try connection.send("GET \(path) HTTP/1.1\r\nHost: h\r\n\r\n")
        return connection
    }

    /// A client that sends a part of its body, and then nothing.
    private static func sender(_ port: UInt16) throws -> RawConnection {
        let connection = try RawConnection(port: port)
        try connection.send("POST /length HTTP/1.1\r\nHost: h\r\nContent-Length: \(half)\r\n\r\n")
        try connection.send([UInt8](repeating: 97, count: half - 1))
        return connection
    }

    @Test("that take nothing of a response are gone at its deadline, also when the kernel has all of it")
    func kernelHasIt() async throws {
        try await Self.withShortDeadline { port in
            let start = ContinuousClock().now
            let connection = try Self.reader(of: "/small", port)
            connection.waitForHangUp(withinMilliseconds: 20_000)
            let time = start.duration(to: ContinuousClock().now)
            #expect(time > .milliseconds(280))
            #expect(time < .seconds(10))
        }
    }

    @Test("that take the end of a response late keep their connection")
    func takenLate() async throws {
        try await Self.withShortDeadline { port in
            let connection = try Self.reader(of: "/small", port)
            // Longer than a connection is looked at for its end.
            #expect(connection.hasSomethingToRead(withinMilliseconds: 1_000))
            connection.waitForHangUp(withinMilliseconds: 150)
            #expect(try connection.readResponse().body.count == 16_000)
            connection.waitForHangUp(withinMilliseconds: 600)
            #expect(try connection.get().text == "ok")
        }
    }

    @Test("make room for others when the memory of bodies is used up", arguments: [true, false])
    func makeRoom(takes: Bool) async throws {
        try await withServer(setting: \.limits.bufferBytes, to: 2 * Self.half) {
            Self.addRoutes(&$0)
        } _: { server in
            let port = server.port
            try await blocking {
                let slow = try (0..<2).map { _ in
                    let client = try takes ? Self.reader(of: "/half", port) : Self.sender(port)
                    // The server has begun with it.
                    #expect(!takes || client.hasSomethingToRead(withinMilliseconds: 10_000))
                    return client
                }
                // In each turn of its loop the worker reads some kilobytes of each body: now it has read them.
                let busy = try RawConnection(port: port)
                for _ in 0..<300 {
                    #expect(try busy.get().status == 200)
                }
                // As long as they are not slow, the next one is refused.
                var statuses: [Int] = []
                while server.lostConnections.evicted == 0, statuses.count < 1_000 {
                    let good = try RawConnection(port: port)
                    let response = try good.get("/half")
                    statuses.append(response.status)
                    guard response.status == 503 else { continue }
                    #expect(response["Retry-After"] == "1")
                    good.waitForHangUp(withinMilliseconds: 20)
                }
                #expect(statuses.last == 200)
                #expect(Set(statuses).isSubset(of: [200, 503]))
                slow[0].waitForHangUp(withinMilliseconds: 10_000)
                #expect(try slow[0].readToEnd().count < Self.half)
                #expect(!slow[1].hasHungUp())
                #expect(server.lostConnections.evicted == 1, "\(statuses.count): \(Set(statuses))")
            }
        }
    }

    @Test("cannot make room while their requests wait for the server: the next one is refused")
    func waitingRequests() async throws {
        let release = Event()
        let arrived = Atomic(0)
        let bothArrived = Event()
        try await withServer(setting: \.limits.bufferBytes, to: 2 * Self.half) { routes in
            routes.addUsualRoutes()
            routes.on(.post, "/wait") { request in
                if arrived.add(1, ordering: .relaxed).newValue == 2 { bothArrived.happen() }
                await release.wait()
                return HTTPResponse(text: "\(try request.body.count)")
            }
        } _: { server in
            let port = server.port
            let request =
                Array("POST /wait HTTP/1.1\r\nHost: h\r\nContent-Length: \(Self.half)\r\n\r\n".utf8)
                + [UInt8](repeating: 97, count: Self.half)
            @Sendable func status() throws -> Int {
                // Also when it is refused.
                defer { bothArrived.happen() }
                return try statusOf(request, port: port)
            }
            async let first = blocking { try status() }
            async let second = blocking { try status() }
            await bothArrived.wait()
            try await blocking {
                let third = try RawConnection(port: port)
                try third.send(request)
                let response = try third.readResponse()
                #expect(response.status == 503)
                #expect(response["Retry-After"] == "1")
            }
            // What is small needs no room.
            #expect(try await blocking { try statusOfGoodRequest(port: port) } == 200)
            release.happen()
            #expect(try await [first, second] == [200, 200])
            // Their room is free again.
            #expect(try await blocking { try statusOf(request, port: port) } == 200)
        }
    }

    @Test("make room, however many requests wait for the server")
    func besideWaitingRequests() async throws {
        let release = Event()
        let arrived = Atomic(0)
        let allArrived = Event()
        try await withServer(setting: \.limits.bufferBytes, to: 2 * Self.half) { routes in
            Self.addRoutes(&routes)
            routes.on(.post, "/wait") { request in
                if arrived.add(1, ordering: .relaxed).newValue == 100 { allArrived.happen() }
                await release.wait()
                return HTTPResponse(text: "\(try request.body.count)")
            }
        } _: { server in
            let port = server.port
            let request = "POST /wait HTTP/1.1\r\nHost: h\r\nContent-Length: 5000\r\n\r\n"
            async let answers = withThrowingTaskGroup(of: Int.self) { group in
                let bytes = Array(request.utf8) + [UInt8](repeating: 97, count: 5_000)
                for _ in 0..<100 {
                    group.addTask { try await blocking { try statusOf(bytes, port: port) } }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            await allArrived.wait()
            try await blocking {
                let slow = try Self.reader(of: "/half", port)
                #expect(slow.hasSomethingToRead(withinMilliseconds: 10_000))
                var statuses: [Int] = []
                while statuses.last != 200, statuses.count < 1_000 {
                    statuses.append(try statusOf(Array("GET /half HTTP/1.1\r\nHost: h\r\n\r\n".utf8), port: port))
                    if statuses.last == 503 { slow.waitForHangUp(withinMilliseconds: 20) }
                }
                #expect(statuses.last == 200 && statuses.count > 1)
                #expect(server.lostConnections.evicted == 1)
            }
            release.happen()
            #expect(try await answers == [Int](repeating: 200, count: 100))
        }
    }

    @Test("apart, a body that is larger than all room is taken, alone")
    func alone() async throws {
        try await withServer(setting: \.limits.bufferBytes, to: 1000) {
            Self.addRoutes(&$0)
        } _: { server in
            try await server.connected { connection in
                try connection.send("POST /length HTTP/1.1\r\nHost: h\r\nContent-Length: \(Self.half)\r\n\r\n")
                try connection.send([UInt8](repeating: 97, count: Self.half))
                #expect(try connection.readResponse().text == "\(Self.half)")
                #expect(try connection.get("/half").body.count == Self.half)
            }
        }
    }
}

private func statusOf(_ request: [UInt8], port: UInt16) throws -> Int {
    let connection = try RawConnection(port: port)
    try connection.send(request)
    return try connection.readResponse().status
}
