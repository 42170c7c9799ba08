/// RFC 4648 section 5 without padding, for whole groups of three bytes.
enum Base64URL {
    static func digit(_ value: UInt8) -> UInt8 {
        switch value {
        case 0..<26: UInt8(ascii: "A") + value
        case 26..<52: UInt8(ascii: "a") + value - 26
        case 52..<62: UInt8(ascii: "0") + value - 52
        case 62: UInt8(ascii: "-")
        default: UInt8(ascii: "_")
        }
    }

    static func value(_ digit: UInt8) -> UInt8? {
        guard digit < values.count, values[Int(digit)] != none else { return nil }
        return values[Int(digit)]
    }

    /// Writes four digits for every three bytes; `output` has room for them.
    static func encode(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) {
        precondition(input.count % 3 == 0 && output.count == input.count / 3 * 4)
        for group in 0..<input.count / 3 {
            let bits = UInt32(input[group * 3]) << 16 | UInt32(input[group * 3 + 1]) << 8 | UInt32(input[group * 3 + 2])
            for place in 0..<4 {
                output[group * 4 + place] = digit(UInt8(truncatingIfNeeded: bits >> UInt32(18 - place * 6)) & 63)
            }
        }
    }

    /// Writes three bytes for every four digits; false when a digit is none.
    static func decode(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) -> Bool {
        precondition(input.count % 4 == 0 && output.count == input.count / 4 * 3)
        for group in 0..<input.count / 4 {
            var bits: UInt32 = 0
            for place in 0..<4 {
                guard let value = value(input[group * 4 + place]) else { return false }
                bits = bits << 6 | UInt32(value)
            }
            output[group * 3] = UInt8(truncatingIfNeeded: bits >> 16)
            output[group * 3 + 1] = UInt8(truncatingIfNeeded: bits >> 8)
            output[group * 3 + 2] = UInt8(truncatingIfNeeded: bits)
        }
        return true
    }
}

/// For a character that is no digit.
private let none: UInt8 = 255

/// By the ASCII code of the digit. A table because the digits of a token cannot be guessed: branches on them cost
/// more than everything else about it, the digest included.
private let values: [UInt8] = [
    255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
    255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
    255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 62, 255, 255,
    52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 255, 255, 255, 255, 255, 255,
    255, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14,
    15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 255, 255, 255, 255, 63,
    255, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40,
    41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 255, 255, 255, 255, 255,
]
