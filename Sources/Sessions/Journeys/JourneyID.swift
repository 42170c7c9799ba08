/// The ids of journeys other than `main`: `jrn_` and 32 lower-case hexadecimal digits, 128 random bits.
enum JourneyID {
    static func make(_ random: some RandomSource) -> String {
        var words: (UInt64, UInt64) = (0, 0)
        withUnsafeMutableBytes(of: &words) { random.fill($0) }
        return "jrn_" + digits(of: words.0) + digits(of: words.1)
    }

    /// Whether it is one that ``make(_:)`` makes, or that of the journey that every session can have.
    static func isOne(_ id: String) -> Bool {
        if id == JourneySettings.mainID { return true }
        guard id.hasPrefix("jrn_"), id.utf8.count == 36 else { return false }
        return id.utf8.dropFirst(4).allSatisfy {
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
        }
    }

    private static func digits(of word: UInt64) -> String {
        let digits = String(word, radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }
}
