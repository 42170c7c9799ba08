/// The ids of journeys other than `main`: `jrn_` and 32 lower-case hexadecimal digits, 128 random bits.
enum JourneyID {
    static func make(_ random: some RandomSource) -> String {
        let bits = SessionID(random: random)
        return "jrn_" + Hexadecimal.text(bits.high) + Hexadecimal.text(bits.low)
    }

    /// Whether it is one that ``make(_:)`` makes, or that of the journey that every session can have.
    static func isOne(_ id: String) -> Bool {
        if id == JourneySettings.mainID { return true }
        guard id.hasPrefix("jrn_"), id.utf8.count == 36 else { return false }
        return id.utf8.dropFirst(4).allSatisfy { Hexadecimal.value(of: $0) != nil }
    }
}
