import JSONDocument

/// A whole number in a range.
package struct IntegerSetting: SettingType {
    let range: ClosedRange<Int>

    package var name: String { "integer" }
    package var allowed: String { "a whole number from \(range.lowerBound) to \(range.upperBound)" }
    package var schema: JSONDocument {
        ["type": "integer", "minimum": JSONDocument(range.lowerBound), "maximum": JSONDocument(range.upperBound)]
    }

    package func read(_ written: WrittenValue) -> Int? {
        let number: Int?
        switch written {
        case .integer(let integer): number = integer
        case .plain(let text): number = Int(text)
        default: number = nil
        }
        return number.flatMap { range.contains($0) ? $0 : nil }
    }

    package func show(_ value: Int) -> String { "\(value)" }
}

extension SettingType where Self == IntegerSetting {
    static func integer(_ range: ClosedRange<Int>) -> IntegerSetting { IntegerSetting(range: range) }
}

/// A number of bytes: an integer, or text with a binary unit such as `"64KiB"`.
package struct BytesSetting: SettingType {
    let range: ClosedRange<Int>

    package var name: String { "bytes" }
    package var allowed: String { "a number of bytes from \(range.lowerBound) to \(range.upperBound)" }
    package var examples: String? { "65536, \"64KiB\" or \"1MiB\"" }
    package var schema: JSONDocument {
        [
            "anyOf": [
                IntegerSetting(range: range).schema, ["type": "string", "pattern": "^[0-9]+(KiB|MiB|GiB)$"],
            ]
        ]
    }

    package func read(_ written: WrittenValue) -> Int? {
        let bytes: Int?
        switch written {
        case .integer(let integer): bytes = integer
        case .plain(let text): bytes = Int(text) ?? Self.parse(text)
        case .text(let text): bytes = Self.parse(text)
        default: bytes = nil
        }
        return bytes.flatMap { range.contains($0) ? $0 : nil }
    }

    package func show(_ value: Int) -> String { "\(value)" }

    private static let units: [(suffix: String, size: Int)] = [("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30)]

    private static func parse(_ text: String) -> Int? {
        guard let unit = units.first(where: { text.hasSuffix($0.suffix) }),
            let count = Int(text.dropLast(unit.suffix.count))
        else { return nil }
        let (bytes, overflow) = count.multipliedReportingOverflow(by: unit.size)
        return overflow ? nil : bytes
    }
}

extension SettingType where Self == BytesSetting {
    static func bytes(_ range: ClosedRange<Int>) -> BytesSetting { BytesSetting(range: range) }
}

/// A duration in the form of ``DurationText``. A bare number is refused, because it has no unit.
package struct DurationSetting: SettingType {
    let range: ClosedRange<Duration>

    package var name: String { "duration" }
    package var allowed: String {
        "a duration from \"\(DurationText.format(range.lowerBound))\" to \"\(DurationText.format(range.upperBound))\""
    }
    package var examples: String? { "\"250ms\", \"90s\", \"30m\", \"12h\", \"7d\" or \"PT30M\"" }
    package var schema: JSONDocument { ["type": "string", "pattern": JSONDocument(DurationText.pattern)] }

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
