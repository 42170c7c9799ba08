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

    @Test("only numbers are", arguments: ["true", "\"1\"", "null", "[1]"])
    func others(text: String) throws {
        #expect(Decimal(try JSONDocument(parsing: text)) == nil)
    }
}
