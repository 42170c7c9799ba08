import JSONDocument
import ServiceLocator

/// A document service as the operator declares it, without code of its own.
package struct ServiceDeclaration: Sendable {
    package var name: String
    /// JSON Schema, draft 7.
    package var schema: JSONDocument
    package var `default`: JSONDocument
    /// Whether each session has an instance, or the process one for all, which the admin listener writes.
    package var scope: ServiceScope
    /// The lifetime of an instance, from its creation. Then it counts as removed. In milliseconds; `nil` for no end.
    package var lifetime: Int64?
    package var concurrency: ServiceConcurrency
    /// Whether signing out removes the instance.
    package var isUserBound: Bool
    /// Whether clients of the public listener can only read it. Flows and the admin listener write it in any case.
    package var isReadOnly: Bool

    package init(
        name: String, schema: JSONDocument = true, default: JSONDocument = .emptyObject,
        scope: ServiceScope = .session, lifetime: Int64? = nil, concurrency: ServiceConcurrency = .lastWrite,
        isUserBound: Bool = false,
        isReadOnly: Bool = false
    ) {
        self.name = name
        self.schema = schema
        self.default = `default`
        self.scope = scope
        self.lifetime = lifetime
        self.concurrency = concurrency
        self.isUserBound = isUserBound
        self.isReadOnly = isReadOnly
    }
}

/// Whether a write must say which state it replaces.
package enum ServiceConcurrency: String, Sendable {
    /// It need not: the last write stays.
    case lastWrite = "last_write"
    /// PUT and PATCH need a condition. Clearing and removing do not, because they depend on no earlier content.
    case firstWrite = "first_write"
}
