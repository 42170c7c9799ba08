import JSONDocument

/// A condition on data.
public indirect enum Guard: Sendable {
    /// The value fits the schema.
    case shape(of: Subject, ShapeRule)
    case all([Guard])
    case any([Guard])
    case not(Guard)
    /// A place in the flow's named guards.
    case named(Int)
    case compare(Operand, Comparison, Operand)

    public enum Subject: Sendable, Equatable {
        /// The whole document of a service.
        case service(String)
        /// The data of the event.
        case event
        /// The input of the flow.
        case input

        /// The first part of pointers into it.
        public var root: String {
            switch self {
            case .service(let name): name
            case .event: "event"
            case .input: "input"
            }
        }
    }

    public enum Operand: Sendable {
        case path(DataPath)
        case value(JSONDocument)
    }
}

/// An entry of a flow's `guards`.
public struct NamedGuard: Sendable {
    public let name: String
    public let `guard`: Guard
}

/// How two values are compared: numbers by value, texts by their code points, everything else only for equality.
public enum Comparison: String, Sendable, CaseIterable {
    case equal = "=="
    case notEqual = "!="
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="
}

/// A JSON Schema (draft 7), compiled once.
public struct ShapeRule: Sendable {
    let schema: JSONSchema

    /// The schema as it is written.
    public var document: JSONDocument { schema.document }

    public func accepts(_ value: JSONDocument) -> Bool { schema.accepts(value) }

    public func violations(in value: JSONDocument) -> [JSONViolation] { schema.violations(in: value) }
}
