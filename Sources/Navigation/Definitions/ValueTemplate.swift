import JSONDocument

/// A value with references to data: `{"author": {"$from": "/profile/name"}}`.
public indirect enum ValueTemplate: Sendable {
    /// A constant.
    case literal(JSONDocument)
    /// The value at a path, or else the default. With neither, the template has no value.
    case from(DataPath, default: ValueTemplate?)
    /// A list of templates.
    case array([ValueTemplate])
    /// An object whose members are templates.
    case object([(name: String, value: ValueTemplate)])

    /// The paths that have no default, so that the template needs a value there.
    public var neededPaths: [DataPath] {
        switch self {
        case .literal: []
        case .from(let path, let fallback): fallback == nil ? [path] : fallback?.neededPaths ?? []
        case .array(let elements): elements.flatMap(\.neededPaths)
        case .object(let members): members.flatMap(\.value.neededPaths)
        }
    }
}

/// A place in the data of a step: a JSON Pointer whose first token names a document.
public struct DataPath: Sendable, Equatable {
    /// The document.
    public let root: Root
    /// The place in the document.
    public let pointer: JSONPointer
    /// The whole path as the file has it.
    public let text: String

    /// The documents that a path can begin with.
    public enum Root: Sendable, Equatable {
        /// The state of a service.
        case service(String)
        /// The data of the event.
        case event
        /// The input of the flow.
        case input
        /// The output of the child that has just ended.
        case output
        /// The `params` of the top frame.
        case frame
        /// The time of the step, in RFC 3339.
        case now
    }

    /// Nil when `text` is not a JSON Pointer, or is empty.
    public init?(_ text: String) {
        guard let whole = JSONPointer(parsing: text), let first = whole.tokens.first else { return nil }
        root =
            switch first {
            case "event": .event
            case "input": .input
            case "output": .output
            case "frame": .frame
            case "now": .now
            default: .service(first)
            }
        pointer = JSONPointer(Array(whole.tokens.dropFirst()))
        self.text = text
    }

    /// The service that the path begins with; nil for the other documents.
    public var service: String? {
        if case .service(let name) = root { name } else { nil }
    }

    /// Names that services cannot have, because they mean other documents in a path.
    public static let reservedNames = ["event", "input", "output", "frame", "now"]
}
