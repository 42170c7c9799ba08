/// Routes by their segments while they are added. Ambiguous routes are found here.
struct RouteTree {
    struct Node {
        var literals: [(text: [UInt8], node: Int)] = []
        var parameter: (name: String, kind: RoutePattern.ParameterKind, node: Int)?
        var routes: [Route] = []
        /// How many routes pass through this node.
        var traffic = 0
    }

    private(set) var nodes: [Node] = [Node()]

    mutating func insert(_ route: Route) throws(RouteError) {
        var at = 0
        for segment in route.pattern.segments {
            at = try child(of: at, for: segment, route: route)
            nodes[at].traffic += 1
        }
        if let other = nodes[at].routes.first(where: { $0.method == route.method }) {
            throw RouteError(
                pattern: route.pattern.text, problem: "stands twice for \(route.method), also as \(other.pattern.text)")
        }
        nodes[at].routes.append(route)
    }

    private mutating func child(
        of parent: Int, for segment: RoutePattern.Segment, route: Route
    ) throws(RouteError) -> Int {
        func ambiguous(_ other: String) -> RouteError {
            RouteError(
                pattern: route.pattern.text,
                problem: "is ambiguous: where it has \(segment.display), another route has \(other)")
        }
        switch segment {
        case .literal(let text):
            if let known = nodes[parent].literals.first(where: { $0.text == text }) { return known.node }
            if let parameter = nodes[parent].parameter { throw ambiguous("{\(parameter.name)}") }
            nodes[parent].literals.append((text, nodes.count))
        case .parameter(let name, let kind):
            if let known = nodes[parent].parameter {
                guard known.name == name, known.kind == kind else { throw ambiguous("{\(known.name)}") }
                return known.node
            }
            if let literal = nodes[parent].literals.first {
                throw ambiguous("\"\(String(decoding: literal.text, as: UTF8.self))\"")
            }
            nodes[parent].parameter = (name, kind, nodes.count)
        }
        nodes.append(Node())
        return nodes.count - 1
    }
}

extension RoutePattern.Segment {
    fileprivate var display: String {
        switch self {
        case .literal(let text): "\"\(String(decoding: text, as: UTF8.self))\""
        case .parameter(let name, _): "{\(name)}"
        }
    }
}
