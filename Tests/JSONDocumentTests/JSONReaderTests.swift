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
        var json = JSONReader(writer.bytes)
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

    @Test("numbers that may not fit are refused")
    func longNumbers() {
        #expect(throws: JSONReadError.self) {
            try read("1234567890123456789") { json throws in _ = try json.int() }
        }
    }

    private func expect<Value: Equatable>(_ value: Value, _ expected: Value) { #expect(value == expected) }

    private func read(_ text: String, _ body: (inout JSONReader) throws -> Void) throws {
        var json = JSONReader(Array(text.utf8))
        try body(&json)
    }
}
