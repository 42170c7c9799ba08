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
/// Narrower than draft 7, so that no document can hurt:
/// - References stay inside the schema (`#`, `#/definitions/…`).
/// - A pattern has at most 256 bytes. Looking for patterns in all texts and names of a document may take so many steps;
///   what cannot be checked with these is a violation. A pattern that backtracks without bound, like `(a+)+$`, comes to
///   that with a text of some 20 characters.
/// - Arrays of more than 1,024 elements where `uniqueItems` applies are violations.
/// - `format` is an annotation and checks nothing. Patterns are ECMAScript's, as PCRE2 reads them, and see characters.
package final class JSONSchema: Sendable {
    /// The schema as it was given.
    package let document: JSONDocument

    /// Not changed once it is compiled.
    private nonisolated(unsafe) let compiled: OpaquePointer

    /// Compiles a schema.
    ///
    /// - Throws: `JSONSchemaError` with the place, for a keyword with a value that is none of its own, a regular
    ///   expression that is none, a reference that leads nowhere, elsewhere or round in circles.
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

    /// A merge patch (RFC 7396) of a text, checked and serialised in one go: what most writes are.
    ///
    /// - Returns: the text that parsing, merging and serialising would give; nil when it does not fit, or when the text
    ///   that is to be patched is no JSON.
    package func merging(_ patch: JSONDocument, into text: [UInt8]) -> [UInt8]? {
        var length = 0
        let merged = cjson_schema_merge(compiled, text, text.count, patch.value, &length)
        return merged.map { Array(JSONText.serialized($0, length)) }
    }

    /// So many places say enough of one document.
    package static let shownViolations = 32

    /// What does not fit, at most `limit` places (at least one); empty for a document that fits. If nothing else is said,
    /// it is one more than is shown, so that whoever shows them can say that there are more.
    package func violations(in document: JSONDocument, limit: Int = shownViolations + 1) -> [JSONViolation] {
        var violations: [JSONViolation] = []
        let fits = withUnsafeMutablePointer(to: &violations) { violations in
            cjson_schema_validate(compiled, document.value, max(1, limit), violations) {
                context, pointer, pointerLength, detail, detailLength in
                let pointer = UnsafeBufferPointer(start: pointer, count: pointerLength)
                let detail = UnsafeBufferPointer(start: detail, count: detailLength)
                context?.assumingMemoryBound(to: [JSONViolation].self).pointee.append(
                    JSONViolation(
                        pointer: String(decoding: pointer, as: UTF8.self),
                        detail: String(decoding: detail, as: UTF8.self)))
            }
        }
        if !fits && violations.isEmpty {
            // Only when memory ran out before a report.
            violations.append(JSONViolation(pointer: "", detail: "cannot be checked against the schema"))
        }
        return violations
    }
}
