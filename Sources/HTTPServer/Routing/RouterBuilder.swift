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
        let prompt: Prompt?
        let allow: AllowRule?
        var takesPieces = false
        let handler: HTTPHandler
    }

    private var entries: [Entry] = []
    private var middleware: [any HTTPMiddleware] = []

    /// Starts without routes.
    public init() {}

    /// Adds a route, inside the middleware of the groups around it.
    ///
    /// - Parameter allow: what `OPTIONS` and 405 list on this path; that of the path's first route counts.
    public mutating func on(
        _ method: HTTPMethod, _ pattern: String, allow: AllowRule? = nil, _ handler: @escaping HTTPHandler
    ) {
        entries.append(Entry(method: method, pattern: pattern, prompt: nil, allow: allow, handler: fold(handler)))
    }

    /// Adds a route whose handler takes the body piece by piece, as it comes, from ``HTTPRequest/reader``. Not
    /// `limits.bodyBytes` bounds it but `limits.streamedBodyBytes`, and its client has the time for a body for each few
    /// kilobytes.
    public mutating func onPieces(_ method: HTTPMethod, _ pattern: String, _ handler: @escaping HTTPHandler) {
        entries.append(
            Entry(
                method: method, pattern: pattern, prompt: nil, allow: nil, takesPieces: true, handler: fold(handler)))
    }

    /// Adds a route that may be answered without waiting.
    ///
    /// - Parameters:
    ///   - prompt: asked first, also through the middleware; see `HTTPMiddleware.respondPromptly(to:deferral:next:)`.
    ///   - allow: as for any route.
    public mutating func on(
        _ method: HTTPMethod, _ pattern: String, promptly prompt: @escaping PromptHandler, allow: AllowRule? = nil,
        _ handler: @escaping HTTPHandler
    ) {
        entries.append(
            Entry(
                method: method, pattern: pattern, prompt: Prompt(handler: fold(prompt)), allow: allow,
                handler: fold(handler)))
    }

    /// Adds the routes of `add` with `middleware` around each of them, the first one outermost.
    public mutating func group(_ middleware: any HTTPMiddleware..., add: (inout RouterBuilder) throws -> Void) rethrows
    {
        let outer = self.middleware
        self.middleware += middleware
        defer { self.middleware = outer }
        try add(&self)
    }

    /// The same where there may be none.
    public mutating func on(
        _ method: HTTPMethod, _ pattern: String, promptly prompt: PromptHandler?, _ handler: @escaping HTTPHandler
    ) {
        guard let prompt else { return on(method, pattern, handler) }
        on(method, pattern, promptly: prompt, handler)
    }

    /// The router that serves these routes.
    /// - Throws: `RouteError` when a pattern is malformed, when one path would fit two patterns, or when a method
    ///   stands twice on a path: whatever the order was, nobody could say what is served.
    public func freeze() throws(RouteError) -> Router {
        var routes: [Route] = []
        for (index, entry) in entries.enumerated() {
            let route = Route(
                method: entry.method, pattern: try RoutePattern(entry.pattern), index: index, prompt: entry.prompt,
                allow: entry.allow, takesPieces: entry.takesPieces, handler: entry.handler)
            routes.append(route)
        }
        return Router(trie: try RouteTrie(routes), routes: routes)
    }

    private func fold(_ handler: @escaping HTTPHandler) -> HTTPHandler {
        middleware.reversed().reduce(handler) { next, middleware in
            { request in try await middleware.respond(to: request, next: next) }
        }
    }

    private func fold(_ prompt: @escaping PromptHandler) -> PromptHandler {
        var folded = prompt
        // Not by `reduce`, which hands functions on in the form that every type has, see `Prompt`.
        for middleware in middleware.reversed() {
            let next = folded
            folded = { request, deferral in
                try middleware.respondPromptly(to: request, deferral: &deferral, next: next)
            }
        }
        return folded
    }
}
