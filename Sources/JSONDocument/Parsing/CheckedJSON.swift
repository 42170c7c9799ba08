import CJSON

/// JSON that is known to be sound, as what a request brings is when it has been looked at.
///
/// Most of it stays text: what is *plain*, as `JSONSchema.merging(plain:into:)` wants it, is only made a document when
/// somebody looks into it.
package struct CheckedJSON: Sendable {
    private let content: Content

    private enum Content: Sendable {
        case plain([UInt8])
        case document(JSONDocument)
    }

    package init(_ document: JSONDocument) {
        content = .document(document)
    }

    /// Checks UTF-8 text as `JSONDocument.init(parsing:comments:)` does.
    ///
    /// - Throws: `JSONParseError`, with the place.
    package init(checking bytes: [UInt8]) throws(JSONParseError) {
        content = cjson_is_plain(bytes, bytes.count) ? .plain(bytes) : .document(try JSONDocument(parsing: bytes))
    }

    /// The text, if it is plain; nil for what has been made a document already.
    package var plainText: [UInt8]? {
        guard case .plain(let bytes) = content else { return nil }
        return bytes
    }

    /// - Throws: `JSONParseError`, when memory runs out.
    package func document() throws(JSONParseError) -> JSONDocument {
        switch content {
        case .plain(let bytes): try JSONDocument(parsing: bytes)
        case .document(let document): document
        }
    }
}
