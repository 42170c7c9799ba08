import JSONDocument

/// A condition on data.
public indirect enum Guard: Sendable {
    /// The value fits the schema.
    case shape(of: Subject, ShapeRule)
    /// All of the guards hold.
    case all([Guard])
    /// At least one of the guards holds.
    case any([Guard])
    /// The guard does not hold.
    case not(Guard)
    /// The named guard at an index of ``FlowDefinition/guards``.
    case named(Int)
    /// The two values compare like that.
    case compare(ValueTemplate, Comparison, ValueTemplate)
    /// The value at the path is `true`.
    case isTrue(DataPath)
    /// There is a value at the path, and it is not null.
    case has(DataPath)

    /// The document that a schema is applied to.
    public enum Subject: Sendable, Equatable {
        /// The whole document of a service.
        case service(String)
        /// The data of the event.
        case event
        /// The input of the flow.
        case input

        /// The first token of pointers into the document.
        public var root: String {
            switch self {
            case .service(let name): name
            case .event: "event"
            case .input: "input"
            }
        }
    }
}

/// An entry of a flow's `guards`.
public struct NamedGuard: Sendable {
    /// The name, unique in the flow.
    public let name: String
    /// The condition.
    public let `guard`: Guard
    /// The author's text for why it does not hold.
    public let say: String?
}

/// How two values are compared: numbers by value, texts by their code points, everything else only for equality.
///
/// Whether values of different kinds compare like that cannot be decided, but for equality with null.
public enum Comparison: String, Sendable, CaseIterable {
    /// The values are equal.
    case equal = "=="
    /// The values differ.
    case notEqual = "!="
    /// The left value is smaller.
    case less = "<"
    /// The left value is smaller, or both are equal.
    case lessOrEqual = "<="
    /// The left value is greater.
    case greater = ">"
    /// The left value is greater, or both are equal.
    case greaterOrEqual = ">="
}

/// A JSON Schema (draft 7), compiled once.
public struct ShapeRule: Sendable {
    let schema: JSONSchema
    /// Whether a part of the schema has the author's own text.
    private let says: Bool

    init(schema: JSONSchema) {
        self.schema = schema
        says = SchemaRoom.says(schema.document)
    }

    /// The schema as the file has it.
    public var document: JSONDocument { schema.document }

    /// Whether a value fits the schema.
    public func accepts(_ value: JSONDocument) -> Bool { schema.accepts(value) }

    /// Why a value does not fit the schema, with pointers within the value; empty when it fits.
    public func violations(in value: JSONDocument) -> [JSONViolation] {
        let violations = schema.violations(in: value)
        guard says, !violations.isEmpty else { return violations }
        let room = SchemaRoom(schema.document)
        return violations.map { violation in
            let said = JSONPointer(parsing: violation.pointer).flatMap { room.say(at: $0) }
            return said.map { JSONViolation(pointer: violation.pointer, detail: $0) } ?? violation
        }
    }
}
