/// A text that nobody may guess and that is never printed.
package struct SecretSetting: SettingType {
    /// Sixteen random letters and digits are some 95 bits, out of reach of guessing over a network.
    let leastLength = 16
    /// A header must hold it.
    let mostLength = 256

    package var name: String { "secret" }
    package var allowed: String { "\(leastLength) to \(mostLength) visible ASCII characters, without blanks" }

    package func read(_ written: WrittenValue) -> Secret? {
        guard let text = written.string, (leastLength...mostLength).contains(text.utf8.count),
            text.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return nil }
        return Secret(text)
    }

    package func show(_ value: Secret) -> String { JSONText.string(Secret.mask) }
}

extension SettingType where Self == SecretSetting {
    static var secret: SecretSetting { SecretSetting() }
}
