import Glibc

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

    /// - Parameter path: in the coordinates of the head that it is a part of.
    func look(up method: HTTPMethod, path: ArraySlice<UInt8>) -> Outcome {
        path.withUnsafeBufferPointer { bytes in
            guard bytes.first == UInt8(ascii: "/") else { return .notFound }
            var match = RouteMatch.none
            var parameters = 0
            var at = 0
            if bytes.count == 1 { return finish(at, method: method, match: &match) }
            var start = 1
            while start <= bytes.count {
                var end = start
                var escaped = false
                while end < bytes.count, bytes[end] != UInt8(ascii: "/") {
                    escaped = escaped || bytes[end] == UInt8(ascii: "%")
                    end += 1
                }
                let raw = UnsafeBufferPointer(rebasing: bytes[start..<end])
                var decoded: [UInt8]?
                if let problem = Self.check(raw, escaped: escaped, decoded: &decoded) { return .malformed(problem) }
                guard
                    let next = decoded.map({ $0.withUnsafeBufferPointer { step(from: at, segment: $0) } })
                        ?? step(from: at, segment: raw)
                else {
                    // The rest is looked at all the same: what is malformed is 400, wherever it would lead.
                    return Self.firstProblem(bytes, from: end + 1).map { .malformed($0) } ?? .notFound
                }
                if next.isParameter {
                    match.parameters[parameters] = .init(
                        lower: UInt32(path.startIndex + start), upper: UInt32(path.startIndex + end))
                    parameters += 1
                }
                at = next.node
                start = end + 1
            }
            return finish(at, method: method, match: &match)
        }
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

    private func step(from node: Int, segment: UnsafeBufferPointer<UInt8>) -> (node: Int, isParameter: Bool)? {
        for index in nodes[node].literals where isSame(segment, literals[index].text) {
            return (literals[index].node, false)
        }
        let parameter = nodes[node].parameter
        guard parameter >= 0, !segment.isEmpty else { return nil }
        if nodes[node].parameterKind == .int, !isInt(segment) { return nil }
        return (parameter, true)
    }

    private func isSame(_ segment: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) -> Bool {
        guard segment.count == range.count, let bytes = segment.baseAddress else { return false }
        return text.withUnsafeBufferPointer { text in
            text.baseAddress.map { memcmp(bytes, $0 + range.lowerBound, range.count) == 0 } ?? false
        }
    }

    /// Digits only: `Int` would take a sign as well.
    private func isInt(_ segment: UnsafeBufferPointer<UInt8>) -> Bool {
        segment.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            && Int(String(decoding: segment, as: UTF8.self)) != nil
    }

    /// What may not be in a segment: a broken escape, an escaped slash or control character, what is not UTF-8,
    /// and `.` or `..`, which some proxies resolve and others do not.
    private static func check(
        _ raw: UnsafeBufferPointer<UInt8>, escaped: Bool, decoded: inout [UInt8]?
    ) -> String? {
        if escaped {
            guard let bytes = PercentEncoding.decode(ArraySlice(raw)) else { return "The path has a broken escape." }
            if bytes.contains(where: { $0 < 0x20 || $0 == 0x7F || $0 == UInt8(ascii: "/") }) {
                return "The path has an escaped slash or control character."
            }
            guard String(validating: bytes, as: UTF8.self) != nil else { return "The path is not UTF-8." }
            if isDots(bytes) { return "The path has a dot segment." }
            decoded = bytes
            return nil
        }
        return raw.first == UInt8(ascii: ".") && isDots(raw) ? "The path has a dot segment." : nil
    }

    private static func isDots(_ segment: some Collection<UInt8>) -> Bool {
        segment.count <= 2 && !segment.isEmpty && segment.allSatisfy { $0 == UInt8(ascii: ".") }
    }

    private static func firstProblem(_ path: UnsafeBufferPointer<UInt8>, from start: Int) -> String? {
        guard start <= path.count else { return nil }
        for segment in path[start...].split(separator: UInt8(ascii: "/")) {
            var decoded: [UInt8]?
            let raw = UnsafeBufferPointer(rebasing: segment)
            if let problem = check(raw, escaped: raw.contains(UInt8(ascii: "%")), decoded: &decoded) { return problem }
        }
        return nil
    }

    private static func allow(_ methods: [HTTPMethod]) -> String {
        var names = Set(methods.map(\.description))
        if names.contains("GET") { names.insert("HEAD") }
        names.insert("OPTIONS")
        return names.sorted().joined(separator: ", ")
    }
}
