import Glibc
import HTTPServer
import HTTPTestClient
import Testing

@Suite("A request that may take long")
struct LongWorkTests {
    @Test("is handled beside its worker, which serves others meanwhile, and answered like any other")
    func beside() async throws {
        let arrived = Event()
        let served = Event()
        try await withRoutes { routes in
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
                return try connection.get().text
            }
            #expect(short == "short")
            #expect(try await long == ["16384", "deferred", "Not now.\n"])
        }
    }

    @Test("that keeps its worker from other connections is seen, for as long as it does")
    func blocked() async throws {
        let arrived = Event()
        let seen = Event()
        try await withRoutes { routes in
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
                return try connection.get().status
            }
            await arrived.wait()
            while server.blockedFor < .milliseconds(50) { await Task.yield() }
            seen.happen()
            let answered = try await status
            #expect(answered == 200)
            while server.blockedFor > .zero { await Task.yield() }
        }
    }
}
