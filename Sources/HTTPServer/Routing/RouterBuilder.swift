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
        let handler: HTTPHandler
    }

    private var entries: [Entry] = []
    private var middleware: [any HTTPMiddleware] = []

    /// Starts without routes.
    public init() {}

    /// Adds a route with an asynchronous handler.
    ///
    /// - Parameter allow: what `OPTIONS` and 405 list on this path. The first route of a path decides.
    public mutating func on(
        _ method: HTTPMethod, _ pattern: String, allow: AllowRule? = nil,
        _ respond: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse
    ) {
        on(method, pattern, allow: allow) { request in .task { .response(try await respond(request)) } }
    }

    /// Adds a route whose handler decides itself whether it has to wait. A handler that responds at once is the
    /// fastest.
    public mutating func on(
        _ method: HTTPMethod, _ pattern: String, allow: AllowRule? = nil, handler: @escaping HTTPHandler
    ) {
        var handler = handler
        // `reduce` would wrap each function in two more calls.
        for middleware in middleware.reversed() {
            let next = handler
            handler = { try middleware.respond(to: $0, next: next) }
        }
        entries.append(Entry(method: method, pattern: pattern, allow: allow, handler: handler))
    }

    /// Wraps `middleware` around every route that is added later, inside the middleware that is there already.
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
    /// - Throws: `RouteError` when a pattern is malformed, when a path would match two patterns, or when a path has the
    ///   same method twice.
    public func freeze() throws(RouteError) -> Router {
        var routes: [Route] = []
        for (index, entry) in entries.enumerated() {
            let route = Route(
                method: entry.method, pattern: try RoutePattern(entry.pattern), index: index, allow: entry.allow,
                handler: entry.handler)
            routes.append(route)
        }
        return Router(trie: try RouteTrie(routes), routes: routes)
    }
}
