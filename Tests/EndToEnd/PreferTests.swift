import JSONDocument
import Support
import Testing

@Suite("Prefer")
struct PreferTests {
    @Test(
        "return=minimal turns a 200 with a body into a 204 that says so",
        arguments: [
            "return=minimal", "Return=Minimal", "wait=1, return=minimal", "return=minimal; foo", "return=\"minimal\"",
        ])
    func minimal(value: String) async throws {
        try await withApplication { app in
            let client = try await app.newSession().client
            let prefer = [("Prefer", value)]
            let put = try await client.send("PUT", Paths.profile, json: #"{"name":"A"}"#, fields: prefer)
            #expect(put["ETag"] == "\"2\"")
            let patch = try await client.patch(Paths.profile, #"{"name":"B"}"#, fields: prefer)
            #expect(patch["ETag"] == "\"3\"")
            let labels = try await client.patch(Paths.current, #"{"labels":{"a":"b"}}"#, fields: prefer)
            let transaction = try await client.send(
                "POST", Paths.transactions, json: #"{"operations":[{"op":"clear","service":"quote"}]}"#, fields: prefer)
            for answer in [put, patch, labels, transaction] {
                #expect(answer.status == 204)
                #expect(answer["Preference-Applied"] == "return=minimal")
                #expect(answer["Content-Type"] == nil)
            }
            #expect(try await client.get(Paths.profile)[member: "name"] == "B")
        }
    }

    @Test("other preferences are passed over", arguments: ["return=representation", "respond-async", "return", ""])
    func others(value: String) async throws {
        try await withApplication { app in
            let client = try await app.newSession().client
            let answer = try await client.patch(Paths.profile, #"{"name":"B"}"#, fields: [("Prefer", value)])
            #expect(answer.status == 200)
            #expect(answer["Preference-Applied"] == nil)
            #expect(answer[member: "name"] == "B")
        }
    }

    @Test("errors have their body all the same")
    func errors() async throws {
        try await withApplication { app in
            let client = try await app.newSession().client
            let answer = try await client.patch(
                Paths.profile, #"{"name":1}"#, fields: [("Prefer", "return=minimal")])
            #expect(answer.status == 400)
            #expect(answer.pointers == ["/name"])
        }
    }
}
