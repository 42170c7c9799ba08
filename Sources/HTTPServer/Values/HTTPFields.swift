/// The header fields of an answer, in the order they will be sent.
public struct HTTPFields: Sendable {
    public struct Line: Sendable {
        public let name: HTTPFieldName
        public let value: String
    }

    public private(set) var lines: ContiguousArray<Line> = []

    public init() {}

    /// The first value of that name; setting it replaces every line of the name, or removes them.
    public subscript(name: HTTPFieldName) -> String? {
        get { lines.first { $0.name == name }?.value }
        set {
            lines.removeAll { $0.name == name }
            if let newValue { lines.append(Line(name: name, value: newValue)) }
        }
    }

    /// Adds a line, whatever is there: the fast way where the name is known to be new, and the only one for
    /// names that may come twice, such as `Set-Cookie`.
    public mutating func add(_ name: HTTPFieldName, _ value: String) {
        if lines.isEmpty { lines.reserveCapacity(6) }
        lines.append(Line(name: name, value: value))
    }
}

extension HTTPFields: ExpressibleByDictionaryLiteral {
    public init(dictionaryLiteral elements: (HTTPFieldName, String)...) {
        lines = ContiguousArray(elements.map { Line(name: $0.0, value: $0.1) })
    }
}
