import JSONDocument

/// A JSON Schema (draft 7), compiled once.
public struct ShapeRule: Sendable {
    let schema: JSONSchema

    /// The schema as it is written.
    public var document: JSONDocument { schema.document }

    /// Whether a value fits.
    public func accepts(_ value: JSONDocument) -> Bool { schema.accepts(value) }

    /// What is wrong with a value; empty when it fits.
    public func violations(in value: JSONDocument) -> [JSONViolation] { schema.violations(in: value) }
}
