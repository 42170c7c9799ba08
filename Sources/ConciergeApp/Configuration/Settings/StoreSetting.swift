import JSONDocument

/// Where sessions live: a scheme, for some stores followed by an address. This build has `memory` alone.
package struct StoreSetting: SettingType {
    package var name: String { "store" }
    package var allowed: String {
        "one of the stores of this build: " + Configuration.Store.allCases.map(\.rawValue).joined(separator: ", ")
    }

    package func read(_ written: WrittenValue) -> Configuration.Store? {
        written.string.flatMap { Configuration.Store(rawValue: $0) }
    }

    package func show(_ value: Configuration.Store) -> String { JSONText.string(value.rawValue) }

    package func guess(_ written: WrittenValue) -> String? {
        let stores = Configuration.Store.allCases.map(\.rawValue)
        return written.string.flatMap { NearestName.of($0, among: stores) }.map { "\"\($0)\"" }
    }
}

extension SettingType where Self == StoreSetting {
    static var store: StoreSetting { StoreSetting() }
}
