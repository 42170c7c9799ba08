/// Routes by their segments. A tree is frozen into flat tables, and looking up a path counts no references.
struct RouteTrie: Sendable {
    /// What a node has, as ranges of the other tables. Its literals come before its parameter: ``RouteTree`` has seen
    /// to it that no path fits both.
    private struct Node: Sendable {
        var literals: Range<Int>
        /// The node behind a parameter, and what the parameter takes; negative where there is none.
        var parameter: Int
        var parameterKind: RoutePattern.ParameterKind
        var routes: Range<Int>
    }

    /// The result of looking up a path. It holds numbers only, so that passing it on counts no references.
    enum Outcome {
        /// The index of the route in `routes`, and where its parameters are.
        case found(Int, RouteMatch.Parameters)
        /// The path exists, but not for this method: the node, and where the parameters of its routes are.
        case wrongMethod(Int, RouteMatch.Parameters)
        case notFound
        /// The path contains something that no path may contain.
        case malformed(PathSegment.Problem)
    }

    private static let slash = UInt8(ascii: "/")

    private var nodes: [Node] = []
    private var literals: [RouteLiteral] = []
    private var text: [UInt8] = []
    /// Methods and routes of all nodes, at the same indices.
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
            // Most requests are likely to go where most routes go.
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
                // The rest of the path is checked all the same: a malformed path is 400 wherever it leads.
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

    /// - Parameter index: from an `Outcome`.
    func route(_ index: Int) -> Route { routes[index] }

    /// Any route of a node whose outcome was `wrongMethod`.
    func anyRoute(of node: Int) -> Route { routes[nodes[node].routes.lowerBound] }

    /// The value of `Allow`, RFC 9110, section 10.2.1, for the node of an `Outcome`.
    func allow(_ node: Int) -> String { allow[node] }

    /// Where the segment ends that begins at `lower`, and whether it is plain: without an escape and without a dot.
    /// Segments are too short for searching many bytes at once to be faster.
    private static func segment(of path: UnsafeRawBufferPointer, from lower: Int) -> (upper: Int, isPlain: Bool) {
        var upper = lower
        var isPlain = true
        while upper < path.count, path[upper] != slash {
            isPlain = isPlain && path[upper] != UInt8(ascii: "%") && path[upper] != UInt8(ascii: ".")
            upper &+= 1
        }
        return (upper, isPlain)
    }

    /// The literal of the node whose text is exactly the segment that begins at `lower`. Such a segment needs no
    /// decoding.
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

    /// Where a segment leads that equals none of the node's literals as it is written.
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
