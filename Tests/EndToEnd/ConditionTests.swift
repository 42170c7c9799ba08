import Configuration
import JSONDocument
import Support
import Testing

@Suite("Conditions")
struct ConditionTests {
    /// A profile that has been written twice: its ETag is "3".
    private static func withProfile(_ body: (TestClient) async throws -> Void) async throws {
        try await withSession { client in
            try await client.patch(Paths.profile, #"{"name":"A"}"#)
            #expect(try await client.patch(Paths.profile, #"{"name":"B"}"#)["ETag"] == "\"3\"")
            try await body(client)
        }
    }

    @Test(
        "If-Match on a write",
        arguments: [
            (#""3""#, 200), ("*", 200), (#""2", "3""#, 200), (#""x","3""#, 200), (#"W/"2", "3""#, 200),
            (#", "3" ,"#, 200), (#""2""#, 412), (#""0""#, 412), (#"W/"2""#, 412), (#""03""#, 412), (#""+3""#, 412),
            (#""""#, 412), (#""3 ""#, 412), ("3", 400), (#""3"#, 400), ("", 400), (#""3" "4""#, 400), ("*, \"3\"", 400),
            (#"w/"3""#, 400),
        ])
    func ifMatch(value: String, status: Int) async throws {
        try await Self.withProfile { client in
            let condition = [("If-Match", value)]
            let put = try await client.send("PUT", Paths.profile, json: #"{"name":"C"}"#, fields: condition)
            #expect(put.status == status)
            if status == 200 { return }
            let answers = [
                put, try await client.patch(Paths.profile, #"{"name":"C"}"#, fields: condition),
                try await client.send("DELETE", Paths.profile, fields: condition),
                try await client.send("DELETE", Paths.profile + "/state", fields: condition),
            ]
            for answer in answers {
                #expect(answer.status == status)
                #expect(answer.code == (status == 412 ? "precondition_failed" : "invalid_condition"))
                #expect(answer["ETag"] == (status == 412 ? "\"3\"" : nil), "a 412 says what the current one is")
            }
            let now = try await client.get(Paths.profile)
            #expect(now["ETag"] == "\"3\"")
            #expect(now[member: "name"] == "B")
        }
    }

    @Test(
        "the tag that a proxy has changed while it compressed still means the server's own",
        arguments: [
            #"W/"3""#, #""3-gzip""#, #"W/"3-gzip""#, #""3--gzip""#, #""3-br""#, #""3-zstd""#, #""3;gz""#, #""3;br""#,
            #""2-gzip", "3-gzip""#,
        ])
    func changedTags(value: String) async throws {
        try await Self.withProfile { client in
            #expect(try await client.get(Paths.profile, fields: [("If-None-Match", value)]).status == 304)
            #expect(try await client.get(Paths.profile, fields: [("If-Match", value)]).status == 200)
            let old = value.replacing("3", with: "1")
            #expect(try await client.get(Paths.profile, fields: [("If-None-Match", old)]).status == 200)
            let refused = try await client.patch(Paths.profile, "{}", fields: [("If-Match", old)])
            #expect(refused.status == 412)
            let fields = [("If-Match", value)]
            #expect(try await client.patch(Paths.profile, #"{"name":"C"}"#, fields: fields).status == 200)
            let next = value.replacing("3", with: "4").replacing("\"", with: "\\\"")
            let operation = #"{"op":"patch","service":"profile","value":{"name":"D"},"if_match":"\#(next)"}"#
            let answer = try await client.send("POST", Paths.transactions, json: #"{"operations":[\#(operation)]}"#)
            #expect(answer.status == 200)
        }
    }

    @Test("what no proxy adds to a tag makes it another one", arguments: [#""3-x""#, #""3gzip""#, #""-gzip""#])
    func foreignTags(value: String) async throws {
        try await Self.withProfile { client in
            let answer = try await client.patch(Paths.profile, "{}", fields: [("If-Match", value)])
            #expect(answer.status == 412)
        }
    }

    @Test("If-Match works for clear and remove; in two fields it is one list")
    func otherWrites() async throws {
        try await Self.withProfile { client in
            let list = [("If-Match", "\"1\""), ("If-Match", "\"3\"")]
            let cleared = try await client.send("DELETE", Paths.profile + "/state", fields: list)
            #expect(cleared.status == 204)
            #expect(cleared["ETag"] == "\"4\"")
            #expect(try await client.send("DELETE", Paths.profile, fields: [("If-Match", "\"3\"")]).status == 412)
            #expect(try await client.send("DELETE", Paths.profile, fields: [("If-Match", "\"4\"")]).status == 204)
        }
    }

    @Test("If-None-Match: * on a write: only if nothing was written yet")
    func onlyIfUnwritten() async throws {
        try await withSession { client in
            let condition = [("If-None-Match", "*")]
            try await client.get(Paths.profile)
            let first = try await client.send("PUT", Paths.profile, json: #"{"name":"A"}"#, fields: condition)
            #expect(first.status == 200)
            let second = try await client.send("PUT", Paths.profile, json: #"{"name":"B"}"#, fields: condition)
            #expect(second.status == 412)
            #expect(second["ETag"] == first["ETag"])
            #expect(try await client.patch(Paths.profile, #"{"name":"B"}"#, fields: condition).status == 412)
            #expect(try await client.get(Paths.profile)[member: "name"] == "A")
            try await client.send("DELETE", Paths.profile + "/state")
            #expect(
                try await client.send("PUT", Paths.profile, json: "{}", fields: condition).status == 412,
                "cleared is written")
            try await client.send("DELETE", Paths.profile)
            #expect(try await client.send("PUT", Paths.profile, json: "{}", fields: condition).status == 200)
        }
    }

    @Test("If-None-Match with tags on a write: only if the state has none of them, compared weakly")
    func noneOfTags() async throws {
        try await withSession { client in
            let current = try #require(try await client.patch(Paths.profile, #"{"name":"A"}"#)["ETag"])
            for (value, status) in [
                ("\"0\"", 200), (current, 200), ("\"98\", \"99\"", 200), ("1", 400),
            ] {
                let fields = [("If-None-Match", value)]
                let answer = try await client.patch(Paths.profile, #"{"name":"B"}"#, fields: fields)
                #expect(answer.status == status, "\(value)")
            }
            let last = try #require(try await client.get(Paths.profile)["ETag"])
            for value in [last, "W/\(last)", "\"0\", \(last)"] {
                let answer = try await client.patch(Paths.profile, "{}", fields: [("If-None-Match", value)])
                #expect(answer.status == 412, "\(value)")
                #expect(answer["ETag"] == last)
            }
        }
    }

    @Test(
        "If-None-Match on GET compares weakly: 304 without a body, with the ETag",
        arguments: [
            (#""3""#, 304), (#"W/"3""#, 304), (#""1", "3""#, 304), ("*", 304), (#""2""#, 200), (#""33""#, 200),
            (#""x""#, 200), ("3", 400), (#""3"#, 400),
        ])
    func notModified(value: String, status: Int) async throws {
        try await Self.withProfile { client in
            for method in ["GET", "HEAD"] {
                let answer = try await client.send(method, Paths.profile, fields: [("If-None-Match", value)])
                #expect(answer.status == status)
                guard status != 400 else { continue }
                #expect(answer["ETag"] == "\"3\"")
                #expect(answer["Cache-Control"] == "no-store")
                if status == 304 { #expect(answer["Content-Type"] == nil) }
            }
        }
    }

    @Test("If-None-Match on a service never written: 304 for \"0\"")
    func notModifiedUnwritten() async throws {
        try await withSession { (client) async throws in
            #expect(try await client.get(Paths.profile, fields: [("If-None-Match", "\"0\"")]).status == 304)
            #expect(try await client.listing(of: "profile")?[string: "status"] == "live", "it was asked for")
        }
    }

    @Test("If-Match on GET: 412 when it is not the current one")
    func matchOnRead() async throws {
        try await Self.withProfile { client in
            #expect(try await client.get(Paths.profile, fields: [("If-Match", "\"3\"")]).status == 200)
            let failed = try await client.get(Paths.profile, fields: [("If-Match", "\"2\"")])
            #expect(failed.status == 412)
            #expect(failed["ETag"] == "\"3\"")
        }
    }

    @Test("a first_write service takes a write with a condition only: 428 without")
    func firstWrite() async throws {
        let notes = try ServiceFile(name: "notes", concurrency: .firstWrite)
        try await withSession(services: [notes]) { client in
            let path = Paths.service("notes")
            #expect(try await client.send("PUT", path, json: "{}").status == 428)
            #expect(try await client.patch(path, "{}").status == 428)
            let operations = #"{"operations":[{"op":"put","service":"notes","value":{}}]}"#
            let transaction = try await client.send("POST", Paths.transactions, json: operations)
            #expect(transaction.status == 428)
            #expect(transaction.pointers == ["/operations/0/if_match"])
            #expect(try await client.send("PUT", path, json: "{}", fields: [("If-None-Match", "*")]).status == 200)
            #expect(try await client.send("PUT", path, json: "{}", fields: [("If-Match", "\"0\"")]).status == 412)
            #expect(try await client.send("PUT", path, json: "{}", fields: [("If-Match", "\"2\"")]).status == 200)
        }
    }
}
