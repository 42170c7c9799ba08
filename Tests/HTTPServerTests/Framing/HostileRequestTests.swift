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

@Suite("The characters of a target")
struct TargetCharacterTests {
    /// RFC 3986, appendix A: unreserved, reserved but for the fragment's, and the percent sign.
    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "-._~:/?[]@!$&'()*+,;=%".utf8.contains(byte)
        }
    }

    /// Targets are looked at in pieces of sixteen bytes: at each place of a piece, and in targets shorter than one.
    @Test("are those that a URI may have, wherever in it", arguments: [3, 16, 17, 40])
    func characters(length: Int) async throws {
        try await withServer { server in
            let port = server.port
            try await blocking {
                var connection = try RawConnection(port: port)
                for place in Set([1, 7, 15, length / 2, length - 1]) where place < length {
                    // A blank, a NUL and line ends make another request line: they have tests of their own.
                    let others: [UInt8] = [0x20, 0x09, 0x0A, 0x0D] + (HostileRequest.isBefore1 ? [] : [0x0B, 0x0C])
                    for byte in UInt8(1)...255 where !others.contains(byte) {
                        var target = [UInt8(ascii: "/")] + [UInt8](repeating: UInt8(ascii: "a"), count: length - 1)
                        target[place] = byte
                        try connection.send(Array("GET ".utf8) + target + Array(" HTTP/1.1\r\nHost: h\r\n\r\n".utf8))
                        let response = try connection.readResponse()
                        let isRefused = response.text.contains("target is not valid")
                        if isRefused == Self.isAllowed(byte) { Issue.record("\(byte) at \(place) of \(length)") }
                        if response["Connection"] == "close" { connection = try RawConnection(port: port) }
                    }
                }
            }
        }
    }
}
