/// One place where a document does not fit its schema.
package struct JSONViolation: Equatable, Sendable {
    /// JSON Pointer into the document. For a member that is missing, the place where it should be.
    package let pointer: String

    /// The rest of a sentence about that place, safe to show to a client: "must be a string", "is required".
    package let detail: String

    package init(pointer: String, detail: String) {
        self.pointer = pointer
        self.detail = detail
    }
}

extension JSONViolation: CustomStringConvertible {
    package var description: String { (pointer.isEmpty ? "The document" : pointer) + " \(detail)" }
}
