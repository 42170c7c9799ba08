/// A whole number in a range.
package struct IntegerSetting: SettingType {
    let range: ClosedRange<Int>

    package var name: String { "integer" }
    package var allowed: String { "a whole number from \(range.lowerBound) to \(range.upperBound)" }

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
