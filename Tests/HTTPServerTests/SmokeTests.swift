import HTTPServer
import HTTPTestClient
import Testing

@Suite("A server with three routes")
struct SmokeTests {
    @Test("answers, waits, and finds nothing elsewhere")
    func answers() async throws {
        var routes = RouterBuilder()
        routes.on(.get, "/hello/{name}") { HTTPResponse(text: "hello \($0.parameter("name"))") }
        routes.on(.post, "/echo") { HTTPResponse(body: $0.body) }
        routes.on(.get, "/later") { _ in
            try await Task.sleep(for: .milliseconds(20))
            return HTTPResponse(text: "later")
        }
        let server = try HTTPServer(router: routes.freeze())
        let port = server.port
        try await blocking {
            let connection = try RawConnection(port: port)
            try connection.send("GET /hello/Ada?x=1 HTTP/1.1\r\nHost: h\r\n\r\n")
            let first = try connection.readResponse()
            #expect(first.status == 200)
            #expect(first.text == "hello Ada")
            try connection.send("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello")
            #expect(try connection.readResponse().text == "hello")
            try connection.send("GET /later HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(try connection.readResponse().text == "later")
            try connection.send("GET /nowhere HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(try connection.readResponse().status == 404)
            try connection.send("GET /nowhere HTTP/1.1\r\nHost: h\r\nA: b\r\n c\r\n\r\n")
            #expect(try connection.readResponse().status == 400)
            #expect(connection.isClosedByPeer())
        }
        await server.stop(timeout: .seconds(5))
    }
}
