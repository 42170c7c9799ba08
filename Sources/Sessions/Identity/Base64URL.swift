/// RFC 4648 section 5 without padding, for whole groups of three bytes.
enum Base64URL {
    fileprivate static let digits: StaticString = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

    /// Writes four digits for every three bytes; `output` has room for them.
    static func encode(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) {
        precondition(input.count % 3 == 0 && output.count == input.count / 3 * 4)
        let digits = digits.utf8Start
        for group in 0..<input.count / 3 {
            let bits = UInt32(input[group * 3]) << 16 | UInt32(input[group * 3 + 1]) << 8 | UInt32(input[group * 3 + 2])
            for place in 0..<4 { output[group * 4 + place] = digits[Int(bits >> UInt32(18 - place * 6)) & 63] }
        }
    }

    /// Writes three bytes for every four digits; false when a byte is not a digit.
    static func decode(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) -> Bool {
        precondition(input.count % 4 == 0 && output.count == input.count / 4 * 3)
        guard let start = input.baseAddress, let room = output.baseAddress else { return true }
        return values.withUnsafeBufferPointer { values in
            // The value of a byte that is not a digit is negative, and so is every value that is combined with it.
            var seen: Int32 = 0
            var digit = 0
            var target = 0
            while digit < input.count {
                // Reading four digits and writing three bytes at once takes half the time of single bytes.
                let digits = UInt32(littleEndian: (start + digit).loadUnaligned(as: UInt32.self))
                let bits =
                    Int32(values[Int(digits & 0xFF)]) << 18 | Int32(values[Int(digits >> 8 & 0xFF)]) << 12
                    | Int32(values[Int(digits >> 16 & 0xFF)]) << 6 | Int32(values[Int(digits >> 24)])
                seen |= bits
                let bytes = UInt32(truncatingIfNeeded: bits) << 8
                (room + target).storeBytes(of: UInt16(truncatingIfNeeded: bytes >> 16).bigEndian, as: UInt16.self)
                (room + target + 2).storeBytes(of: UInt8(truncatingIfNeeded: bytes >> 8), as: UInt8.self)
                digit &+= 4
                target &+= 3
            }
            return seen >= 0
        }
    }
}

/// By the byte of the digit; -1 for other bytes. A table, because the digits of a token are unpredictable: branching on
/// them cost more than everything else about a token, its digest included.
private let values: [Int8] = {
    var values = [Int8](repeating: -1, count: 256)
    for (value, digit) in UnsafeBufferPointer(start: Base64URL.digits.utf8Start, count: 64).enumerated() {
        values[Int(digit)] = Int8(value)
    }
    return values
}()
