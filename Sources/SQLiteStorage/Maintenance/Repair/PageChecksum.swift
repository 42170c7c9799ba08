import CPageChecksums

/// Compares a page with its checksum.
enum PageChecksum {
    case matches
    /// A bit had flipped, and is as it was again.
    case corrected
    case damaged

    /// CRC-32 tells up to three flipped bits in a page of any of SQLite's sizes from none, so it also tells which one
    /// has flipped if it is one alone.
    static func check(_ page: inout [UInt8], number: UInt32) -> PageChecksum {
        let content = page.count - Int(CPAGECHECKSUMS_BYTES)
        let stored = page.withUnsafeBytes {
            UInt32(littleEndian: $0.loadUnaligned(fromByteOffset: content, as: UInt32.self))
        }
        // Another program wrote the page, or none ever did.
        guard stored != 0 else { return .matches }
        let difference = cpagechecksums_of(page, page.count, number) ^ stored
        guard difference != 0 else { return .matches }
        // A bit of the checksum itself.
        if difference.nonzeroBitCount == 1 { return .corrected }
        guard let bit = Self.bit(behind: difference, of: content * 8) else { return .damaged }
        page[bit >> 3] ^= 1 << UInt8(bit & 7)
        return cpagechecksums_of(page, page.count, number) == stored ? .corrected : .damaged
    }

    /// The bit whose flip changes the checksum by this difference. A flip of the last bit changes it by the polynomial;
    /// of each bit before, by what one more step of the division makes of that.
    private static func bit(behind difference: UInt32, of bits: Int) -> Int? {
        var change = polynomial
        for bit in stride(from: bits - 1, through: 0, by: -1) {
            if change == difference { return bit }
            change = change >> 1 ^ (change & 1 == 0 ? 0 : polynomial)
        }
        return nil
    }

    private static let polynomial: UInt32 = 0xEDB8_8320
}
