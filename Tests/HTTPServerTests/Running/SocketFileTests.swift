import Glibc
import HTTPServer
import HTTPTestClient
import Testing

@Suite("A server at a socket in the file system")
struct SocketFileTests {
    private static func server(
        at path: String, configure: (inout HTTPServerConfiguration) -> Void = { _ in }
    ) throws -> HTTPServer {
        var configuration = HTTPServerConfiguration()
        configuration.host = "unix:\(path)"
        configure(&configuration)
        var routes = RouterBuilder()
        routes.addUsualRoutes()
        routes.on(.get, "/client") { HTTPResponse(text: $0.client.host) }
        return try HTTPServer(router: routes.freeze(), configuration: configuration)
    }

    /// Gives `body` a path in a folder of its own.
    private static func withPath(_ body: (String) async throws -> Void) async throws {
        var template = Array("/tmp/concierge-socket-XXXXXX".utf8CString)
        try #require(mkdtemp(&template) != nil)
        let folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        defer {
            unlink("\(folder)/http")
            rmdir(folder)
        }
        try await body("\(folder)/http")
    }

    private static func mode(of path: String) -> mode_t? {
        var file = stat()
        return lstat(path, &file) == 0 ? file.st_mode : nil
    }

    /// A socket of nobody, as a server leaves it behind that was killed; with `listening`, of somebody.
    private static func bound(to path: String, listening: Bool = false) throws -> Int32 {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        try #require(withSocketAddress(path) { bind(descriptor, $0, $1) } == 0)
        if listening { try #require(listen(descriptor, 1) == 0) }
        return descriptor
    }

    @Test("answers owner and group, who count as this machine, and removes the file when it stops")
    func serves() async throws {
        try await Self.withPath { path in
            let server = try Self.server(at: path)
            #expect(server.address == "unix:\(path)" && server.port == 0)
            #expect(Self.mode(of: path) == S_IFSOCK | 0o660)
            try await blocking {
                let connection = try RawConnection(path: path)
                #expect(try connection.get("/client").text == "127.0.0.1")
                try connection.send("POST /later HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello")
                #expect(try connection.readResponse().text == "hello")
            }
            await server.stop(timeout: .seconds(10))
            #expect(Self.mode(of: path) == nil)
        }
    }

    @Test("takes the place of a server that was killed")
    func leftBehind() async throws {
        try await Self.withPath { path in
            close(try Self.bound(to: path))
            let server = try Self.server(at: path)
            #expect(try await blocking { try RawConnection(path: path).get().status } == 200)
            await server.stop(timeout: .seconds(10))
        }
    }

    @Test("takes no place of a server that lives, even of one that does not accept")
    func living() async throws {
        try await Self.withPath { path in
            let server = try Self.server(at: path)
            let refusal = #expect(throws: HTTPServerError.self) { try Self.server(at: path) }
            #expect(refusal?.description == "cannot listen on unix:\(path): another server listens there")
            #expect(try await blocking { try RawConnection(path: path).get().status } == 200)
            await server.stop(timeout: .seconds(10))
        }
        try await Self.withPath { path in
            let silent = try Self.bound(to: path, listening: true)
            defer { close(silent) }
            // Its queue is full.
            let waiting = (0..<4).map { _ in socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0) }
            defer { for descriptor in waiting { close(descriptor) } }
            for descriptor in waiting { _ = withSocketAddress(path) { connect(descriptor, $0, $1) } }
            #expect(throws: HTTPServerError.self) { try Self.server(at: path) }
            #expect(Self.mode(of: path) != nil)
        }
    }

    @Test("leaves other files alone, and says why it cannot start")
    func otherFiles() async throws {
        try await Self.withPath { path in
            close(open(path, O_CREAT | O_WRONLY, 0o600))
            let refusal = #expect(throws: HTTPServerError.self) { try Self.server(at: path) }
            #expect(refusal?.description.hasSuffix("there is a file that is no socket") == true)
            #expect(Self.mode(of: path) == S_IFREG | 0o600)
            let nowhere = #expect(throws: HTTPServerError.self) { try Self.server(at: "\(path)/none/http") }
            #expect(nowhere?.description.hasPrefix("cannot listen on unix:\(path)/none/http: ") == true)
            let long = #expect(throws: HTTPServerError.self) {
                try Self.server(at: "/tmp/" + String(repeating: "a", count: 103))
            }
            #expect(long?.description.contains("longer than 107 bytes") == true)
        }
    }

    @Test("is followed by another one at once, whose file stays")
    func successor() async throws {
        try await Self.withPath { path in
            let first = try Self.server(at: path)
            // A connection without a request, which keeps the first from its end until idle ones are closed.
            let open = try await blocking { Handed(try RawConnection(path: path)) }
            async let stopped: Void = first.stop(timeout: .seconds(10))
            // The path is free as soon as the first has stopped accepting.
            try await blocking { while (try? RawConnection(path: path)) != nil {} }
            let second = try Self.server(at: path)
            await stopped
            #expect(try await blocking { try RawConnection(path: path).get().status } == 200)
            withExtendedLifetime(open) {}
            await second.stop(timeout: .seconds(10))
        }
    }

    @Test("answers all who have connected when it stops", arguments: [1, 2])
    func stopping(workers: Int) async throws {
        try await Self.withPath { path in
            let server = try Self.server(at: path) { $0.workers = workers }
            let warm = Event()
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        try await blocking {
                            var count = 0
                            while let connection = try? RawConnection(path: path) {
                                try connection.send("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
                                // Throws when the connection ends without a response.
                                #expect(try connection.readResponse().status == 200)
                                count += 1
                                if count == 50 { warm.happen() }
                            }
                            return count
                        }
                    }
                }
                await warm.wait()
                await server.stop(timeout: .seconds(10))
                try await group.waitForAll()
            }
        }
    }

    @Test("at the limit of connections makes room for clients that wait")
    func full() async throws {
        try await Self.withPath { path in
            let server = try Self.server(at: path) {
                $0.workers = 1
                $0.limits.connections = 4
                $0.timeouts.idle = .seconds(3_000)
            }
            try await blocking {
                let idle = try (0..<4).map { _ in
                    let connection = try RawConnection(path: path)
                    #expect(try connection.get().status == 200)
                    return connection
                }
                #expect(try RawConnection(path: path).get().status == 200)
                withExtendedLifetime(idle) {}
            }
            #expect(server.lostConnections.evicted >= 1)
            await server.stop(timeout: .seconds(10))
        }
    }
}
