import JSONDocument

/// A place in the data of a step: a JSON Pointer whose first part says in what.
public struct DataPath: Sendable, Equatable {
    /// Where the path starts.
    public let root: Root
    /// The place in the document that ``root`` names.
    public let pointer: JSONPointer
    /// The whole path as it is written.
    public let text: String

    /// The things that a path can start from.
    public enum Root: Sendable, Equatable {
        case service(String)
        /// The data of the event.
        case event
        /// The input of the flow.
        case input
        /// What a child handed back when it ended.
        case output
        /// The time of the step, in RFC 3339.
        case now
    }

    /// Nil when `text` is not a JSON Pointer, or points at everything at once.
    public init?(_ text: String) {
        guard let whole = JSONPointer(parsing: text), let first = whole.tokens.first else { return nil }
        root =
            switch first {
            case "event": .event
            case "input": .input
            case "output": .output
            case "now": .now
            default: .service(first)
            }
        pointer = JSONPointer(Array(whole.tokens.dropFirst()))
        self.text = text
    }

    /// The service that the path starts from, if it is one.
    public var service: String? {
        if case .service(let name) = root { name } else { nil }
    }

    /// What a service cannot be named, for these mean something else in a path.
    public static let reservedNames = ["event", "input", "output", "now"]
}
