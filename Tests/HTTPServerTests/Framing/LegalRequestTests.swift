import HTTPServer
import HTTPTestClient
import Testing

/// A request that RFC 9112 allows, however odd it looks.
struct LegalRequest: Sendable, CustomStringConvertible {
    let name: String
    let text: String
    /// What `/echo`, `/` or whatever it asks for answers with.
    let answer: String

    var description: String { name }

    init(_ name: String, _ text: String, _ answer: String = "ok") {
        self.name = name
        self.text = text
        self.answer = answer
    }

    static let all: [LegalRequest] = [
        .init("no blank behind the colon", "GET / HTTP/1.1\r\nHost:h\r\nA:b\r\n\r\n"),
        .init("tabs around a value", "GET / HTTP/1.1\r\nHost:\th\t\r\nA: \t b \t\r\n\r\n"),
        .init("blanks behind a value", "GET / HTTP/1.1\r\nHost: h  \r\nA: b \r\n\r\n"),
        .init("empty values", "GET / HTTP/1.1\r\nHost: h\r\nA:\r\nB: \r\nC:\r\n\r\n"),
        .init("a value of nothing but blanks", "GET / HTTP/1.1\r\nHost: h\r\nA:   \t \r\n\r\n"),
        .init("every character of a token", "GET / HTTP/1.1\r\nHost: h\r\n!#$%&'*+-.^_`|~09azAZ: b\r\n\r\n"),
        .init("bytes beyond ASCII in a value", "GET / HTTP/1.1\r\nHost: h\r\nA: äöü\r\n\r\n"),
        .init("an empty Host", "GET / HTTP/1.1\r\nHost:\r\n\r\n"),
        .init("a Host with a port", "GET / HTTP/1.1\r\nHost: example.org:8080\r\n\r\n"),
        .init("a Host with a colon and no port", "GET / HTTP/1.1\r\nHost: example.org:\r\n\r\n"),
        .init("an IPv6 Host", "GET / HTTP/1.1\r\nHost: [2001:db8::1]:80\r\n\r\n"),
        .init("HTTP/1.0 without Host", "GET / HTTP/1.0\r\n\r\n"),
        .init("HTTP/1.0 with fields", "GET / HTTP/1.0\r\nA: b\r\n\r\n"),
        .init("a later version of HTTP/1", "GET / HTTP/1.2\r\nHost: h\r\n\r\n"),
        .init("CR LF before the request line", "\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n"),
        .init("an absolute target", "GET http://example.org/ HTTP/1.1\r\nHost: h\r\n\r\n"),
        .init("an absolute target without a path", "GET http://example.org HTTP/1.1\r\nHost: h\r\n\r\n"),
        .init("an absolute target without a path, with a query", "GET http://h?a=b HTTP/1.1\r\nHost: h\r\n\r\n"),
        .init("an absolute target with a query", "GET HTTPS://example.org:443/?a=/b HTTP/1.1\r\nHost: h\r\n\r\n"),
        .init("a query with everything", "GET /?a=b&c=%20&d=/?:@!$'()*+,;[] HTTP/1.1\r\nHost: h\r\n\r\n"),
        .init("a question mark and no query", "GET /? HTTP/1.1\r\nHost: h\r\n\r\n"),
        .init("64 arguments", "GET /?\(String(repeating: "a=b&", count: 63))a HTTP/1.1\r\nHost: h\r\n\r\n"),
        .init("a target of 2048 bytes", "GET /?\(String(repeating: "a", count: 2046)) HTTP/1.1\r\nHost: h\r\n\r\n"),
        .init("100 fields", "GET / HTTP/1.1\r\nHost: h\r\n\(String(repeating: "A: b\r\n", count: 99))\r\n"),
        .init(
            "a head of 16 KiB", "GET / HTTP/1.1\r\nHost: h\r\nA: \(String(repeating: "b", count: 16_352))\r\n\r\n"),
        .init(
            "a head of nearly 16 KiB in 100 fields",
            "GET / HTTP/1.1\r\nHost: h\r\n"
                + String(repeating: "Abc: \(String(repeating: "d", count: 158))\r\n", count: 99) + "\r\n"),
        .init(
            "32 cookies in 2 kB",
            "GET / HTTP/1.1\r\nHost: h\r\nCookie: "
                + Array(repeating: "a=\(String(repeating: "b", count: 60))", count: 32).joined(separator: "; ")
                + "\r\n\r\n"),
        .init("a body", "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello", "hello"),
        .init("an empty body", "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n", ""),
        .init("no length and no body", "POST /echo HTTP/1.1\r\nHost: h\r\n\r\n", ""),
        .init("a body of a GET", "GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello"),
        .init(
            "a length with zeros in front", "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 0005\r\n\r\nhello",
            "hello"),
        .init("a body that waits", "POST /later HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello", "hello"),
        .init(
            "a body that looks like a request",
            "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 28\r\n\r\nGET /smuggled HTTP/1.1\r\n\r\n\r\n",
            "GET /smuggled HTTP/1.1\r\n\r\n\r\n"),
        .init(
            "every line end in a body, and NUL",
            "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 6\r\n\r\n\n\0\ra\n\r",
            "\n\0\ra\n\r"),
        chunked("every line end in a chunk, and NUL", "6\r\n\n\0\ra\n\r\r\n0\r\n\r\n", "\n\0\ra\n\r"),
        chunked("chunks", "5\r\nhello\r\n1\r\n!\r\n0\r\n\r\n", "hello!"),
        chunked("no chunk but the last", "0\r\n\r\n", ""),
        chunked("chunk sizes in both cases", "a\r\n0123456789\r\nA\r\n0123456789\r\n0\r\n\r\n", "01234567890123456789"),
        chunked("a chunk size with zeros in front", "0005\r\nhello\r\n000\r\n\r\n", "hello"),
        chunked("chunk extensions", "5;a=b;c=\"d\";e\r\nhello\r\n0;f\r\n\r\n", "hello"),
        chunked(
            "chunk extensions with blanks", "5 ;\t a = b ;c=\"d \\\" e\";f ;g=\"\"\r\nhello\r\n0\t;h\r\n\r\n", "hello"),
        chunked("an extension as signed uploads have it", "5;s=\(hash)\r\nhello\r\n0\r\n\r\n", "hello"),
        chunked("trailers", "5\r\nhello\r\n0\r\nA: b\r\nC:d\r\n\r\n", "hello"),
        chunked("a trailer that names a length", "5\r\nhello\r\n0\r\nContent-Length: 3\r\nHost: x\r\n\r\n", "hello"),
        .init(
            "chunked in other letters",
            "POST /echo HTTP/1.1\r\nHost: h\r\nTRANSFER-ENCODING: Chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n", "hi"),
    ]

    private static let hash = String(repeating: "f", count: 85)

    private static func chunked(_ name: String, _ body: String, _ answer: String) -> LegalRequest {
        .init(name, "POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n\(body)", answer)
    }
}

@Suite("A legal request", .serialized)
struct LegalRequestTests {
    @Test("is answered, whole or in pieces, and so is what stands behind it", arguments: LegalRequest.all)
    func isAnswered(_ request: LegalRequest) async throws {
        try await withServer { server in
            let port = server.port
            try await blocking {
                // 1.0.1 does not read a chunk's extension right, so the bridge takes it away where it has come as a
                // whole.
                let isSplit =
                    HostileRequest.isBefore1 || !request.text.contains("\r\n5;") && !request.text.contains("\r\n5 ;")
                for pieces in isSplit ? [Int.max, 7, 1] : [Int.max] {
                    let connection = try RawConnection(port: port)
                    let bytes = Array(request.text.utf8)
                    for start in stride(from: 0, to: bytes.count, by: min(pieces, bytes.count)) {
                        let end = pieces == .max ? bytes.count : min(start + pieces, bytes.count)
                        try connection.send(Array(bytes[start..<end]))
                    }
                    let response = try connection.readResponse()
                    #expect(response.status == 200, "\(request.name)")
                    #expect(response.text == request.answer)
                    // HTTP/1.0 closes, everything else can go on.
                    guard !request.text.contains("HTTP/1.0") else { continue }
                    #expect(try connection.get().text == "ok")
                }
            }
        }
    }

    @Test("may stand directly behind another one")
    func pipelining() async throws {
        try await withServer { server in
            try await server.connected { connection in
                let requests = LegalRequest.all.filter { !$0.text.contains("HTTP/1.0") && $0.text.utf8.count < 500 }
                for request in requests { try connection.send(request.text) }
                for request in requests {
                    let response = try connection.readResponse()
                    #expect(response.status == 200, "\(request.name)")
                    #expect(response.text == request.answer, "\(request.name)")
                }
            }
        }
    }

    @Test("may ask for 100 (Continue) before it sends its body", arguments: ["/echo", "/later"])
    func expectContinue(path: String) async throws {
        try await withServer { server in
            try await server.connected { connection in
                try connection.send(
                    "POST \(path) HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n")
                let interim = try connection.readResponse(passingOverInterim: false)
                #expect(interim.status == 100)
                try connection.send("hello")
                let response = try connection.readResponse()
                #expect(response.status == 200)
                #expect(response.text == "hello")
            }
        }
    }

    @Test("may close the connection behind itself", arguments: ["Connection: close\r\n", "connection: foo, Close\r\n"])
    func close(fields: String) async throws {
        try await withServer { server in
            try await server.connected { connection in
                try connection.send("GET / HTTP/1.1\r\nHost: h\r\n\(fields)\r\n")
                let response = try connection.readResponse()
                #expect(response.text == "ok")
                #expect(response["Connection"]?.lowercased() == "close")
                #expect(connection.isClosedByPeer())
            }
        }
    }

    @Test("gets its answer when the client closes its half behind it", arguments: [("/echo"), ("/later")])
    func halfClose(path: String) async throws {
        try await withServer { server in
            let port = server.port
            try await blocking {
                for _ in 0..<5 {
                    let connection = try RawConnection(port: port)
                    try connection.send("POST \(path) HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello")
                    connection.finishSending()
                    #expect(try connection.readResponse().text == "hello")
                    #expect(connection.isClosedByPeer())
                }
            }
        }
    }
}
