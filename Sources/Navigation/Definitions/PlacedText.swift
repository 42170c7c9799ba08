import JSONDocument

/// A text that is written in several languages, at its place in a view or a schema.
///
/// Views are written, and remembered, in the first language of each text. They are translated on their way to the
/// client, so a flow without languages pays nothing.
package struct PlacedText: Sendable, Equatable {
    /// A JSON Pointer.
    package let place: String
    package let said: SaidText
}

extension [PlacedText] {
    /// Empty for a text that is written in no language.
    init(of said: SaidText, at place: String) {
        self = []
        add(said, at: place)
    }

    mutating func add(_ said: SaidText, at place: @autoclosure () -> String) {
        if !said.translations.isEmpty { append(PlacedText(place: place(), said: said)) }
    }

    /// Their languages, the first ones of texts before others.
    package var languages: [String] {
        reduce(into: []) { languages, text in
            let new = text.said.translations.filter { !languages.contains($0.key) }
            languages += new.sorted {
                ($0.value != text.said.text ? 1 : 0, $0.key) < ($1.value != text.said.text ? 1 : 0, $1.key)
            }.map(\.key)
        }
    }

    /// The operations of a JSON Patch that translate them.
    package func changes(to language: String) -> [JSONDocument] {
        compactMap { text in
            let translated = text.said.text(in: language)
            if translated == text.said.text { return nil }
            return ["op": "replace", "path": JSONDocument(text.place), "value": JSONDocument(translated)]
        }
    }
}

/// Texts for people: one, or one in each of several languages, `{"en": "…", "de": "…"}`.
extension FlowReader {
    /// - Parameter context: of the values that it may hold; nil where it holds none.
    mutating func localText(_ node: FlowNode?, _ context: DataContext? = nil) -> TextTemplate? {
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

    private mutating func note(_ texts: [WrittenText], _ context: DataContext?) -> TextTemplate? {
        if texts.isEmpty { return nil }
        for text in texts where !text.language.isEmpty { add(languages: [text.language]) }
        if texts.count > 1 { languagesOfTexts += texts.map(\.language) }
        return TextTemplate(
            texts.map { TextTemplate.Version(language: $0.language, parts: parts(of: $0.text, at: $0.place, context)) })
    }

    mutating func add(languages new: [String]) {
        for language in new where !languages.contains(language) { languages.append(language) }
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

    /// Reads `title`, `description` and `x-say` of a schema.
    ///
    /// - Parameter context: of the values that they may hold; nil where they hold none. Only `x-say` is said when an
    ///   event has come.
    mutating func localTexts(of schema: FlowNode, _ context: DataContext?) -> SchemaTexts {
        SchemaTexts(of: schema.value, at: schema.place) { value, place in
            let node = FlowNode(value: value, place: place)
            guard node.isObject || node.string != nil else { return nil }
            let isSaid = node.key == SchemaTexts.sayKey
            return localText(node, isSaid ? context : context.map { _ in .noEvent })
        }
    }
}
