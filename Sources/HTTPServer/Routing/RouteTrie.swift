/// Routes by their segments: built from nodes that grow, then frozen into flat tables, in which a request's path is
/// looked up without counting a single reference.
struct RouteTrie: Sendable {
    /// What a node has, as ranges of the other tables.
    private struct Node: Sendable {
        var literals: Range<Int>
        /// The node behind a parameter, and what the parameter takes; negative where there is none.
        var parameter: Int
        var parameterKind: RoutePattern.ParameterKind
        var routes: Range<Int>
    }

    private struct Literal: Sendable {
        var text: Range<Int>
        var node: Int
    }

    enum Outcome {
        case found(RouteMatch)
        case wrongMethod(allow: String)
        case notFound
        /// The path holds something that no path may hold.
        case malformed(String)
    }

    private static let slash = UInt8(ascii: "/")

    private var nodes: [Node] = []
    private var literals: [Literal] = []
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
            for literal in node.literals {
                literals.append(Literal(text: text.count..<(text.count + literal.text.count), node: literal.node))
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
        var match = RouteMatch.none
        var parameters = 0
        var node = 0
        if path.count == 1 { return finish(node, method: method, match: &match) }
        let isEscaped = path.offset(of: UInt8(ascii: "%")) != nil
        var lower = 1
        while lower <= path.count {
            let upper = path.offset(of: Self.slash, from: lower) ?? path.count
            let segment = UnsafeRawBufferPointer(rebasing: path[lower..<upper])
            var next: Step?
            if isEscaped {
                switch PathSegment.decode(segment) {
                case .success(let decoded): next = decoded.withUnsafeBytes { step(from: node, segment: $0) }
                case .failure(let problem): return .malformed(problem.sentence)
                }
            } else {
                if PathSegment.isDots(segment) { return .malformed(PathSegment.dots.sentence) }
                next = step(from: node, segment: segment)
            }
            guard let next else {
                // The rest is looked at all the same: what is malformed is 400, wherever it would lead.
                return PathSegment.firstProblem(path, from: upper + 1).map { .malformed($0.sentence) } ?? .notFound
            }
            if next.isParameter {
                match.parameters[parameters] = .init(lower: UInt32(start + lower), upper: UInt32(start + upper))
                parameters += 1
            }
            node = next.node
            lower = upper + 1
        }
        return finish(node, method: method, match: &match)
    }

    private func finish(_ node: Int, method: HTTPMethod, match: inout RouteMatch) -> Outcome {
        let range = nodes[node].routes
        let code = method.code
        for index in range where methods[index] == code && (code != .other || routes[index].method == method) {
            match.route = routes[index]
            return .found(match)
        }
        guard !range.isEmpty else { return .notFound }
        guard method == .head, let index = range.first(where: { methods[$0] == .get }) else {
            return .wrongMethod(allow: allow[node])
        }
        match.route = routes[index]
        return .found(match)
    }

    private struct Step {
        let node: Int
        let isParameter: Bool
    }

    private func step(from node: Int, segment: UnsafeRawBufferPointer) -> Step? {
        let node = nodes[node]
        for literal in node.literals where isSame(segment, literals[literal].text) {
            return Step(node: literals[literal].node, isParameter: false)
        }
        guard node.parameter >= 0, !segment.isEmpty, node.parameterKind == .any || Self.isInt(segment) else {
            return nil
        }
        return Step(node: node.parameter, isParameter: true)
    }

    private func isSame(_ segment: UnsafeRawBufferPointer, _ range: Range<Int>) -> Bool {
        segment.count == range.count
            && text.withUnsafeBytes { segment.isSame(as: UnsafeRawBufferPointer(rebasing: $0[range])) }
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
