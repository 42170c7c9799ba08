/// The name of a session: the time at which it was made, and 80 random bits (``SessionIDSource``). Not a secret: it may
/// stand in paths and logs and opens nothing by itself.
///
/// Its text is `ses_` and 32 lower-case hexadecimal digits. Ids are ordered as their texts are.
package struct SessionID: Sendable, Hashable {
    package let high: UInt64
    package let low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// 128 bits from `random`.
    package init(random: some RandomSource) {
        var words: (UInt64, UInt64) = (0, 0)
        withUnsafeMutableBytes(of: &words) { random.fill($0) }
        self.init(high: words.0, low: words.1)
    }

    /// Reads `ses_` and 32 lower-case digits; anything else, upper case among it, is no id.
    package init?(_ text: some StringProtocol) {
        let utf8 = text.utf8
        guard utf8.count == Self.prefix.utf8.count + 32, text.hasPrefix(Self.prefix) else { return nil }
        var words = (high: UInt64(0), low: UInt64(0))
        for (position, byte) in utf8.dropFirst(Self.prefix.utf8.count).enumerated() {
            let digit: UInt8
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
            default: return nil
            }
            if position < 16 {
                words.high = words.high << 4 | UInt64(digit)
            } else {
                words.low = words.low << 4 | UInt64(digit)
            }
        }
        self.init(high: words.high, low: words.low)
    }

    static let prefix = "ses_"
}

extension SessionID {
    /// What tables hash by. The second half of an id is random already, and drawn here rather than by a client, so that
    /// nothing is won by mixing it once more, which would take most of the time of a look-up.
    package func _rawHashValue(seed: Int) -> Int {
        // Without the low byte, which tells the shards of the registry apart: in one of them it is always the same.
        Int(truncatingIfNeeded: high ^ low >> 8) ^ seed
    }
}

extension SessionID: Comparable {
    package static func < (left: Self, right: Self) -> Bool {
        (left.high, left.low) < (right.high, right.low)
    }
}

extension SessionID: CustomStringConvertible {
    package var description: String {
        String(unsafeUninitializedCapacity: Self.length) { buffer in
            write(into: UnsafeMutableRawBufferPointer(buffer))
            return Self.length
        }
    }

    /// Bytes of its text.
    package static let length = 36

    /// The text, without making a string.
    /// - Precondition: `buffer` has room for `length` bytes.
    package func write(into buffer: UnsafeMutableRawBufferPointer) {
        buffer.copyBytes(from: Self.prefix.utf8)
        for (place, word) in [high >> 32, high, low >> 32, low].enumerated() {
            let digits = Self.digits(of: UInt32(truncatingIfNeeded: word))
            buffer.storeBytes(of: digits.bigEndian, toByteOffset: Self.prefix.utf8.count + 8 * place, as: UInt64.self)
        }
    }

    /// Eight hexadecimal digits, each in a byte of the result, the first in the highest. All are made at once.
    private static func digits(of word: UInt32) -> UInt64 {
        var spread = UInt64(word)
        spread = (spread << 16 | spread) & 0x0000_FFFF_0000_FFFF
        spread = (spread << 8 | spread) & 0x00FF_00FF_00FF_00FF
        spread = (spread << 4 | spread) & 0x0F0F_0F0F_0F0F_0F0F
        // One in each byte that holds more than 9.
        let letters = (spread + 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
        return spread + 0x3030_3030_3030_3030 + letters * UInt64(UInt8(ascii: "a") - UInt8(ascii: "0") - 10)
    }
}
