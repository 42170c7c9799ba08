import Glibc

/// An address to listen on. Names are not looked up: what a server binds to should not hang on a resolver.
package struct AddressSetting: SettingType {
    package var name: String { "address" }
    package var allowed: String { "an IPv4 or IPv6 address, or localhost" }

    package func read(_ written: WrittenValue) -> String? {
        guard let text = written.string else { return nil }
        return text == "localhost" || Self.isAddress(text, AF_INET) || Self.isAddress(text, AF_INET6) ? text : nil
    }

    package func show(_ value: String) -> String { JSONText.string(value) }

    /// Whether only this machine can reach a listener there.
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
