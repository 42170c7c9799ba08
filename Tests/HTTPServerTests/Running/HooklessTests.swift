import HTTPTestClient
import Testing

@testable import HTTPServer

/// What a program gets that uses the library product `HTTPServer` and replaces no function of the C library.
@Suite("A server without the program's hooks")
struct HooklessTests {
    private static func withHooklessServer(_ body: @escaping @Sendable (UInt16) throws -> Void) async throws {
        try await withServer(setting: \.ignoresHooks, to: true) { server in
            let port = server.port
            try await blocking { try body(port) }
        }
    }

    @Test("answers, and keeps the connection where the library checks the bytes of heads")
    func answers() async throws {
        try await Self.withHooklessServer { port in
            var connection = try RawConnection(port: port)
            for path in ["/echo", "/later", "/echo"] {
                try connection.send("POST \(path) HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello")
                #expect(try connection.readResponse().text == "hello")
                guard HostileRequest.isBefore1 else { continue }
                #expect(try connection.readToEnd().isEmpty)
                connection = try RawConnection(port: port)
            }
        }
    }

    @Test("closes behind chunks, which it has not seen")
    func chunks() async throws {
        try await Self.withHooklessServer { port in
            let connection = try RawConnection(port: port)
            try connection.send("POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n")
            try connection.send("5\r\nhello\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: h\r\n\r\n")
            let response = try connection.readResponse()
            #expect(response.text == "hello")
            #expect(response["Connection"]?.lowercased() == "close")
            #expect(try connection.readToEnd().isEmpty)
        }
    }

    @Test("answers nothing behind a hostile request", arguments: HostileRequest.all)
    func hostile(_ request: HostileRequest) async throws {
        try await Self.withHooklessServer { port in
            let behind = Array("GET /smuggled HTTP/1.1\r\nHost: h\r\n\r\n".utf8)
            let conversation = try Conversation(port: port, sending: request.bytes + behind)
            #expect(!String(decoding: conversation.rest, as: UTF8.self).contains("smuggled"))
            #expect(conversation.response?.text.contains("smuggled") != true)
        }
    }
}
