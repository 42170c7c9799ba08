/// The ids of journeys that have none given: `jrn_` and 32 lower-case hexadecimal digits, 128 random bits.
enum JourneyID {
    static func make(_ random: some RandomSource) -> String {
        var words: (UInt64, UInt64) = (0, 0)
        withUnsafeMutableBytes(of: &words) { random.fill($0) }
        return "jrn_" + digits(of: words.0) + digits(of: words.1)
    }

    private static func digits(of word: UInt64) -> String {
        let digits = String(word, radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }
}
