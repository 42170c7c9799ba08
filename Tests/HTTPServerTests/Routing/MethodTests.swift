import HTTPServer
import HTTPTestClient
import Testing

@Suite("Methods over the wire")
struct MethodTests {
    private static func exchange(_ texts: [String]) async throws -> [TestResponse] {
        try await withServer { server in
            return try await server.seen { connection in
                return try texts.map { text in
                    try connection.send(text)
                    return try connection.readResponse(isBodiless: text.hasPrefix("HEAD"))
                }
            }
        }
    }

    @Test("HEAD has the fields of GET and no body, for errors as well", arguments: ["/", "/nothing"])
    func head(path: String) async throws {
        let answers = try await Self.exchange([
            "GET \(path) HTTP/1.1\r\nHost: h\r\nRequest-Id: r\r\n\r\n",
            "HEAD \(path) HTTP/1.1\r\nHost: h\r\nRequest-Id: r\r\n\r\n", "GET / HTTP/1.1\r\nHost: h\r\n\r\n",
        ])
        #expect(answers[0].status == answers[1].status)
        let fields = answers.map { answer in
            answer.fields.filter { $0.name != "Date" }.map { "\($0.name): \($0.value)" }.sorted()
        }
        #expect(fields[0] == fields[1])
        #expect(answers[1].body.isEmpty)
        #expect(answers[2].text == "ok")
    }

    @Test("OPTIONS tells what is possible, with no body")
    func options() async throws {
        let answers = try await Self.exchange([
            "OPTIONS / HTTP/1.1\r\nHost: h\r\n\r\n", "OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n",
            "OPTIONS /nothing HTTP/1.1\r\nHost: h\r\n\r\n",
        ])
        #expect(answers.map(\.status) == [204, 204, 404])
        #expect(answers[0]["Allow"] == "GET, HEAD, OPTIONS")
        #expect(answers[1]["Allow"] == "DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT")
        #expect(answers[0]["Content-Length"] == nil)
    }

    @Test(
        "others are 405 on a path that is known, and the connection goes on",
        arguments: ["POST", "TRACE", "get", "BREW", "PROPFIND"])
    func others(method: String) async throws {
        let answers = try await Self.exchange([
            "\(method) / HTTP/1.1\r\nHost: h\r\n\r\n", "GET / HTTP/1.1\r\nHost: h\r\n\r\n",
        ])
        #expect(answers[0].status == 405)
        #expect(answers[0]["Allow"] == "GET, HEAD, OPTIONS")
        #expect(answers[1].status == 200)
    }

    @Test(
        "CONNECT is 405 whatever its target, and never the end of the process",
        arguments: ["h:80", "a:1", ":", "a", "*", "/", "a:"])
    func connect(target: String) async throws {
        let answers = try await Self.exchange(["CONNECT \(target) HTTP/1.1\r\nHost: h\r\n\r\n"])
        #expect(answers[0].status == 405)
    }

    @Test("an answer of 204 or 304 has no body, whatever its handler gave", arguments: [204, 304])
    func bodiless(code: Int) async throws {
        try await withRoutes { routes in
            routes.on(.get, "/") { _ in HTTPResponse(HTTPStatus(UInt16(code)), body: Array("body".utf8)) }
        } _: { server in
            try await server.connected { (connection) throws in
                for _ in 0..<2 {
                    #expect(try connection.get().status == code)
                }
            }
        }
    }
}
