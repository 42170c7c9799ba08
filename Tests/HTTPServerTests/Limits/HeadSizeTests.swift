import HTTPServer
import HTTPTestClient
import Testing

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

    /// Steps everywhere, and every size around the ends of the library's memory: with 8 KiB and with 32 KiB of it.
    private static let sizes =
        Array(stride(from: 1, to: 7600, by: 37)) + Array(7600...8300) + Array(stride(from: 8301, to: 10_000, by: 19))
        + Array(stride(from: 10_001, to: 40_000, by: 977))

    @Test("is answered", arguments: Part.allCases, [8192, 32768])
    func isAnswered(part: Part, memory: Int) async throws {
        try await withServer {
            $0.limits.connectionMemory = memory
        } _: { server in
            let port = server.port
            try await blocking {
                let around = memory == 8192 ? [] : Array(stride(from: 32_000, to: 33_000, by: 3))
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
