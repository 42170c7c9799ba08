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
