import JSONDocument

/// A document service as a file of the services directory declares it: one that needs no code.
package struct ServiceFile: Sendable {
    /// What happens when two clients write at once.
    package enum Concurrency: String, Sendable, CaseIterable {
        /// A write without a condition wins over what was there.
        case lastWrite = "last_write"
        /// A write must name the version that it is based on, else it is refused.
        case firstWrite = "first_write"
    }

    /// What else ends with the service's state.
    package enum Binding: String, Sendable, CaseIterable {
        /// Signing out removes the service from the session.
        case user
    }

    /// Who writes the service.
    package enum Access: String, Sendable, CaseIterable {
        /// The session's own client, flows, and the admin listener.
        case readWrite = "read_write"
        /// Flows and the admin listener: the client can rely on nobody else, and cannot forge anything.
        case readOnly = "read_only"
    }

    /// As it stands in a path: `basket`.
    package let name: String
    package let summary: String?
    package let schema: JSONSchema
    /// What `schema` was made of.
    package let schemaDocument: JSONDocument
    /// What a client reads before anything was written, and after the state was cleared; it fits `schema`.
    package let defaultState: JSONDocument
    /// How long an instance lives, counted from when it was made; nil is as long as the session.
    package let lifetime: Duration?
    package let concurrency: Concurrency
    package let boundTo: Binding?
    package let access: Access
    /// The file, for messages.
    package let path: String

    /// Names that the program itself gives to services.
    package static let builtInNames = ["profile", "temporary-profile", "quote", "user", "coordinator"]

    /// Names stand in paths, metrics and logs: this is what all of them take without escapes.
    static func isName(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }
}

extension ServiceFile {
    /// A declaration that comes from code instead of a file.
    /// - Throws: `JSONSchemaError` when `schema` is not a schema.
    package init(
        name: String, schema: JSONDocument = true, default: JSONDocument = .emptyObject, lifetime: Duration? = nil,
        concurrency: Concurrency = .lastWrite, boundTo: Binding? = nil, access: Access = .readWrite
    ) throws(JSONSchemaError) {
        self.init(
            name: name, summary: nil, schema: try JSONSchema(schema), schemaDocument: schema, defaultState: `default`,
            lifetime: lifetime, concurrency: concurrency, boundTo: boundTo, access: access,
            path: "")
    }
}
