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

    /// What a guard looks at.
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

    /// What a comparison compares with.
    public enum Operand: Sendable {
        case path(DataPath)
        case value(JSONDocument)
    }
}

/// An entry of a flow's `guards`.
public struct NamedGuard: Sendable {
    /// The name by which the flow refers to it.
    public let name: String
    /// The guard itself.
    public let `guard`: Guard
}
