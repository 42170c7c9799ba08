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
