import HTTPServer
import HTTPTestClient
import Testing

// The examples of docs/http-server.md, compiled and run. The text between the markers is the text of the page; a test
// compares the two.

// snippet: source
actor Countdown {
    private var left: Int

    init(from start: Int) { left = start }

    func next() -> [UInt8]? {
        guard left > 0 else { return nil }
        defer { left -= 1 }
        return Array("\(left)\n".utf8)
    }
}
// end

// snippet: routes
func addThings(to routes: inout RouterBuilder) {
    routes.on(.get, "/things/{id:int}") { request in
        HTTPResponse(text: "thing \(request.parameter("id"))")
    }
    routes.on(.get, "/search") { request in
        let query = try request.query
        guard let wanted = query["for"] else {
            throw HTTPError(.badRequest, code: "nothing_wanted", detail: "The query needs an argument for.")
        }
        return HTTPResponse(text: "looking for \(wanted)")
    }
    routes.on(.post, "/echo") { request in
        HTTPResponse(.created, fields: [.location: "/echoes/1"], body: try request.body)
    }
}
// end

// snippet: streams
func addStreams(to routes: inout RouterBuilder) {
    routes.on(.get, "/countdown") { _ in
        let countdown = Countdown(from: 3)
        return HTTPResponse(
            .ok, fields: [.contentType: "text/plain"], source: HTTPBodySource { await countdown.next() })
    }
}
// end

// snippet: errors
struct JSONErrors: HTTPErrorRenderer {
    func response(to error: any Error, of request: HTTPRequest) -> HTTPResponse {
        // An error of any other type is a bug: its description is for the log, not for the client.
        let known = error as? HTTPError
        var response = HTTPResponse(
            known?.status ?? .internalServerError, fields: [.contentType: "application/json"],
            body: Array(#"{"code":"\#(known?.code ?? "internal")"}"#.utf8))
        if let known { response.fields.add(contentsOf: known.fields) }
        return response
    }
}
// end

@Suite("The examples of docs/http-server.md")
struct DocumentationExamples {
    private func exchange(_ text: String, with server: HTTPServer) async throws -> TestResponse {
        return try await server.seen { connection in
            try connection.send(text)
            return try connection.readResponse()
        }
    }

    @Test("a server that says hello")
    func hello() async throws {
        // snippet: hello
        var routes = RouterBuilder()
        routes.on(.get, "/hello") { _ in HTTPResponse(text: "hello") }
        let server = try HTTPServer(router: routes.freeze())
        print("http://127.0.0.1:\(server.port)/hello")
        // end
        let response = try await exchange("GET /hello HTTP/1.1\r\nHost: h\r\n\r\n", with: server)
        #expect(response.text == "hello")
        // snippet: stop
        await server.stop(timeout: .seconds(10))
        // end
    }

    @Test("routes, parameters, bodies and errors")
    func things() async throws {
        try await withServer(routes: addThings) { server in
            let thing = try await exchange("GET /things/7 HTTP/1.1\r\nHost: h\r\n\r\n", with: server)
            #expect(thing.text == "thing 7")
            #expect(try await exchange("GET /things/x HTTP/1.1\r\nHost: h\r\n\r\n", with: server).status == 404)
            let found = try await exchange("GET /search?for=a+b HTTP/1.1\r\nHost: h\r\n\r\n", with: server)
            #expect(found.text == "looking for a b")
            #expect(try await exchange("GET /search HTTP/1.1\r\nHost: h\r\n\r\n", with: server).status == 400)
            let echo = try await exchange("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nhi", with: server)
            #expect(echo.status == 201 && echo["Location"] == "/echoes/1" && echo.text == "hi")
        }
    }

    @Test("a response in pieces")
    func streams() async throws {
        try await withServer(routes: addStreams) { server in
            let countdown = try await exchange("GET /countdown HTTP/1.1\r\nHost: h\r\n\r\n", with: server)
            #expect(countdown.text == "3\n2\n1\n")
        }
    }

    @Test("limits and errors of one's own")
    func configured() async throws {
        var routes = RouterBuilder()
        addThings(to: &routes)
        // snippet: configured
        var configuration = HTTPServerConfiguration()
        configuration.host = "127.0.0.1"
        configuration.workers = 1
        configuration.limits.bodyBytes = 64
        configuration.timeouts.handler = .seconds(5)
        let server = try HTTPServer(router: routes.freeze(), configuration: configuration, errors: JSONErrors())
        // end
        let response = try await exchange("GET /nothing HTTP/1.1\r\nHost: h\r\n\r\n", with: server)
        #expect(response.status == 404 && response.text == #"{"code":"not_found"}"#)
        let large = try await exchange(
            "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 65\r\n\r\n" + String(repeating: "x", count: 65),
            with: server)
        #expect(large.status == 413)
        await server.stop(timeout: .seconds(10))
    }

    @Test("routes that contradict each other")
    func ambiguous() {
        // snippet: ambiguous
        var routes = RouterBuilder()
        routes.on(.get, "/things/{id}") { _ in HTTPResponse(text: "a") }
        routes.on(.get, "/things/{name}") { _ in HTTPResponse(text: "b") }
        do {
            _ = try routes.freeze()
        } catch {
            print(error.description)
        }
        // end
        #expect(throws: RouteError.self) { try routes.freeze() }
    }
}
