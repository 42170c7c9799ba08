import JSONDocument

/// What keys of Redis begin with. Braces would decide to which node of a cluster a key belongs, and characters with a
/// meaning in patterns would allow Redis' user more keys, or others, than those.
package struct RedisPrefixSetting: SettingType {
    package var name: String { "text" }
    package var allowed: String { "1 to 32 letters, digits and _.:-" }
    package var schema: JSONDocument { ["type": "string", "pattern": "^[A-Za-z0-9_.:-]{1,32}$"] }

    package func read(_ written: WrittenValue) -> String? {
        guard let text = written.string, (1...32).contains(text.utf8.count), text.utf8.allSatisfy(Self.isAllowed) else {
            return nil
        }
        return text
    }

    package func show(_ value: String) -> String { JSONText.string(value) }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch Unicode.Scalar(byte) {
        case "A"..."Z", "a"..."z", "0"..."9", "_", ".", ":", "-": true
        default: false
        }
    }
}

extension SettingType where Self == RedisPrefixSetting {
    static var redisPrefix: RedisPrefixSetting { RedisPrefixSetting() }
}
