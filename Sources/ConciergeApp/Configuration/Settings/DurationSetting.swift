import JSONDocument

/// A span of time as ``DurationText`` reads it. A bare number is refused: it does not say of what.
package struct DurationSetting: SettingType {
    let range: ClosedRange<Duration>

    package var name: String { "duration" }
    package var allowed: String {
        "a duration from \"\(DurationText.format(range.lowerBound))\" to \"\(DurationText.format(range.upperBound))\""
    }
    package var examples: String? { "\"250ms\", \"90s\", \"30m\", \"12h\", \"7d\" or \"PT30M\"" }

    package func read(_ written: WrittenValue) -> Duration? {
        written.string.flatMap { DurationText.parse($0) }.flatMap { range.contains($0) ? $0 : nil }
    }

    package func show(_ value: Duration) -> String { JSONText.string(DurationText.format(value)) }

    package func guess(_ written: WrittenValue) -> String? {
        let number: Int?
        switch written {
        case .integer(let integer): number = integer
        case .plain(let text), .text(let text): number = Int(text)
        default: number = nil
        }
        return number.flatMap { $0 < 0 ? nil : "\"\($0)s\"" }
    }
}

extension SettingType where Self == DurationSetting {
    static func duration(_ range: ClosedRange<Duration>) -> DurationSetting { DurationSetting(range: range) }
}
