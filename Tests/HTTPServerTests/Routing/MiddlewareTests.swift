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

    /// Puts its name around what is answered promptly, unless the request says that there is something to wait for.
    private struct PromptAround: HTTPMiddleware {
        let name: String
        func respond(to request: HTTPRequest, next: HTTPHandler) async throws -> HTTPResponse {
            around(try await next(request))
        }

        func respondPromptly(
            to request: HTTPRequest, deferral: inout HTTPDeferral, next: PromptHandler
        ) throws -> HTTPResponse? {
            if request.fields[.accept] == "wait/\(name)" { return nil }
            return try next(request, &deferral).map(around)
        }

        private func around(_ response: HTTPResponse) -> HTTPResponse {
            HTTPResponse(body: Array("\(name)(".utf8) + response.body + Array(")".utf8))
        }
    }

    @Test(
        "stands around prompt handlers, too; one that has to wait, or does not know how not to, is asked the other way")
    func prompt() async throws {
        try await withServer { _ in
        } routes: { routes in
            let patient: HTTPHandler = { _ in HTTPResponse(text: "patient") }
            let prompt: PromptHandler = { request, _ in
                request.fields[.accept] == "wait/x" ? nil : HTTPResponse(text: "prompt")
            }
            routes.group(PromptAround(name: "a"), PromptAround(name: "b")) { routes in
                routes.on(.get, "/prompt", promptly: prompt, patient)
                routes.group(Around(name: "c")) { $0.on(.get, "/mixed", promptly: prompt, patient) }
                routes.on(
                    .get, "/failing", promptly: { _, _ in throw HTTPError(.conflict, code: "x", detail: "X.") }, patient
                )
                routes.on(.get, "/patient", patient)
            }
        } _: { server in
            let port = server.port
            try await blocking {
                let connection = try RawConnection(port: port)
                for (path, accept, expected) in [
                    ("/prompt", "text/plain", "a(b(prompt))"), ("/prompt", "wait/a", "a(b(patient))"),
                    ("/prompt", "wait/b", "a(b(patient))"), ("/prompt", "wait/x", "a(b(patient))"),
                    ("/mixed", "text/plain", "a(b(c(patient)))"), ("/patient", "text/plain", "a(b(patient))"),
                ] {
                    try connection.send("GET \(path) HTTP/1.1\r\nHost: h\r\nAccept: \(accept)\r\n\r\n")
                    #expect(try connection.readResponse().text == expected)
                }
                try connection.send("GET /failing HTTP/1.1\r\nHost: h\r\n\r\n")
                #expect(try connection.readResponse().status == 409)
            }
        }
    }
}
