/// Finds what answers a method on a path. Frozen: made by `RouterBuilder.freeze()`, and only read from then on.
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
        case respond(HTTPResponse)
        case refuse(HTTPError)
    }

    /// `HEAD` is answered by what answers `GET`; `OPTIONS` where no route has it with 204 and `Allow`.
    func decide(_ method: HTTPMethod, _ head: HTTPHead) -> Decision {
        // RFC 9110, 9.3.6: the target of CONNECT is an authority, so there is no path to find.
        if method == .connect { return .refuse(.methodNotAllowed(method, allow: Self.everything)) }
        let path = RequestTarget(head.slice(head.target)).path
        if path.first == UInt8(ascii: "*") { return .respond(Self.options(allow: Self.everything)) }
        switch trie.look(up: method, path: path) {
        case .found(let match): return .handle(match)
        case .wrongMethod(let allow):
            if method == .options { return .respond(Self.options(allow: allow)) }
            return .refuse(.methodNotAllowed(method, allow: allow))
        // Possible nowhere, so also not where nothing is.
        case .notFound where method == .trace: return .refuse(.methodNotAllowed(method, allow: Self.everything))
        case .notFound: return .refuse(.notFound)
        case .malformed(let problem): return .refuse(.badTarget(problem))
        }
    }

    private static func options(allow: String) -> HTTPResponse {
        HTTPResponse(.noContent, fields: [.allow: allow])
    }
}
