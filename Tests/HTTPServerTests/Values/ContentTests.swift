import HTTPServer
import HTTPTestClient
import Testing

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
                let port = server.port
                return try await blocking {
                    let connection = try RawConnection(port: port)
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
