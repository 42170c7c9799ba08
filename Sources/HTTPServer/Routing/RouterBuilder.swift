/// Collects routes, then freezes them into a `Router`.
///
/// ```swift
/// var routes = RouterBuilder()
/// routes.on(.get, "/things/{id:int}") { request in
///     HTTPResponse(text: "thing \(request.parameter("id"))")
/// }
/// let router = try routes.freeze()
/// ```
public struct RouterBuilder {
    private struct Entry {
        let method: HTTPMethod
        let pattern: String
        let allow: AllowRule?
        let takesPieces: Bool
        let handler: HTTPHandler
    }

    private var entries: [Entry] = []
    private var middleware: [any HTTPMiddleware] = []

    /// Starts without routes.
    public init() {}

    /// Adds a route with an asynchronous handler.
    ///
    /// - Parameter allow: what `OPTIONS` and 405 list on this path; that of the path's first route counts.
    public mutating func on(
        _ method: HTTPMethod, _ pattern: String, allow: AllowRule? = nil,
        _ respond: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse
    ) {
        on(method, pattern, allow: allow, handler: Self.task(respond))
    }

    /// Adds a route whose handler says itself whether there is something to wait for: nothing runs faster than a handler
    /// that responds at once.
    public mutating func on(
        _ method: HTTPMethod, _ pattern: String, allow: AllowRule? = nil, handler: @escaping HTTPHandler
    ) {
        add(method, pattern, allow, takesPieces: false, handler)
    }

    /// Adds a route whose handler takes the body piece by piece, as it comes, from ``HTTPRequest/reader``. Not
    /// `limits.bodyBytes` bounds it but `limits.streamedBodyBytes`, and its client has the time for a body for each few
    /// kilobytes.
    public mutating func onPieces(
        _ method: HTTPMethod, _ pattern: String,
        _ respond: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse
    ) {
        add(method, pattern, nil, takesPieces: true, Self.task(respond))
    }

    private static func task(
        _ respond: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse
    ) -> HTTPHandler {
        { request in .task { .response(try await respond(request)) } }
    }

    private mutating func add(
        _ method: HTTPMethod, _ pattern: String, _ allow: AllowRule?, takesPieces: Bool,
        _ handler: @escaping HTTPHandler
    ) {
        var handler = handler
        // Not by `reduce`, which would call each function through two more.
        for middleware in middleware.reversed() {
            let next = handler
            handler = { try middleware.respond(to: $0, next: next) }
        }
        entries.append(
            Entry(method: method, pattern: pattern, allow: allow, takesPieces: takesPieces, handler: handler))
    }

    /// Puts `middleware` around every route that is added from now on, inside of what is there already.
    public mutating func use(_ middleware: any HTTPMiddleware) { self.middleware.append(middleware) }

    /// Adds the routes of `add` with `middleware` around each of them, the first one outermost.
    public mutating func group(_ middleware: any HTTPMiddleware..., add: (inout RouterBuilder) throws -> Void) rethrows
    {
        let outer = self.middleware
        self.middleware += middleware
        defer { self.middleware = outer }
        try add(&self)
    }

    /// The router that serves these routes.
    /// - Throws: `RouteError` when a pattern is malformed, when one path would fit two patterns, or when a method
    ///   stands twice on a path: whatever the order was, nobody could say what is served.
    public func freeze() throws(RouteError) -> Router {
        var routes: [Route] = []
        for (index, entry) in entries.enumerated() {
            let route = Route(
                method: entry.method, pattern: try RoutePattern(entry.pattern), index: index, allow: entry.allow,
                takesPieces: entry.takesPieces, handler: entry.handler)
            routes.append(route)
        }
        return Router(trie: try RouteTrie(routes), routes: routes)
    }
}
