import HTTPServer
import HTTPTestClient
import Synchronization
import Testing

@Suite("A handler")
struct HandlerTests {
    struct Oops: Error {}

    @Test("that throws is answered 500, plainly, and the connection goes on")
    func throwing() async throws {
        try await withRoutes { routes in
            routes.addUsualRoutes()
            routes.on(.get, "/throws") { _ in throw Oops() }
            routes.on(.get, "/throws/later") { _ in
                await Task.yield()
                throw Oops()
            }
            routes.on(.get, "/refuses") { _ in
                throw HTTPError(.conflict, code: "no", detail: "Not now.", fields: [.retryAfter: "7"])
            }
        } _: { server in
            try await server.connected { connection in
                for path in ["/throws", "/throws/later"] {
                    let response = try connection.get("\(path)")
                    #expect(response.status == 500)
                    #expect(!response.text.contains("Oops"))
                }
                let response = try connection.get("/refuses")
                #expect(response.status == 409)
                #expect(response.text == "Not now.\n")
                #expect(response["Retry-After"] == "7")
            }
        }
    }

    @Test(
        "whose field cannot be sent is answered 500, and the observer told",
        arguments: ["a\r\nB: c", "a\nb", "a\rb", "", "a\0b"])
    func unsendableField(value: String) async throws {
        let recorder = Recorder()
        try await withServer(observer: recorder) { routes in
            routes.on(.get, "/") { _ in HTTPResponse(.ok, fields: ["X-Name": value]) }
        } _: { server in
            try await server.connected { connection in
                let response = try connection.get()
                #expect(response.status == 500)
                #expect(response["B"] == nil)
                #expect(response["X-Name"] == nil)
            }
        }
        #expect(recorder.failures.count == 1)
        #expect(recorder.statuses == [500])
    }

    @Test("gets the request as it was sent")
    func sees() async throws {
        try await withRoutes { routes in
            routes.on(.put, "/a/{b}") { request in
                let lines = [
                    request.target, request.method.description, request.parameter("b"), request.fields["x-name"] ?? "-",
                    request.fields.values(of: "X-Name").joined(separator: "|"), "\(request.fields.count)",
                    (try request.query)["q"] ?? "-", request.peer.host,
                    String(decoding: try request.body, as: UTF8.self),
                ]
                return HTTPResponse(text: lines.joined(separator: "\n"))
            }
        } _: { server in
            try await server.connected { connection in
                try connection.send(
                    "PUT /a/%C3%A4?q=1+%2B HTTP/1.1\r\nHost: h\r\nX-Name: one \r\nx-NAME:\ttwo\r\nContent-Length: 4\r\n\r\nbody"
                )
                let lines = try connection.readResponse().text.split(separator: "\n").map(String.init)
                #expect(lines == ["/a/%C3%A4?q=1+%2B", "PUT", "ä", "one", "one|two", "4", "1 +", "127.0.0.1", "body"])
            }
        }
    }

    @Test("gets its own fields, also when another request came while its body did")
    func interleaved() async throws {
        try await withRoutes { routes in
            routes.on(.post, "/{name}") { request in
                HTTPResponse(text: "\(request.parameter("name")) \(request.fields["A"] ?? "-") \(request.target)")
            }
        } _: { server in
            let port = server.port
            try await blocking {
                let connections = try (0..<10).map { _ in try RawConnection(port: port) }
                for (index, connection) in connections.enumerated() {
                    let padding = String(repeating: "P: q\r\n", count: index)
                    try connection.send(
                        "POST /\(index) HTTP/1.1\r\nHost: h\r\n\(padding)A: \(index)\r\nContent-Length: 2\r\n\r\na")
                }
                for (index, connection) in connections.enumerated() {
                    try connection.send("b")
                    #expect(try connection.readResponse().text == "\(index) \(index) /\(index)")
                }
            }
        }
    }

    @Test("that waits gets its client an answer, also when the client closed its half meanwhile")
    func halfCloseWhileWaiting() async throws {
        let arrived = Event()
        let closed = Event()
        try await withRoutes { routes in
            routes.on(.get, "/") { _ in
                arrived.happen()
                await closed.wait()
                return HTTPResponse(text: "waited")
            }
        } _: { server in
            let connection = try await server.seen { connection in
                try connection.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
                return Handed(connection)
            }
            await arrived.wait()
            try await blocking {
                connection.value.finishSending()
                closed.happen()
                let text = try connection.value.readResponse().text
                #expect(text == "waited")
                #expect(connection.value.isClosedByPeer())
            }
        }
    }

    @Test("may be on another request's connection while one waits: what is sent meanwhile is answered in order")
    func pipelinedWhileWaiting() async throws {
        try await withRoutes { routes in
            routes.on(.get, "/{n:int}") { request in
                let number = Int(request.parameter("n")) ?? 0
                await Delays.shared.wait(microseconds: number % 7 * 50)
                return HTTPResponse(text: "\(number)")
            }
        } _: { server in
            try await server.connected { connection in
                for start in stride(from: 0, to: 1000, by: 4) {
                    for number in start..<start + 4 {
                        try connection.send("GET /\(number) HTTP/1.1\r\nHost: h\r\n\r\n")
                    }
                    for number in start..<start + 4 {
                        #expect(try connection.readResponse().text == "\(number)")
                    }
                }
            }
        }
    }
}

/// Carries a connection from one thread to the next, which use it one after the other.
///
/// `@unchecked Sendable`: `blocking` is awaited before the next one begins.
final class Handed: @unchecked Sendable {
    let value: RawConnection
    init(_ value: RawConnection) { self.value = value }
}
