import Glibc
import HTTPServer
import JSONDocument

/// A file or directory. In a file, it is relative to that file; elsewhere to the working directory.
package struct PathSetting: SettingType {
    package var name: String { "path" }
    package var allowed: String { "a path" }
    package var schema: JSONDocument { ["type": "string", "minLength": 1] }

    package func read(_ written: WrittenValue) -> String? {
        // A NUL would end the path early in system calls.
        written.string.flatMap { $0.isEmpty || $0.utf8.contains(0) ? nil : $0 }
    }

    package func show(_ value: String) -> String { JSONText.string(value) }
}

extension SettingType where Self == PathSetting {
    static var path: PathSetting { PathSetting() }
}

/// The id of a flow. Whether the flow exists is checked when the flow files have been read.
package struct FlowNameSetting: SettingType {
    package var name: String { "flow" }
    package var allowed: String { "the id of a flow" }
    package var schema: JSONDocument { ["type": "string", "minLength": 1] }

    package func read(_ written: WrittenValue) -> String? {
        written.string.flatMap { $0.isEmpty ? nil : $0 }
    }

    package func show(_ value: String) -> String { JSONText.string(value) }
}

extension SettingType where Self == FlowNameSetting {
    static var flowName: FlowNameSetting { FlowNameSetting() }
}

/// A text that must not be guessed and is never printed.
package struct SecretSetting: SettingType {
    /// Sixteen random letters and digits are about 95 bits, which cannot be guessed over a network.
    let leastLength = 16
    /// A header field must hold it.
    let mostLength = 256

    package var name: String { "secret" }
    package var allowed: String { "\(leastLength) to \(mostLength) visible ASCII characters, without blanks" }
    package var schema: JSONDocument {
        ["type": "string", "pattern": JSONDocument("^[!-~]{\(leastLength),\(mostLength)}$")]
    }

    package func read(_ written: WrittenValue) -> Secret? {
        guard let text = written.string, (leastLength...mostLength).contains(text.utf8.count),
            text.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return nil }
        return Secret(text)
    }

    package func show(_ value: Secret) -> String { JSONText.string(Secret.mask) }
}

extension SettingType where Self == SecretSetting {
    static var secret: SecretSetting { SecretSetting() }
}

/// An address to listen on. Names are not looked up, so that a server's address does not depend on a resolver.
package struct AddressSetting: SettingType {
    package var name: String { "address" }
    package var allowed: String { "an IPv4 or IPv6 address, or localhost" }
    package var schema: JSONDocument { ["type": "string", "pattern": "^(localhost|[0-9.]+|[0-9a-fA-F:.]+)$"] }

    package func read(_ written: WrittenValue) -> String? {
        guard let text = written.string else { return nil }
        return text == "localhost" || Self.isAddress(text, AF_INET) || Self.isAddress(text, AF_INET6) ? text : nil
    }

    package func show(_ value: String) -> String { JSONText.string(value) }

    /// Whether only this machine can reach a listener at the address.
    static func isLoopback(_ address: String) -> Bool {
        if address == "localhost" { return true }
        var v4 = in_addr()
        if inet_pton(AF_INET, address, &v4) == 1 { return UInt32(bigEndian: v4.s_addr) >> 24 == 127 }
        var v6 = in6_addr()
        guard inet_pton(AF_INET6, address, &v6) == 1 else { return false }
        return withUnsafeBytes(of: v6) { bytes in
            bytes.dropLast().allSatisfy { $0 == 0 } && bytes.last == 1
        }
    }

    private static func isAddress(_ text: String, _ family: Int32) -> Bool {
        // Large enough for either family.
        var address = in6_addr()
        return !text.utf8.contains(0) && inet_pton(family, text, &address) == 1
    }
}

extension SettingType where Self == AddressSetting {
    static var address: AddressSetting { AddressSetting() }
}

/// Web origins (RFC 6454): scheme, host and perhaps a port, as browsers send them in `Origin`.
package struct OriginListSetting: SettingType {
    package var name: String { "list of origins" }
    package var allowed: String { "a list of exact origins: scheme, host, port unless implied; lower case, no path" }
    package var schema: JSONDocument {
        [
            "type": "array",
            "items": ["type": "string", "pattern": #"^https?://([a-z0-9.-]+|\[[0-9a-f:.]+\])(:[0-9]+)?$"#],
        ]
    }
    package var examples: String? {
        "[\"https://app.example.org\", \"http://localhost:3000\"] (outside of a file divided by commas)"
    }

    package func fault(_ written: WrittenValue) -> String? {
        guard let items = written.items, let place = items.firstIndex(where: { !($0.map(Self.isOrigin) ?? false) })
        else { return nil }
        let reason =
            switch items[place] {
            case "*": ", which would let every site act for its visitors"
            case "null": ", which stands for every page without an origin"
            default: ""
            }
        return
            "has \(items[place].map(WrittenValue.quoted) ?? "something else than a text") as item \(place + 1)\(reason)"
    }

    package func read(_ written: WrittenValue) -> [String]? {
        guard let items = written.items else { return nil }
        let origins = items.compactMap { $0 }.filter(Self.isOrigin)
        return origins.count == items.count ? origins : nil
    }

    package func show(_ value: [String]) -> String { JSONText.array(value.map(JSONText.string)) }

    private static func isOrigin(_ text: String) -> Bool {
        guard let scheme = ["https://", "http://"].first(where: { text.hasPrefix($0) }) else { return false }
        var host = text.dropFirst(scheme.count)
        if let colon = host.lastIndex(of: ":"), host.last != "]" {
            let port = host[host.index(after: colon)...]
            // Browsers omit the scheme's default port, so such an entry could never match.
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

/// Networks, such as those of the proxies in front of the server.
package struct NetworkListSetting: SettingType {
    package var name: String { "list of networks" }
    package var allowed: String { "a list of IPv4 or IPv6 addresses and networks, without bits behind the prefix" }
    package var schema: JSONDocument {
        ["type": "array", "items": ["type": "string", "pattern": "^[0-9a-fA-F:.]+(/[0-9]{1,3})?$"]]
    }
    package var examples: String? { "[\"10.0.0.0/8\", \"2001:db8::/32\"] (outside of a file divided by commas)" }

    package func fault(_ written: WrittenValue) -> String? {
        guard let items = written.items, let place = items.firstIndex(where: { $0.flatMap(AddressRange.init) == nil })
        else { return nil }
        return "has \(items[place].map(WrittenValue.quoted) ?? "something else than a text") as item \(place + 1)"
    }

    package func read(_ written: WrittenValue) -> [AddressRange]? {
        guard let items = written.items else { return nil }
        let networks = items.compactMap { $0.flatMap(AddressRange.init) }
        return networks.count == items.count ? networks : nil
    }

    package func show(_ value: [AddressRange]) -> String { JSONText.array(value.map { JSONText.string("\($0)") }) }
}

extension SettingType where Self == NetworkListSetting {
    static var networks: NetworkListSetting { NetworkListSetting() }
}

extension SettingType where Self == OriginListSetting {
    static var origins: OriginListSetting { OriginListSetting() }
}
