/// Web origins (RFC 6454): scheme, host and perhaps a port, as browsers send them in `Origin`.
package struct OriginListSetting: SettingType {
    package var name: String { "list of origins" }
    package var allowed: String { "a list of origins: scheme, host, port unless implied; lower case, no path" }
    package var examples: String? {
        "[\"https://app.example.org\", \"http://localhost:3000\"] (outside of a file divided by commas)"
    }

    package func read(_ written: WrittenValue) -> [String]? {
        let items: [String?]
        switch written {
        case .list(let values):
            // Only strings: `.plain` never occurs inside a list.
            items = values.map(\.string)
        case .plain(let text):
            items = text.split(separator: ",").map { item in
                String(item.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
            }
        default: return nil
        }
        let origins = items.compactMap { $0 }.filter(Self.isOrigin)
        return origins.count == items.count ? origins : nil
    }

    package func show(_ value: [String]) -> String { JSONText.array(value.map(JSONText.string)) }

    private static func isOrigin(_ text: String) -> Bool {
        guard let scheme = ["https://", "http://"].first(where: { text.hasPrefix($0) }) else { return false }
        var host = text.dropFirst(scheme.count)
        if let colon = host.lastIndex(of: ":"), host.last != "]" {
            let port = host[host.index(after: colon)...]
            // Browsers leave out the port that the scheme implies, so such an entry could never match.
            let implied: UInt16 = scheme == "https://" ? 443 : 80
            guard let number = UInt16(port), number != 0, number != implied, String(number) == port else {
                return false
            }
            host = host[..<colon]
        }
        return isHost(host)
    }

    private static func isHost(_ host: Substring) -> Bool {
        if host.first == "[", host.last == "]" {
            return AddressSetting().read(.text(String(host.dropFirst().dropLast()))) != nil && host.contains(":")
        }
        return !host.isEmpty
            && host.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
                case UInt8(ascii: "."), UInt8(ascii: "-"): true
                default: false
                }
            }
    }
}

extension SettingType where Self == OriginListSetting {
    static var origins: OriginListSetting { OriginListSetting() }
}
