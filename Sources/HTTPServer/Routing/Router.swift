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
    private var entries: [(method: HTTPMethod, pattern: String, allow: AllowRule?, handler: HTTPHandler)] = []
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
        entries.append((method, pattern, allow, handler))
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
        for (method, pattern, allow, handler) in entries {
            let pattern = try RoutePattern(pattern)
            routes.append(
                Route(method: method, pattern: pattern, index: routes.count, allow: allow, handler: handler))
        }
        return Router(trie: try RouteTrie(routes), routes: routes, basePath: nil)
    }
}

/// Finds the route for a method and a path. `RouterBuilder.freeze()` makes it, and it never changes. A class, because
/// each request passes it on.
public final class Router: Sendable {
    /// Every method that some route has, for `OPTIONS *`.
    private static let everything = "DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT"

    private let trie: RouteTrie
    /// See ``HTTPServerConfiguration/basePath``.
    private let basePath: [UInt8]?
    /// In the order in which they were added.
    public let routes: [Route]

    init(trie: RouteTrie, routes: [Route], basePath: [UInt8]?) {
        self.trie = trie
        self.routes = routes
        self.basePath = basePath
    }

    enum Decision {
        case handle(RouteMatch)
        /// The path exists but not for this method, or the method is `OPTIONS`, which asks for the list of methods.
        case tell(RouteMatch, allow: String)
        case refuse(HTTPError)

        var match: RouteMatch {
            switch self {
            case .handle(let match), .tell(let match, _): match
            case .refuse: .none
            }
        }
    }

    func find(_ method: HTTPMethod, _ fields: HTTPRequestFields) -> RouteTrie.Outcome {
        if method == .connect { return .authority }
        return fields.withTarget { target in
            let path = RequestTarget(target).path
            if target.count > path.lowerBound, target[path.lowerBound] == UInt8(ascii: "*") { return .asterisk }
            // RFC 9112, section 3.2.2: an absolute-form without a path asks for the root.
            if path.isEmpty {
                return withUnsafeBytes(of: UInt8(ascii: "/")) { trie.look(up: method, path: $0, at: 0) }
            }
            return look(
                up: method, path: UnsafeRawBufferPointer(rebasing: target[path]),
                at: fields.target.lowerBound + path.lowerBound)
        }
    }

    /// The same routes, also where a path begins with the base path.
    func served(under basePath: String?) -> Router {
        Router(trie: trie, routes: routes, basePath: basePath.map { Array($0.utf8) })
    }

    /// A path is first looked up as it is: most proxies take the base path away.
    private func look(up method: HTTPMethod, path: UnsafeRawBufferPointer, at start: Int) -> RouteTrie.Outcome {
        let outcome = trie.look(up: method, path: path, at: start)
        guard case .notFound = outcome, let basePath, path.starts(with: basePath) else { return outcome }
        // The base path alone is the root.
        let rest = path.count == basePath.count ? path.prefix(1) : path.dropFirst(basePath.count)
        return trie.look(up: method, path: UnsafeRawBufferPointer(rebasing: rest), at: start + basePath.count)
    }

    /// A route for `GET` responds to `HEAD` as well.
    func decide(_ outcome: RouteTrie.Outcome, _ method: HTTPMethod, _ fields: HTTPRequestFields) -> Decision {
        switch outcome {
        case .authority: .refuse(.methodNotAllowed(method, allow: Self.everything))
        case .asterisk: .tell(.none, allow: Self.everything)
        case .found(let route, let parameters): .handle(match(route, parameters))
        case .wrongMethod(let node, let parameters):
            .tell(RouteMatch(route: trie.anyRoute(of: node), parameters: parameters), allow: trie.allow(node))
        // TRACE is not possible on any path, whether or not the path exists.
        case .notFound where method == .trace: .refuse(.methodNotAllowed(method, allow: Self.everything))
        case .notFound: .refuse(withoutEmptySegments(method, fields).map(HTTPError.emptySegments) ?? .notFound)
        case .malformed(let problem): .refuse(.badTarget(problem.rawValue))
        }
    }

    /// The path without its empty segments, if it has some and is known without them. Such a path is not taken for the
    /// other: a proxy's rules for paths would not have seen it so.
    private func withoutEmptySegments(_ method: HTTPMethod, _ fields: HTTPRequestFields) -> String? {
        let path = fields.withTarget { String(decoding: $0[RequestTarget($0).path], as: UTF8.self) }
        let plain = path.split(separator: "/").map { "/\($0)" }.joined()
        guard plain != path else { return nil }
        var text = plain
        let outcome = text.withUTF8 { look(up: method, path: UnsafeRawBufferPointer($0), at: 0) }
        switch outcome {
        case .found, .wrongMethod: return plain
        default: return nil
        }
    }

    func match(_ route: Int, _ parameters: RouteMatch.Parameters) -> RouteMatch {
        RouteMatch(route: trie.route(route), parameters: parameters)
    }
}
