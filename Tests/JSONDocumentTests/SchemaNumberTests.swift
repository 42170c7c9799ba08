import JSONDocument
import Testing

@Suite("JSON Schema: numbers are compared exactly")
struct SchemaNumberTests {
    private func fits(_ schema: String, _ document: String) throws -> Bool {
        let schema = try JSONSchema(try JSONDocument(parsing: schema))
        let document = try JSONDocument(parsing: document)
        #expect(schema.accepts(document) == schema.violations(in: document).isEmpty)
        return schema.accepts(document)
    }

    @Test(
        "every price of two decimals from 0.00 to 100.00 is a multiple of 0.01, and none of three that does not end in 0"
    )
    func prices() throws {
        let schema = try JSONSchema(try JSONDocument(parsing: #"{"multipleOf":0.01}"#))
        for thousandths in 0...100_000 {
            let (whole, rest) = thousandths.quotientAndRemainder(dividingBy: 1_000)
            let digits = String(1_000 + rest).dropFirst()
            let isPrice = rest.isMultiple(of: 10)
            let price = try JSONDocument(parsing: "\(whole).\(isPrice ? digits.dropLast() : digits)")
            #expect(schema.accepts(price) == isPrice, "\(price)")
        }
    }

    @Test(
        "multipleOf divides decimals",
        arguments: [
            ("0.01", "2.30", true), ("0.1", "0.30000000000000004", false), ("0.1", "0.3", true),
            ("0.01", "-4.35", true), ("0.01", "1e2", true), ("0.01", "0", true), ("0.01", "0.0", true),
            ("3", "9007199254740993", true), ("3", "9007199254740992", false), ("2", "18446744073709551615", false),
            ("5", "18446744073709551615", true), ("0.5", "9007199254740993", true), ("1e20", "2e20", true),
            ("1e20", "150000000000000000000", false), ("1e300", "1e308", true), ("1e308", "1e300", false),
            ("5e-324", "1.7976931348623157e308", true), ("1.5", "-9223372036854775808", false),
            ("2", "-9223372036854775808", true), ("7", "1e15", false), ("0.123456789", "1e308", false),
            ("1e-8", "12391239123", true), ("0.0001", "0.00751", false),
        ])
    func multiples(divisor: String, number: String, fits isMultiple: Bool) throws {
        #expect(try fits(#"{"multipleOf":\#(divisor)}"#, number) == isMultiple)
    }

    @Test(
        "integers beyond 2^53 differ from their neighbours",
        arguments: [
            (#"{"const":9007199254740993}"#, "9007199254740993", "9007199254740992"),
            (#"{"const":9007199254740993}"#, "9007199254740993", "9007199254740992.0"),
            (#"{"const":18446744073709551615}"#, "18446744073709551615", "18446744073709551616"),
            (#"{"enum":[1234567890123456789]}"#, "1234567890123456789", "1234567890123456788"),
            (#"{"uniqueItems":true}"#, "[1234567890123456789,1234567890123456788]", "[1e20,100000000000000000000]"),
            (
                #"{"uniqueItems":true}"#, "[9007199254740993,9007199254740992.0]",
                "[9007199254740992,9007199254740992.0]"
            ),
            (#"{"minimum":9007199254740993}"#, "9007199254740993", "9007199254740992"),
            (#"{"maximum":9007199254740992}"#, "9007199254740992", "9007199254740993"),
            (#"{"maximum":9007199254740992.0}"#, "9007199254740992", "9007199254740993"),
            (#"{"exclusiveMinimum":9223372036854775806}"#, "9223372036854775807", "9223372036854775806"),
            (#"{"exclusiveMaximum":18446744073709551616}"#, "18446744073709551615", "18446744073709551616"),
            (#"{"minimum":-9223372036854775807}"#, "-9223372036854775807", "-9223372036854775808"),
            (#"{"maximum":18446744073709551614}"#, "18446744073709551614", "18446744073709551615"),
        ])
    func large(schema: String, accepted: String, refused: String) throws {
        #expect(try fits(schema, accepted))
        #expect(try !fits(schema, refused))
    }

    @Test(
        "a number without a fraction is an integer, however large and however written",
        arguments: [
            ("18446744073709551615", true), ("1e20", true), ("1.0", true), ("1e308", true), ("-0.0", true),
            ("1.5", false),
            ("1e-1", false), ("9007199254740992.0", true),
        ])
    func integers(number: String, isInteger: Bool) throws {
        #expect(try fits(#"{"type":"integer"}"#, number) == isInteger)
        #expect(try fits(#"{"type":["integer","null"]}"#, number) == isInteger)
        #expect(try fits(#"{"type":"number"}"#, number))
    }
}
