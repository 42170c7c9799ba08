import JSONDocument
import Testing

@Suite("Plain text: the short way comes to the same as documents do")
struct PlainTextTests {
    private static let anything = try? JSONSchema(true)

    /// What merging, checking and serialising documents gives.
    private func byDocuments(_ schema: JSONSchema, _ patch: String, into target: String?) throws -> String? {
        let patch = try JSONDocument(parsing: patch)
        let merged = try target.map { try JSONDocument(parsing: $0).merging(patch) } ?? patch
        return schema.accepts(merged) ? String(decoding: merged.serialized(), as: UTF8.self) : nil
    }

    private func byText(_ schema: JSONSchema, _ patch: String, into target: String?) -> String? {
        schema.merging(plain: Array(patch.utf8), into: target.map { Array($0.utf8) })
            .map { String(decoding: $0, as: UTF8.self) }
    }

    static let plain = [
        "null", "true", "false", "0", "-1", "123456789012345678", "0.5", "-2.25e-10", "1.0", #""""#, #""é😀""#,
        #""\"\\\n\t""#, "[]", "{}", " [ 1 ,\t2 , [ ] ]\r\n", #"{"b":1,"a":{"c":[{}]}}"#, #"{"a":1,"aa":2,"ab":3}"#,
        "{\"\u{7F}\":1}", "-0.0", "1e+300",
    ]

    @Test("is what nearly all text is, and comes out as a document would", arguments: plain)
    func isPlain(text: String) throws {
        let schema = try #require(Self.anything)
        #expect(try CheckedJSON(checking: Array(text.utf8)).plainText != nil)
        #expect(try byText(schema, text, into: nil) == byDocuments(schema, text, into: nil))
    }

    /// Sound, but spelled otherwise than a document would be.
    static let unusual = [
        "1e2", "1.50", "-0", "1234567890123456789", "1E+300", #""\u0041""#, #""\/""#, #""\u0000""#, #"{"\n":1}"#,
        "[\(Array(repeating: "0", count: 600).joined(separator: ","))]",
    ]

    @Test("is not what is spelled otherwise, or too much of it", arguments: unusual)
    func isUnusual(text: String) throws {
        #expect(try CheckedJSON(checking: Array(text.utf8)).plainText == nil)
        #expect(try CheckedJSON(checking: Array(text.utf8)).document() == JSONDocument(parsing: text))
    }

    static let unsound: [[UInt8]] =
        [
            "", " ", "nul", "tru", "[1,]", "[1", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{\"a\":1", "{a:1}", "01", "-",
            "1.",
            ".5", "+1", "1e", "1e999", "\"", "\"\\", "\"\\x\"", "\"\n\"", "1 2", "[1]]", #"{"a":1,"b":2,"a":3}"#,
            #"{"a":1,"a":3}"#, #"{"b":1,"a":2,"a":3}"#, #""\ud800""#, "\u{FEFF}1", "\u{0}1", "1\u{0}", "'a'", "NaN",
            "//\n1",
            String(repeating: "[", count: 65) + String(repeating: "]", count: 65),
        ].map { Array($0.utf8) } + [
            [0x22, 0x80, 0x22], [0x22, 0xC0, 0xAF, 0x22], [0x22, 0xC3, 0x22], [0x22, 0xC3],
            [0x22, 0xED, 0xA0, 0x80, 0x22],
            [0x22, 0xE0, 0x80, 0x80, 0x22], [0x22, 0xF0, 0x80, 0x80, 0x80, 0x22], [0x22, 0xF4, 0x90, 0x80, 0x80, 0x22],
            [0x22, 0xF5, 0x80, 0x80, 0x80, 0x22], [0x22, 0xE2, 0x82, 0x22], [0xFF],
        ]

    @Test("is not what is unsound: it fails as it does with documents", arguments: unsound)
    func isUnsound(bytes: [UInt8]) throws {
        let error = #expect(throws: JSONParseError.self) { try CheckedJSON(checking: bytes) }
        #expect(error == #expect(throws: JSONParseError.self) { try JSONDocument(parsing: bytes) })
        let schema = try #require(Self.anything)
        #expect(schema.merging(plain: bytes, into: nil) == nil)
        #expect(schema.merging(plain: Array("{}".utf8), into: bytes) == nil)
        #expect(schema.merging(plain: bytes, into: Array("{}".utf8)) == nil)
    }

    @Test("every text that one byte makes of another is sound for both, or for neither")
    func mutations() throws {
        let text = Array(#"{"a":[1,-2.5,true,null,"é\n"],"b":{"c":"x"}}"#.utf8)
        var plain = 0
        for place in text.indices {
            for byte in UInt8.min...UInt8.max {
                var changed = text
                changed[place] = byte
                let document = try? JSONDocument(parsing: changed)
                let bytes = try #require(Self.anything).merging(plain: changed, into: nil)
                guard let bytes else { continue }
                plain += 1
                #expect(bytes == document?.serialized(), "\(changed)")
            }
        }
        #expect(plain > 500)
    }

    @Test("merging at random comes to the same")
    func randomMerges() throws {
        let schema = try #require(Self.anything)
        var random = RandomDocuments(seed: 7)
        var plain = 0
        for _ in 0..<20_000 {
            let target = String(decoding: plainNames(random.next(levels: 4)).serialized(), as: UTF8.self)
            let patch = String(decoding: plainNames(random.next(levels: 4)).serialized(), as: UTF8.self)
            guard let merged = byText(schema, patch, into: target) else { continue }
            plain += 1
            #expect(try merged == byDocuments(schema, patch, into: target), "\(target) \(patch)")
        }
        #expect(plain > 5_000)
    }

    /// The same with names of one letter, so that many are plain and meet in two documents.
    private func plainNames(_ document: JSONDocument) -> JSONDocument {
        if let elements = document.elements { return JSONDocument(elements.map(plainNames)) }
        guard let members = document.members else { return document }
        let letters = ["a", "b", "c", "d", "é"]
        let renamed = members.map { (letters[$0.name.utf8.count % letters.count], plainNames($0.value)) }
        return JSONDocument(members: Dictionary(renamed) { first, _ in first }.map { ($0.key, $0.value) })
    }

    static let schemas = [
        "true", "false", "{}", #"{"type":"object"}"#, #"{"type":["integer","null"]}"#,
        #"{"type":"number","minimum":1}"#,
        #"{"exclusiveMinimum":1,"exclusiveMaximum":3}"#, #"{"maximum":2.5}"#, #"{"minLength":2,"maxLength":3}"#,
        #"{"pattern":"^a+$"}"#, #"{"enum":[1,"a",null,2.0,{}]}"#, #"{"const":"a"}"#, #"{"const":1.0,"enum":[1]}"#,
        #"{"minItems":1,"maxItems":2,"items":{"type":"integer"}}"#, #"{"items":[{"type":"null"}]}"#,
        #"{"items":false}"#,
        #"{"minProperties":1,"maxProperties":2}"#, #"{"required":["a","z"]}"#, #"{"uniqueItems":true}"#,
        #"{"properties":{"a":{"type":"integer"},"b":false},"required":["a"],"additionalProperties":{"type":"string"}}"#,
        #"{"properties":{"c":{},"a":true},"required":["b"],"additionalProperties":false}"#, #"{"not":{"type":"null"}}"#,
        ##"{"properties":{"a":{"$ref":"#"}},"additionalProperties":false}"##, #"{"patternProperties":{"a":{}}}"#,
        ##"{"definitions":{"s":{"type":"string"}},"items":{"$ref":"#/definitions/s"},"title":"t"}"##,
        #"{"multipleOf":2}"#, #"{"if":{"type":"string"},"then":{"maxLength":1}}"#, #"{"anyOf":[{"type":"null"}]}"#,
    ]

    static let documents =
        plain + [
            "1", "2", "2.5", "3", "-7", #""a""#, #""aa""#, #""aaaa""#, #""é""#, #""éé""#, #""\n\n""#, "[1]", "[1,2,3]",
            "[1,1]", #"["a"]"#, "[null]", #"{"a":1}"#, #"{"a":"1"}"#, #"{"a":1,"b":2}"#, #"{"a":1,"z":"s"}"#,
            #"{"b":1,"c":2}"#, #"{"b":1,"d":2}"#, #"{"a":{"a":{}}}"#, #"{"a":{"b":{}}}"#, #"{"a":1,"b":1,"c":1}"#,
        ]

    @Test("no schema says yes to a text and no to its document", arguments: schemas)
    func agrees(schema text: String) throws {
        let schema = try JSONSchema(try JSONDocument(parsing: text))
        for document in Self.documents {
            guard let bytes = byText(schema, document, into: nil) else { continue }
            #expect(try bytes == byDocuments(schema, document, into: nil), "\(document)")
        }
    }

    /// Whether the short way is taken at all.
    static let taken: [(schema: String, document: String)] = [
        (
            #"{"type":"object","required":["a"],"properties":{"a":{"type":"string","maxLength":3}}}"#,
            #"{"a":"éab","b":1}"#
        ),
        (#"{"additionalProperties":false,"properties":{"a":{"type":"number","minimum":1}}}"#, #"{"a":1.5}"#),
        (#"{"items":{"enum":["a","b"]},"maxItems":2,"title":"t"}"#, #"["a","b"]"#),
        (##"{"definitions":{"s":{"pattern":"^a"}},"items":{"$ref":"#/definitions/s"}}"##, #"["ab"]"#),
    ]

    @Test("takes the usual keywords", arguments: taken)
    func usual(schema: String, document: String) throws {
        let schema = try JSONSchema(try JSONDocument(parsing: schema))
        #expect(byText(schema, document, into: nil) == document)
    }
}
