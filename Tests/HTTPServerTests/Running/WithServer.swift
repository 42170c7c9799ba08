import HTTPServer

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
