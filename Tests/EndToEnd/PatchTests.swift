import Configuration
import JSONDocument
import Support
import Testing

@Suite("Patches over HTTP")
struct PatchTests {
    /// A service that takes any JSON, with that as its state.
    private static func withState(
        _ state: String, _ body: (TestClient, String) async throws -> Void
    ) async throws {
        try await withSession(services: [try ServiceFile(name: "anything")]) { client in
            let path = Paths.service("anything")
            let put = try await client.send("PUT", path, json: state)
            #expect(put.status == 200)
            try await body(client, path)
        }
    }

    @Test("a merge patch is applied, and its result is what is read then")
    func merges() async throws {
        try await Self.withState(#"{"a":{"b":"c"},"d":1}"#) { client, path in
            let answer = try await client.patch(path, #"{"a":{"b":"d","c":null},"d":null}"#)
            #expect(answer.status == 200)
            #expect(answer.text == #"{"a":{"b":"d"}}"#)
            let read = try await client.get(path)
            #expect(read.text == answer.text)
            #expect(read["ETag"] == answer["ETag"])
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
