/// The 16,384 parts into which a cluster divides keys, after
/// <https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/#key-distribution-model>.
enum RedisSlot {
    static let count = 1 << 14

    /// The slot of a key. Keys with the same text in their first braces have the same slot; an empty text does not
    /// count.
    static func of(_ key: ArraySlice<UInt8>) -> Int {
        guard let open = key.firstIndex(of: UInt8(ascii: "{")),
            let close = key[open...].firstIndex(of: UInt8(ascii: "}")), close > open + 1
        else { return crc(key) % count }
        return crc(key[(open + 1)..<close]) % count
    }

    static func of(_ key: String) -> Int { of(Array(key.utf8)[...]) }

    /// CRC-16 of XMODEM: the polynomial 1021, from 0 on, and nothing reflected.
    private static func crc(_ bytes: ArraySlice<UInt8>) -> Int {
        var sum: UInt16 = 0
        for byte in bytes {
            sum ^= UInt16(byte) << 8
            for _ in 0..<8 { sum = sum & 0x8000 == 0 ? sum << 1 : sum << 1 ^ 0x1021 }
        }
        return Int(sum)
    }
}
