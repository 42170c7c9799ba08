import CMicroHTTPD
import Glibc
import HTTPServer
import HTTPTestClient
import Synchronization
import Testing

@Suite("A deferred response")
struct DeferralTests {
    private struct Oops: Error {}

    /// A response that a test has not completed yet.
    fileprivate struct Deferred: Sendable {
        let path: String
        let done: @Sendable (Result<Make, any Error>) -> Void

        typealias Make = @Sendable () throws -> HTTPResponse

        func complete(_ make: @escaping Make) { done(.success(make)) }
    }

    /// The deferred responses, in the order of their requests.
    fileprivate final class PendingResponses: Sendable {
        private let answers = Mutex<[Deferred]>([])
        private let count: Int
        private let all = Event()

        /// - Parameter count: how many a test waits for.
        init(_ count: Int = 1) { self.count = count }

        func begin(_ request: HTTPRequest, _ responder: consuming HTTPResponder) {
            let deferred = Deferred(path: request.target, done: responder.completion { try $0.get()() })
            let isLast = answers.withLock { answers in
                answers.append(deferred)
                return answers.count == count
            }
            if isLast { all.happen() }
        }

        func wait() async -> [Deferred] {
            await all.wait()
            // They keep the server's core alive, whose routes keep this alive.
            return answers.withLock { answers in
                defer { answers = [] }
                return answers
            }
        }
    }

    private static func get(_ path: String, on connection: RawConnection) throws {
        try connection.send("GET \(path) HTTP/1.1\r\nHost: h\r\n\r\n")
    }

    private static func connection(asking path: String, _ port: UInt16) async throws -> Handed {
        try await blocking {
            let connection = try RawConnection(port: port)
            try get(path, on: connection)
            return Handed(connection)
        }
    }

    /// Both ends of all connections are this process's.
    private static func raiseDescriptorLimit() {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = limit.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }

    @Test("is completed from any thread, with the response or the error of its closure, and the connection goes on")
    func completed() async throws {
        let pending = PendingResponses(2)
        try await withRoutes { routes in
            routes.addUsualRoutes()
            routes.onDeferred("/deferred/{what}", pending)
        } _: { server in
            let port = server.port
            let one = try await Self.connection(asking: "/deferred/good", port)
            let other = try await Self.connection(asking: "/deferred/bad", port)
            for answer in await pending.wait() {
                answer.complete {
                    guard answer.path == "/deferred/good" else {
                        throw HTTPError(.conflict, code: "no", detail: "Not now.")
                    }
                    return HTTPResponse(text: "deferred")
                }
            }
            try await blocking {
                #expect(try one.value.readResponse().text == "deferred")
                let refusal = try other.value.readResponse()
                #expect(refusal.status == 409 && refusal.text == "Not now.\n")
                for connection in [one.value, other.value] {
                    try Self.get("/", on: connection)
                    #expect(try connection.readResponse().text == "ok")
                }
            }
        }
    }

    @Test("may be completed before the handler has returned, on its thread or another; one that is dropped is an error")
    func atOnce() async throws {
        try await withRoutes { routes in
            routes.on(.get, "/good", handler: { _ in .deferred { $0.respond { HTTPResponse(text: "given") } } })
            routes.on(.get, "/bad", handler: { _ in .deferred { $0.respond { throw Oops() } } })
            routes.on(.get, "/dropped", handler: { _ in .deferred { _ in } })
            routes.on(
                .get, "/forgotten",
                handler: { _ in
                    .deferred { responder in
                        let done: @Sendable (Result<Int, any Error>) -> Void = responder.completion { _ in
                            HTTPResponse()
                        }
                        Task { [done] in _ = done }
                    }
                })
            routes.on(
                .get, "/twice",
                handler: { _ in
                    .deferred { responder in
                        let done: @Sendable (Result<Int, any Error>) -> Void = responder.completion {
                            HTTPResponse(text: "\(try $0.get())")
                        }
                        done(.success(1))
                        done(.failure(Oops()))
                    }
                })
            routes.on(
                .get, "/raced",
                handler: { _ in
                    .deferred { responder in
                        let done: @Sendable (Result<Int, any Error>) -> Void = responder.completion {
                            HTTPResponse(text: "\(try $0.get())")
                        }
                        Task { done(.success(7)) }
                    }
                })
        } _: { server in
            try await server.connected { connection in
                for _ in 0..<100 {
                    for (path, status, text) in [("/good", 200, "given"), ("/raced", 200, "7"), ("/bad", 500, nil)] {
                        try Self.get(path, on: connection)
                        let response = try connection.readResponse()
                        #expect(response.status == status)
                        if let text { #expect(response.text == text) }
                    }
                    for path in ["/dropped", "/forgotten"] {
                        try Self.get(path, on: connection)
                        #expect(try connection.readResponse().status == 500)
                    }
                    try Self.get("/twice", on: connection)
                    #expect(try connection.readResponse().text == "1")
                }
            }
        }
    }

    enum Obstacle: CaseIterable { case reset, deadline, stop }

    /// Has the server's worker do so many turns at least.
    private static func turn(_ count: Int, _ port: UInt16) throws {
        let connection = try RawConnection(port: port)
        for _ in 0..<count {
            try get("/", on: connection)
            #expect(try connection.readResponse().text == "ok")
        }
        connection.close()
    }

    @Test(
        "has its maker called, and nothing else, when nobody is there for it any more, soon or after many turns",
        arguments: Obstacle.allCases, [0, 100])
    func nobody(_ obstacle: Obstacle, turns: Int) async throws {
        let (pending, made) = (PendingResponses(), Event())
        var answers: [Deferred] = []
        let configure: (inout HTTPServerConfiguration) -> Void = { configuration in
            configuration.workers = 1
            if obstacle == .deadline { configuration.timeouts.handler = .milliseconds(200) }
        }
        try await withServer(configure: configure, stopTimeout: .milliseconds(200)) { routes in
            routes.addUsualRoutes()
            routes.onDeferred("/deferred", pending)
        } _: { server in
            let port = server.port
            let connection = try await Self.connection(asking: "/deferred", port)
            answers = await pending.wait()
            try await blocking { try Self.turn(turns, port) }
            switch obstacle {
            case .reset:
                connection.value.close(withReset: true)
                while server.connections > 0 { await Task.yield() }
            case .deadline:
                let status = try await blocking { try connection.value.readResponse().status }
                #expect(status == 504)
            case .stop: return
            }
            for answer in answers {
                answer.complete {
                    made.happen()
                    return HTTPResponse()
                }
            }
            await made.wait()
            let status = try await blocking { try statusOfGoodRequest(port: port) }
            #expect(status == 200)
        }
        if obstacle == .stop {
            for answer in answers {
                answer.complete {
                    made.happen()
                    return HTTPResponse()
                }
            }
            await made.wait()
        }
    }

    @Test("is waited for without suspending its connection, by the library that is here")
    func isHeld() {
        #expect(cmhd_can_park())
    }

    @Test("holds up no other connection: what comes in one piece there is answered in one go")
    func besideOthers() async throws {
        let pending = PendingResponses()
        let count = 300
        try await withServer(setting: \.workers, to: 1) { routes in
            routes.addUsualRoutes()
            routes.onDeferred("/deferred", pending)
        } _: { server in
            let port = server.port
            let waiting = try await Self.connection(asking: "/deferred", port)
            let answers = await pending.wait()
            let time = try await blocking {
                let connection = try RawConnection(port: port)
                let start = ContinuousClock.now
                let request = "GET / HTTP/1.1\r\nHost: h\r\n\r\n"
                try connection.send(String(repeating: request, count: count))
                for _ in 0..<count { #expect(try connection.readResponse().text == "ok") }
                return ContinuousClock.now - start
            }
            // With a sleep of the loop for each, of 20 ms, it would be at least six seconds; without, some
            // milliseconds.
            #expect(time < .seconds(3))
            try await blocking { try Self.turn(100, port) }
            for answer in answers { answer.complete { HTTPResponse(text: "deferred") } }
            let text = try await blocking { try waiting.value.readResponse().text }
            #expect(text == "deferred")
        }
    }

    @Test("is one of very many: all get theirs, also when every third client has left")
    func many() async throws {
        let count = 700
        Self.raiseDescriptorLimit()
        let (pending, made) = (PendingResponses(count), Counter())
        let all = Event()
        try await withServer { configuration in
            configuration.limits.connections = 2 * count
        } routes: { routes in
            routes.addUsualRoutes()
            routes.onDeferred("/deferred/{n:int}", pending)
        } _: { server in
            let port = server.port
            let connections = try await blocking {
                try (0..<count).map { number in
                    let connection = try RawConnection(port: port)
                    try Self.get("/deferred/\(number)", on: connection)
                    return Handed(connection)
                }
            }
            let answers = await pending.wait()
            for (number, connection) in connections.enumerated() where number % 3 == 0 {
                connection.value.close(withReset: true)
            }
            for answer in answers.shuffled() {
                answer.complete {
                    if made.increment() == count { all.happen() }
                    return HTTPResponse(text: answer.path)
                }
            }
            await all.wait()
            try await blocking {
                for (number, connection) in connections.enumerated() where number % 3 != 0 {
                    #expect(try connection.value.readResponse().text == "/deferred/\(number)")
                    try Self.get("/", on: connection.value)
                    #expect(try connection.value.readResponse().text == "ok")
                }
            }
        }
    }
}

extension RouterBuilder {
    /// A route whose response is deferred.
    fileprivate mutating func onDeferred(_ path: String, _ pending: DeferralTests.PendingResponses) {
        on(.get, path, handler: { request in .deferred { pending.begin(request, $0) } })
    }
}
