import CJSON

/// A compiled JSON Schema (draft 7): the shape that a service's state, a request or a configuration must have.
///
/// ```swift
/// let schema = try JSONSchema(["type": "object", "required": ["name"]])
/// schema.violations(in: [:])  // [JSONViolation(pointer: "/name", detail: "is required")]
/// ```
///
/// Compile once and share: validating is safe from many tasks at once, and costs about a microsecond.
///
/// Numbers are compared exactly as they are kept: integers of up to 64 bits, and doubles as the shortest decimals that
/// read as them, so that 2.30 is a multiple of 0.01 and 0.30000000000000004 is not a multiple of 0.1. A number without
/// a fraction is an integer, however it is written.
///
/// `format` asserts `date-time`, `date`, `time`, `email`, `uri`, `uuid`, `ipv4` and `ipv6`; others assert nothing,
/// which is among the ``warnings``. References go to places in the same document: by JSON Pointer, by `$id`, and by the
/// plain name of an `$id` such as `#address`.
///
/// Some bounds keep documents and schemas from doing harm:
/// - References to other documents are refused, and so is a schema with more than 2,000 subschemas, or more than 32
///   inside each other that apply to the same value.
/// - A pattern has at most 256 bytes. Patterns are ECMAScript's, and match characters, not bytes.
/// - Work on one document is limited. A document that exceeds the limit does not fit: a pattern that backtracks without
///   bound, such as `(a+)+$`, exceeds it with a text of some 20 characters.
package final class JSONSchema: Sendable {
    /// The schema as it was given.
    package let document: JSONDocument

    /// Never changed after compiling.
    private nonisolated(unsafe) let compiled: OpaquePointer

    /// Compiles a schema.
    ///
    /// - Throws: `JSONSchemaError` with the place, for a keyword whose value is not one of its own, a pattern that is
    ///   not a regular expression, or a reference that leads nowhere, to another document or round in circles.
    package init(_ document: JSONDocument) throws(JSONSchemaError) {
        var failure = cjson_schema_failure()
        guard let compiled = cjson_schema_compile(document.value, &failure) else {
            throw JSONSchemaError(adopting: failure)
        }
        self.document = document
        self.compiled = compiled
    }

    deinit { cjson_schema_free(compiled) }

    /// Whether a document fits; the cheapest question.
    package func accepts(_ document: JSONDocument) -> Bool {
        cjson_schema_accepts(compiled, document.value)
    }

    /// Applies a merge patch (RFC 7396) to a text, validates the result and serialises it, in one call: most writes are
    /// that.
    ///
    /// - Returns: the text that parsing, merging and serialising would give; nil when it does not fit, or when `text`
    ///   is not JSON.
    package func merging(_ patch: JSONDocument, into text: [UInt8]) -> [UInt8]? {
        var length = 0
        let merged = cjson_schema_merge(compiled, text, text.count, patch.value, &length)
        return merged.map { Array(JSONText.serialized($0, length)) }
    }

    /// How many violations of one document are shown; more would not help the caller.
    package static let shownViolations = 32

    /// What does not fit, at most `limit` places (at least one); empty for a document that fits. The default is one
    /// more than is shown, so that a response can say that there are more.
    package func violations(in document: JSONDocument, limit: Int = shownViolations + 1) -> [JSONViolation] {
        var violations: [JSONViolation] = []
        withUnsafeMutablePointer(to: &violations) { violations in
            _ = cjson_schema_validate(compiled, document.value, max(1, limit), violations) {
                context, pointer, pointerLength, detail, detailLength in
                context?.assumingMemoryBound(to: [JSONViolation].self).pointee.append(
                    JSONViolation(
                        pointer: JSONText.string(pointer, pointerLength), detail: JSONText.string(detail, detailLength))
                )
            }
        }
        return violations
    }

    /// Places of the schema where its author may have meant something else, in the order of member names.
    package var warnings: [JSONSchemaWarning] {
        var warnings: [JSONSchemaWarning] = []
        withUnsafeMutablePointer(to: &warnings) { warnings in
            cjson_schema_each_note(compiled, warnings) { context, note, pointer, pointerLength, detail, detailLength in
                context?.assumingMemoryBound(to: [JSONSchemaWarning].self).pointee.append(
                    JSONSchemaWarning(
                        note, at: JSONText.string(pointer, pointerLength), JSONText.string(detail, detailLength)))
            }
        }
        return warnings
    }
}
