import JSONDocument

/// What the operator says of a document service: a service without code of its own.
package struct ServiceDeclaration: Sendable {
    package var name: String
    /// JSON Schema, draft 7.
    package var schema: JSONDocument
    package var `default`: JSONDocument
    /// After it, counted from when it was made, an instance counts as removed. In milliseconds; nil for no end.
    package var lifetime: Int64?
    package var concurrency: ServiceConcurrency
    /// Whether the instance leaves when the session's user signs out.
    package var isUserBound: Bool
    /// Whether clients of the public listener can only read it. Flows and the admin listener write it all the same.
    package var isReadOnly: Bool

    package init(
        name: String, schema: JSONDocument = true, default: JSONDocument = .emptyObject, lifetime: Int64? = nil,
        concurrency: ServiceConcurrency = .lastWrite, isUserBound: Bool = false,
        isReadOnly: Bool = false
    ) {
        self.name = name
        self.schema = schema
        self.default = `default`
        self.lifetime = lifetime
        self.concurrency = concurrency
        self.isUserBound = isUserBound
        self.isReadOnly = isReadOnly
    }
}

/// Whether a write has to say which state it replaces.
package enum ServiceConcurrency: String, Sendable {
    /// Need not: the last write stays.
    case lastWrite = "last_write"
    /// PUT and PATCH need a condition; clearing and removing do not, for they depend on no earlier content.
    case firstWrite = "first_write"
}
