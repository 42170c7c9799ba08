import HTTPServer
import JSONDocument

/// A quota as `600/1m`, or `none`.
package struct QuotaSetting: SettingType {
    private static let counts = IntegerSetting(range: 1...1_000_000_000)
    private static let windows = DurationSetting(range: .seconds(1) ... .seconds(86_400))

    package var name: String { "quota" }
    package var allowed: String { "a whole number from 1 to 1000000000, a slash and a duration up to \"1d\", or none" }
    package var examples: String? { "\"600/1m\"" }
    package var schema: JSONDocument {
        ["type": "string", "pattern": JSONDocument("^(none|[0-9]+/\(DurationText.pattern.dropFirst().dropLast()))$")]
    }

    package func read(_ written: WrittenValue) -> Quota?? {
        guard let text = written.string else { return nil }
        if text == "none" { return .some(nil) }
        guard let slash = text.firstIndex(of: "/"), let count = Self.counts.read(.plain(String(text[..<slash]))),
            let window = Self.windows.read(.plain(String(text[text.index(after: slash)...])))
        else { return nil }
        return Quota(count: count, window: window)
    }

    package func show(_ value: Quota?) -> String {
        JSONText.string(value.map { "\($0.count)/\(DurationText.format($0.window))" } ?? "none")
    }
}

extension SettingType where Self == QuotaSetting {
    static var quota: QuotaSetting { QuotaSetting() }
}
