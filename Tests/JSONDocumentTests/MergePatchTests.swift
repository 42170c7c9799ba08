import JSONDocument
import Testing

@Suite("Merge patch (RFC 7396)")
struct MergePatchTests {
    @Test(
        "the examples of appendix A",
        arguments: [
            (#"{"a":"b"}"#, #"{"a":"c"}"#, #"{"a":"c"}"#),
            (#"{"a":"b"}"#, #"{"b":"c"}"#, #"{"a":"b","b":"c"}"#),
            (#"{"a":"b"}"#, #"{"a":null}"#, #"{}"#),
            (#"{"a":"b","b":"c"}"#, #"{"a":null}"#, #"{"b":"c"}"#),
            (#"{"a":["b"]}"#, #"{"a":"c"}"#, #"{"a":"c"}"#),
            (#"{"a":"c"}"#, #"{"a":["b"]}"#, #"{"a":["b"]}"#),
            (#"{"a":{"b":"c"}}"#, #"{"a":{"b":"d","c":null}}"#, #"{"a":{"b":"d"}}"#),
            (#"{"a":[{"b":"c"}]}"#, #"{"a":[1]}"#, #"{"a":[1]}"#),
            (#"["a","b"]"#, #"["c","d"]"#, #"["c","d"]"#),
            (#"{"a":"b"}"#, #"["c"]"#, #"["c"]"#),
            (#"{"a":"foo"}"#, #"null"#, #"null"#),
            (#"{"a":"foo"}"#, #""bar""#, #""bar""#),
            (#"{"e":null}"#, #"{"a":1}"#, #"{"a":1,"e":null}"#),
            (#"[1,2]"#, #"{"a":"b","c":null}"#, #"{"a":"b"}"#),
            (#"{}"#, #"{"a":{"bb":{"ccc":null}}}"#, #"{"a":{"bb":{}}}"#),
        ])
    func appendixA(target: String, patch: String, result: String) throws {
        let before = try JSONDocument(parsing: target)
        let merged = before.merging(try JSONDocument(parsing: patch))
        #expect(merged.description == result)
        #expect(before.description == target, "the original is not touched")
    }

    @Test("two documents of 64 levels merge into one of 64")
    func depth() throws {
        let text = String(repeating: #"{"a":"#, count: 64) + "1" + String(repeating: "}", count: 64)
        let other = text.replacing("a", with: "b")
        let merged = try JSONDocument(parsing: text).merging(try JSONDocument(parsing: other))
        #expect(merged.depth == 64)
        #expect(merged.count == 2)
    }
}

@Suite("Merging into text: the short way comes to the same as documents do")
struct MergingTextTests {
    private static let profile: JSONDocument = [
        "type": "object", "required": ["name"], "additionalProperties": false,
        "properties": [
            "name": ["type": "string", "maxLength": 20], "age": ["type": "integer"], "tags": ["type": "array"],
        ],
    ]

    private func merged(_ patch: String, into target: String, _ schema: JSONSchema) throws -> String? {
        schema.merging(try JSONDocument(parsing: patch), into: Array(target.utf8))
            .map { String(decoding: $0, as: UTF8.self) }
    }

    /// What merging, checking and serialising documents gives.
    private func byDocuments(_ patch: String, into target: String, _ schema: JSONSchema) throws -> String? {
        let document = try JSONDocument(parsing: target).merging(try JSONDocument(parsing: patch))
        return schema.accepts(document) ? document.description : nil
    }

    static let patches = [
        #"{"name":"Grace Hopper"}"#, #"{"name":null}"#, #"{"age":36.0}"#, #"{"age":"36"}"#, #"{"tags":[1,null]}"#,
        #"{"name":"a name of more than twenty bytes"}"#, "{}", "[]", "null", #"{"tags":{"a":null}}"#,
        #"{"name":"é\n\u0000","age":18446744073709551615}"#,
    ]

    @Test("gives what documents give, or nothing where they do not fit", arguments: patches)
    func comesToTheSame(patch: String) throws {
        let schema = try JSONSchema(Self.profile)
        for target in [#"{"name":"Ada"}"#, #" { "tags" : [ ] , "name" : "A\u0064a" } "#, "{}", "[1]"] {
            #expect(try merged(patch, into: target, schema) == byDocuments(patch, into: target, schema))
        }
    }

    @Test("gives the merged text, members sorted by name")
    func text() throws {
        let schema = try JSONSchema(Self.profile)
        let text = try merged(#"{"name":"Grace","age":85}"#, into: #"{"tags":[],"name":"Ada"}"#, schema)
        #expect(text == #"{"age":85,"name":"Grace","tags":[]}"#)
    }

    @Test(
        "gives nothing for a text that is no JSON", arguments: ["", "{", #"{"a":1,"a":2}"#, "\u{FEFF}{}", #""\uD800""#])
    func unsound(target: String) throws {
        #expect(try merged("{}", into: target, try JSONSchema(true)) == nil)
    }

    @Test("a text that was given stays as it was when the next is made, also after a very large one")
    func lasts() throws {
        let schema = try JSONSchema(true)
        let large = JSONDocument(String(repeating: "x", count: 200_000))
        let first = try merged(#"{"a":1}"#, into: "{}", schema)
        let second = schema.merging(large, into: [])
        let third = schema.merging(large, into: Array("0".utf8))
        let fourth = try merged(#"{"b":2}"#, into: "{}", schema)
        #expect(first == #"{"a":1}"#)
        #expect(second == nil)
        #expect(third?.count == 200_002)
        #expect(fourth == #"{"b":2}"#)
    }

    @Test("a shared patch is not taken apart: merging at random many times comes to the same")
    func randomMerges() throws {
        let schema = try JSONSchema(true)
        var random = RandomDocuments(seed: 7)
        for _ in 0..<2_000 {
            let target = random.next(levels: 4)
            let patch = random.next(levels: 4)
            let expected = target.merging(patch).serialized()
            #expect(schema.merging(patch, into: target.serialized()) == expected)
            #expect(schema.merging(patch, into: target.serialized()) == expected)
        }
    }
}
