/// The path of a route: literal segments and parameters, such as `/v1/flows/{flow}/versions/{n:int}`.
///
/// A parameter takes one whole segment that is not empty: `{name}` takes any segment, `{name:int}` takes decimal digits
/// that fit an `Int`. A path whose segment does not fit does not exist.
public struct RoutePattern: Sendable {
    enum Segment: Sendable, Equatable {
        case literal([UInt8])
        case parameter(String, ParameterKind)
    }

    enum ParameterKind: Sendable { case any, int }

    /// A request keeps room for so many parameters. A path with more would be hard to remember.
    static let maximumParameters = 4

    /// The pattern as it was written. Logs and metrics name the route by it.
    public let text: String
    let segments: [Segment]
    /// The names of its parameters, in the order of the path.
    public let parameterNames: [String]

    init(_ text: String) throws(RouteError) {
        guard text.hasPrefix("/") else { throw RouteError(pattern: text, problem: "does not start with a slash") }
        var segments: [Segment] = []
        var names: [String] = []
        // The root has no segments.
        let path = text.dropFirst()
        for part in path.isEmpty ? [] : path.split(separator: "/", omittingEmptySubsequences: false) {
            if part.isEmpty { throw RouteError(pattern: text, problem: "has an empty segment") }
            guard part.hasPrefix("{") else {
                if part.contains(where: { "{}%?#".contains($0) }) {
                    throw RouteError(
                        pattern: text, problem: "has a segment \"\(part)\" with a character it may not have")
                }
                if part == "." || part == ".." { throw RouteError(pattern: text, problem: "has a dot segment") }
                segments.append(.literal(Array(part.utf8)))
                continue
            }
            guard part.hasSuffix("}") else {
                throw RouteError(pattern: text, problem: "has a brace in \"\(part)\" that is not closed")
            }
            let inner = part.dropFirst().dropLast().split(separator: ":", omittingEmptySubsequences: false)
            let name = String(inner.first ?? "")
            guard !name.isEmpty, inner.count <= 2, inner.count == 1 || inner[1] == "int" else {
                throw RouteError(pattern: text, problem: "has a parameter \"\(part)\": {name} and {name:int} are known")
            }
            if names.contains(name) { throw RouteError(pattern: text, problem: "names the parameter \(name) twice") }
            names.append(name)
            segments.append(.parameter(name, inner.count == 2 ? .int : .any))
        }
        if names.count > Self.maximumParameters {
            throw RouteError(pattern: text, problem: "has more than \(Self.maximumParameters) parameters")
        }
        self.text = text
        self.segments = segments
        self.parameterNames = names
    }
}

/// A route that cannot be served: found when the router is frozen, before the first request.
public struct RouteError: Error, Sendable, CustomStringConvertible {
    /// The pattern as it was given.
    public let pattern: String
    /// What is wrong with it, as the end of a sentence.
    public let problem: String

    public var description: String { "route \(pattern) \(problem)" }
}
