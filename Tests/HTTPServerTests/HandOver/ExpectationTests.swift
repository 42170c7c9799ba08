import HTTPServer
import HTTPTestClient
import Synchronization
import Testing

@Suite("A client that expects 100 (Continue)")
struct ExpectationTests {
    private static func addRoutes(_ routes: inout RouterBuilder) {
        @Sendable func check(_ request: HTTPRequest) throws {
            guard request.fields["Key"] == "right" else {
                throw HTTPError(.unauthorized, code: "unauthorized", detail: "no key")
            }
        }
        routes.on(
            .put, "/synchronous",
            handler: { request in
                try check(request)
                return .response(HTTPResponse(body: try request.body))
            })
        routes.on(.put, "/asynchronous") { request in
            await Task.yield()
            try check(request)
            return HTTPResponse(body: try request.body)
        }
        routes.on(.put, "/indifferent") { _ in HTTPResponse(text: "no body needed") }
        routes.on(.put, "/large") { _ in HTTPResponse(body: large) }
        routes.on(.put, "/large-asynchronous") { _ in
            await Task.yield()
            return HTTPResponse(body: large)
        }
        routes.on(.put, "/streamed") { _ in
            let rest = Mutex(large[...])
            return HTTPResponse(
                source: HTTPBodySource {
                    rest.withLock { rest in
                        defer { rest = rest.dropFirst(100_000) }
                        return rest.isEmpty ? nil : Array(rest.prefix(100_000))
                    }
                })
        }
    }

    private static func head(_ path: String, _ fields: String) -> String {
        "PUT \(path) HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\(fields)\r\n"
    }

    @Test("gets no body with a status that has none, although its own would follow", arguments: [204, 304])
    func withoutBody(status: UInt16) async throws {
        try await withRoutes { routes in
            routes.on(.put, "/known") { _ in HTTPResponse(HTTPStatus(status), body: Array("for a GET".utf8)) }
        } _: { server in
            try await server.connected { connection in
                try connection.send(Self.head("/known", ""))
                let text = String(decoding: try connection.readToEnd(), as: UTF8.self)
                #expect(text.hasPrefix("HTTP/1.1 \(status) ") && text.hasSuffix("\r\n\r\n"))
            }
        }
    }

    @Test("is asked for its body when that is wanted", arguments: ["/synchronous", "/asynchronous"])
    func isAsked(path: String) async throws {
        let recorder = Recorder()
        try await withServer(observer: recorder, routes: Self.addRoutes) { server in
            try await server.connected { connection in
                for _ in 0..<2 {
                    try connection.send(Self.head(path, "Key: right\r\n"))
                    #expect(try connection.readResponse(passingOverInterim: false).status == 100)
                    try connection.send("hello")
                    let response = try connection.readResponse(passingOverInterim: false)
                    #expect(response.status == 200)
                    #expect(response.text == "hello")
                }
            }
        }
        #expect(recorder.statuses == [200, 200])
    }

    @Test(
        "gets the final status before it sends its body",
        arguments: [
            ("/synchronous", "", 401), ("/asynchronous", "", 401), ("/nowhere", "", 404),
            ("/echo", "", 404), ("/indifferent", "", 200),
            ("/synchronous", "Key: right\r\nContent-Encoding: gzip\r\n", 415),
            ("/asynchronous", "Key: right\r\nContent-Range: bytes 0-4/5\r\n", 400),
        ])
    func isRefused(path: String, fields: String, status: Int) async throws {
        let recorder = Recorder()
        try await withServer(observer: recorder, routes: Self.addRoutes) { server in
            try await server.connected { connection in
                try connection.send(Self.head(path, fields))
                let response = try connection.readResponse(passingOverInterim: false)
                #expect(response.status == status)
                #expect(response.values("Connection") == ["close"])
                #expect(connection.isClosedByPeer())
            }
        }
        #expect(recorder.statuses == [status])
    }

    private static let large = (0..<(8 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31) }

    @Test("gets a large response whole", arguments: ["/large", "/large-asynchronous", "/streamed"])
    func isLarge(path: String) async throws {
        try await withServer(routes: Self.addRoutes) { server in
            try await server.connected { connection in
                try connection.send(Self.head(path, ""))
                let response = try connection.readResponse(passingOverInterim: false)
                #expect(response.status == 200)
                #expect(response.body == Self.large)
                #expect(response.values("Connection") == ["close"])
                #expect(connection.isClosedByPeer())
            }
        }
    }

    @Test(
        "and has closed its half is done with at once, whether or not its body has come",
        arguments: ["", "hello"])
    func hasClosedItsHalf(body: String) async throws {
        // So that all of it is there when the server reads.
        let gate = ThreadGate()
        try await withRoutes { routes in
            Self.addRoutes(&routes)
            routes.addBlock(gate)
        } _: { server in
            let port = server.port
            try await blocking {
                let connection = try RawConnection(port: port, timeoutSeconds: 10)
                let blocker = try RawConnection(port: port)
                try connection.send(Self.head("/synchronous", "Key: right\r\n"))
                #expect(try connection.readResponse(passingOverInterim: false).status == 100)
                try connection.send("hello")
                #expect(try connection.readResponse().status == 200)
                try blocker.send("GET /block HTTP/1.1\r\nHost: h\r\n\r\n")
                gate.waitUntilBlocked()
                try connection.send(Self.head("/synchronous", "Key: right\r\n") + body)
                connection.finishSending()
                gate.open()
                if body.isEmpty {
                    #expect(try connection.readResponse(passingOverInterim: false).status == 100)
                } else {
                    #expect(try connection.readResponse().text == body)
                }
                #expect(connection.isClosedByPeer())
            }
        }
    }

    @Test("gets 405 before it sends its body")
    func wrongMethod() async throws {
        try await withServer { server in
            try await server.connected { connection in
                try connection.send(Self.head("/echo", ""))
                let response = try connection.readResponse(passingOverInterim: false)
                #expect(response.status == 405)
                #expect(response["Allow"] == "OPTIONS, POST")
            }
        }
    }

    @Test("gets 504 when its handler takes too long over that")
    func deadline() async throws {
        try await withServer(
            configure: { $0.timeouts.handler = .milliseconds(50) },
            routes: { routes in
                routes.on(.put, "/slow") { _ in
                    try await Task.sleep(for: .seconds(60))
                    return HTTPResponse()
                }
            },
            { server in
                try await server.connected { connection in
                    try connection.send(Self.head("/slow", ""))
                    let response = try connection.readResponse(passingOverInterim: false)
                    #expect(response.status == 504)
                    #expect(response.text.contains("The write may have been done"))
                }
            })
    }
}
