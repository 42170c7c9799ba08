import ConciergeApp
import JSONDocument
import Support
import Testing

@Suite("Patches over HTTP")
struct PatchTests {
    /// A service that takes any JSON, with that as its state.
    private static func withState<Result: Sendable>(
        _ state: String, _ body: (TestClient, String) async throws -> Result
    ) async throws -> Result {
        try await withApplication(services: [try ServiceFile(name: "anything")]) { app in
            let client = try await app.newSession().client
            let path = Paths.service("anything")
            let put = try await client.send("PUT", path, json: state)
            #expect(put.status == 200)
            return try await body(client, path)
        }
    }

    @Test(
        "the fifteen rows of RFC 7396, appendix A",
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
    func merges(state: String, patch: String, result: String) async throws {
        try await Self.withState(state) { client, path in
            let answer = try await client.patch(path, patch)
            #expect(answer.status == 200)
            #expect(answer.text == result)
            let read = try await client.get(path)
            #expect(read.text == result)
            #expect(read["ETag"] == answer["ETag"])
        }
    }

    struct Example: Sendable, CustomTestStringConvertible {
        let name: String
        let state: String
        let patch: String
        /// What comes out; nil when nothing does.
        var result: String?
        var status = 200

        var testDescription: String { name }
    }

    /// RFC 6902, appendix A.
    static let examples = [
        Example(
            name: "A.1 adding an object member", state: #"{"foo":"bar"}"#,
            patch: #"[{"op":"add","path":"/baz","value":"qux"}]"#, result: #"{"baz":"qux","foo":"bar"}"#),
        Example(
            name: "A.2 adding an array element", state: #"{"foo":["bar","baz"]}"#,
            patch: #"[{"op":"add","path":"/foo/1","value":"qux"}]"#, result: #"{"foo":["bar","qux","baz"]}"#),
        Example(
            name: "A.3 removing an object member", state: #"{"baz":"qux","foo":"bar"}"#,
            patch: #"[{"op":"remove","path":"/baz"}]"#, result: #"{"foo":"bar"}"#),
        Example(
            name: "A.4 removing an array element", state: #"{"foo":["bar","qux","baz"]}"#,
            patch: #"[{"op":"remove","path":"/foo/1"}]"#, result: #"{"foo":["bar","baz"]}"#),
        Example(
            name: "A.5 replacing a value", state: #"{"baz":"qux","foo":"bar"}"#,
            patch: #"[{"op":"replace","path":"/baz","value":"boo"}]"#, result: #"{"baz":"boo","foo":"bar"}"#),
        Example(
            name: "A.6 moving a value", state: #"{"foo":{"bar":"baz","waldo":"fred"},"qux":{"corge":"grault"}}"#,
            patch: #"[{"op":"move","from":"/foo/waldo","path":"/qux/thud"}]"#,
            result: #"{"foo":{"bar":"baz"},"qux":{"corge":"grault","thud":"fred"}}"#),
        Example(
            name: "A.7 moving an array element", state: #"{"foo":["all","grass","cows","eat"]}"#,
            patch: #"[{"op":"move","from":"/foo/1","path":"/foo/3"}]"#,
            result: #"{"foo":["all","cows","eat","grass"]}"#),
        Example(
            name: "A.8 testing a value: success", state: #"{"baz":"qux","foo":["a",2,"c"]}"#,
            patch: #"[{"op":"test","path":"/baz","value":"qux"},{"op":"test","path":"/foo/1","value":2}]"#,
            result: #"{"baz":"qux","foo":["a",2,"c"]}"#),
        Example(
            name: "A.9 testing a value: error", state: #"{"baz":"qux"}"#,
            patch: #"[{"op":"test","path":"/baz","value":"bar"}]"#, status: 409),
        Example(
            name: "A.10 adding a nested member object", state: #"{"foo":"bar"}"#,
            patch: #"[{"op":"add","path":"/child","value":{"grandchild":{}}}]"#,
            result: #"{"child":{"grandchild":{}},"foo":"bar"}"#),
        Example(
            name: "A.11 ignoring unrecognised elements", state: #"{"foo":"bar"}"#,
            patch: #"[{"op":"add","path":"/baz","value":"qux","xyz":123}]"#, result: #"{"baz":"qux","foo":"bar"}"#),
        Example(
            name: "A.12 adding to a nonexistent target", state: #"{"foo":"bar"}"#,
            patch: #"[{"op":"add","path":"/baz/bat","value":"qux"}]"#, status: 409),
        Example(
            name: "A.13 invalid JSON Patch document", state: #"{"foo":"bar"}"#,
            patch: #"[{"op":"add","path":"/baz","value":"qux","op":"remove"}]"#, status: 400),
        Example(
            name: "A.14 escape ordering", state: #"{"/":9,"~1":10}"#,
            patch: #"[{"op":"test","path":"/~01","value":10}]"#, result: #"{"/":9,"~1":10}"#),
        Example(
            name: "A.15 comparing strings and numbers", state: #"{"/":9,"~1":10}"#,
            patch: #"[{"op":"test","path":"/~01","value":"10"}]"#, status: 409),
        Example(
            name: "A.16 adding an array value", state: #"{"foo":["bar"]}"#,
            patch: #"[{"op":"add","path":"/foo/-","value":["abc","def"]}]"#, result: #"{"foo":["bar",["abc","def"]]}"#),
    ]

    @Test("the examples of RFC 6902, appendix A", arguments: examples)
    func patches(_ example: Example) async throws {
        try await Self.withState(example.state) { client, path in
            let before = try await client.get(path)
            let answer = try await client.send(
                "PATCH", path, json: example.patch, fields: [("Content-Type", "application/json-patch+json")])
            #expect(answer.status == example.status)
            let read = try await client.get(path)
            if let result = example.result {
                #expect(answer.text == result)
                #expect(read.text == result)
                #expect(read["ETag"] == answer["ETag"])
            } else {
                #expect(read.body == before.body)
                #expect(read["ETag"] == before["ETag"])
            }
        }
    }

    @Test("when one operation fails, none was applied, and the pointer says which it was")
    func nothingApplied() async throws {
        try await Self.withState(#"{"a":1}"#) { client, path in
            let answer = try await client.send(
                "PATCH", path,
                json:
                    #"[{"op":"add","path":"/b","value":2},{"op":"remove","path":"/a"},{"op":"test","path":"/b","value":3}]"#,
                fields: [("Content-Type", "application/json-patch+json")])
            #expect(answer.status == 409)
            #expect(answer.code == "patch_conflict")
            #expect(answer.pointers == ["/2"])
            #expect(try await client.get(path).text == #"{"a":1}"#)
        }
    }

    @Test(
        "what is no JSON Patch is 400",
        arguments: [
            "{}", "null", "[1]", #"[{"op":"add"}]"#, #"[{"op":"add","path":"/a"}]"#, #"[{"op":"swap","path":"/a"}]"#,
            #"[{"op":"move","path":"/a"}]"#, #"[{"op":"remove","path":"a"}]"#, #"[{"op":"remove","path":"/~2"}]"#,
        ])
    func noPatch(patch: String) async throws {
        try await Self.withState(#"{"a":1}"#) { client, path in
            let answer = try await client.send(
                "PATCH", path, json: patch, fields: [("Content-Type", "application/json-patch+json")])
            #expect(answer.status == 400)
            #expect(answer.code == "invalid_patch")
        }
    }

    @Test(
        "another type, or none, is 415 with Accept-Patch",
        arguments: ["text/plain", "application/xml", "application/json; charset=latin1", "application/jsonx", ""])
    func types(type: String) async throws {
        try await Self.withState("{}") { client, path in
            let answer = try await client.send("PATCH", path, json: "{}", fields: [("Content-Type", type)])
            #expect(answer.status == 415)
            let possible = answer["Accept-Patch"] ?? ""
            for type in ["application/merge-patch+json", "application/json-patch+json", "application/json"] {
                #expect(possible.contains(type))
            }
        }
    }

    @Test(
        "the type's case and a charset that says UTF-8 do not matter",
        arguments: [
            "Application/Merge-Patch+JSON", "application/merge-patch+json; charset=utf-8",
            "application/json;charset=\"UTF-8\"",
        ])
    func typeForms(type: String) async throws {
        try await Self.withState(#"{"a":1}"#) { client, path in
            let answer = try await client.send("PATCH", path, json: #"{"a":2}"#, fields: [("Content-Type", type)])
            #expect(answer.text == #"{"a":2}"#)
        }
    }
}
