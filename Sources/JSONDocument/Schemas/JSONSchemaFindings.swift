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

/// A place in a schema where its author may have meant something else.
package struct JSONSchemaWarning: Equatable, Sendable {
    package enum Kind: String, Sendable {
        /// The keyword is not one of draft 7, and is ignored.
        case unknownKeyword = "unknown_keyword"
        /// The keyword, or the draft that `$schema` names, is of another draft.
        case otherDraft = "other_draft"
        /// The keyword is one of draft 7, and asserts nothing here.
        case withoutEffect = "without_effect"
    }

    package let kind: Kind

    /// JSON Pointer to the keyword.
    package let pointer: String

    /// A clause that begins with the keyword: "then has no effect without if".
    package let detail: String

    init(_ note: cjson_schema_note, at pointer: String, _ detail: String) {
        let keyword = JSONPointer(parsing: pointer)?.tokens.last ?? ""
        self.pointer = pointer
        switch note {
        case .CJSON_SCHEMA_UNKNOWN_KEYWORD:
            let guess = NearestName.question(for: keyword, among: Self.keywords)
            kind = .unknownKeyword
            self.detail = "\"\(keyword)\" is not a keyword of draft 7 and is ignored\(guess)"
        case .CJSON_SCHEMA_OTHER_DRAFT: (kind, self.detail) = (.otherDraft, "\(keyword) \(detail)")
        case .CJSON_SCHEMA_WITHOUT_EFFECT: (kind, self.detail) = (.withoutEffect, "\(keyword) \(detail)")
        }
    }

    private static let keywords: [String] = {
        var keywords: [String] = []
        while let keyword = cjson_schema_keyword(keywords.count) { keywords.append(String(cString: keyword)) }
        return keywords
    }()
}

/// One place where a document does not fit its schema, or what a client has sent is wrong.
public struct JSONViolation: Error, Equatable, Sendable {
    /// JSON Pointer into the document. For a member that is missing, the place where it should be.
    public let pointer: String

    /// The rest of a sentence about that place, safe to show to a client: "must be a string", "is required".
    public let detail: String

    /// The detail in each of its languages (BCP 47); empty for one that is not written in several.
    public let translations: [String: String]

    /// A violation at a place of a document.
    public init(pointer: String, detail: String, translations: [String: String] = [:]) {
        self.pointer = pointer
        self.detail = detail
        self.translations = translations
    }

    /// The same at another place.
    package func at(_ pointer: String) -> JSONViolation {
        JSONViolation(pointer: pointer, detail: detail, translations: translations)
    }
}

extension JSONViolation: CustomStringConvertible {
    public var description: String { (pointer.isEmpty ? "The document" : pointer) + " \(detail)" }
}
