import HTTPTestClient
import JSONDocument
import Support
import Testing

@Suite("Events that only back ends send")
struct BackendEventTests {
    @Test("clients are not offered them, and sending one is 409 event_not_accepted")
    func clients() async throws {
        try await withSession(flows: [TaskFlows.login]) { client in
            let journey = try await client.start("login")
            let names = try await client.get(journey)[member: "events"]?.elements?.compactMap { $0[string: "name"] }
            #expect(names == ["ask", "submit", "cancel"])
            let refused = try await client.event("locked", on: journey)
            #expect(refused.status == 409 && refused.code == "event_not_accepted")
            #expect(refused[member: "accepted"] == ["ask", "submit", "cancel"])
            #expect(try await client.get(journey).step == 1)
        }
    }

    @Test("the admin listener takes them, with the body and the answers that clients have")
    func backends() async throws {
        try await withApplication(flows: [TaskFlows.login]) { app in
            let (client, id, _) = try await app.newSession()
            let journey = try await client.start("login")
            let path = "/v1/sessions/\(id)/journeys/\(journey.split(separator: "/").last ?? "")"
            let admin = app.admin()
            // A client's event, too, and its conditions.
            let wrong = try await admin.event("submit", "{}", on: path)
            #expect(wrong.status == 400 && wrong.pointers == ["/data/name", "/data/password"])
            #expect(try await admin.event("nothing", on: path).code == "event_not_accepted")
            #expect(try await admin.event("locked", on: path, fields: [("If-Match", "\"9\"")]).status == 412)
            let minimal = try await admin.event("ask", on: path, fields: [("Prefer", "return=minimal")])
            #expect(minimal.status == 204)
            let key = [("Idempotency-Key", "\"k-1\"")]
            let locked = try await admin.event("locked", on: path, fields: key)
            #expect(locked.status == 200 && locked[member: "outcome"] == "locked")
            #expect(try await admin.event("locked", on: path, fields: key)["Idempotency-Replayed"] == "true")
            #expect(try await admin.event("locked", on: path).code == "journey_finished")
            #expect(try await client.get(journey)[member: "status"] == "finished")
            let none = "/v1/sessions/ses_00000000000000000000000000000000/journeys/main"
            #expect(try await admin.event("locked", on: none).code == "session_not_found")
        }
    }
}
