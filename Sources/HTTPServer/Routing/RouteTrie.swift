/// Routes by their segments: built from nodes that grow, then frozen into flat tables, in which a request's path is
/// looked up without counting a single reference.
struct RouteTrie: Sendable {
    /// What a node has, as ranges of the other tables. Its literals come before its parameter: ``RouteTree`` has seen to it
    /// that no path fits both.
    private struct Node: Sendable {
        var literals: Range<Int>
        /// The node behind a parameter, and what the parameter takes; negative where there is none.
        var parameter: Int
        var parameterKind: RoutePattern.ParameterKind
        var routes: Range<Int>
    }

    /// What a path was found to be. Numbers only, so that handing it on counts no references.
    enum Outcome {
        /// The route, by its place in `routes`, and where its parameters lie.
        case found(Int, RouteMatch.Parameters)
        /// The node whose routes are of other methods, and where the parameters of these lie.
        case wrongMethod(Int, RouteMatch.Parameters)
        case notFound
        /// The path holds something that no path may hold.
        case malformed(PathSegment.Problem)
    }

    private static let slash = UInt8(ascii: "/")

    private var nodes: [Node] = []
    private var literals: [RouteLiteral] = []
    private var text: [UInt8] = []
    /// Methods and routes of all nodes, in step.
    private var methods: [HTTPMethod.Code] = []
    private var routes: [Route] = []
    /// The value of `Allow` for each node, RFC 9110, section 10.2.1.
    private var allow: [String] = []

    /// - Throws: `RouteError`, see `RouterBuilder.freeze()`.
    init(_ routes: [Route]) throws(RouteError) {
        var tree = RouteTree()
        for route in routes { try tree.insert(route) }
        for node in tree.nodes {
            let firstLiteral = literals.count
            // Where most routes go, most requests are likely to.
            for literal in node.literals.sorted(by: { tree.nodes[$0.node].traffic > tree.nodes[$1.node].traffic }) {
                literals.append(RouteLiteral(start: text.count, text: literal.text, node: literal.node))
                text += literal.text
            }
            let firstRoute = self.routes.count
            self.routes += node.routes
            methods += node.routes.map(\.method.code)
            nodes.append(
                Node(
                    literals: firstLiteral..<literals.count, parameter: node.parameter?.node ?? -1,
                    parameterKind: node.parameter?.kind ?? .any, routes: firstRoute..<self.routes.count))
            allow.append(Self.allow(node.routes.map(\.method)))
        }
    }

    /// - Parameter start: where the path begins in the head that it is a part of.
    func look(up method: HTTPMethod, path: UnsafeRawBufferPointer, at start: Int) -> Outcome {
        guard path.first == Self.slash else { return .notFound }
        var parameters = RouteMatch.Parameters(repeating: .init())
        var parameterCount = 0
        var node = 0
        var lower = path.count == 1 ? 2 : 1
        while lower <= path.count {
            if let literal = literal(of: node, in: path, at: lower) {
                node = literal.node
                lower += literal.count + 1
                continue
            }
            let (upper, isPlain) = Self.segment(of: path, from: lower)
            let segment = UnsafeRawBufferPointer(rebasing: path[lower..<upper])
            let isAny = isPlain && upper > lower && nodes[node].parameter >= 0 && nodes[node].parameterKind == .any
            switch isAny ? .parameter : step(from: node, segment: segment) {
            case .literal(let next): node = next
            case .parameter:
                parameters[parameterCount] = .init(lower: UInt32(start + lower), upper: UInt32(start + upper))
                parameterCount += 1
                node = nodes[node].parameter
            case .nowhere:
                // The rest is looked at all the same: what is malformed is 400, wherever it would lead.
                return PathSegment.firstProblem(path, from: upper + 1).map { .malformed($0) } ?? .notFound
            case .malformed(let problem): return .malformed(problem)
            }
            lower = upper + 1
        }
        guard let index = route(of: node, for: method) else {
            return nodes[node].routes.isEmpty ? .notFound : .wrongMethod(node, parameters)
        }
        return .found(index, parameters)
    }

    /// - Parameter index: of an `Outcome`.
    func route(_ index: Int) -> Route { routes[index] }

    /// Any route of the node of an `Outcome` that has some.
    func anyRoute(of node: Int) -> Route { routes[nodes[node].routes.lowerBound] }

    /// The value of `Allow`, RFC 9110, section 10.2.1, for the node of an `Outcome`.
    func allow(_ node: Int) -> String { allow[node] }

    /// Where the segment ends that begins there, and whether it is just what it looks like: no escape, no dot. Each
    /// byte is looked at once; segments are too short for more looks, of many bytes at once, to be quicker.
    private static func segment(of path: UnsafeRawBufferPointer, from lower: Int) -> (upper: Int, isPlain: Bool) {
        var upper = lower
        var isPlain = true
        while upper < path.count, path[upper] != slash {
            isPlain = isPlain && path[upper] != UInt8(ascii: "%") && path[upper] != UInt8(ascii: ".")
            upper &+= 1
        }
        return (upper, isPlain)
    }

    /// The literal of that node whose text, as it is, fills the segment that begins there: nothing in it can be wrong.
    private func literal(of node: Int, in path: UnsafeRawBufferPointer, at lower: Int) -> RouteLiteral? {
        let range = nodes[node].literals
        guard !range.isEmpty else { return nil }
        return literals.withUnsafeBufferPointer { literals in
            text.withUnsafeBytes { text in
                for index in range where literals[index].fills(path, at: lower, text: text) { return literals[index] }
                return nil
            }
        }
    }

    private enum Step {
        case literal(Int)
        case parameter
        case nowhere
        case malformed(PathSegment.Problem)
    }

    /// Where a segment leads that is none of the node's literals as it stands.
    private func step(from node: Int, segment: UnsafeRawBufferPointer) -> Step {
        guard segment.offset(of: UInt8(ascii: "%")) != nil else {
            if PathSegment.isDots(segment) { return .malformed(.dots) }
            return takesParameter(node, segment) ? .parameter : .nowhere
        }
        switch PathSegment.decode(segment) {
        case .failure(let problem): return .malformed(problem)
        case .success(let decoded):
            return decoded.withUnsafeBytes { decoded in
                if let literal = literal(of: node, in: decoded, at: 0), literal.count == decoded.count {
                    return .literal(literal.node)
                }
                return takesParameter(node, decoded) ? .parameter : .nowhere
            }
        }
    }

    private func takesParameter(_ node: Int, _ segment: UnsafeRawBufferPointer) -> Bool {
        guard nodes[node].parameter >= 0, !segment.isEmpty else { return false }
        return nodes[node].parameterKind == .any || Self.isInt(segment)
    }

    private func route(of node: Int, for method: HTTPMethod) -> Int? {
        let code = method.code
        for index in nodes[node].routes
        where methods[index] == code && (code != .other || routes[index].method == method) {
            return index
        }
        return code == .head ? nodes[node].routes.first { methods[$0] == .get } : nil
    }

    /// Digits only: `Int` would take a sign as well.
    private static func isInt(_ segment: UnsafeRawBufferPointer) -> Bool {
        segment.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            && Int(String(decoding: segment, as: UTF8.self)) != nil
    }

    private static func allow(_ methods: [HTTPMethod]) -> String {
        var names = Set(methods.map(\.description))
        if names.contains("GET") { names.insert("HEAD") }
        names.insert("OPTIONS")
        return names.sorted().joined(separator: ", ")
    }
}
