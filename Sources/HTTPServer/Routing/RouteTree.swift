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
        var way: [Int] = []
        for segment in route.pattern.segments {
            way.append(at)
            at = try child(of: at, for: segment, route: route)
            nodes[at].traffic += 1
        }
        if let other = nodes[at].routes.first(where: { $0.method == route.method }) {
            throw RouteError(
                pattern: route.pattern.text, problem: "stands twice for \(route.method), also as \(other.pattern.text)")
        }
        nodes[at].routes.append(route)
        for (node, segment) in zip(way, route.pattern.segments) { try check(node, segment, route) }
    }

    /// A literal may stand beside a parameter where no path fits both: paths end with the literal, and go on behind the
    /// parameter, which then never takes the literal's text.
    private func check(_ node: Int, _ segment: RoutePattern.Segment, _ route: Route) throws(RouteError) {
        guard let parameter = nodes[node].parameter else { return }
        let clash = nodes[node].literals.first { literal in
            let goesOn = !nodes[literal.node].literals.isEmpty || nodes[literal.node].parameter != nil
            return goesOn || !nodes[parameter.node].routes.isEmpty
        }
        guard let clash else { return }
        switch segment {
        case .literal: throw Self.ambiguous(segment, "{\(parameter.name)}", in: route)
        case .parameter:
            throw Self.ambiguous(segment, "\"\(String(decoding: clash.text, as: UTF8.self))\"", in: route)
        }
    }

    private static func ambiguous(_ segment: RoutePattern.Segment, _ other: String, in route: Route) -> RouteError {
        RouteError(
            pattern: route.pattern.text,
            problem: "is ambiguous: where it has \(segment.display), another route has \(other)")
    }

    private mutating func child(
        of parent: Int, for segment: RoutePattern.Segment, route: Route
    ) throws(RouteError) -> Int {
        switch segment {
        case .literal(let text):
            if let known = nodes[parent].literals.first(where: { $0.text == text }) { return known.node }
            nodes[parent].literals.append((text, nodes.count))
        case .parameter(let name, let kind):
            if let known = nodes[parent].parameter {
                guard known.name == name, known.kind == kind else {
                    throw Self.ambiguous(segment, "{\(known.name)}", in: route)
                }
                return known.node
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
