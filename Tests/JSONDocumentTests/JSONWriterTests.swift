import JSONDocument
import Testing

@Suite("Writing JSON")
struct JSONWriterTests {
    private func written(_ write: (inout JSONWriter) -> Void) -> String {
        var writer = JSONWriter()
        write(&writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    @Test("writes text and values in one go as it writes them piece by piece")
    func pieces() {
        let text = written { writer in
            writer.beginObject()
            writer.add(#""a":"#, "x")
            writer.add(#","b":"#, "quote \" backslash \\ line\nend and more than that")
            writer.add(#","c":"#, "")
            writer.add(#","d":"#, nil as String?)
            writer.add(#","e":{"f":"#, Timestamp(millisecondsSince1970: 0))
            writer.add(#"},"g":"#, ["y": [true]] as JSONDocument)
            writer.add(Array(#","h":[0"#.utf8))
            writer.add("]")
            // Commas come by themselves again.
            writer.name("i")
            writer.int(1)
            writer.endObject()
        }
        #expect(
            text == #"{"a":"x","b":"quote \" backslash \\ line\nend and more than that","c":"","d":null,"#
                + #""e":{"f":"1970-01-01T00:00:00.000Z"},"g":{"y":[true]},"h":[0],"i":1}"#)
    }

    @Test(
        "writes every whole number",
        arguments: [0, 1, 9, 10, 99, 100, -1, -9, -10, 1_767_225_600_000, Int.max, Int.min, Int.max - 1])
    func wholeNumbers(_ number: Int) {
        #expect(written { $0.add("[", number) } == "[\(number)")
        #expect(written { $0.add("", UInt64(bitPattern: Int64(number))) } == "\(UInt64(bitPattern: Int64(number)))")
    }

    @Test("puts commas where they belong")
    func commas() {
        let text = written { writer in
            writer.beginObject()
            writer.name("items")
            writer.beginArray()
            writer.beginObject()
            writer.endObject()
            writer.beginArray()
            writer.endArray()
            writer.int(-1)
            writer.uint(.max)
            writer.bool(true)
            writer.null()
            writer.document(0.5)
            writer.raw(Array("[1]".utf8))
            writer.document(["b": 1, "a": [nil]])
            writer.endArray()
            writer.name("next")
            writer.string("x")
            writer.name("last")
            writer.int(.min)
            writer.endObject()
        }
        #expect(
            text == #"{"items":[{},[],-1,18446744073709551615,true,null,0.5,[1],{"a":[null],"b":1}],"next":"x","#
                + #""last":-9223372036854775808}"#)
    }

    @Test(
        "escapes strings and names",
        arguments: [
            ("plain", #""plain""#), ("", #""""#), ("é😀\u{7F}", "\"é😀\u{7F}\""), ("a\"b", #""a\"b""#),
            ("a\\b", #""a\\b""#),
            ("\n\r\t\u{8}\u{C}", #""\n\r\t\b\f""#), ("\u{0}\u{1F}", #""\u0000\u001f""#), ("</script>", #""</script>""#),
        ])
    func escapes(value: String, text: String) throws {
        #expect(written { $0.string(value) } == text)
        let object = written { writer in
            writer.beginObject()
            writer.name(value)
            writer.int(0)
            writer.endObject()
        }
        #expect(object == "{\(text):0}")
        #expect(try JSONDocument(parsing: object)[member: value]?.int == 0)
    }

    @Test("numbers that JSON does not have become null", arguments: [Double.infinity, -.infinity, .nan])
    func notFinite(value: Double) {
        #expect(JSONDocument(value).isNull)
    }

    @Test("whatever needs escaping is found wherever it stands")
    func escapes() {
        for byte in UInt8(0)..<128 {
            for place in 0..<20 {
                var text = [UInt8](repeating: UInt8(ascii: "x"), count: 20)
                text[place] = byte
                let string = String(decoding: text, as: UTF8.self)
                var writer = JSONWriter()
                writer.string(string)
                #expect(writer.bytes == JSONDocument(string).serialized())
            }
        }
        var writer = JSONWriter()
        writer.string("für – 日本語, 👍🏽 und mehr")
        #expect(writer.bytes == JSONDocument("für – 日本語, 👍🏽 und mehr").serialized())
    }

    @Test("names that stand in the code and others are written alike")
    func names() {
        let name = "name"
        var writer = JSONWriter()
        writer.beginObject()
        writer.name("name")
        writer.int(1)
        writer.name(name)
        writer.int(2)
        writer.endObject()
        #expect(writer.bytes == Array(#"{"name":1,"name":2}"#.utf8))
    }
}
