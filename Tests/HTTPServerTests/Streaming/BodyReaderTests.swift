import Glibc
import HTTPServer
import HTTPTestClient
import Synchronization
import Testing

@Suite("A body that is taken piece by piece")
struct BodyReaderTests {
    /// `POST /count` gives back how many bytes came and their sum; `/first` answers after the first piece.
    private static func withPieces(
        pause: Bool = false, configure: (inout HTTPServerConfiguration) -> Void = { _ in },
        _ body: (HTTPServer) async throws -> Void
    ) async throws {
        try await withServer(configure: configure) { routes in
            routes.addUsualRoutes()
            routes.onPieces(.post, "/count") { request in
                var count = 0
                var sum = 0
                while let piece = try await request.reader?.next() {
                    count += piece.count
                    for byte in piece { sum &+= Int(byte) }
                    if pause { await Task.yield() }
                }
                return HTTPResponse(text: "\(count) \(sum) \(try request.body.count)")
            }
            routes.onPieces(.post, "/first") { request in
                let first = try await request.reader?.next()
                await Task.yield()
                return HTTPResponse(.conflict, text: "\(first?.count ?? 0)")
            }
            routes.onPieces(.post, "/refuse") { _ in HTTPResponse(.unauthorized, text: "no") }
        } _: {
            try await body($0)
        }
    }

    private static func bytes(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) } }

    private static func expected(_ body: [UInt8]) -> String {
        "\(body.count) \(body.reduce(0) { $0 + Int($1) }) 0"
    }

    private static func chunked(_ body: [UInt8], by size: Int) -> [UInt8] {
        var result: [UInt8] = []
        for start in stride(from: 0, to: body.count, by: size) {
            let chunk = body[start..<min(start + size, body.count)]
            result += Array("\(String(chunk.count, radix: 16))\r\n".utf8) + chunk + Array("\r\n".utf8)
        }
        return result + Array("0\r\n\r\n".utf8)
    }

    @Test(
        "comes whole and in order, beyond the limit of other bodies, and the connection goes on",
        arguments: [0, 1, 5_000, 100_000, 3_000_000], [true, false])
    func whole(size: Int, pause: Bool) async throws {
        try await Self.withPieces(pause: pause) {
            $0.limits.bodyBytes = 100
        } _: { server in
            let port = server.port
            try await blocking {
                let body = Self.bytes(size)
                let connection = try RawConnection(port: port)
                let head = "POST /count HTTP/1.1\r\nHost: h\r\n"
                for _ in 0..<2 {
                    try connection.send(Array("\(head)Content-Length: \(size)\r\n\r\n".utf8) + body)
                    #expect(try connection.readResponse().text == (size == 0 ? "0 0 0" : Self.expected(body)))
                }
                for chunk in [7, 1_000, 20_000] where size / chunk < 20_000 {
                    try connection.send(
                        Array("\(head)Transfer-Encoding: chunked\r\n\r\n".utf8) + Self.chunked(body, by: chunk)
                            + Array("GET / HTTP/1.1\r\nHost: h\r\n\r\n".utf8))
                    #expect(try connection.readResponse().text == (size == 0 ? "0 0 0" : Self.expected(body)))
                    #expect(try connection.readResponse().text == "ok")
                }
                // Others keep their limit.
                try connection.send("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 101\r\n\r\n")
                try connection.send(Self.bytes(101))
                #expect(try connection.readResponse().status == 413)
            }
        }
    }

    @Test("comes however the client cuts it, with 100 Continue for who asks")
    func dribble() async throws {
        try await Self.withPieces { server in
            let port = server.port
            try await blocking {
                let connection = try RawConnection(port: port)
                try connection.send(
                    "POST /count HTTP/1.1\r\nHost: h\r\nContent-Length: 500\r\nExpect: 100-continue\r\n\r\n")
                #expect(try connection.readResponse(passingOverInterim: false).status == 100)
                let body = Self.bytes(500)
                for byte in body { try connection.send([byte]) }
                #expect(try connection.readResponse().text == Self.expected(body))
            }
        }
    }

    @Test("is held back when its handler is behind")
    func backPressure() async throws {
        let release = Event()
        let arrived = Event()
        try await withServer { _ in
        } routes: { routes in
            routes.onPieces(.post, "/") { request in
                var count = 0
                while let piece = try await request.reader?.next() {
                    count += piece.count
                    arrived.happen()
                    await release.wait()
                }
                return HTTPResponse(text: "\(count)")
            }
        } _: { server in
            let port = server.port
            let connection = try await blocking { Handed(try RawConnection(port: port)) }
            let size = 200 << 20
            try await blocking {
                try connection.value.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: \(size)\r\n\r\n")
            }
            let sent = try await blocking {
                // As much as the kernel takes: what the server read is at most one piece.
                let piece = [UInt8](repeating: 97, count: 1 << 20)
                let flags = fcntl(connection.value.descriptor, F_GETFL)
                _ = fcntl(connection.value.descriptor, F_SETFL, flags | O_NONBLOCK)
                defer { _ = fcntl(connection.value.descriptor, F_SETFL, flags) }
                var sent = 0
                while sent < size {
                    let count = Glibc.send(
                        connection.value.descriptor, piece, min(piece.count, size - sent), Int32(MSG_NOSIGNAL))
                    if count > 0 {
                        sent += count
                        continue
                    }
                    var look = pollfd(fd: connection.value.descriptor, events: Int16(POLLOUT), revents: 0)
                    if poll(&look, 1, 300) == 0 { break }
                }
                return sent
            }
            #expect(sent < size / 4)
            await arrived.wait()
            release.happen()
            try await blocking {
                try connection.value.send([UInt8](repeating: 97, count: size - sent))
                #expect(try connection.value.readResponse().text == "\(size)")
            }
        }
    }

    @Test("is answered before its end, when the handler wants no more", arguments: ["/first", "/refuse"])
    func early(path: String) async throws {
        try await Self.withPieces { server in
            let port = server.port
            try await blocking {
                // The client goes on sending.
                let all = try Conversation(
                    port: port,
                    sending: Array("POST \(path) HTTP/1.1\r\nHost: h\r\nContent-Length: 4000000\r\n\r\n".utf8)
                        + Self.bytes(4_000_000))
                #expect(all.status == (path == "/first" ? 409 : 401))
                #expect(all.response?["Connection"] == "close" && all.rest.isEmpty)
                // The client stalls.
                let connection = try RawConnection(port: port)
                try connection.send("POST \(path) HTTP/1.1\r\nHost: h\r\nContent-Length: 4000000\r\n\r\nabc")
                #expect(try connection.readResponse().status == (path == "/first" ? 409 : 401))
                #expect(connection.isClosedByPeer())
                #expect(try statusOfGoodRequest(port: port) == 200)
            }
        }
    }

    @Test("is bounded by its own limit")
    func limit() async throws {
        try await Self.withPieces {
            $0.limits.streamedBodyBytes = 10_000
        } _: { server in
            let port = server.port
            try await blocking {
                let head = "POST /count HTTP/1.1\r\nHost: h\r\n"
                for (field, body) in [
                    ("Content-Length: 10001", Self.bytes(10_001)),
                    ("Transfer-Encoding: chunked", Self.chunked(Self.bytes(10_001), by: 999)),
                    ("Transfer-Encoding: chunked", Self.chunked(Self.bytes(20_000), by: 20_000)),
                ] {
                    let answer = try Conversation(port: port, sending: Array("\(head)\(field)\r\n\r\n".utf8) + body)
                    #expect(answer.status == 413 && answer.rest.isEmpty)
                }
                let answer = try Conversation(
                    port: port,
                    sending: Array("\(head)Content-Length: 10000\r\nConnection: close\r\n\r\n".utf8)
                        + Self.bytes(10_000))
                #expect(answer.response?.text == Self.expected(Self.bytes(10_000)))
            }
        }
    }

    @Test("with broken chunks is refused where they break", arguments: ["5\r\nhello\nx", "z\r\n", "5\r\nhelloworld"])
    func brokenChunks(body: String) async throws {
        try await Self.withPieces { server in
            let port = server.port
            try await blocking {
                let good = Self.chunked(Self.bytes(30_000), by: 1_000).dropLast(5)
                let answer = try Conversation(
                    port: port,
                    sending: Array("POST /count HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n".utf8)
                        + good + Array(body.utf8))
                #expect(answer.status == 400 && answer.rest.isEmpty)
            }
        }
    }

    @Test(
        "breaks off for its handler when the client leaves", arguments: ClientGoneTests.Manner.allCases, [true, false])
    func clientGone(_ manner: ClientGoneTests.Manner, isWaiting: Bool) async throws {
        let arrived = Event()
        let release = Event()
        let broke = Event()
        let count = Atomic<Int>(0)
        try await withServer { _ in
        } routes: { routes in
            routes.addUsualRoutes()
            routes.onPieces(.post, "/wait") { request in
                do {
                    while let piece = try await request.reader?.next() {
                        count.wrappingAdd(piece.count, ordering: .relaxed)
                        arrived.happen()
                        if !isWaiting { await release.wait() }
                    }
                } catch {
                    broke.happen()
                }
                return HTTPResponse()
            }
        } _: { server in
            let port = server.port
            let connection = try await blocking { Handed(try RawConnection(port: port)) }
            try await blocking {
                try connection.value.send("POST /wait HTTP/1.1\r\nHost: h\r\nContent-Length: 100\r\n\r\nabc")
            }
            await arrived.wait()
            connection.value.close(withReset: manner == .reset)
            release.happen()
            await broke.wait()
            #expect(count.load(ordering: .relaxed) == 3)
            #expect(try await blocking { try statusOfGoodRequest(port: port) } == 200)
        }
    }

    @Test("whose handler takes too long over a piece is answered 504")
    func deadline() async throws {
        try await withServer {
            $0.timeouts.handler = .milliseconds(200)
        } routes: { routes in
            routes.onPieces(.post, "/wait") { request in
                _ = try await request.reader?.next()
                await Event.cancellation()
                return HTTPResponse()
            }
        } _: { server in
            let port = server.port
            try await blocking {
                let connection = try RawConnection(port: port)
                try connection.send("POST /wait HTTP/1.1\r\nHost: h\r\nContent-Length: 100\r\n\r\nabc")
                #expect(try connection.readResponse().status == 504)
                #expect(connection.isClosedByPeer())
            }
        }
    }

    @Test("that stalls, or comes a byte now and then, is cut", arguments: [true, false])
    func slowClient(stalls: Bool) async throws {
        try await Self.withPieces {
            $0.timeouts.body = .milliseconds(300)
        } _: { server in
            let port = server.port
            try await blocking {
                let connection = try RawConnection(port: port)
                try connection.send("POST /count HTTP/1.1\r\nHost: h\r\nContent-Length: 100000\r\n\r\nabc")
                var sent = 0
                while !stalls, sent < 1_000, (try? connection.send("a")) != nil {
                    sent += 1
                    if connection.hasSomethingToRead(withinMilliseconds: 50) { break }
                }
                #expect(sent < 100)
                #expect(connection.isClosedByPeer())
            }
        }
    }

    @Test("ends with the server", arguments: [true, false])
    func stopping(isWaiting: Bool) async throws {
        let arrived = Event()
        let connection = try await withServer(stopTimeout: .milliseconds(300)) { routes in
            routes.onPieces(.post, "/wait") { request in
                _ = try await request.reader?.next()
                arrived.happen()
                if isWaiting { _ = try await request.reader?.next() } else { await Event.cancellation() }
                return HTTPResponse()
            }
        } _: { server in
            let port = server.port
            let connection = try await blocking { Handed(try RawConnection(port: port)) }
            try await blocking {
                try connection.value.send("POST /wait HTTP/1.1\r\nHost: h\r\nContent-Length: 100\r\n\r\nabc")
            }
            await arrived.wait()
            return connection
        }
        let status = try await blocking { try? connection.value.readResponse().status }
        #expect(status == (isWaiting ? nil : 503))
    }
}
