import CMicroHTTPD
import HTTPServer
import HTTPTestClient
import Testing

@Suite("Every answer")
struct AnswerTests {
    @Test(
        "has a Request-Id and the common fields, also when it is a refusal",
        arguments: [
            "GET / HTTP/1.1\r\nHost: h\r\n\r\n", "GET /nothing HTTP/1.1\r\nHost: h\r\n\r\n",
            "GET / HTTP/1.1\r\n\r\n", "OPTIONS / HTTP/1.1\r\nHost: h\r\n\r\n", "PUT / HTTP/1.1\r\nHost: h\r\n\r\n",
            "GET /%00 HTTP/1.1\r\nHost: h\r\n\r\n", "GET / HTTP/1.1\r\nHost: h\r\nA: b\r\n c\r\n\r\n",
            "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 9999999\r\n\r\n",
        ])
    func common(text: String) async throws {
        try await withServer { server in
            try await server.connected { connection in
                try connection.send(text)
                let response = try connection.readResponse()
                #expect(response.values("Request-Id").count == 1)
                #expect(response["X-Content-Type-Options"] == "nosniff")
                #expect(response.values("Date").count == 1)
                #expect(response.values("Content-Length").count <= 1)
                #expect(!response.text.lowercased().contains("html"))
            }
        }
    }

    @Test("echoes the client's Request-Id if it is a good one")
    func requestID() async throws {
        try await withServer { server in
            try await server.connected { connection in
                for (sent, isEchoed) in [("abc.DEF_1-2", true), ("a b", false), ("<script>", false)] {
                    try connection.send("GET / HTTP/1.1\r\nHost: h\r\nRequest-Id: \(sent)\r\n\r\n")
                    #expect((try connection.readResponse()["Request-Id"] == sent) == isEchoed)
                }
            }
        }
    }

    @Test("rests on a library whose insides are as expected")
    func selfTest() {
        for _ in 0..<3 { #expect(cmhd_self_test() == nil) }
        // Three numbers, from the oldest version that the framing checks know of to the newest.
        let version = HTTPServer.libraryVersion.split(separator: ".").map { Int($0) ?? -1 }
        #expect(version.count == 3)
        #expect(!version.lexicographicallyPrecedes([0, 9, 75]) && version.lexicographicallyPrecedes([1, 1, 0]))
    }

    @Test("that cannot be given, since the port is taken, is an error at the start that says so")
    func portTaken() async throws {
        try await withServer { server in
            var configuration = HTTPServerConfiguration()
            configuration.port = server.port
            let port = server.port
            let error = #expect(throws: HTTPServerError.self) {
                _ = try HTTPServer(router: RouterBuilder().freeze(), configuration: configuration)
            }
            #expect(error?.description.contains("127.0.0.1:\(port)") == true)
            configuration.host = "no such host"
            #expect(throws: HTTPServerError.self) {
                _ = try HTTPServer(router: RouterBuilder().freeze(), configuration: configuration)
            }
        }
    }
}

@Suite("A body that is not what it looks like")
struct ContentTests {
    private static func status(
        _ method: String, _ field: String, _ body: @Sendable (TestResponse) -> Void = { _ in }
    ) async throws -> Int {
        try await withServer(
            routes: { routes in
                for method in [HTTPMethod.put, .post] {
                    routes.on(method, "/") { HTTPResponse(body: try $0.body) }
                }
            },
            { server in
                return try await server.seen { connection in
                    try connection.send(
                        "\(method) / HTTP/1.1\r\nHost: h\r\n\(field)\r\nContent-Length: 5\r\n\r\nhello")
                    let response = try connection.readResponse()
                    if response.status == 415 { #expect(response["Accept-Encoding"] == "identity") }
                    return response.status
                }
            })
    }

    @Test(
        "is refused with 415 when it has a coding",
        arguments: ["gzip", "GZIP", "identity, gzip", "gzip, br", "identity\r\nContent-Encoding: br", "x"])
    func coding(value: String) async throws {
        #expect(try await Self.status("PUT", "Content-Encoding: \(value)") == 415)
        #expect(try await Self.status("POST", "content-encoding: \(value)") == 415)
    }

    @Test("is taken when its coding is none", arguments: ["identity", "Identity", "", " , identity"])
    func identity(value: String) async throws {
        #expect(try await Self.status("PUT", "Content-Encoding: \(value)") == 200)
    }

    @Test("is refused with 400 when it is a part of what PUT replaces")
    func range() async throws {
        #expect(try await Self.status("PUT", "Content-Range: bytes 0-4/10") == 400)
        #expect(try await Self.status("POST", "Content-Range: bytes 0-4/10") == 400)
    }
}
