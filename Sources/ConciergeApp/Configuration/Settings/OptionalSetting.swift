/// A setting that may be left out; `null` in a file says so in writing.
package struct OptionalSetting<Wrapped: SettingType>: SettingType {
    let wrapped: Wrapped

    package var name: String { wrapped.name }
    package var allowed: String { wrapped.allowed }
    package var examples: String? { wrapped.examples }

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
