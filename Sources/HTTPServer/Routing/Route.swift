/// Begins to handle a request, on the thread that read it, and must not block that thread. What it throws becomes a
/// response in the server's one place for that.
public typealias HTTPHandler = @Sendable (HTTPRequest) throws -> HTTPOutcome

/// What a handler makes of a request.
public enum HTTPOutcome: Sendable {
    case response(HTTPResponse)
    /// Something else has to do its part first, such as a disk, and calls back. The server calls the function at once.
    case deferred(@Sendable (consuming HTTPResponder) -> Void)
    /// Asynchronous work: a task runs it, which goes on on the thread that read the request.
    case task(@Sendable () async throws -> HTTPOutcome)

    /// Turns the response or the error of a handler into another response, or another error.
    public typealias Transform = @Sendable (Result<HTTPResponse, any Error>) throws -> HTTPResponse

    /// Calls a handler, and transforms what comes of it, whenever that comes.
    public static func transforming(_ request: HTTPRequest, _ handler: HTTPHandler, _ transform: @escaping Transform)
        throws -> HTTPOutcome
    {
        let outcome: HTTPOutcome
        do {
            outcome = try handler(request)
        } catch {
            return .response(try transform(.failure(error)))
        }
        return try outcome.map(transform)
    }

    private func map(_ transform: @escaping Transform) throws -> HTTPOutcome {
        switch self {
        case .response(let response): return .response(try transform(.success(response)))
        case .deferred(let begin):
            return .deferred { responder in
                responder.add(transform)
                begin(responder)
            }
        case .task(let work):
            return .task {
                let outcome: HTTPOutcome
                do {
                    outcome = try await work()
                } catch {
                    return .response(try transform(.failure(error)))
                }
                return try outcome.map(transform)
            }
        }
    }
}

/// Says what is possible on the path of a request, where that depends on more than its pattern: a value of `Allow`, or
/// nil for the methods of all its routes. It throws when there is nothing at the path. No middleware is around it.
public typealias AllowRule = @Sendable (HTTPRequest) throws -> String?

/// Wraps the handlers of a group of routes: it may respond by itself, change the request, or transform the response
/// (``HTTPOutcome/transforming(_:_:_:)``). The router is frozen with it, so a request walks no list.
public protocol HTTPMiddleware: Sendable {
    func respond(to request: HTTPRequest, next: @escaping HTTPHandler) throws -> HTTPOutcome
}

/// A method on a path, and what answers it.
public final class Route: Sendable {
    /// The method that it responds to.
    public let method: HTTPMethod
    /// The paths that it responds to.
    public let pattern: RoutePattern
    /// Its place in the order in which the routes were added: something to index counters by.
    public let index: Int
    let handler: HTTPHandler
    let allow: AllowRule?
    /// Whether its handler takes the body piece by piece, from ``HTTPRequest/reader``.
    let takesPieces: Bool

    init(
        method: HTTPMethod, pattern: RoutePattern, index: Int, allow: AllowRule?, takesPieces: Bool = false,
        handler: @escaping HTTPHandler
    ) {
        self.method = method
        self.pattern = pattern
        self.index = index
        self.allow = allow
        self.takesPieces = takesPieces
        self.handler = handler
    }
}

/// What a request's path was found to be.
public struct RouteMatch: Sendable {
    struct Span: Sendable {
        var lower: UInt32 = 0
        var upper: UInt32 = 0
    }

    typealias Parameters = InlineArray<4, Span>

    /// Nil where nothing is. Where something is, but not for the request's method, any route of the path.
    public let route: Route?
    /// Where the parameters' segments lie in the head, in the order of the pattern.
    let parameters: Parameters

    static var none: RouteMatch { RouteMatch(route: nil, parameters: .init(repeating: Span())) }
}
