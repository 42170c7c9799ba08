import CJSON

/// Why a document cannot be used as a schema, and where.
package struct JSONSchemaError: Error, Equatable, Sendable {
    /// JSON Pointer into the schema.
    package let pointer: String

    /// A whole sentence.
    package let detail: String

    init(adopting failure: cjson_schema_failure) {
        pointer = JSONText.string(adopting: failure.pointer) ?? ""
        detail = JSONText.string(adopting: failure.detail) ?? "There is not enough memory to compile the schema."
    }
}

extension JSONSchemaError: CustomStringConvertible {
    package var description: String { pointer.isEmpty ? detail : "\(pointer): \(detail)" }
}
