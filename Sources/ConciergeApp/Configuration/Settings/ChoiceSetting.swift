import JSONDocument

/// One of a few words: the raw values of an enumeration.
package struct ChoiceSetting<Choice>: SettingType
where Choice: CaseIterable & RawRepresentable<String> & Sendable {
    package var name: String { "choice" }
    package var allowed: String {
        let words = Choice.allCases.map(\.rawValue)
        return words.count == 1 ? "only \(words[0])" : "one of " + words.joined(separator: ", ")
    }

    package func read(_ written: WrittenValue) -> Choice? {
        written.string.flatMap { Choice(rawValue: $0) }
    }

    package func show(_ value: Choice) -> String { JSONText.string(value.rawValue) }

    package func guess(_ written: WrittenValue) -> String? {
        written.string.flatMap { NearestName.of($0, among: Choice.allCases.map(\.rawValue)) }.map { "\"\($0)\"" }
    }
}

extension SettingType {
    static func choice<Choice>(_: Choice.Type) -> ChoiceSetting<Choice> where Self == ChoiceSetting<Choice> {
        ChoiceSetting()
    }
}
