/// Answers a request. What it throws becomes an answer in the server's one place for that.
public typealias HTTPHandler = @Sendable (HTTPRequest) async throws -> HTTPResponse

/// Answers a request without waiting for anything. Where something else has to do its part first, such as a disk, it
/// may put the answer off (``HTTPDeferral``), and returns nil. Nil without that says that it would have to wait: then the
/// route's `HTTPHandler` is asked, and whatever it has done before is done again. It saves the task that an asynchronous
/// function runs in, for what is asked most.
public typealias PromptHandler = @Sendable (HTTPRequest, inout HTTPDeferral) throws -> HTTPResponse?

/// Says what is possible on the path of a request, where that depends on more than its pattern: a value of `Allow`, or
/// nil for the methods of all its routes. It throws when there is nothing at the path. No middleware is around it.
public typealias AllowRule = @Sendable (HTTPRequest) throws -> String?

/// Something around the handlers of a group of routes: it may answer by itself, change what goes in, or what
/// comes out. Folded into the handlers when the router is frozen, so a request walks no list.
public protocol HTTPMiddleware: Sendable {
    func respond(to request: HTTPRequest, next: HTTPHandler) async throws -> HTTPResponse

    /// The same around a `PromptHandler`. Nil when this request has to wait, here or further inside: then
    /// `respond(to:next:)` is asked. One that does not say how always gives nil. An answer that was put off does not come
    /// by here again: who has something to do to it gives nil.
    func respondPromptly(
        to request: HTTPRequest, deferral: inout HTTPDeferral, next: PromptHandler
    ) throws -> HTTPResponse?
}

extension HTTPMiddleware {
    /// Declines: the asynchronous way is asked.
    public func respondPromptly(
        to request: HTTPRequest, deferral: inout HTTPDeferral, next: PromptHandler
    ) throws -> HTTPResponse? { nil }
}

/// A `PromptHandler` where there may be none. An optional function is called through two more, which turn its arguments
/// into the form that every type has, and back; an optional structure with a function in it is not.
struct Prompt: Sendable {
    let handler: PromptHandler
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
    let prompt: Prompt?
    let allow: AllowRule?
    /// Whether its handler takes the body piece by piece, from ``HTTPRequest/reader``.
    let takesPieces: Bool

    init(
        method: HTTPMethod, pattern: RoutePattern, index: Int, prompt: Prompt?, allow: AllowRule?,
        takesPieces: Bool = false, handler: @escaping HTTPHandler
    ) {
        self.method = method
        self.pattern = pattern
        self.index = index
        self.prompt = prompt
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
