import JSONDocument
import SeededRandomness
import Testing

@Suite("Decimals")
struct DecimalTests {
    private func decimal(_ text: String) throws -> Decimal {
        try #require(Decimal(try JSONDocument(parsing: text)))
    }

    @Test("sums, differences and products of cents are what whole numbers say")
    func cents() throws {
        let seed = UInt64.random(in: 0 ... .max)
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<2_000 {
            let (one, two) = (
                Int.random(in: -99_999...99_999, using: &generator), Int.random(in: -99_999...99_999, using: &generator)
            )
            func text(_ number: Int, _ digits: Int) throws -> Decimal { try decimal("\(number)e-\(digits)") }
            #expect(try text(one, 2).adding(text(two, 2)) == text(one + two, 2), "seed \(seed)")
            #expect(try text(one, 2).subtracting(text(two, 3)) == text(one * 10 - two, 3), "seed \(seed)")
            #expect(try text(one, 2).multiplied(by: text(two, 1)) == text(one * two, 3), "seed \(seed)")
        }
    }

    @Test("34 digits are kept, 35 are not")
    func limit() throws {
        let seventeen = try decimal("12345678901234567")
        let product = try #require(seventeen.multiplied(by: seventeen))
        #expect(product.document == nil)
        #expect(product.multiplied(by: try decimal("77")) == nil)
        #expect(product.subtracting(product)?.document == 0)
        // 10^34 has one digit; the number before it has 34.
        let power = try #require(try decimal("1e17").multiplied(by: decimal("1e17")))
        #expect(try power.subtracting(decimal("1"))?.adding(decimal("1")) == power)
        #expect(try power.adding(decimal("1")) == nil)
        #expect(try power.adding(decimal("1e-1")) == nil)
        #expect(try decimal("1e300").adding(decimal("1")) == nil)
    }

    @Test(
        "a number is JSON again only if JSON keeps all of it",
        arguments: [
            ("0.1", "0.2", "0.3"), ("1.5", "1.5", "3"), ("18446744073709551614", "1", "18446744073709551615"),
            ("-0.5", "0.5", "0"), ("1e22", "0", "1e22"), ("9007199254740993", "0.5", nil),
        ] as [(String, String, String?)])
    func documents(one: String, two: String, sum: String?) throws {
        let document = try decimal(one).adding(decimal(two))?.document
        #expect(document == (try sum.map { try JSONDocument(parsing: $0) }))
    }

    /// The digits of a whole number with the point so many places from the right, as JSON writes it.
    private static func text(_ number: Int, _ places: Int) -> String {
        var digits = String(number.magnitude)
        digits = String(repeating: "0", count: max(0, places + 1 - digits.count)) + digits
        var fraction = digits.suffix(places)
        while fraction.last == "0" { fraction.removeLast() }
        let whole = (number < 0 ? "-" : "") + digits.dropLast(places)
        return fraction.isEmpty ? whole : "\(whole).\(fraction)"
    }

    @Test("a number of up to 15 digits is JSON again as it was written, and one of 17 is the same number")
    func written() throws {
        let seed = UInt64.random(in: 0 ... .max)
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<5_000 {
            let limit = (0..<Int.random(in: 1...15, using: &generator)).reduce(1) { limit, _ in limit * 10 }
            let number = Int.random(in: 1 - limit...limit - 1, using: &generator)
            let text = Self.text(number, Int.random(in: 0...6, using: &generator))
            #expect(try decimal(text).document == JSONDocument(parsing: text), "\(text), seed \(seed)")
            let long = try JSONDocument(parsing: "\(text.contains(".") ? text : text + ".5")7")
            #expect(Decimal(long)?.document == long, "seed \(seed)")
        }
    }

    @Test("what is in the middle is rounded away from 0")
    func rounding() throws {
        let seed = UInt64.random(in: 0 ... .max)
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<2_000 {
            let number = Int.random(in: -99_999...99_999, using: &generator)
            let dropped = Int.random(in: 0...6, using: &generator)
            let unit = (0..<dropped).reduce(1) { unit, _ in unit * 10 }
            let kept = (number.magnitude + UInt(unit) / 2) / UInt(unit)
            let rounded = (number < 0 ? -1 : 1) * Int(kept) * unit
            #expect(
                try decimal(Self.text(number, 3)).rounded(to: 3 - dropped) == decimal(Self.text(rounded, 3)),
                "\(number) to \(3 - dropped), seed \(seed)")
        }
        let long = try #require(decimal("9.999999999e33").rounded(to: -34))
        #expect(try long == decimal("1e34"))
        #expect(try decimal("1").rounded(to: 35) == nil && decimal("1").rounded(to: .min) == nil)
        #expect(try decimal("1e-300").rounded(to: 0)?.document == 0)
    }

    @Test("only numbers are", arguments: ["true", "\"1\"", "null", "[1]"])
    func others(text: String) throws {
        #expect(Decimal(try JSONDocument(parsing: text)) == nil)
    }
}

@Suite("Calendar times and durations")
struct CalendarTests {
    @Test(
        "what is no date and time of RFC 3339 is none",
        arguments: [
            "2026-02-29", "2026-13-01", "2026-00-10", "2026-1-1", "2026-01-01T24:00:00Z", "2026-01-01T10:00Z",
            "2026-01-01T10:00:00", "2026-01-01T10:00:00.Z", "2026-01-01T10:00:00+2:00", "2026-01-01T10:00:00Zx", "",
            "now",
            "2026-01-01 10:00:00Z",
        ])
    func noTimes(text: String) { #expect(CalendarTime(text) == nil) }

    @Test(
        "others are the same moment in UTC",
        arguments: [
            ("2024-02-29", "2024-02-29"), ("2026-01-01t10:00:00z", "2026-01-01T10:00:00.000Z"),
            ("2026-01-01T00:30:00-01:30", "2026-01-01T02:00:00.000Z"),
            ("2016-12-31T23:59:60Z", "2017-01-01T00:00:00.000Z"),
            ("2026-01-01T10:00:00.123456789Z", "2026-01-01T10:00:00.123Z"),
        ])
    func times(text: String, utc: String) { #expect(CalendarTime(text)?.text == utc) }

    @Test(
        "a sign and years are read, and what is no duration is not",
        arguments: [
            ("P18Y", 216, 0, 0), ("-P1Y2M3W4DT5H", -14, -25, -18_000_000), ("+P1D", 0, 1, 0),
            ("-30m", 0, 0, -1_800_000),
            ("PT0.25S", 0, 0, 250),
        ] as [(String, Int64, Int64, Int64)])
    func durations(text: String, months: Int64, days: Int64, milliseconds: Int64) {
        let duration = CalendarDuration(signed: text)
        #expect(duration?.months == months && duration?.days == days && duration?.milliseconds == milliseconds)
    }

    @Test(
        "others are no durations",
        arguments: ["P", "PT", "P1", "1Y", "P1DT", "P1H", "PT1Y", "P1M1Y", "P1.5Y", "--P1D", "P9223372036854775807Y"])
    func noDurations(text: String) { #expect(CalendarDuration(signed: text) == nil) }
}
