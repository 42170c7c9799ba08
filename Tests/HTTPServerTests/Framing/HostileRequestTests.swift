import HTTPServer
import HTTPTestClient
import Testing

/// RFC 9112 as libmicrohttpd does not keep it: whoever stands in front of this server may read such bytes in
/// another way, so that what is behind them must never be taken for a request.
/// Serialized: hundreds of servers at a time would leave nothing for the tests that look at the time.
@Suite("A hostile request", .serialized)
struct HostileRequestTests {
    private static let behind = Array("GET /smuggled HTTP/1.1\r\nHost: h\r\n\r\n".utf8)

    @Test("is refused, and nothing behind it is answered", arguments: HostileRequest.all)
    func isRefused(_ request: HostileRequest) async throws {
        try await check(request, pieces: .max)
    }

    @Test(
        "is refused as well when it comes byte by byte",
        arguments: HostileRequest.all.filter { $0.bytes.count < 500 })
    func isRefusedInPieces(_ request: HostileRequest) async throws {
        try await check(request, pieces: 1)
    }

    @Test(
        "is refused as well when its chunks come with the request before it",
        // From 1.0 on the library takes one empty line at most.
        arguments: HostileRequest.isBefore1 ? ["", "\r\n", "\r\n\r\n"] : ["", "\r\n"],
        HostileRequest.chunks.filter { $0.bytes.count < 500 })
    func isRefusedBehindAnother(blankLines: String, request: HostileRequest) async throws {
        let recorder = Recorder()
        try await withServer(observer: recorder) { server in
            let port = server.port
            try await blocking {
                let first = HostileRequest.isBefore1 ? blankLines : ""
                let before = first + "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nhi" + blankLines
                let connection = try RawConnection(port: port)
                // A read of its own, which says nothing of where the library keeps the next one.
                try connection.send("\r\n")
                try connection.send(Array(before.utf8) + request.bytes + Self.behind)
                #expect(try connection.readResponse().text == "hi")
                #expect(try connection.readResponse().status == request.status)
                #expect(try connection.readToEnd().isEmpty)
            }
        }
        #expect(!recorder.targets.contains("/smuggled"))
    }

    /// Whoever answered, it looks like any other answer, and says that the connection ends.
    private static func checkAnswer(_ response: TestResponse, _ name: String) {
        #expect(response.values("Request-Id").count == 1, "\(name)")
        #expect(response["X-Content-Type-Options"] == "nosniff", "\(name)")
        #expect(response["Content-Type"] == "text/plain; charset=utf-8", "\(name)")
        #expect(response["Date"] != nil, "\(name)")
        #expect(response.values("Connection") == ["close"], "\(name)")
        #expect(!response.body.isEmpty, "\(name)")
    }

    private func check(_ request: HostileRequest, pieces: Int) async throws {
        let recorder = Recorder()
        try await withServer(observer: recorder) { server in
            let port = server.port
            try await blocking {
                let conversation = try Conversation(port: port, sending: request.bytes + Self.behind, pieces: pieces)
                #expect(conversation.status == request.status, "\(request.name)")
                if let response = conversation.response { Self.checkAnswer(response, request.name) }
                #expect(try statusOfGoodRequest(port: port) == 200, "\(request.name)")
            }
        }
        #expect(!recorder.targets.contains("/smuggled"))
        // Whatever was refused has no target; all that was handled is the good request.
        #expect(recorder.statuses.filter { $0 == 200 }.count == 1)
    }
}
