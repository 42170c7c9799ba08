import HTTPServer
import HTTPTestClient
import Testing

@Suite("Middleware")
struct MiddlewareTests {
    /// Puts its name around whatever is inside it.
    private struct Around: HTTPMiddleware {
        let name: String
        func respond(to request: HTTPRequest, next: @escaping HTTPHandler) throws -> HTTPOutcome {
            try .transforming(request, next) { result in
                var response: HTTPResponse
                do {
                    response = try result.get()
                } catch let error as HTTPError where error.code == "seen" {
                    response = HTTPResponse(text: error.detail)
                }
                response.body = Array("\(name)(".utf8) + response.body + Array(")".utf8)
                return response
            }
        }
    }

    private struct Closed: HTTPMiddleware {
        func respond(to request: HTTPRequest, next: @escaping HTTPHandler) throws -> HTTPOutcome {
            throw HTTPError(.forbidden, code: "closed", detail: "Closed.")
        }
    }

    @Test("stands around the routes of its group, the first outermost, and around no others")
    func order() async throws {
        try await withRoutes { routes in
            let answer: @Sendable (HTTPRequest) async throws -> HTTPResponse = { _ in HTTPResponse(text: "x") }
            routes.on(.get, "/before", answer)
            routes.group(Around(name: "a"), Around(name: "b")) { routes in
                routes.on(.get, "/two", answer)
                routes.group(Around(name: "c")) { $0.on(.get, "/three", answer) }
                routes.on(.get, "/two/again", answer)
            }
            routes.group(Closed(), Around(name: "d")) { $0.on(.get, "/closed", answer) }
            routes.on(.get, "/after", answer)
        } _: { server in
            try await server.connected { (connection) throws in
                for (path, expected) in [
                    ("/before", "x"), ("/two", "a(b(x))"), ("/three", "a(b(c(x)))"), ("/two/again", "a(b(x))"),
                    ("/closed", "Closed.\n"), ("/after", "x"),
                ] {
                    #expect(try connection.get("\(path)").text == expected)
                }
            }
        }
    }

    @Test("transforms every outcome: a response, a deferred one, one of a task, and the error of each")
    func outcomes() async throws {
        let seen = HTTPError(.conflict, code: "seen", detail: "error")
        let outcomes: [String: HTTPHandler] = [
            "/response": { _ in .response(HTTPResponse(text: "x")) },
            "/deferred": { _ in .deferred { $0.respond { HTTPResponse(text: "x") } } },
            "/later": { _ in
                .deferred { responder in
                    let done: @Sendable (Result<String, any Error>) -> Void = responder.completion {
                        HTTPResponse(text: try $0.get())
                    }
                    Task { done(.success("x")) }
                }
            },
            "/task": { _ in .task { .response(HTTPResponse(text: "x")) } },
            "/task/deferred": { _ in .task { .deferred { $0.respond { HTTPResponse(text: "x") } } } },
            "/thrown": { _ in throw seen },
            "/thrown/deferred": { _ in .deferred { $0.respond { throw seen } } },
            "/thrown/task": { _ in .task { throw seen } },
        ]
        try await withRoutes { routes in
            routes.group(Around(name: "a"), Around(name: "b")) { routes in
                for (path, handler) in outcomes { routes.on(.get, path, handler: handler) }
            }
        } _: { server in
            try await server.connected { connection in
                for path in outcomes.keys {
                    let text = try connection.get("\(path)").text
                    #expect(text == (path.hasPrefix("/thrown") ? "a(b(error))" : "a(b(x))"), "\(path)")
                }
            }
        }
    }
}
