/// The id of a flow. Whether it is one that is loaded shows when the flow files have been read.
package struct FlowNameSetting: SettingType {
    package var name: String { "flow" }
    package var allowed: String { "the id of a flow" }

    package func read(_ written: WrittenValue) -> String? {
        written.string.flatMap { $0.isEmpty ? nil : $0 }
    }

    package func show(_ value: String) -> String { JSONText.string(value) }
}

extension SettingType where Self == FlowNameSetting {
    static var flowName: FlowNameSetting { FlowNameSetting() }
}
