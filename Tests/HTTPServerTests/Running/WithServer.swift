import HTTPServer
import HTTPTestClient
import Synchronization

/// Starts a server on a free port, gives it to `body`, and stops it, also when `body` throws.
func withServer<Result: Sendable>(
    configure: (inout HTTPServerConfiguration) -> Void = { _ in },
    observer: (any HTTPServerObserver)? = nil,
    stopTimeout: Duration = .seconds(10),
    routes: (inout RouterBuilder) -> Void = { $0.addUsualRoutes() },
    _ body: (HTTPServer) async throws -> Result
) async throws -> Result {
    var configuration = HTTPServerConfiguration()
    configuration.workers = 1
    configure(&configuration)
    var builder = RouterBuilder()
    routes(&builder)
    let server = try HTTPServer(router: builder.freeze(), configuration: configuration, observer: observer)
    do {
        let result = try await body(server)
        await server.stop(timeout: stopTimeout)
        return result
    } catch {
        await server.stop(timeout: stopTimeout)
        throw error
    }
}

/// The same for a server with one setting of its own.
func withServer<Value, Result: Sendable>(
    setting key: WritableKeyPath<HTTPServerConfiguration, Value>, to value: Value,
    routes: (inout RouterBuilder) -> Void = { $0.addUsualRoutes() }, _ body: (HTTPServer) async throws -> Result
) async throws -> Result {
    try await withServer(configure: { $0[keyPath: key] = value }, routes: routes, body)
}

/// The same for a server with other routes than the usual ones.
func withRoutes(
    _ routes: (inout RouterBuilder) -> Void, _ body: (HTTPServer) async throws -> Void
) async throws {
    try await withServer(observer: nil, routes: routes, body)
}

extension HTTPServer {
    /// Gives `body` a connection to it, on a thread of its own.
    func connected(_ body: @escaping @Sendable (RawConnection) throws -> Void) async throws {
        try await seen(body)
    }

    /// The same, and what `body` has seen.
    func seen<Result: Sendable>(_ body: @escaping @Sendable (RawConnection) throws -> Result) async throws -> Result {
        let port = port
        return try await blocking { try body(RawConnection(port: port)) }
    }
}

extension RouterBuilder {
    /// `/block` holds up its worker until the gate opens.
    mutating func addBlock(_ gate: ThreadGate) {
        on(.get, "/block") { _ in
            gate.block()
            return HTTPResponse(text: "blocked")
        }
    }

    /// `/` says "ok", `/echo` gives the body back, `/later` does so after a wait, `/smuggled` is asked for by bytes
    /// that must never be taken for a request.
    mutating func addUsualRoutes() {
        on(.get, "/") { _ in HTTPResponse(text: "ok") }
        on(.post, "/echo") { HTTPResponse(body: try $0.body) }
        on(.post, "/later") { request in
            await Task.yield()
            return HTTPResponse(body: try request.body)
        }
        on(.get, "/smuggled") { _ in HTTPResponse(text: "smuggled") }
    }
}

/// Remembers what a server answered.
final class Recorder: HTTPServerObserver {
    private let answers = Mutex<[(target: String, status: Int, duration: Duration)]>([])
    private let problems = Mutex<[String]>([])

    func answered(_ request: HTTPRequest, with response: borrowing HTTPResponse, after nanoseconds: UInt64) {
        let status = Int(response.status.code)
        answers.withLock { $0.append((request.target, status, .nanoseconds(Int64(nanoseconds)))) }
    }

    func failed(_ request: HTTPRequest, _ problem: any Error) {
        problems.withLock { $0.append("\(problem)") }
    }

    var targets: [String] { answers.withLock { $0.map(\.target) } }
    var statuses: [Int] { answers.withLock { $0.map(\.status) } }
    var durations: [Duration] { answers.withLock { $0.map(\.duration) } }
    var failures: [String] { problems.withLock { $0 } }
}

/// One good request on a connection of its own: what a server that is well answers.
func statusOfGoodRequest(port: UInt16) throws -> Int {
    let connection = try RawConnection(port: port)
    return try connection.get().status
}

/// What came back on a connection that was sent some bytes.
struct Conversation {
    /// The first answer's; nil when the connection ended without one.
    var status: Int?
    /// The first answer, whole.
    var response: TestResponse?
    /// Behind the first answer.
    var rest: [UInt8] = []

    /// Sends, reads one answer, then to the end.
    /// - Parameter closing: whether the client says behind its bytes that it sends no more.
    init(port: UInt16, sending bytes: [UInt8], pieces: Int = .max, closing: Bool = false) throws {
        let connection = try RawConnection(port: port)
        var start = 0
        while start < bytes.count {
            let end = min(bytes.count, pieces == .max ? bytes.count : start + pieces)
            // The other side may have answered and closed before the last piece.
            do { try connection.send(Array(bytes[start..<end])) } catch { break }
            start = end
        }
        if closing { connection.finishSending() }
        do {
            let response = try connection.readResponse()
            self.response = response
            status = response.status
        } catch let failure as RawConnection.Failure where failure.isEndOfStream {
            return
        }
        rest = try connection.readToEnd()
    }
}
