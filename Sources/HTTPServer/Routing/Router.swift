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
        /// The path is known, and the method not possible on it; or it is `OPTIONS`, which asks for just that.
        case tell(RouteMatch, allow: String)
        case respond(HTTPResponse)
        case refuse(HTTPError)
    }

    /// `HEAD` is answered by what answers `GET`; `OPTIONS` where no route has it with 204 and `Allow`.
    func decide(_ method: HTTPMethod, _ head: HTTPHead) -> Decision {
        // RFC 9110, 9.3.6: the target of CONNECT is an authority, so there is no path to find.
        if method == .connect { return .refuse(.methodNotAllowed(method, allow: Self.everything)) }
        return head.withTarget { target in
            let path = RequestTarget(target).path
            if target.count > path.lowerBound, target[path.lowerBound] == UInt8(ascii: "*") {
                return .respond(Self.options(allow: Self.everything))
            }
            let outcome = trie.look(
                up: method, path: UnsafeRawBufferPointer(rebasing: target[path]),
                at: head.target.lowerBound + path.lowerBound)
            return decision(outcome, for: method)
        }
    }

    private func decision(_ outcome: consuming RouteTrie.Outcome, for method: HTTPMethod) -> Decision {
        switch outcome {
        case .found(let match): .handle(match)
        case .wrongMethod(let match, let allow): .tell(match, allow: allow)
        // Possible nowhere, so also not where nothing is.
        case .notFound where method == .trace: .refuse(.methodNotAllowed(method, allow: Self.everything))
        case .notFound: .refuse(.notFound)
        case .malformed(let problem): .refuse(.badTarget(problem))
        }
    }

    static func options(allow: String) -> HTTPResponse {
        HTTPResponse(.noContent, fields: [.allow: allow])
    }
}
