import HTTPServer
import HTTPTestClient
import Testing

@Suite("Middleware")
struct MiddlewareTests {
    /// Puts its name around whatever is inside it.
    private struct Around: HTTPMiddleware {
        let name: String
        func respond(to request: HTTPRequest, next: HTTPHandler) async throws -> HTTPResponse {
            var response = try await next(request)
            response.body = Array("\(name)(".utf8) + response.body + Array(")".utf8)
            return response
        }
    }

    private struct Closed: HTTPMiddleware {
        func respond(to request: HTTPRequest, next: HTTPHandler) async throws -> HTTPResponse {
            throw HTTPError(.forbidden, code: "closed", detail: "Closed.")
        }
    }

    @Test("stands around the routes of its group, the first outermost, and around no others")
    func order() async throws {
        try await withServer { _ in
        } routes: { routes in
            let answer: HTTPHandler = { _ in HTTPResponse(text: "x") }
            routes.on(.get, "/before", answer)
            routes.group(Around(name: "a"), Around(name: "b")) { routes in
                routes.on(.get, "/two", answer)
                routes.group(Around(name: "c")) { $0.on(.get, "/three", answer) }
                routes.on(.get, "/two/again", answer)
            }
            routes.group(Closed(), Around(name: "d")) { $0.on(.get, "/closed", answer) }
            routes.on(.get, "/after", answer)
        } _: { server in
            let port = server.port
            try await blocking {
                let connection = try RawConnection(port: port)
                for (path, expected) in [
                    ("/before", "x"), ("/two", "a(b(x))"), ("/three", "a(b(c(x)))"), ("/two/again", "a(b(x))"),
                    ("/closed", "Closed.\n"), ("/after", "x"),
                ] {
                    try connection.send("GET \(path) HTTP/1.1\r\nHost: h\r\n\r\n")
                    #expect(try connection.readResponse().text == expected)
                }
            }
        }
    }
}
