import JSONDocument

/// Where something is sent: a URL of HTTP (RFC 9110, section 4.2).
package struct WebAddressSetting: SettingType {
    package var name: String { "URL" }
    package var allowed: String { "an http or https URL without user, password and fragment" }
    package var schema: JSONDocument { ["type": "string", "pattern": "^https?://[^/?#@]", "maxLength": 2048] }
    package var examples: String? { "\"https://back-end.example/tasks\"" }

    package func read(_ written: WrittenValue) -> String? {
        guard let text = written.string, text.utf8.count <= 2_048,
            text.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "#") }),
            let scheme = ["https://", "http://"].first(where: { text.hasPrefix($0) })
        else { return nil }
        let authority = text.dropFirst(scheme.count).prefix { $0 != "/" && $0 != "?" }
        // A password in an address ends up in logs.
        return authority.isEmpty || authority.hasPrefix(":") || authority.contains("@") ? nil : text
    }

    package func show(_ value: String) -> String { JSONText.string(value) }
}

extension SettingType where Self == WebAddressSetting {
    static var webAddress: WebAddressSetting { WebAddressSetting() }
}
