/// A type of values that an operator can write: what is allowed, how it is read from any source, how it is shown.
package protocol SettingType: Sendable {
    associatedtype Value: Sendable

    /// The word for the type column of the reference.
    var name: String { get }
    /// What is allowed, to follow "allowed is": `a whole number from 0 to 65535`.
    var allowed: String { get }
    /// How to write one, to follow "as in", where `allowed` does not say so already.
    var examples: String? { get }
    /// The value, or nil when what is written is not allowed.
    func read(_ written: WrittenValue) -> Value?
    /// The value as JSON text that ``read(_:)`` takes back.
    func show(_ value: Value) -> String
    /// What the operator may have meant, when there is something to guess.
    func guess(_ written: WrittenValue) -> String?
}

extension SettingType {
    package var examples: String? { nil }
    package func guess(_ written: WrittenValue) -> String? { nil }
}
