import JSONDocument
import Testing

@Suite("Reading JSON piece by piece")
struct JSONReaderTests {
    @Test("what was written comes back")
    func roundTrip() throws {
        var writer = JSONWriter()
        writer.beginObject()
        writer.name("ab")
        writer.beginArray()
        writer.string("plain")
        writer.string("\"\\\n\u{1F600}")
        writer.string("")
        writer.int(-12)
        writer.int(999_999_999_999_999_999)
        writer.null()
        writer.document(["x": [1, "]}", ["y": "\\\""]]])
        writer.document([:])
        writer.document("s")
        writer.document(1.5)
        writer.beginArray()
        writer.endArray()
        writer.endArray()
        writer.endObject()
        var json = try JSONReader(writer.bytes)
        try json.beginObject()
        let isOther = json.isName("abc") || json.isName("a")
        #expect(!isOther)
        try json.name("ab")
        try json.beginArray()
        expect(try json.string(), "plain")
        expect(try json.string(), "\"\\\n\u{1F600}")
        expect(try json.string(), "")
        expect(try json.int(), -12)
        expect(try json.int(), 999_999_999_999_999_999)
        try expect(json.document(), .null)
        expect(try json.document(), ["x": [1, "]}", ["y": "\\\""]]])
        expect(try json.document(), [:])
        expect(try json.document(), "s")
        expect(try json.document(), 1.5)
        try json.beginArray()
        try json.endArray()
        try json.endArray()
        try json.endObject()
    }

    @Test(
        "what is not what was to be read throws and never traps",
        arguments: [
            "", "[", "]", "\"", "\"\\", "\"\\u12", "-", "{", "{\"a\"", "[\"]", "}", ",", "\"\\q\"", "[1,}", "tru",
        ])
    func broken(_ text: String) {
        #expect(throws: JSONReadError.self) { try read(text) { json throws in _ = try json.string() } }
        #expect(throws: JSONReadError.self) { try read(text) { json throws in _ = try json.int() } }
        #expect(throws: JSONReadError.self) { try read(text) { json throws in _ = try json.document() } }
        #expect(throws: JSONReadError.self) { try read(text) { json throws in try json.name("a") } }
    }

    @Test("whole numbers that do not fit are refused")
    func longNumbers() {
        #expect(throws: JSONReadError.self) {
            try read("9223372036854775808") { json throws in _ = try json.int() }
        }
    }

    @Test(
        "a value of any kind comes back as it was written",
        arguments: [
            "null", "true", "false", "-7", "18446744073709551615", "2.5", "\"\\u0001\"", "[]", "{}", "[[],{\"a\":[1]}]",
        ])
    func anyValue(_ text: String) throws {
        try read("[\(text),0]") { json throws in
            try json.beginArray()
            expect(try json.document().description, text)
            expect(try json.int(), 0)
            try json.endArray()
        }
    }

    @Test(
        "text is read as strictly as documents are",
        arguments: [
            "\u{FEFF}[]", "[]\u{0}", "[] []", "[1,]", "[01]", "[\"\\ud800\"]", "[1e999]", "// a\n[]",
        ])
    func strict(_ text: String) {
        #expect(throws: JSONReadError.self) { try JSONReader(Array(text.utf8)) }
    }

    @Test("a value in which a name occurs twice is none")
    func duplicate() {
        #expect(throws: JSONReadError(offset: 8)) {
            try read(#"[{"a":1,"a":2}]"#) { json throws in
                try json.beginArray()
                _ = try json.document()
            }
        }
    }

    @Test("nesting has an end, behind what values in a kept text can need")
    func depth() throws {
        let levels = 2 * JSONDocument.maximumDepth
        let deepest = String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
        _ = try JSONReader(Array(deepest.utf8))
        #expect(throws: JSONReadError.self) { try JSONReader(Array("[\(deepest)]".utf8)) }
        #expect(throws: JSONReadError.self) { try JSONReader(Array(String(repeating: "[", count: 1_000_000).utf8)) }
    }

    private func expect<Value: Equatable>(_ value: Value, _ expected: Value) { #expect(value == expected) }

    private func read(_ text: String, _ body: (inout JSONReader) throws -> Void) throws {
        var json = try JSONReader(Array(text.utf8))
        try body(&json)
    }
}
