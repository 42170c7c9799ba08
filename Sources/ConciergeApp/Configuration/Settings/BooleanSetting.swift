/// `true` or `false`, and no other word for them.
package struct BooleanSetting: SettingType {
    package var name: String { "boolean" }
    package var allowed: String { "true or false" }

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
