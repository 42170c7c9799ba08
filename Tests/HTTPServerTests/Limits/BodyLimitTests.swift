import HTTPServer
import HTTPTestClient
import Testing

@Suite("The limit of bodies")
struct BodyLimitTests {
    private static let limit = 1000

    private static func withLimitedServer(_ body: @escaping @Sendable (UInt16) throws -> Void) async throws {
        try await withServer(setting: \.limits.bodyBytes, to: limit) { server in
            let port = server.port
            try await blocking { try body(port) }
        }
    }

    private static func chunks(of size: Int, count: Int) -> String {
        let chunk = String(size, radix: 16) + "\r\n" + String(repeating: "a", count: size) + "\r\n"
        return String(repeating: chunk, count: count) + "0\r\n\r\n"
    }

    @Test("lets a body of just that size in", arguments: ["/echo", "/later"])
    func atTheLimit(path: String) async throws {
        try await Self.withLimitedServer { port in
            let connection = try RawConnection(port: port)
            let body = String(repeating: "a", count: Self.limit)
            try connection.send("POST \(path) HTTP/1.1\r\nHost: h\r\nContent-Length: \(Self.limit)\r\n\r\n\(body)")
            #expect(try connection.readResponse().text == body)
            try connection.send(
                "POST \(path) HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
                    + Self.chunks(of: 10, count: 100))
            #expect(try connection.readResponse().text == body)
        }
    }

    @Test("is small for a GET, whose body means nothing", arguments: ["GET", "HEAD"])
    func meaningless(method: String) async throws {
        try await withServer { server in
            let port = server.port
            try await blocking {
                for (length, status) in [(4_096, 200), (4_097, 413)] {
                    let connection = try RawConnection(port: port)
                    try connection.send("\(method) / HTTP/1.1\r\nHost: h\r\nContent-Length: \(length)\r\n\r\n")
                    try connection.send([UInt8](repeating: 97, count: length))
                    #expect(try connection.readResponse(isBodiless: method == "HEAD").status == status)
                }
            }
        }
    }

    @Test("answers 413 to one byte more, and closes")
    func overTheLimit() async throws {
        try await Self.withLimitedServer { port in
            let body = String(repeating: "a", count: Self.limit + 1)
            let plain = try Conversation(
                port: port,
                sending: Array("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 1001\r\n\r\n\(body)".utf8))
            #expect(plain.status == 413)
            #expect(plain.rest.isEmpty)
        }
    }

    @Test(
        "answers 413 to chunks that are too many, and closes",
        arguments: [(1001, 1), (1, 1001), (100, 11), (65536, 20)])
    func chunksOverTheLimit(size: Int, count: Int) async throws {
        try await Self.withLimitedServer { port in
            let head = "POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
            let conversation = try Conversation(
                port: port, sending: Array((head + Self.chunks(of: size, count: count)).utf8))
            #expect(conversation.status == 413)
            #expect(conversation.rest.isEmpty)
            #expect(try statusOfGoodRequest(port: port) == 200)
        }
    }

    @Test(
        "answers 413 to chunks as soon as they are too many, and waits for nothing",
        arguments: ["3e9\r\n", "3e8\r\n\(String(repeating: "a", count: 1000))\r\n1\r\n", "ffffffffffffffffffff\r\n"])
    func stalledChunks(body: String) async throws {
        try await Self.withLimitedServer { port in
            let connection = try RawConnection(port: port)
            try connection.send("PUT /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n")
            try connection.send(body)
            // The client sends no more, and keeps its half open.
            let response = try connection.readResponse()
            #expect(response.status == 413)
            #expect(response["Connection"] == "close")
            #expect(connection.isClosedByPeer())
        }
    }

    @Test("answers 413 without a body to chunks of a HEAD")
    func stalledHead() async throws {
        try await Self.withLimitedServer { port in
            let connection = try RawConnection(port: port)
            try connection.send("HEAD / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n")
            try connection.send("3e9\r\n")
            #expect(try connection.readResponse(isBodiless: true).status == 413)
            #expect(connection.isClosedByPeer())
        }
    }

    @Test("answers 413 although the client sends 4 MiB before it reads")
    func answerSurvivesTheBody() async throws {
        try await Self.withLimitedServer { port in
            for _ in 0..<3 {
                let connection = try RawConnection(port: port)
                let body = [UInt8](repeating: 97, count: 4 << 20)
                try connection.send("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: \(body.count)\r\n\r\n")
                try connection.send(body)
                let response = try connection.readResponse()
                #expect(response.status == 413)
                #expect(response["Connection"]?.lowercased() == "close")
            }
        }
    }

    @Test("answers 414 and 431 although the client sends 1 MiB before it reads", arguments: ["", " HTTP/1.1\r\nA: "])
    func answerSurvivesTheHead(start: String) async throws {
        try await Self.withLimitedServer { port in
            let connection = try RawConnection(port: port, sending: "GET /\(start)")
            try connection.send([UInt8](repeating: 97, count: 1 << 20))
            #expect(try connection.readResponse().status == (start.isEmpty ? 414 : 431))
        }
    }

    @Test("answers 413 to a client that asks first, and no 100")
    func expectContinue() async throws {
        try await Self.withLimitedServer { port in
            let connection = try RawConnection(port: port)
            try connection.send(
                "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 1001\r\nExpect: 100-continue\r\n\r\n")
            #expect(try connection.readResponse(passingOverInterim: false).status == 413)
            #expect(connection.isClosedByPeer())
        }
    }

    @Test("cuts a client that goes on sending chunks for ever")
    func endlessChunks() async throws {
        try await Self.withLimitedServer { port in
            let connection = try RawConnection(port: port)
            try connection.send("POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n")
            let chunk = Array("10000\r\n".utf8) + [UInt8](repeating: 97, count: 65536) + Array("\r\n".utf8)
            var sent = 0
            while sent < 4096, (try? connection.send(chunk)) != nil { sent += 1 }
            #expect(sent < 4096)
        }
    }
}

@Suite("A request head of any size", .serialized)
struct HeadSizeTests {
    /// Where a head grows.
    enum Part: String, CaseIterable {
        case value, target, fields, cookies

        /// A request whose head has about that many bytes.
        func request(of size: Int) -> String {
            let long = String(repeating: "a", count: size)
            return switch self {
            case .value: "GET / HTTP/1.1\r\nHost: h\r\nA: \(long)\r\n\r\n"
            case .target: "GET /?\(long) HTTP/1.1\r\nHost: h\r\n\r\n"
            case .fields: "GET / HTTP/1.1\r\nHost: h\r\n\(String(repeating: "A: b\r\n", count: size / 6))\r\n"
            case .cookies:
                "GET / HTTP/1.1\r\nHost: h\r\nCookie: \(String(repeating: "a=b; ", count: 20))c=\(long)\r\n\r\n"
            }
        }
    }

    /// Steps everywhere, and small ones around the limit and the ends of the library's memory: with 25 KiB and with
    /// 48 KiB of it, which it maps.
    private static let sizes =
        Array(stride(from: 1, to: 16_000, by: 137)) + Array(stride(from: 16_000, to: 16_500, by: 3))
        + Array(stride(from: 16_501, to: 60_000, by: 977))

    @Test("is answered", arguments: Part.allCases, [25_600, 49_152])
    func isAnswered(part: Part, memory: Int) async throws {
        try await withServer(setting: \.limits.connectionMemory, to: memory) { server in
            let port = server.port
            try await blocking {
                let around = Array(stride(from: memory - 500, to: memory + 200, by: 3))
                var unanswered: [Int] = []
                for size in Self.sizes + around {
                    let conversation = try Conversation(
                        port: port, sending: Array(part.request(of: size).utf8), closing: true)
                    let isAnswer = [200, 414, 431].contains(conversation.status)
                    if !isAnswer || conversation.response?["Request-Id"] == nil { unanswered.append(size) }
                }
                #expect(unanswered.isEmpty)
            }
        }
    }
}
