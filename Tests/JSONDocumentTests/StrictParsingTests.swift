import JSONDocument
import Testing

@Suite("Strict parsing")
struct StrictParsingTests {
    struct Refusal: Sendable, CustomTestStringConvertible {
        let text: [UInt8]
        let code: JSONParseError.Code
        let offset: Int
        let pointer: String?

        init(_ text: String, _ code: JSONParseError.Code, _ offset: Int, _ pointer: String? = nil) {
            self.init(bytes: [UInt8](text.utf8), code, offset, pointer)
        }

        init(bytes: [UInt8], _ code: JSONParseError.Code, _ offset: Int, _ pointer: String? = nil) {
            (text, self.code, self.offset, self.pointer) = (bytes, code, offset, pointer)
        }

        var testDescription: String { "\(code): \(String(decoding: text.prefix(40), as: UTF8.self))" }
    }

    static let refusals: [Refusal] = [
        Refusal("", .empty, 0),
        Refusal(" \n ", .unexpectedEnd, 3),
        Refusal("\u{FEFF}{}", .byteOrderMark, 0),
        Refusal("1\u{0}", .nulByte, 1),
        Refusal("\"a\u{0}\"", .nulByte, 2),
        Refusal(bytes: [0x22, 0xFF, 0x22], .invalidUTF8, 1),
        Refusal(bytes: [0x22, 0xC0, 0xAF, 0x22], .invalidUTF8, 1),
        Refusal(bytes: [0x22, 0xED, 0xA0, 0x80, 0x22], .invalidUTF8, 2),
        Refusal(bytes: [0x22, 0xF4, 0x90, 0x80, 0x80, 0x22], .invalidUTF8, 2),
        Refusal(bytes: [0x22, 0xC3], .invalidUTF8, 2),
        Refusal(#"{"a":["\ud800"]}"#, .loneSurrogate, 7, "/a/0"),
        Refusal(#""\ud800x""#, .loneSurrogate, 1, ""),
        Refusal(#""\ud800\u0041""#, .loneSurrogate, 7, ""),
        Refusal(#"["ok", "\udc00"]"#, .loneSurrogate, 8, "/1"),
        Refusal(#"{"a":1,"a":2}"#, .duplicateMember, 7, "/a"),
        Refusal(#"{"a":1,"\u0061":2}"#, .duplicateMember, 7, "/a"),
        Refusal(#"[{"b":{"x\"/":1 , "x\"/" : 2}}]"#, .duplicateMember, 18, #"/0/b/x"~1"#),
        Refusal(#"{"":1,"":2}"#, .duplicateMember, 6, "/"),
        Refusal(String(repeating: "[", count: 65) + String(repeating: "]", count: 65), .tooDeep, 64, pointer(64)),
        Refusal(String(repeating: "[", count: 1_000_000), .tooDeep, 64, pointer(64)),
        Refusal(String(repeating: #"{"a":"#, count: 65), .tooDeep, 320, String(repeating: "/a", count: 64)),
        Refusal("1e400", .numberTooLarge, 0, ""),
        Refusal(#"{"a":[1, -1e400]}"#, .numberTooLarge, 9, "/a/1"),
        Refusal("[1,]", .syntax, 3),
        Refusal(#"{"a":1,}"#, .syntax, 7),
        Refusal("{} x", .trailingText, 3),
        Refusal("{}{}", .trailingText, 2),
        Refusal("1 2", .trailingText, 2),
        Refusal("nulll", .trailingText, 4),
        Refusal(#"{"a":"#, .unexpectedEnd, 5),
        Refusal("[1,2", .unexpectedEnd, 4),
        Refusal("\"abc", .unexpectedEnd, 4),
        Refusal("tru", .unexpectedEnd, 3),
        Refusal("01", .trailingText, 1),
        Refusal("+1", .syntax, 0),
        Refusal(".5", .syntax, 0),
        Refusal("1.", .unexpectedEnd, 2),
        Refusal("[1.]", .syntax, 3),
        Refusal("NaN", .syntax, 0),
        Refusal("-Infinity", .syntax, 1),
        Refusal("'a'", .syntax, 0),
        Refusal("{a:1}", .syntax, 1),
        Refusal("\"\t\"", .syntax, 1),
        Refusal(#""\x""#, .syntax, 2),
        Refusal("[1 /* one */]", .syntax, 3),
        Refusal("// no\n1", .syntax, 0),
        // What comes where nothing of its kind can is at fault from its first byte on.
        Refusal("[1 true]", .syntax, 3),
        Refusal(#"{"a":1 "b":2}"#, .syntax, 7),
        Refusal("{} nul", .trailingText, 3),
        Refusal(#""\ud83d\ude0""#, .syntax, 12),
        Refusal(#""\u00g0""#, .syntax, 5),
        Refusal(#""\u00"#, .unexpectedEnd, 5),
        Refusal(#""\"#, .unexpectedEnd, 2),
        Refusal(#"["\udc00", "\x"]"#, .loneSurrogate, 2, "/0"),
        Refusal(#"{"\udc00":1}"#, .loneSurrogate, 2, ""),
    ]

    @Test("a control in a string is refused wherever in it it is", arguments: 1..<32)
    func controls(byte: UInt8) {
        for length in 0..<40 {
            var text = Array("[\"\(String(repeating: "a", count: length))b\(String(repeating: "c", count: 40))\"]".utf8)
            text[2 + length] = byte
            let error = #expect(throws: JSONParseError.self) { try JSONDocument(parsing: text) }
            #expect(error == JSONParseError(code: .syntax, offset: 2 + length))
        }
    }

    @Test(
        "numbers may be as long as a text may be",
        arguments: [
            ("", "1", "", nil), ("", "9", "e-999999", nil), ("0.", "3", "", "0.3333333333333333"),
            ("0.", "0", "1", "0.0"), ("1e", "9", "", nil), ("1e-", "9", "", "0.0"), ("-1.", "0", "", "-1.0"),
            ("1e", "0", "1", "10.0"), ("[1.", "5", "e-9]", "[1.5555555555555555e-09]"), ("-", "7", "", nil),
            ("123456789012345678901234567890.", "1", "e10", "1.2345678901234568e+39"), ("0.", "0", "1e9999999", nil),
        ] as [(String, Character, String, String?)])
    func longNumbers(before: String, digit: Character, after: String, written: String?) throws {
        let text = before + String(repeating: digit, count: 1_000_000) + after
        if let written {
            #expect(try JSONDocument(parsing: text).description == written)
        } else {
            let error = #expect(throws: JSONParseError.self) { try JSONDocument(parsing: text) }
            #expect(error == JSONParseError(code: .numberTooLarge, offset: 0, pointer: ""))
        }
    }

    @Test(
        "doubles are written with the fewest digits that mean them, and look like doubles",
        arguments: [
            ("4.5170520289302996", "4.5170520289303"), ("0.1", "0.1"), ("1e15", "1e+15"), ("1e14", "100000000000000.0"),
            ("123456789012345.6", "123456789012345.6"), ("1234567890123456.0", "1.234567890123456e+15"),
            ("0.0001", "0.0001"), ("0.00012", "0.00012"), ("0.00001", "1e-05"), ("-0.0", "-0.0"), ("-0", "0"),
            ("5e-324", "5e-324"), ("1e-400", "0.0"), ("0.0000000001e-2147483639", "0.0"), ("1e-99999999999", "0.0"),
            ("1.7976931348623157e308", "1.7976931348623157e+308"),
            ("1E2", "100.0"), ("2.5e-7", "2.5e-07"), ("9007199254740993.0", "9.007199254740992e+15"),
        ])
    func doubles(text: String, written: String) throws {
        #expect(try JSONDocument(parsing: text).description == written)
        #expect(try JSONDocument(parsing: written).description == written)
    }

    @Test("doubles are read back as they were, bit by bit", arguments: 0..<8)
    func doublesAtRandom(seed: UInt64) throws {
        var random = RandomDocuments(seed: seed)
        for _ in 0..<2_000 {
            let number = Double(bitPattern: random.number())
            guard number.isFinite else { continue }
            let again = try JSONDocument(parsing: JSONDocument(number).serialized())
            #expect(again.double?.bitPattern == number.bitPattern, "seed \(seed): \(number)")
        }
    }

    private static func pointer(_ levels: Int) -> String { String(repeating: "/0", count: levels) }

    @Test("refuses what is hostile or wrong, and says where", arguments: refusals)
    func refuses(_ refusal: Refusal) {
        let error = #expect(throws: JSONParseError.self) { try JSONDocument(parsing: refusal.text) }
        #expect(error == JSONParseError(code: refusal.code, offset: refusal.offset, pointer: refusal.pointer))
    }

    @Test(
        "takes what RFC 8259 allows, and writes it compactly",
        arguments: [
            ("null", "null"), (" true ", "true"), ("-0.5e-3", "-0.0005"), ("0", "0"), ("1.0", "1.0"),
            ("\"\\u00e9\\ud83d\\ude00\\/\"", "\"é😀/\""), ("\"\\u0000\\u001f\"", "\"\\u0000\\u001f\""),
            (" { \"b\" : [ ] ,\r\n\t\"a\" : { } } ", "{\"a\":{},\"b\":[]}"),
            ("9223372036854775807", "9223372036854775807"), ("-9223372036854775808", "-9223372036854775808"),
            ("18446744073709551615", "18446744073709551615"), ("18446744073709551616", "1.8446744073709552e+19"),
            ("{\"a\":{\"a\":{\"a\":1}},\"b\":{\"a\":1}}", "{\"a\":{\"a\":{\"a\":1}},\"b\":{\"a\":1}}"),
        ])
    func accepts(text: String, written: String) throws {
        #expect(try JSONDocument(parsing: text).description == written)
    }

    @Test("64 levels are not too deep")
    func deepest() throws {
        let text = String(repeating: "[", count: 64) + String(repeating: "]", count: 64)
        #expect(try JSONDocument(parsing: text).depth == 64)
    }

    @Test("comments are allowed where they are asked for, and nothing else is")
    func comments() throws {
        let text = "// port\n{ \"port\": /* any */ 0 }\n// end"
        #expect(try JSONDocument(parsing: text, comments: true) == ["port": 0])
        #expect(throws: JSONParseError.self) { try JSONDocument(parsing: "[1,] // one", comments: true) }
        #expect(throws: JSONParseError.self) { try JSONDocument(parsing: "[1] /* open", comments: true) }
        #expect(throws: JSONParseError.self) { try JSONDocument(parsing: text) }
    }

    @Test("a place in a file is counted in lines and code points")
    func location() throws {
        let bytes = [UInt8]("{\n  // héé\n  \"é\": ?\n}".utf8)
        let error = #expect(throws: JSONParseError.self) { try JSONDocument(parsing: bytes, comments: true) }
        let location = JSONSourceLocation(offset: try #require(error).offset, in: bytes)
        #expect(location == JSONSourceLocation(line: 3, column: 8))
        #expect(location.description == "line 3, column 8")
    }

    @Test("an error is a sentence with a place")
    func description() {
        let error = JSONParseError(code: .duplicateMember, offset: 7, pointer: "/a")
        #expect(error.description == "A member name occurs twice in one object at /a (byte 7).")
    }
}
