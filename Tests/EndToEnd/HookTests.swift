import JSONDocument
import Support
import Testing

@Suite("Hooks over HTTP", .timeLimit(.minutes(1)))
struct HookTests {
    private static let visit = Paths.service("visit")

    @Test("a GET shows what the hook has made, a sign-out and an end do their part, and the log says what fails")
    func life() async throws {
        let log = try LogFile()
        try await withApplication(adding: Visits.services, log: log) { app in
            let (client, id, _) = try await app.newSession()
            let admin = app.admin()
            let first = try await client.get(Self.visit)
            #expect(first.status == 200 && first["ETag"] == "\"2\"")
            #expect(try first.json == ["number": 1, "note": "new ", "log": []])
            #expect(try await client.get(Self.visit, fields: [("If-None-Match", "\"2\"")]).status == 304)
            let user = "/v1/sessions/\(id)/user"
            let visit = Paths.service("visit", of: id)
            for user in [user, user] {
                #expect(try await admin.send("PUT", user, json: #"{"user_id":"ada"}"#).status == 200)
                #expect(try await admin.send("DELETE", user).status == 204)
                #expect(try await admin.get(visit)[member: "log"] == ["signed out"])
                #expect(try await admin.send("POST", "\(visit)/commands/fail", json: #""signedOut""#).status == 204)
            }
            #expect(try await admin.send("DELETE", "/v1/sessions/\(id)").status == 204)
            let (other, _, _) = try await app.newSession()
            let ends = try await other.send("POST", "\(Self.visit)/commands/ends")
            #expect(try ends.json == ["output": ["visit 1 new "]])
        }
        let line = try #require(try log.documents().first { $0[member: "event"] == "hook_failed" })
        #expect(line[member: "service"] == "visit" && line[member: "hook"] == "signedOut")
    }
}
