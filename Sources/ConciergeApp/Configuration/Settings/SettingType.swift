import JSONDocument

/// A type of settings: the allowed values, how they are read from any source and how they are shown.
package protocol SettingType: Sendable {
    associatedtype Value: Sendable

    /// The word in the type column of the reference.
    var name: String { get }
    /// The allowed values, to follow "allowed is": `a whole number from 0 to 65535`.
    var allowed: String { get }
    /// An example, to follow "as in", if `allowed` does not contain one.
    var examples: String? { get }
    /// The JSON Schema (draft 7) of its values in a file. It may take more than ``read(_:)``.
    var schema: JSONDocument { get }
    /// The value; `nil` when it is not allowed.
    func read(_ written: WrittenValue) -> Value?
    /// The value as JSON text that ``read(_:)`` accepts.
    func show(_ value: Value) -> String
    /// What is wrong with a value that is not allowed, to follow the key's name; `nil` to say what the value is.
    func fault(_ written: WrittenValue) -> String?
    /// What the operator may have meant, if there is a guess.
    func guess(_ written: WrittenValue) -> String?
}

extension SettingType {
    package var examples: String? { nil }
    package func fault(_ written: WrittenValue) -> String? { nil }
    package func guess(_ written: WrittenValue) -> String? { nil }
}

/// A setting that may be missing; a file may also contain `null`.
package struct OptionalSetting<Wrapped: SettingType>: SettingType {
    let wrapped: Wrapped

    package var name: String { wrapped.name }
    package var allowed: String { wrapped.allowed }
    package var examples: String? { wrapped.examples }
    package var schema: JSONDocument { ["anyOf": [wrapped.schema, ["type": "null"]]] }

    package func read(_ written: WrittenValue) -> Wrapped.Value?? {
        if written == .null { return .some(nil) }
        return wrapped.read(written).map { .some($0) }
    }

    package func show(_ value: Wrapped.Value?) -> String { value.map { wrapped.show($0) } ?? "null" }
    package func guess(_ written: WrittenValue) -> String? { wrapped.guess(written) }
}

extension SettingType {
    static func optional<Wrapped>(_ wrapped: Wrapped) -> OptionalSetting<Wrapped>
    where Self == OptionalSetting<Wrapped> {
        OptionalSetting(wrapped: wrapped)
    }
}

/// One of a few words: the raw values of an enumeration.
package struct ChoiceSetting<Choice>: SettingType
where Choice: CaseIterable & RawRepresentable<String> & Sendable {
    package var name: String { "choice" }
    package var allowed: String {
        let words = Choice.allCases.map(\.rawValue)
        return words.count == 1 ? "only \(words[0])" : "one of " + words.joined(separator: ", ")
    }
    package var schema: JSONDocument { ["enum": JSONDocument(Choice.allCases.map { JSONDocument($0.rawValue) })] }

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

/// `true` or `false`, and no other words for them.
package struct BooleanSetting: SettingType {
    package var name: String { "boolean" }
    package var allowed: String { "true or false" }
    package var schema: JSONDocument { ["type": "boolean"] }

    package func read(_ written: WrittenValue) -> Bool? {
        switch written {
        case .boolean(let flag): flag
        case .plain(let text): Bool(text)
        default: nil
        }
    }

    package func show(_ value: Bool) -> String { "\(value)" }

    package func guess(_ written: WrittenValue) -> String? {
        switch written.string?.lowercased() ?? (written == .integer(1) ? "1" : written == .integer(0) ? "0" : "") {
        case "true", "yes", "on", "1": "true"
        case "false", "no", "off", "0": "false"
        default: nil
        }
    }
}

extension SettingType where Self == BooleanSetting {
    static var boolean: BooleanSetting { BooleanSetting() }
}
