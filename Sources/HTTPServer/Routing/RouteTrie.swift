/// Routes by their segments. Built once, then only read.
struct RouteTrie: Sendable {
    private struct Node: Sendable {
        var literals: [(text: [UInt8], node: Int)] = []
        var parameter: (name: String, kind: RoutePattern.ParameterKind, node: Int)?
        var routes: [Route] = []
        /// The value of `Allow`, RFC 9110, section 10.2.1.
        var allow = ""
    }

    enum Outcome {
        case found(RouteMatch)
        case wrongMethod(allow: String)
        case notFound
        /// The path holds something that no path may hold.
        case malformed(String)
    }

    private var nodes: [Node] = [Node()]

    mutating func insert(_ route: Route) throws(RouteError) {
        var at = 0
        for segment in route.pattern.segments {
            at = try child(of: at, for: segment, route: route)
        }
        if let other = nodes[at].routes.first(where: { $0.method == route.method }) {
            throw RouteError(
                pattern: route.pattern.text, problem: "stands twice for \(route.method), also as \(other.pattern.text)")
        }
        nodes[at].routes.append(route)
        nodes[at].allow = Self.allow(nodes[at].routes.map(\.method))
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
                if let next = step(from: at, segment: raw, decoded: decoded) {
                    if next.isParameter {
                        match.parameters[parameters] = .init(
                            lower: UInt32(path.startIndex + start), upper: UInt32(path.startIndex + end))
                        parameters += 1
                    }
                    at = next.node
                } else {
                    // The rest is looked at all the same: what is malformed is 400, wherever it would lead.
                    return Self.firstProblem(bytes, from: end + 1).map { .malformed($0) } ?? .notFound
                }
                start = end + 1
            }
            return finish(at, method: method, match: &match)
        }
    }

    private func finish(_ node: Int, method: HTTPMethod, match: inout RouteMatch) -> Outcome {
        let node = nodes[node]
        guard !node.routes.isEmpty else { return .notFound }
        let wanted = method == .head && !node.routes.contains { $0.method == .head } ? .get : method
        guard let route = node.routes.first(where: { $0.method == wanted }) else {
            return .wrongMethod(allow: node.allow)
        }
        match.route = route
        return .found(match)
    }

    private func step(
        from node: Int, segment: UnsafeBufferPointer<UInt8>, decoded: [UInt8]?
    ) -> (node: Int, isParameter: Bool)? {
        // In place: a copy of the node would count four references up and down.
        for literal in nodes[node].literals {
            let same = decoded.map { $0 == literal.text } ?? segment.elementsEqual(literal.text)
            if same { return (literal.node, false) }
        }
        guard let parameter = nodes[node].parameter, !segment.isEmpty else { return nil }
        if parameter.kind == .int, !isInt(segment) { return nil }
        return (parameter.node, true)
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
        return isDots(raw) ? "The path has a dot segment." : nil
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

extension RoutePattern.Segment {
    fileprivate var display: String {
        switch self {
        case .literal(let text): "\"\(String(decoding: text, as: UTF8.self))\""
        case .parameter(let name, _): "{\(name)}"
        }
    }
}
