import Configuration
import HTTPTestClient
import JSONDocument
import Support
import Testing

@Suite("Transactions")
struct TransactionTests {
    private static func commit(
        _ operations: String, _ client: TestClient, fields: [(name: String, value: String)] = []
    ) async throws -> TestResponse {
        try await client.send("POST", Paths.transactions, json: #"{"operations":[\#(operations)]}"#, fields: fields)
    }

    @Test("all of put, patch, clear and remove happen, in one revision")
    func all() async throws {
        try await withSession(services: [try ServiceFile(name: "notes")]) { client in
            try await client.patch(Paths.service("temporary-profile"), #"{"name":"T"}"#)
            try await client.send("PUT", Paths.service("notes"), json: "[1]")
            let answer = try await Self.commit(
                #"""
                {"op":"put","service":"quote","value":{"text":"t","author":"a"}},
                {"op":"patch","service":"profile","value":{"name":"Ada"}},
                {"op":"clear","service":"temporary-profile"},
                {"op":"remove","service":"notes"}
                """#, client)
            #expect(answer.status == 200)
            #expect(
                try answer.json == [
                    "results": [
                        ["service": "quote", "etag": "\"4\""], ["service": "profile", "etag": "\"4\""],
                        ["service": "temporary-profile", "etag": "\"4\""], ["service": "notes", "etag": "\"0\""],
                    ]
                ])
            #expect(try await client.get(Paths.quote).json == ["text": "t", "author": "a"])
            #expect(try await client.get(Paths.profile)[member: "name"] == "Ada")
            #expect(try await client.get(Paths.service("temporary-profile")).json == defaultProfile)
            #expect(try await client.listing(of: "notes")?[string: "status"] == "registered")
            #expect(try await client.revision() == 4)
        }
    }

    @Test("what a service is after all writes must be valid, and what it is between two of them need not be")
    func checkedOnce() async throws {
        try await withSession { client in
            let wrong = #"{"op":"patch","service":"profile","value":{"name":1,"email":"a@example.org"}}"#
            let right = #"{"op":"patch","service":"profile","value":{"name":"Ada"}}"#
            let other = #"{"op":"put","service":"quote","value":{"text":"t","author":"a"}}"#
            #expect(try await Self.commit([wrong, other, right].joined(separator: ","), client).status == 200)
            let profile = try await client.get(Paths.profile)
            #expect(profile[member: "name"] == "Ada" && profile[member: "email"] == "a@example.org")
            let clearOther = #"{"op":"clear","service":"quote"}"#
            #expect(try await Self.commit([wrong, clearOther, right].joined(separator: ","), client).status == 200)
            let refused = try await Self.commit([right, wrong, other].joined(separator: ","), client)
            #expect(refused.status == 400)
            #expect(String(decoding: refused.body, as: UTF8.self).contains("/operations/1/value/name"))
            #expect(try await client.revision() == 3)
            // A clear between two writes is done between them.
            let clear = #"{"op":"clear","service":"profile"}"#
            let cleared = try await Self.commit([clear, right].joined(separator: ","), client)
            #expect(cleared.status == 200)
            #expect(try await client.get(Paths.profile)[member: "email"] != "a@example.org")
            #expect(try await Self.commit([wrong, clear].joined(separator: ","), client).status == 400)
        }
    }

    struct Failure: Sendable, CustomTestStringConvertible {
        let operation: String
        let status: Int
        let code: String
        let pointer: String

        var testDescription: String { "\(status) \(code) \(operation)" }
    }

    static let failures = [
        Failure(
            operation: #"{"op":"patch","service":"profile","value":{"name":1}}"#, status: 400, code: "invalid_state",
            pointer: "/operations/1/value/name"),
        Failure(
            operation: #"{"op":"put","service":"quote","value":{"text":"x"}}"#, status: 400, code: "invalid_state",
            pointer: "/operations/1/value/author"),
        Failure(
            operation: #"{"op":"put","service":"profile"}"#, status: 400, code: "invalid_input",
            pointer: "/operations/1/value"),
        Failure(
            operation: #"{"op":"erase","service":"profile"}"#, status: 400, code: "invalid_input",
            pointer: "/operations/1/op"),
        Failure(
            operation: #"{"op":"clear","service":"nope"}"#, status: 400, code: "invalid_input",
            pointer: "/operations/1/service"),
        Failure(
            operation: #"{"op":"clear"}"#, status: 400, code: "invalid_input", pointer: "/operations/1/service"),
        Failure(
            operation: #"{"op":"clear","service":"profile","force":true}"#, status: 400, code: "invalid_input",
            pointer: "/operations/1/force"),
        Failure(
            operation: #"{"op":"clear","service":"profile","if_match":3}"#, status: 400, code: "invalid_input",
            pointer: "/operations/1/if_match"),
        Failure(operation: "7", status: 400, code: "invalid_input", pointer: "/operations/1"),
        Failure(
            operation: #"{"op":"patch","service":"quote","value":{"text":"x"},"if_match":"\"9\""}"#, status: 412,
            code: "precondition_failed", pointer: "/operations/1/if_match"),
        Failure(
            operation: #"{"op":"remove","service":"quote","if_match":"9"}"#, status: 412, code: "precondition_failed",
            pointer: "/operations/1/if_match"),
        Failure(
            operation: #"{"op":"patch","service":"quote","value":[{"op":"test","path":"/text","value":"no"}]}"#,
            status: 409, code: "patch_conflict", pointer: "/operations/1/value/0"),
        Failure(
            operation: #"{"op":"patch","service":"quote","value":[{"op":"remove"}]}"#, status: 400,
            code: "invalid_patch", pointer: "/operations/1/value/0"),
        Failure(
            operation: #"{"op":"patch","service":"user","value":{"authenticated":true}}"#, status: 400,
            code: "invalid_input", pointer: "/operations/1/service"),
    ]

    @Test("when one fails, none has happened, and the pointer has its index", arguments: failures)
    func none(_ failure: Failure) async throws {
        try await withSession { client in
            let answer = try await Self.commit(
                #"{"op":"patch","service":"profile","value":{"name":"Eve"}},"# + failure.operation, client)
            #expect(answer.status == failure.status)
            #expect(answer.code == failure.code)
            #expect(answer.pointers == [failure.pointer])
            #expect(try await client.get(Paths.profile).json == defaultProfile)
            #expect(try await client.revision() == 1)
        }
    }

    @Test("conditions are about the state before, with the quotes of the tag or without, or *")
    func conditions() async throws {
        try await withSession { client in
            for tag in [#""\"0\"""#, #""2""#, #""*""#] {
                let answer = try await Self.commit(
                    #"{"op":"patch","service":"profile","value":{"name":"\#(tag.count)"},"if_match":\#(tag)}"#, client)
                #expect(answer.status == 200)
            }
            let twice = try await Self.commit(
                #"""
                {"op":"patch","service":"profile","value":{"name":"x"},"if_match":"4"},
                {"op":"patch","service":"profile","value":{"name":"y"},"if_match":"4"}
                """#, client)
            #expect(twice.status == 200)
            #expect(try await client.get(Paths.profile)[member: "name"] == "y")
        }
    }

    @Test(
        "a body that is no transaction is 400",
        arguments: [
            ("{}", "/operations"), (#"{"operations":[]}"#, "/operations"), (#"{"operations":{}}"#, "/operations"),
            ("[]", ""), (#"{"operations":[],"atomic":true}"#, "/atomic"),
        ])
    func malformed(body: String, pointer: String) async throws {
        try await withSession { client in
            let answer = try await client.send("POST", Paths.transactions, json: body)
            #expect(answer.status == 400)
            #expect(answer.code == "invalid_input")
            #expect(answer.pointers == [pointer])
        }
    }

    @Test("100 operations are possible, 101 are not")
    func bounded() async throws {
        try await withSession { (client) async throws in
            func operations(_ count: Int) -> String {
                (0..<count).map { #"{"op":"patch","service":"profile","value":{"name":"\#($0)"}}"# }
                    .joined(separator: ",")
            }
            #expect(try await Self.commit(operations(100), client).status == 200)
            #expect(try await Self.commit(operations(101), client).status == 400)
            #expect(try await client.get(Paths.profile)[member: "name"] == "99")
        }
    }
}
