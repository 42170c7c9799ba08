/// Lower-case hexadecimal digits, two for each byte.
package enum Hexadecimal {
    /// Digits in one word.
    package static let wordLength = 16

    /// - Parameter value: 0 to 15.
    package static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }

    /// 0 to 15; `nil` for a byte that is not a lower-case digit.
    package static func value(of digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        default: nil
        }
    }

    package static func text(_ bytes: some Collection<UInt8>) -> String {
        var digits: [UInt8] = []
        digits.reserveCapacity(2 * bytes.count)
        for byte in bytes {
            digits.append(digit(byte >> 4))
            digits.append(digit(byte & 15))
        }
        return String(decoding: digits, as: UTF8.self)
    }

    /// Sixteen digits.
    package static func text(_ word: UInt64) -> String {
        var digits = (UInt64(0), UInt64(0))
        return withUnsafeMutableBytes(of: &digits) { memory in
            if let start = memory.baseAddress { write(word, to: start) }
            return String(decoding: memory, as: UTF8.self)
        }
    }

    /// The bytes of a text of digits; `nil` for anything else.
    package static func bytes(_ text: String) -> [UInt8]? {
        let values = text.utf8.compactMap(value(of:))
        guard values.count == text.utf8.count, values.count.isMultiple(of: 2) else { return nil }
        return stride(from: 0, to: values.count, by: 2).map { values[$0] << 4 | values[$0 + 1] }
    }

    /// The number of at most sixteen digits; `nil` when there is any other byte.
    package static func word(_ digits: some Collection<UInt8>) -> UInt64? {
        var word: UInt64 = 0
        for digit in digits {
            guard let value = value(of: digit) else { return nil }
            word = word << 4 | UInt64(value)
        }
        return word
    }

    /// Writes sixteen digits, without making a string.
    package static func write(_ word: UInt64, to memory: UnsafeMutableRawPointer) {
        memory.storeBytes(of: digits(UInt32(truncatingIfNeeded: word >> 32)).bigEndian, as: UInt64.self)
        memory.storeBytes(of: digits(UInt32(truncatingIfNeeded: word)).bigEndian, toByteOffset: 8, as: UInt64.self)
    }

    /// Eight digits at once, one in each byte of the result, the first in the highest.
    private static func digits(_ word: UInt32) -> UInt64 {
        var spread = UInt64(word)
        spread = (spread << 16 | spread) & 0x0000_FFFF_0000_FFFF
        spread = (spread << 8 | spread) & 0x00FF_00FF_00FF_00FF
        spread = (spread << 4 | spread) & 0x0F0F_0F0F_0F0F_0F0F
        // Sets a bit for each byte that holds more than 9.
        let letters = (spread + 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
        return spread + 0x3030_3030_3030_3030 + letters * UInt64(UInt8(ascii: "a") - UInt8(ascii: "0") - 10)
    }
}
