/// Finds the route for a method and a path. `RouterBuilder.freeze()` makes it, and it never changes.
public struct Router: Sendable {
    /// Every method that some route has, for `OPTIONS *`.
    private static let everything = "DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT"

    private let trie: RouteTrie
    /// In the order in which they were added.
    public let routes: [Route]

    init(trie: RouteTrie, routes: [Route]) {
        self.trie = trie
        self.routes = routes
    }

    enum Decision {
        case handle(RouteMatch)
        /// The path exists but not for this method, or the method is `OPTIONS`, which asks for the list of methods.
        case tell(RouteMatch, allow: String)
        case respond(HTTPResponse)
        case refuse(HTTPError)

        var match: RouteMatch {
            switch self {
            case .handle(let match), .tell(let match, _): match
            case .respond, .refuse: .none
            }
        }
    }

    /// The result of routing a request's target. Numbers only, see `RouteTrie.Outcome`.
    enum Finding {
        case path(RouteTrie.Outcome)
        /// `*`: the server itself.
        case asterisk
        /// RFC 9110, 9.3.6: the target of CONNECT is an authority, so there is no path.
        case authority
    }

    func find(_ method: HTTPMethod, _ head: HTTPHead) -> Finding {
        if method == .connect { return .authority }
        return head.withTarget { target in
            let path = RequestTarget(target).path
            if target.count > path.lowerBound, target[path.lowerBound] == UInt8(ascii: "*") { return .asterisk }
            return .path(
                trie.look(
                    up: method, path: UnsafeRawBufferPointer(rebasing: target[path]),
                    at: head.target.lowerBound + path.lowerBound))
        }
    }

    /// A route for `GET` responds to `HEAD` as well.
    func decide(_ finding: Finding, _ method: HTTPMethod) -> Decision {
        switch finding {
        case .authority: .refuse(.methodNotAllowed(method, allow: Self.everything))
        case .asterisk: .respond(Self.options(allow: Self.everything))
        case .path(.found(let route, let parameters)): .handle(match(route, parameters))
        case .path(.wrongMethod(let node, let parameters)):
            .tell(RouteMatch(route: trie.anyRoute(of: node), parameters: parameters), allow: trie.allow(node))
        // TRACE is not possible on any path, whether or not the path exists.
        case .path(.notFound) where method == .trace: .refuse(.methodNotAllowed(method, allow: Self.everything))
        case .path(.notFound): .refuse(.notFound)
        case .path(.malformed(let problem)): .refuse(.badTarget(problem.sentence))
        }
    }

    func match(_ route: Int, _ parameters: RouteMatch.Parameters) -> RouteMatch {
        RouteMatch(route: trie.route(route), parameters: parameters)
    }

    static func options(allow: String) -> HTTPResponse {
        HTTPResponse(.noContent, fields: [.allow: allow])
    }
}
