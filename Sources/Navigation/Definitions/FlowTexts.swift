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
    /// The texts that hold values, by what they are in their first language.
    private var templates: [String: TextTemplate] = [:]

    /// A flow without languages.
    public static let none = FlowTexts()

    /// Whether a text is written in more than one language.
    public var isEmpty: Bool { translations.isEmpty }

    /// A text in a language; as it is when it is not written in that language.
    public func text(_ text: String, in language: String) -> String { translations[text]?[language] ?? text }

    /// A text in each of its languages; empty when it is not written in several.
    func translations(of text: String) -> [String: String] { translations[text] ?? [:] }

    /// Whether any text holds values.
    var holdsValues: Bool { !templates.isEmpty }

    /// A text that holds values; nil for any other.
    func template(of text: String) -> TextTemplate? { templates[text] }

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

    mutating func add(_ template: TextTemplate, of text: String) {
        if templates[text] == nil { templates[text] = template }
    }

    /// Adds a text with its values.
    mutating func add(_ said: SaidText) {
        if said.translations.isEmpty { return }
        translations[said.text] = said.translations
        let new = said.translations.filter { !languages.contains($0.key) }
        languages += new.sorted { ($0.value != said.text ? 1 : 0, $0.key) < ($1.value != said.text ? 1 : 0, $1.key) }
            .map(\.key)
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
    /// - Parameter context: of the values that it may hold; nil where it holds none.
    /// - Returns: the text in its first language, with its values still in braces.
    mutating func localText(_ node: FlowNode?, _ context: DataContext? = nil) -> String? {
        guard let node else { return nil }
        guard let written = node.members else {
            return text(node).flatMap { note([WrittenText(language: "", text: $0, place: node.place)], context) }
        }
        // Members are sorted by name, and the first language is the one that the file has first.
        let known = places ?? JSONPlaces(of: source)
        places = known
        let members = written.sorted {
            (known.offset(of: $0.node.place) ?? 0) < (known.offset(of: $1.node.place) ?? 0)
        }
        if members.isEmpty {
            report(node.place, .badValue, "the text has no languages; write {\"en\": \"…\", \"de\": \"…\"}")
        }
        let texts = members.compactMap { language, node -> WrittenText? in
            guard Self.isLanguage(language) else {
                return refuse(
                    node, .badName,
                    "\"\(language)\" is not a language; languages are written as \"en\", \"de\" or \"pt-BR\"")
            }
            guard let text = node.string else {
                return refuse(node, .wrongType, "the text is \(node.kind); expected a string")
            }
            return WrittenText(language: language, text: text, place: node.place)
        }
        return note(texts, context)
    }

    /// A text in one language, which is empty where a text has none, and where it stands.
    private struct WrittenText {
        let language: String
        let text: String
        let place: JSONPointer
    }

    private mutating func note(_ texts: [WrittenText], _ context: DataContext?) -> String? {
        let versions = texts.map { text in
            TextTemplate.Version(language: text.language, parts: parts(of: text.text, at: text.place, context))
        }
        let plain = zip(texts, versions).map { (language: $0.language, text: $1.plain ?? $0.text) }
        guard let first = plain.first else { return nil }
        if !first.language.isEmpty { self.texts.add(plain) }
        if versions.contains(where: { $0.plain == nil }) {
            self.texts.add(TextTemplate(versions: versions), of: first.text)
        }
        return first.text
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
    ///
    /// - Parameter context: of the values that they may hold; nil where they hold none. Only `x-say` is said when an
    ///   event has come.
    mutating func withLocalTexts(_ schema: FlowNode, _ context: DataContext?) -> JSONDocument {
        SchemaTexts.map(schema.value, at: schema.place) { value, place in
            let node = FlowNode(value: value, place: place)
            guard node.isObject || node.string != nil else { return value }
            let isSaid = node.key == SchemaTexts.sayKey
            return localText(node, isSaid ? context : context.map { _ in .noEvent }).map { JSONDocument($0) } ?? value
        }
    }
}

/// The places of a schema at which texts for people stand.
public enum SchemaTexts {
    /// The author's own text for a value that does not fit.
    static let sayKey = "x-say"

    /// The schema with its texts in another language.
    public static func translated(_ schema: JSONDocument, _ translate: (String) -> String) -> JSONDocument {
        map(schema, at: .root) { value, _ in value.string.map { JSONDocument(translate($0)) } ?? value }
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
