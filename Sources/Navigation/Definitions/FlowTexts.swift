import JSONDocument

/// The texts of a flow that are written in several languages.
///
/// Everything else in a definition has them in their first language. A text is translated on its way to the client, so
/// a flow without languages pays nothing.
public struct FlowTexts: Sendable, Equatable {
    /// The languages of the flow's texts (BCP 47), in the order in which the file has them.
    public private(set) var languages: [String] = []
    /// For each text in its first language, the text by language.
    private var translations: [String: [String: String]] = [:]

    /// A flow without languages.
    public static let none = FlowTexts()

    /// Whether a text is written in more than one language.
    public var isEmpty: Bool { translations.isEmpty }

    /// A text in a language; as it is when it is not written in that language.
    public func text(_ text: String, in language: String) -> String { translations[text]?[language] ?? text }

    /// Another number when a text says anything else.
    package var tag: UInt64 {
        var tag = ViewTag(0)
        for (text, translations) in translations.sorted(by: { $0.key < $1.key }) {
            tag.mix(text)
            for (language, text) in translations.sorted(by: { $0.key < $1.key }) {
                tag.mix(language)
                tag.mix(text)
            }
        }
        return tag.value
    }

    mutating func add(_ texts: [(language: String, text: String)]) {
        for (language, _) in texts where !languages.contains(language) { languages.append(language) }
        guard let first = texts.first else { return }
        translations[first.text, default: [:]].merge(texts.map { ($0.language, $0.text) }) { old, _ in old }
    }

    /// With the texts of another version of the flow.
    func merging(_ other: FlowTexts) -> FlowTexts {
        var all = self
        for language in other.languages where !all.languages.contains(language) { all.languages.append(language) }
        all.translations.merge(other.translations) { own, new in own.merging(new) { own, _ in own } }
        return all
    }
}

/// Texts for people: one, or one in each of several languages, `{"en": "…", "de": "…"}`.
extension FlowReader {
    /// - Returns: the text in its first language.
    mutating func localText(_ node: FlowNode?) -> String? {
        guard let node, let written = node.members else { return text(node) }
        // Members are sorted by name, and the first language is the one that the file has first.
        let known = places ?? JSONPlaces(of: source)
        places = known
        let members = written.sorted {
            (known.offset(of: $0.node.place) ?? 0) < (known.offset(of: $1.node.place) ?? 0)
        }
        if members.isEmpty {
            report(node.place, .badValue, "the text has no languages; write {\"en\": \"…\", \"de\": \"…\"}")
        }
        let texts = members.compactMap { language, node -> (language: String, text: String)? in
            guard Self.isLanguage(language) else {
                return refuse(
                    node, .badName,
                    "\"\(language)\" is not a language; languages are written as \"en\", \"de\" or \"pt-BR\"")
            }
            guard let text = node.string else {
                return refuse(node, .wrongType, "the text is \(node.kind); expected a string")
            }
            return (language, text)
        }
        self.texts.add(texts)
        return texts.first?.text
    }

    /// RFC 5646, as far as its syntax goes.
    private static func isLanguage(_ name: String) -> Bool {
        let parts = name.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        func isLetter(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) }
        func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
        return parts.enumerated().allSatisfy { index, part in
            (1...8).contains(part.count) && part.allSatisfy { isLetter($0) || (index > 0 && isDigit($0)) }
        } && (parts.first?.count ?? 0) >= 2
    }

    /// A schema whose `title`, `description` and `x-say` are texts in their first language.
    mutating func withLocalTexts(_ schema: FlowNode) -> JSONDocument {
        SchemaTexts.map(schema.value, at: schema.place) { value, place in
            let node = FlowNode(value: value, place: place)
            return node.isObject ? localText(node).map { JSONDocument($0) } ?? value : value
        }
    }
}

/// The places of a schema at which texts for people stand.
public enum SchemaTexts {
    /// The author's own text for a value that does not fit.
    static let sayKey = "x-say"

    /// The schema with its texts in a language.
    public static func translated(_ schema: JSONDocument, by texts: FlowTexts, to language: String) -> JSONDocument {
        map(schema, at: .root) { value, _ in
            value.string.map { JSONDocument(texts.text($0, in: language)) } ?? value
        }
    }

    /// The schema with its texts changed. A property may be named `title`, too: names are not keywords.
    static func map(
        _ schema: JSONDocument, at place: JSONPointer, _ change: (JSONDocument, JSONPointer) -> JSONDocument
    ) -> JSONDocument {
        guard let members = schema.members else { return schema }
        return JSONDocument(
            members: members.map { name, value in
                let place = place.appending(name)
                switch name {
                case "title", "description", sayKey: return (name: name, value: change(value, place))
                case "properties", "patternProperties", "definitions", "dependencies":
                    let parts = value.members?.map {
                        (name: $0.name, value: map($0.value, at: place.appending($0.name), change))
                    }
                    return (name: name, value: parts.map { JSONDocument(members: $0) } ?? value)
                case "items", "additionalItems", "additionalProperties", "contains", "propertyNames", "not", "if",
                    "then",
                    "else", "allOf", "anyOf", "oneOf":
                    guard let elements = value.elements else {
                        return (name: name, value: map(value, at: place, change))
                    }
                    let parts = elements.enumerated().map { map($0.element, at: place.appending($0.offset), change) }
                    return (name: name, value: JSONDocument(parts))
                default: return (name: name, value: value)
                }
            })
    }
}
