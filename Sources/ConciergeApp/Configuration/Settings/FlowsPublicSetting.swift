import JSONDocument

/// What callers without a session's token may know of flows.
package enum FlowsPublic: Sendable, Equatable, ExpressibleByBooleanLiteral {
    case nothing
    /// Names, titles, screens and events.
    case outlines
    /// The whole definitions.
    case definitions

    package init(booleanLiteral value: Bool) { self = value ? .outlines : .nothing }
}

/// `true`, `false` or `"definitions"`.
package struct FlowsPublicSetting: SettingType {
    package var name: String { "boolean or choice" }
    package var allowed: String { "true, false or definitions" }
    package var schema: JSONDocument { ["enum": [true, false, "definitions"]] }

    package func read(_ written: WrittenValue) -> FlowsPublic? {
        if let flag = BooleanSetting().read(written) { return flag ? .outlines : .nothing }
        return written.string == "definitions" ? .definitions : nil
    }

    package func show(_ value: FlowsPublic) -> String {
        switch value {
        case .nothing: "false"
        case .outlines: "true"
        case .definitions: "\"definitions\""
        }
    }

    package func guess(_ written: WrittenValue) -> String? {
        BooleanSetting().guess(written) ?? (written.string.map { $0.hasPrefix("def") } == true ? "definitions" : nil)
    }
}

extension SettingType where Self == FlowsPublicSetting {
    static var flowsPublic: FlowsPublicSetting { FlowsPublicSetting() }
}
