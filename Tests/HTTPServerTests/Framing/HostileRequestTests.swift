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

    private func check(_ request: HostileRequest, pieces: Int) async throws {
        let recorder = Recorder()
        try await withServer(observer: recorder) { server in
            let port = server.port
            try await blocking {
                let conversation = try Conversation(port: port, sending: request.bytes + Self.behind, pieces: pieces)
                #expect(conversation.status == request.status, "\(request.name)")
                #expect(try statusOfGoodRequest(port: port) == 200, "\(request.name)")
            }
        }
        #expect(!recorder.targets.contains("/smuggled"))
        // Whatever was refused has no target; all that was handled is the good request.
        #expect(recorder.statuses.filter { $0 == 200 }.count == 1)
    }
}
