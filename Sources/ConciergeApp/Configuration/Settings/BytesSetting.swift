/// A number of bytes: whole, or text with a binary unit as `"64KiB"`.
package struct BytesSetting: SettingType {
    let range: ClosedRange<Int>

    package var name: String { "bytes" }
    package var allowed: String { "a number of bytes from \(range.lowerBound) to \(range.upperBound)" }
    package var examples: String? { "65536, \"64KiB\" or \"1MiB\"" }

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
