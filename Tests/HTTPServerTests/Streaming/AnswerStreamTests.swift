import Glibc
import HTTPServer
import HTTPTestClient
import Synchronization
import Testing

/// Numbered lines, as many as wanted, some of them after a wait.
private final class Lines: Sendable {
    let asked = Atomic<Int>(0)
    let count: Int
    let size: Int
    let waits: Bool

    init(_ count: Int, of size: Int = 100, waits: Bool = true) {
        self.count = count
        self.size = size
        self.waits = waits
    }

    func next() async throws -> [UInt8]? {
        let number = asked.wrappingAdd(1, ordering: .relaxed).oldValue
        if waits, number % 3 == 0 { await Task.yield() }
        return number < count ? Self.line(number, size) : nil
    }

    static func line(_ number: Int, _ size: Int) -> [UInt8] {
        [UInt8](repeating: UInt8(ascii: "a") + UInt8(number % 26), count: size)
    }

    var all: [UInt8] { (0..<count).flatMap { Self.line($0, size) } }

    var source: HTTPBodySource { HTTPBodySource { try await self.next() } }
}

@Suite("An answer that is made while it is sent")
struct AnswerStreamTests {
    struct Oops: Error {}

    private static func get(_ port: UInt16, _ version: String = "1.1") throws -> RawConnection {
        let connection = try RawConnection(port: port, sending: "GET /stream HTTP/\(version)\r\nHost: h\r\n\r\n")
        return connection
    }

    @Test(
        "comes whole and in order, whatever its pieces, and the connection goes on",
        arguments: [(0, 1), (1, 1), (3, 100), (50, 70_000), (3000, 1)], [true, false])
    func whole(_ shape: (count: Int, size: Int), waits: Bool) async throws {
        let lines = Mutex<[Lines]>([])
        try await withRoutes { routes in
            routes.addUsualRoutes()
            routes.on(.get, "/stream") { _ in
                let made = Lines(shape.count, of: shape.size, waits: waits)
                lines.withLock { $0.append(made) }
                return HTTPResponse(.ok, fields: [.contentType: "text/plain", "X-Other": "1"], source: made.source)
            }
        } _: { server in
            let port = server.port
            let expected = Lines(shape.count, of: shape.size).all
            try await blocking {
                let connection = try Self.get(port)
                for _ in 0..<2 {
                    let response = try connection.readResponse()
                    #expect(response.status == 200 && response.isWhole)
                    #expect(response["Transfer-Encoding"] == "chunked" && response["Content-Length"] == nil)
                    #expect(response["Content-Type"] == "text/plain" && response["X-Other"] == "1")
                    #expect(response["Request-Id"] != nil && response["Date"] != nil)
                    #expect(response.body == expected)
                    try connection.send("GET /stream HTTP/1.1\r\nHost: h\r\n\r\n")
                }
                // To its end, which for an old client is the connection's.
                let old = try Self.get(port, "1.0")
                let response = try old.readResponse()
                #expect(response["Transfer-Encoding"] == nil && response.body == expected)
            }
        }
    }

    /// Pieces that come by callbacks, some of them from another thread.
    private final class Pieces: Sendable {
        let ended = Atomic(false)
        private let asked = Atomic<Int>(0)
        private let last: HTTPBodySource.Piece

        init(last: HTTPBodySource.Piece) { self.last = last }

        static let all = (0..<9).map { Lines.line($0, 1_500) }

        var source: HTTPBodySource {
            HTTPBodySource(
                ask: { [self] done in
                    let number = asked.wrappingAdd(1, ordering: .relaxed).oldValue
                    let piece = number < Self.all.count ? HTTPBodySource.Piece.bytes(Self.all[number]) : last
                    if number % 2 == 0 { done(piece) } else { Task { done(piece) } }
                }, end: { [self] in ended.store(true, ordering: .relaxed) })
        }
    }

    @Test("may come by callbacks; its source is told of the end", arguments: ["1.1", "1.0"], [true, false])
    func callbacks(version: String, isComplete: Bool) async throws {
        let pieces = Pieces(last: isComplete ? .end : .cut)
        try await withRoutes { routes in
            routes.on(.get, "/stream") { _ in HTTPResponse(source: pieces.source) }
        } _: { server in
            let port = server.port
            try await blocking {
                let response = try Self.get(port, version).readResponse()
                #expect(response.body == Pieces.all.flatMap(\.self))
                if version == "1.1" { #expect(response.isWhole == isComplete) }
            }
        }
        let isEnded = pieces.ended.load(ordering: .relaxed)
        #expect(isEnded)
    }

    @Test("sends its head alone to HEAD, asks its source for nothing, and closes", arguments: ["1.1", "1.0"])
    func headAlone(version: String) async throws {
        let lines = Lines(3, of: 10)
        try await withRoutes { routes in
            routes.on(.get, "/stream") { _ in HTTPResponse(source: lines.source) }
        } _: { server in
            try await server.connected { connection in
                try connection.send("HEAD /stream HTTP/\(version)\r\nHost: h\r\nConnection: keep-alive\r\n\r\n")
                let text = String(decoding: try connection.readToEnd(), as: UTF8.self)
                #expect(text.hasPrefix("HTTP/1.1 200 ") && text.hasSuffix("\r\n\r\n"))
                #expect(text.ranges(of: "\r\n\r\n").count == 1)
            }
        }
        #expect(lines.asked.load(ordering: .relaxed) == 0)
    }

    @Test("makes no more than the client takes")
    func backPressure() async throws {
        let lines = Lines(100_000, of: 10_000)
        try await withRoutes { routes in
            routes.on(.get, "/stream") { _ in HTTPResponse(source: lines.source) }
        } _: { server in
            let port = server.port
            try await blocking {
                let connection = try Self.get(port)
                #expect(try connection.readResponse(isBodiless: true).status == 200)
                // What the kernel holds on both sides is a few MB; the whole would be 1 GB.
                var before = -1
                while true {
                    let now = lines.asked.load(ordering: .relaxed)
                    if now == before { break }
                    before = now
                    connection.waitForHangUp(withinMilliseconds: 200)
                }
                #expect(before < 3_000)
                for _ in 0..<2_000 { _ = try connection.readChunk() }
                #expect(lines.asked.load(ordering: .relaxed) < 6_000)
            }
        }
    }

    @Test("breaks off visibly when its source fails, and the observer is told", arguments: [true, false])
    func failing(waits: Bool) async throws {
        let recorder = Recorder()
        try await withServer(observer: recorder) { routes in
            routes.addUsualRoutes()
            routes.on(.get, "/stream") { _ in
                let lines = Lines(3, waits: waits)
                return HTTPResponse(
                    source: HTTPBodySource {
                        guard let line = try await lines.next() else { throw Oops() }
                        return line
                    })
            }
        } _: { server in
            let port = server.port
            try await blocking {
                let connection = try Self.get(port)
                let response = try connection.readResponse()
                #expect(response.status == 200 && !response.isWhole && response.body.count == 300)
                #expect(connection.isClosedByPeer())
                #expect(try statusOfGoodRequest(port: port) == 200)
            }
        }
        #expect(recorder.failures.count == 1)
    }

    @Test("is cancelled when the client leaves while it is being made", arguments: ClientGoneTests.Manner.allCases)
    func clientGone(_ manner: ClientGoneTests.Manner) async throws {
        let arrived = Event()
        let cancelled = Event()
        try await withRoutes { routes in
            routes.addUsualRoutes()
            routes.on(.get, "/stream") { _ in
                HTTPResponse(
                    source: HTTPBodySource {
                        arrived.happen()
                        await Event.cancellation()
                        cancelled.happen()
                        return nil
                    })
            }
        } _: { server in
            let port = server.port
            let connection = try await blocking { Handed(try Self.get(port)) }
            await arrived.wait()
            connection.value.close(withReset: true)
            await cancelled.wait()
            #expect(try await blocking { try statusOfGoodRequest(port: port) } == 200)
        }
    }

    @Test("is asked no more when the client leaves in the middle")
    func clientGoneWhileSending() async throws {
        let lines = Lines(1_000_000, of: 10_000)
        try await withRoutes { routes in
            routes.on(.get, "/stream") { _ in HTTPResponse(source: lines.source) }
        } _: { server in
            let port = server.port
            try await blocking {
                let connection = try Self.get(port)
                _ = try connection.readResponse(isBodiless: true)
                connection.close(withReset: true)
            }
            while server.connections > 0 { await Task.yield() }
            #expect(lines.asked.load(ordering: .relaxed) < 10_000)
        }
    }

    @Test("breaks off when a piece takes too long")
    func deadline() async throws {
        try await withServer(setting: \.timeouts.handler, to: .milliseconds(500)) { routes in
            routes.on(.get, "/stream") { _ in
                let lines = Lines(2, waits: false)
                return HTTPResponse(
                    source: HTTPBodySource {
                        if let line = try await lines.next() { return line }
                        await Event.cancellation()
                        return nil
                    })
            }
        } _: { server in
            let port = server.port
            try await blocking {
                let response = try Self.get(port).readResponse()
                #expect(!response.isWhole && response.body.count == 200)
            }
        }
    }

    @Test("is cut when the client takes nothing for too long")
    func slowReader() async throws {
        let lines = Lines(1_000_000, of: 10_000)
        try await withServer(setting: \.timeouts.write, to: .milliseconds(300)) { routes in
            routes.on(.get, "/stream") { _ in HTTPResponse(source: lines.source) }
        } _: { server in
            let port = server.port
            let connection = try await blocking { Handed(try Self.get(port)) }
            while server.connections == 0 { await Task.yield() }
            while server.connections > 0 { await Task.yield() }
            connection.value.close()
        }
    }

    @Test("ends with the server, and holds it up no longer than a handler does", arguments: [true, false])
    func stopping(isWaiting: Bool) async throws {
        let arrived = Event()
        let clock = ContinuousClock()
        var start = clock.now
        let connection = try await withServer(stopTimeout: .milliseconds(300)) { routes in
            routes.on(.get, "/stream") { _ in
                HTTPResponse(
                    source: HTTPBodySource {
                        arrived.happen()
                        if isWaiting { await Event.cancellation() }
                        return [UInt8](repeating: 97, count: 10_000)
                    })
            }
        } _: { server in
            let port = server.port
            let connection = try await blocking { Handed(try Self.get(port)) }
            await arrived.wait()
            start = clock.now
            return connection
        }
        // It would go on for ever. The machine may be busy with other tests.
        #expect(start.duration(to: clock.now) < .seconds(20))
        try await blocking {
            let response = try connection.value.readResponse()
            #expect(!response.isWhole)
        }
    }
}
