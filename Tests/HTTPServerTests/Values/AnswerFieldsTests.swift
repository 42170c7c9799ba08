import CMicroHTTPD
import Glibc
import HTTPTestClient
import Testing

@testable import HTTPServer

private let wantedLibrary = getenv("EXPECTED_LIBMICROHTTPD").map { String(cString: $0) }

/// The fields of an answer are one text on its way to the library, or, where its insides are not known, one by one.
@Suite("An answer's fields, as one text and one by one,")
struct AnswerFieldsTests {
    @Test("are one text with the library that Debian 12 has", .enabled(if: HTTPServer.libraryVersion == "0.9.75"))
    func linked() {
        #expect(cmhd_can_link_fields())
    }

    @Test(
        "go through the library that scripts/test-with-libmicrohttpd wants",
        .enabled(if: wantedLibrary != nil, "EXPECTED_LIBMICROHTTPD is not set"))
    func wanted() { #expect(HTTPServer.libraryVersion == wantedLibrary) }

    @Test("come out as they were set, in their order", arguments: [false, true])
    func comeOut(singly: Bool) async throws {
        let many = (0..<40).map { ("X-\($0)", String(repeating: "\($0)", count: $0 + 1)) }
        try await withServer(setting: \.addsFieldsSingly, to: singly) { routes in
            routes.on(.get, "/") { _ in
                var response = HTTPResponse(text: "body")
                response.fields.add(.setCookie, "a=1; Path=/")
                response.fields.add(.setCookie, "b=2:3")
                for (name, value) in many { response.fields.add(HTTPFieldName(name), value) }
                response.fields.add("X-Words", "two: words,\tä")
                return response
            }
        } _: { server in
            try await server.connected { connection in
                for _ in 0..<3 {
                    let response = try connection.get()
                    #expect(response.values("Set-Cookie") == ["a=1; Path=/", "b=2:3"])
                    for (name, value) in many { #expect(response.values(name) == [value]) }
                    #expect(response["X-Words"] == "two: words,\tä")
                    #expect(response.values("Content-Length") == ["4"])
                    #expect(response.values("Date").count == 1)
                    #expect(response.values("X-Content-Type-Options") == ["nosniff"])
                    #expect(response["Connection"] == nil)
                    #expect(response.text == "body")
                }
            }
        }
    }

    private static let fixed = HTTPFixedFields(["X-First": "1", "X-Second": "2"])

    @Test("come out in their order when some are fixed and one is a tag", arguments: [false, true])
    func parts(singly: Bool) async throws {
        try await withServer {
            $0.addsFieldsSingly = singly
            $0.commonFields = ["X-Common": "c"]
        } routes: { routes in
            routes.on(.get, "/tag/{tag:int}") { request in
                var response = HTTPResponse(fields: HTTPFields(Self.fixed), body: Array("body".utf8))
                response.fields.add("X-Third", "3")
                response.fields.add(entityTag: UInt64(request.parameter("tag")) ?? .max)
                return response
            }
            routes.on(.get, "/none") { _ in HTTPResponse() }
            routes.on(.get, "/fixed") { _ in HTTPResponse(.notModified, fields: HTTPFields(Self.fixed)) }
        } _: { server in
            try await server.connected { connection in
                let first = ["X-First: 1", "X-Second: 2"]
                for (path, expected, body) in [
                    ("/tag/0", first + ["X-Third: 3", "ETag: \"0\""], "body"),
                    ("/tag/9223372036854775807", first + ["X-Third: 3", "ETag: \"9223372036854775807\""], "body"),
                    ("/none", [], ""), ("/fixed", first, ""),
                ] {
                    try connection.send("GET \(path) HTTP/1.1\r\nHost: h\r\nRequest-Id: my.id\r\n\r\n")
                    let response = try connection.readResponse()
                    let ours = response.fields.map { "\($0.name): \($0.value)" }
                        .filter { !$0.hasPrefix("Date: ") && !$0.hasPrefix("Content-Length: ") }
                    #expect(ours == expected + ["X-Common: c", "Request-Id: my.id"])
                    #expect(response.text == body)
                }
            }
        }
    }

    @Test(
        "go with answers of every kind: no body, a large one, and those that may have none", arguments: [false, true])
    func kinds(singly: Bool) async throws {
        let large = [UInt8](repeating: 0x61, count: 3 << 20)
        try await withServer(setting: \.addsFieldsSingly, to: singly) { routes in
            routes.on(.get, "/large") { _ in HTTPResponse(fields: ["X-Name": "large"], body: large) }
            routes.on(.get, "/status/{status:int}") { request in
                let status = HTTPStatus(UInt16(request.parameter("status")) ?? 200)
                return HTTPResponse(status, fields: ["X-Name": "\(status.code)"], body: Array("body".utf8))
            }
            routes.on(.delete, "/status/{status:int}") { _ in HTTPResponse(fields: ["X-Name": "empty"]) }
        } _: { server in
            try await server.connected { connection in
                for (method, path, status, name, body) in [
                    ("GET", "/status/200", 200, "200", "body"), ("HEAD", "/status/200", 200, "200", ""),
                    ("GET", "/status/204", 204, "204", ""),
                    ("GET", "/status/304", 304, "304", ""), ("GET", "/status/599", 599, "599", "body"),
                    ("DELETE", "/status/200", 200, "empty", ""), ("HEAD", "/large", 200, "large", ""),
                    ("GET", "/status/404", 404, "404", "body"),
                ] {
                    try connection.send("\(method) \(path) HTTP/1.1\r\nHost: h\r\n\r\n")
                    let response = try connection.readResponse(isBodiless: method == "HEAD")
                    #expect(response.status == status)
                    #expect(response.values("X-Name") == [name])
                    #expect(response.text == body)
                }
                #expect(try connection.get("/large").body == large)
            }
        }
    }

    @Test(
        "go with the library's own `Connection: close`, whether it refuses or the client asked",
        arguments: [false, true])
    func closing(singly: Bool) async throws {
        try await withServer(setting: \.addsFieldsSingly, to: singly) { server in
            let port = server.port
            try await blocking {
                for text in [
                    "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
                    "GET / HTTP/1.1\r\nHost: h\r\nA: b\r\n c\r\n\r\n",
                ] {
                    let connection = try RawConnection(port: port)
                    try connection.send(text)
                    let response = try connection.readResponse()
                    #expect(response.values("Connection") == ["close"])
                    #expect(response.values("Content-Type") == ["text/plain; charset=utf-8"])
                    #expect(response.values("Request-Id").count == 1)
                    #expect(connection.isClosedByPeer())
                }
                let old = try RawConnection(port: port, sending: "GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n")
                let response = try old.readResponse()
                #expect(response.values("Connection") == ["Keep-Alive"])
                #expect(response.text == "ok")
            }
        }
    }

    @Test("that are too many for the connection's memory break the connection, and no other", arguments: [false, true])
    func tooMany(singly: Bool) async throws {
        try await withServer(setting: \.addsFieldsSingly, to: singly) { routes in
            routes.addUsualRoutes()
            routes.on(.get, "/much") { _ in HTTPResponse(fields: ["X": String(repeating: "x", count: 100_000)]) }
        } _: { server in
            let port = server.port
            try await blocking {
                let connection = try RawConnection(port: port, sending: "GET /much HTTP/1.1\r\nHost: h\r\n\r\n")
                #expect(connection.isClosedByPeer())
                let other = try RawConnection(port: port)
                #expect(try other.get().text == "ok")
            }
        }
    }

    @Test(
        "that are the transport's are not a handler's to set",
        arguments: ["Connection", "content-length", "DATE", "Transfer-Encoding"])
    func transports(name: String) {
        var fields = HTTPFields()
        fields.add(HTTPFieldName(name), "close")
        #expect(!fields.isWellFormed)
        #expect(fields.lines.isEmpty)
        var others: HTTPFields = ["A": "b"]
        #expect(others.isWellFormed)
        others.add(contentsOf: fields)
        #expect(!others.isWellFormed)
        #expect(others.lines.map(\.value) == ["b"])
    }
}
