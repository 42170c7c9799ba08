/// Begins to handle a request on the thread that read it, and must not block that thread. The server's error renderer
/// turns a thrown error into a response.
public typealias HTTPHandler = @Sendable (HTTPRequest) throws -> HTTPOutcome

/// The outcome of a handler.
public enum HTTPOutcome: Sendable {
    /// The response, made without waiting for anything.
    case response(HTTPResponse)
    /// Something else, such as a disk, has to work first and calls back. The server calls the function at once.
    case deferred(@Sendable (consuming HTTPResponder) -> Void)
    /// Asynchronous work. It runs in a task, on the thread that read the request.
    case task(@Sendable () async throws -> HTTPOutcome)

    /// Turns the response or the error of a handler into another response, or another error.
    public typealias Transform = @Sendable (Result<HTTPResponse, any Error>) throws -> HTTPResponse

    /// Calls a handler and transforms its response or error, whenever that arrives.
    public static func transforming(_ request: HTTPRequest, _ handler: HTTPHandler, _ transform: @escaping Transform)
        throws -> HTTPOutcome
    {
        try following(request, handler) { .response(try transform($0)) }
    }

    /// What follows the response or the error of a handler: another response, or further work.
    public typealias FollowUp = @Sendable (Result<HTTPResponse, any Error>) throws -> HTTPOutcome

    /// The same for a transformation that may have to wait for something.
    public static func following(_ request: HTTPRequest, _ handler: HTTPHandler, _ followUp: @escaping FollowUp)
        throws -> HTTPOutcome
    {
        let outcome: HTTPOutcome
        do {
            outcome = try handler(request)
        } catch {
            return try followUp(.failure(error))
        }
        return try outcome.followed(by: followUp)
    }

    func followed(by followUp: @escaping FollowUp) throws -> HTTPOutcome {
        switch self {
        case .response(let response): return try followUp(.success(response))
        case .deferred(let begin):
            return .deferred { responder in
                responder.add(followUp)
                begin(responder)
            }
        case .task(let work):
            return .task {
                let outcome: HTTPOutcome
                do {
                    outcome = try await work()
                } catch {
                    return try followUp(.failure(error))
                }
                return try outcome.followed(by: followUp)
            }
        }
    }
}

/// Returns the methods that are possible on the path of a request, as a value of `Allow`, where that depends on more
/// than the pattern; `nil` stands for the methods of all routes of the path. It throws when nothing is at the path.
/// Middleware does not wrap it.
public typealias AllowRule = @Sendable (HTTPRequest) throws -> String?

/// Wraps the handlers of a group of routes. Middleware may respond itself, change the request, or transform the
/// response (``HTTPOutcome/transforming(_:_:_:)``, ``HTTPOutcome/following(_:_:_:)``). `freeze()` applies it, so a
/// request walks no list.
public protocol HTTPMiddleware: Sendable {
    /// Responds to a request of the group; `next` is the handler, inside the middleware that was added after this.
    func respond(to request: HTTPRequest, next: @escaping HTTPHandler) throws -> HTTPOutcome
}

/// A method on a path, and its handler.
public final class Route: Sendable {
    /// The method that it responds to.
    public let method: HTTPMethod
    /// The paths that it responds to.
    public let pattern: RoutePattern
    /// Its place in the order in which routes were added. Counters can be indexed by it.
    public let index: Int
    let handler: HTTPHandler
    let allow: AllowRule?

    init(
        method: HTTPMethod, pattern: RoutePattern, index: Int, allow: AllowRule?, handler: @escaping HTTPHandler
    ) {
        self.method = method
        self.pattern = pattern
        self.index = index
        self.allow = allow
        self.handler = handler
    }
}

/// The result of routing a request's path.
public struct RouteMatch: Sendable {
    typealias Parameters = InlineArray<4, Range<UInt32>>

    /// `nil` when nothing is at the path. When the path exists but not for the request's method, any route of the path.
    public let route: Route?
    /// Where the parameters' segments are in the head, in the order of the pattern.
    let parameters: Parameters

    static var none: RouteMatch { RouteMatch(route: nil, parameters: .init(repeating: 0..<0)) }
}
