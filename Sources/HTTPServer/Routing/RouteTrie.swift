import Glibc

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

    /// A literal segment: where its text is in the text of all literals, and the node behind it.
    private struct Literal: Sendable {
        let start, count, node: Int
    }

    /// The result of routing a request's target. It holds numbers only, so that passing it on counts no references.
    enum Outcome {
        /// The index of the route in `routes`, and where its parameters are.
        case found(Int, RouteMatch.Parameters)
        /// The path exists, but not for this method: the node, and where the parameters of its routes are.
        case wrongMethod(Int, RouteMatch.Parameters)
        case notFound
        /// The path contains something that no path may contain.
        case malformed(PathSegment.Problem)
        /// `*`: the server itself.
        case asterisk
        /// RFC 9110, 9.3.6: the target of CONNECT is an authority, so there is no path.
        case authority
    }

    private static let slash = UInt8(ascii: "/")

    private var nodes: [Node] = []
    private var literals: [Literal] = []
    private var text: [UInt8] = []
    /// Methods and routes of all nodes, at the same indices.
    private var methods: [HTTPMethod] = []
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
                literals.append(Literal(start: text.count, count: literal.text.count, node: literal.node))
                text += literal.text
            }
            let firstRoute = self.routes.count
            self.routes += node.routes
            methods += node.routes.map(\.method)
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
        var parameters = RouteMatch.Parameters(repeating: 0..<0)
        var parameterCount = 0
        var node = 0
        var lower = path.count == 1 ? 2 : 1
        while lower <= path.count {
            if let literal = literal(of: node, in: path, at: lower) {
                node = literal.node
                lower += literal.count + 1
                continue
            }
            let upper = path.offset(of: Self.slash, from: lower) ?? path.count
            switch step(from: node, segment: UnsafeRawBufferPointer(rebasing: path[lower..<upper])) {
            case .literal(let next): node = next
            case .parameter:
                parameters[parameterCount] = UInt32(start + lower)..<UInt32(start + upper)
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

    /// The literal of the node whose text is exactly the segment that begins at `lower`, up to a slash or the end of
    /// the path. Such a segment needs no decoding.
    private func literal(of node: Int, in path: UnsafeRawBufferPointer, at lower: Int) -> Literal? {
        text.withUnsafeBytes { text in
            guard let texts = text.baseAddress, let start = path.baseAddress else { return nil }
            for index in nodes[node].literals {
                let literal = literals[index]
                let upper = lower &+ literal.count
                guard upper <= path.count, upper == path.count || path[upper] == Self.slash else { continue }
                if memcmp(start + lower, texts + literal.start, literal.count) == 0 { return literal }
            }
            return nil
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
        for index in nodes[node].routes where methods[index] == method { return index }
        return method == .head ? nodes[node].routes.first { methods[$0] == .get } : nil
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
