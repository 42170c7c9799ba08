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
        switch digit {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): digit - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): digit - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0") + 52
        case UInt8(ascii: "-"): 62
        case UInt8(ascii: "_"): 63
        default: nil
        }
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
