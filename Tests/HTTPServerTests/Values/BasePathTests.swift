import HTTPServer
import HTTPTestClient
import Testing

@Suite("The path under which a proxy publishes a server")
struct BasePathTests {
    /// What a request with these fields is told to put before addresses.
    private static func seen(
        _ fields: [String], basePath: String? = nil, trusting network: String = "127.0.0.1",
        _ field: TrustedProxies.Field = .xForwardedFor
    ) async throws -> String {
        let network = try #require(AddressRange(network))
        return try await withServer {
            $0.basePath = basePath
            $0.trustedProxies = TrustedProxies(networks: [network], field: field)
        } routes: { routes in
            routes.on(.get, "/") { HTTPResponse(text: "<\($0.basePath)>") }
        } _: { server in
            try await server.seen { connection in
                if field == .proxyProtocol { try connection.send("PROXY TCP4 127.0.0.1 127.0.0.1 1 2\r\n") }
                try connection.send("GET / HTTP/1.1\r\nHost: h\r\n" + fields.map { $0 + "\r\n" }.joined() + "\r\n")
                return try connection.readResponse().text
            }
        }
    }

    private static let longest = "/" + String(repeating: "a", count: 255)

    @Test(
        "is what a trusted proxy says, with one final slash or none",
        arguments: [
            ("/shop", "/shop"), ("/shop/", "/shop"), ("/a/b-c/~d_e.f", "/a/b-c/~d_e.f"), (" /shop ", "/shop"),
            (longest, longest),
        ])
    func told(_ value: String, _ path: String) async throws {
        #expect(try await Self.seen(["X-Forwarded-Prefix: \(value)"]) == "<\(path)>")
    }

    @Test(
        "is not what could be taken for a host, leads elsewhere, or means something in a text",
        arguments: [
            "/", "//", "shop", "//evil.example", "//evil.example/", "/shop//", "/a//b", "/..", "/a/../b", "/./a",
            "https://evil.example", "/a?b", "/a#b", "/a b", "/a%2f", "/a\"b", "/a<b", "/a\\b", "/ä", "/a,/b", "/a;b",
            longest + "a",
        ])
    func malformed(_ value: String) async throws {
        #expect(try await Self.seen(["X-Forwarded-Prefix: \(value)"]) == "<>")
    }

    @Test("is not what two fields say, or a client, or the client behind the PROXY protocol")
    func untrusted() async throws {
        let fields = ["X-Forwarded-Prefix: /shop"]
        #expect(try await Self.seen(fields + fields) == "<>")
        #expect(try await Self.seen(fields, trusting: "10.0.0.0/8") == "<>")
        #expect(try await Self.seen(fields, .proxyProtocol) == "<>")
        #expect(try await Self.seen([]) == "<>")
    }

    @Test("is the fixed one, whatever else a request says")
    func fixed() async throws {
        #expect(try await Self.seen([], basePath: "/fixed") == "</fixed>")
        #expect(try await Self.seen(["X-Forwarded-Prefix: /shop"], basePath: "/fixed") == "</fixed>")
    }

    @Test("may stand before the path of a request, and only as a whole")
    func inRequests() async throws {
        try await withServer {
            $0.basePath = "/shop"
        } routes: { routes in
            routes.on(.get, "/") { _ in HTTPResponse(text: "root") }
            routes.on(.get, "/things/{id}/parts/{part}") {
                HTTPResponse(text: "\($0.parameter("id")) \($0.parameter("part")) \((try? $0.query["q"]) ?? "")")
            }
            routes.on(.get, "/shop/window") { _ in HTTPResponse(text: "window") }
        } _: { server in
            try await server.connected { connection in
                func text(_ path: String) throws -> String {
                    let response = try connection.get(path)
                    return response.status == 200 ? response.text : "\(response.status)"
                }
                #expect(try text("/things/1/parts/2?q=3") == "1 2 3")
                #expect(try text("/shop/things/1/parts/2?q=3") == "1 2 3")
                #expect(try text("http://h/shop/things/%31/parts/2") == "1 2 ")
                #expect(try text("/shop") == "root")
                #expect(try text("/shop/") == "root")
                #expect(try text("/shop?q=1") == "root")
                #expect(try text("/shop/window") == "window", "the path itself comes first")
                for path in ["/shopthings/1/parts/2", "/shop/shop/things/1/parts/2", "/Shop", "/%73hop", "/shop//"] {
                    #expect(try text(path) == "404", "\(path)")
                }
                #expect(try text("/shop/things/%zz/parts/2") == "400")
                let slashes = try connection.get("/shop//things/1/parts/2")
                #expect(slashes.text.contains("/shop/things/1/parts/2 is one"))
                try connection.send("DELETE /shop/things/1/parts/2 HTTP/1.1\r\nHost: h\r\n\r\n")
                let refused = try connection.readResponse()
                #expect(refused.status == 405 && refused["Allow"] == "GET, HEAD, OPTIONS")
            }
        }
    }
}
