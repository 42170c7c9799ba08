/// One place where a document does not fit its schema.
public struct JSONViolation: Equatable, Sendable {
    /// JSON Pointer into the document. For a member that is missing, the place where it should be.
    public let pointer: String

    /// The rest of a sentence about that place, safe to show to a client: "must be a string", "is required".
    public let detail: String

    /// A violation at a place of a document.
    public init(pointer: String, detail: String) {
        self.pointer = pointer
        self.detail = detail
    }
}

extension JSONViolation: CustomStringConvertible {
    public var description: String { (pointer.isEmpty ? "The document" : pointer) + " \(detail)" }
}
