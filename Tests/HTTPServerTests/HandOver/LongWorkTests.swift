import Glibc
import HTTPServer
import HTTPTestClient
import Synchronization
import Testing
import Threads

@Suite("A request that may take long")
struct LongWorkTests {
    @Test("is handled beside its worker, which serves others meanwhile, and answered like any other")
    func beside() async throws {
        let arrived = Event()
        let served = Event()
        try await withServer { _ in
        } routes: { routes in
            routes.on(.get, "/") { _ in
                served.happen()
                return HTTPResponse(text: "short")
            }
            // Waits for nothing: it keeps its thread until the only worker has served the other request.
            routes.on(
                .post, "/",
                handler: { request in
                    arrived.happen()
                    let deadline = ContinuousClock.now + .seconds(30)
                    while !served.hasHappened, .now < deadline { sched_yield() }
                    return .response(HTTPResponse(text: served.hasHappened ? "\(try request.body.count)" : "blocked"))
                })
            routes.on(.put, "/", handler: { _ in .deferred { $0.respond { HTTPResponse(text: "deferred") } } })
            routes.on(.patch, "/") { _ in throw HTTPError(.conflict, code: "no", detail: "Not now.") }
        } _: { server in
            let port = server.port
            @Sendable func request(_ method: String) -> String {
                "\(method) / HTTP/1.1\r\nHost: h\r\nContent-Length: 16384\r\n\r\n"
                    + String(repeating: "x", count: 16_384)
            }
            async let long = blocking {
                let connection = try RawConnection(port: port)
                try connection.send(request("POST"))
                let first = try connection.readResponse().text
                try connection.send(request("PUT"))
                let second = try connection.readResponse().text
                try connection.send(request("PATCH"))
                return [first, second, try connection.readResponse().text]
            }
            await arrived.wait()
            let short = try await blocking {
                let connection = try RawConnection(port: port)
                try connection.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
                return try connection.readResponse().text
            }
            #expect(short == "short")
            #expect(try await long == ["16384", "deferred", "Not now.\n"])
        }
    }

    /// In a process of its own, because all tests share the threads for long work.
    @Test("is refused at once while its client's has waited for half a second; others get their turn; then it is taken")
    func overload() async {
        await #expect(processExitsWith: .success) {
            let gate = ThreadGate()
            try await withServer {
                $0.trustedProxies = TrustedProxies(
                    networks: ["127.0.0.1"].compactMap(AddressRange.init), field: .xForwardedFor)
            } routes: { routes in
                routes.addUsualRoutes()
                routes.on(
                    .put, "/",
                    handler: { _ in
                        gate.block()
                        return .response(HTTPResponse(text: "done"))
                    })
                routes.on(.patch, "/") { _ in HTTPResponse(text: "other") }
            } _: { server in
                let port = server.port
                try await blocking {
                    func begin(_ method: String = "PUT", of client: String = "192.0.2.1") throws -> RawConnection {
                        let connection = try RawConnection(port: port)
                        try connection.send(
                            "\(method) / HTTP/1.1\r\nHost: h\r\nX-Forwarded-For: \(client)\r\n"
                                + "Content-Length: 16384\r\n\r\n")
                        try connection.send([UInt8](repeating: 97, count: 16_384))
                        return connection
                    }
                    let threads = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
                    var taken = try (0..<threads).map { _ in try begin() }
                    for _ in 0..<threads { gate.waitUntilBlocked() }
                    var refused: RawConnection?
                    while refused == nil, taken.count < threads + 50 {
                        let next = try begin()
                        let isAnswered = next.hasSomethingToRead(withinMilliseconds: 100)
                        if isAnswered { refused = next } else { taken.append(next) }
                    }
                    let response = try #require(refused).readResponse()
                    #expect(response.status == 503)
                    #expect(response["Retry-After"] == "1")
                    #expect(taken.count < threads + 20)
                    #expect(try statusOfGoodRequest(port: port) == 200)
                    // One in 256 shares its lane.
                    let others = try ["203.0.113.1", "203.0.113.2", "203.0.113.3"].map { try begin("PATCH", of: $0) }
                    var opened = 0
                    for other in others {
                        while opened < taken.count, !other.hasSomethingToRead(withinMilliseconds: 1_000) {
                            gate.open()
                            opened += 1
                        }
                    }
                    let statuses = try others.map { try $0.readResponse().status }
                    #expect(statuses.contains(200), "\(statuses)")
                    #expect(opened < taken.count)
                    for _ in taken.dropFirst(opened) { gate.open() }
                    for connection in taken { #expect(try connection.readResponse().text == "done") }
                    gate.open()
                    #expect(try begin().readResponse().text == "done")
                }
            }
        }
    }

    @Test("that keeps its worker from other connections is seen, for as long as it does")
    func blocked() async throws {
        let arrived = Event()
        let seen = Event()
        try await withServer { _ in
        } routes: { routes in
            routes.on(
                .get, "/",
                handler: { _ in
                    arrived.happen()
                    while !seen.hasHappened { sched_yield() }
                    return .response(HTTPResponse())
                })
        } _: { server in
            let port = server.port
            async let status = blocking {
                let connection = try RawConnection(port: port)
                try connection.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
                return try connection.readResponse().status
            }
            await arrived.wait()
            while server.blockedFor < .milliseconds(50) { await Task.yield() }
            seen.happen()
            let answered = try await status
            #expect(answered == 200)
            while server.blockedFor > .zero { await Task.yield() }
        }
    }

    @Test("has the same niceness when other such work has started its thread")
    func niceness() async throws {
        @Sendable func niceness(of id: pid_t) -> Int32 {
            getpriority(__priority_which_t(PRIO_PROCESS.rawValue), id_t(id))
        }
        let process = niceness(of: getpid())
        let found = Mutex<[Int32]>([])
        let ended = Event()
        @Sendable func take() {
            ProcessorShare.long.take()
            found.withLock { $0.append(niceness(of: 0)) }
        }
        let isStarted = DetachedThread.start("test") {
            take()
            DetachedThread.run("test") {
                take()
                ended.happen()
            }
        }
        #expect(isStarted)
        await ended.wait()
        #expect(found.withLock(\.self) == [process + 5, process + 5])
    }
}
