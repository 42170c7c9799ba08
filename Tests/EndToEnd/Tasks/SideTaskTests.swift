import Configuration
import HTTPTestClient
import JSONDocument
import Sessions
import Support
import Testing

/// Tasks for which no journey waits.
@Suite("Side tasks")
struct SideTaskTests {
    static let flow = """
        {"id": "note", "version": 1, "initial": "a", "exit": [{"task": "clean-up"}],
         "tasks": {"send-mail": {"retry": {"attempts": 2, "after": "1s"}, "timeout": "1h"}},
         "states": {
           "a": {"on": {"send": {"actions": [{"task": "send-mail", "with": {"to": {"$from": "/event/to"}}},
                                             {"task": "send-mail", "with": {"to": "copy"}}]},
                        "end": {"target": "over"}}},
           "over": {"type": "final"}}}
        """

    private static func withNote(
        _ store: TaskTests.Store = .memory, clock: SteeredClock = SteeredClock(),
        _ body: (RunningApplication, TestClient, TestClient, String) async throws -> Void
    ) async throws {
        try await withJourney(of: "note", flow, store, clock, body)
    }

    @Test(
        "they are claimed like others, outlive their journey, and their end moves nothing",
        arguments: TaskTests.Store.allCases)
    func wholeWay(store: TaskTests.Store) async throws {
        try await Self.withNote(store) { _, client, admin, journey in
            let shown = try await client.event("send", #"{"to": "ada"}"#, on: journey)
            #expect(shown.screen == "a" && shown.step == 2)
            let tasks = try await admin.claim("send-mail", max: 9)
            #expect(tasks.map { $0[member: "input"]?[string: "to"] } == ["ada", "copy"])
            #expect(Set(tasks.map { $0[string: "id"] }).count == 2)
            #expect(tasks.allSatisfy { $0[member: "journey"]?[member: "step"] == 2 && $0[member: "attempt"] == 1 })
            #expect(tasks.allSatisfy { $0[member: "journey"]?[string: "flow"] == "note" })
            #expect(try await client.event("end", on: journey)[member: "status"]?.string == "finished")
            #expect(try await admin.claim("clean-up").count == 1)
            for task in tasks {
                #expect(try await admin.post("result", of: task, #"{"outcome":"sent"}"#).status == 204)
                #expect(try await admin.post("result", of: task, #"{"outcome":"sent"}"#).status == 410)
            }
            #expect(try await client.get(journey)[member: "status"]?.string == "finished")
            #expect(try await admin.get("/v1/tasks?task=send-mail").items.isEmpty)
        }
    }

    @Test("one that fails too often, or whose time is over, is given up")
    func givenUp() async throws {
        let clock = SteeredClock()
        try await Self.withNote(clock: clock) { _, client, admin, journey in
            try await client.event("send", #"{"to": "ada"}"#, on: journey)
            let task = try #require(try await admin.claim("send-mail").first)
            #expect(try await admin.post("failure", of: task, #"{"reason":"x"}"#).status == 204)
            clock.advance(.seconds(1))
            let again = try await admin.claim("send-mail", max: 9)
            #expect(again.map { $0[member: "attempt"] }.contains(2))
            #expect(try await admin.post("failure", of: task, #"{"reason":"x"}"#).status == 204)
            #expect(try await admin.post("failure", of: task, #"{"reason":"x"}"#).status == 410)
            clock.advance(.seconds(3_600))
            for _ in 0..<500 where try await !admin.get("/v1/tasks").items.isEmpty { clock.advance(.milliseconds(100)) }
            #expect(try await admin.get("/v1/tasks").items.isEmpty)
        }
    }

    @Test("a session has room for a hundred that nobody has done")
    func limit() async throws {
        try await Self.withNote { _, client, admin, journey in
            for _ in 0..<50 { #expect(try await client.event("send", #"{"to": "ada"}"#, on: journey).status == 200) }
            let refused = try await client.event("send", #"{"to": "ada"}"#, on: journey)
            #expect(refused.status == 409 && refused.code == "too_many_tasks")
            _ = try await admin.post(
                "result", of: try #require(try await admin.claim("send-mail").first), #"{"outcome":"x"}"#)
            #expect(try await client.event("send", #"{"to": "ada"}"#, on: journey).status == 409)
        }
    }

    @Test(
        "they outlive the sign-out, and are done for the user who was there; all go with the session",
        arguments: TaskTests.Store.allCases)
    func leaving(store: TaskTests.Store) async throws {
        try await Self.withNote(store) { app, client, admin, journey in
            let session = try await app.newSession().id
            let user = app.client().with(token: try await app.signIn("ada", to: session))
            try await user.event("send", #"{"to": "ada"}"#, on: try await user.start("note"))
            #expect(try await admin.send("DELETE", "/v1/sessions/\(session)/user").status == 204)
            let next = app.client().with(token: try await app.signIn("bob", to: session))
            let listed = try await admin.get("/v1/tasks?session_id=\(session)").items
            #expect(listed.compactMap { $0[string: "task"] }.sorted() == ["clean-up", "send-mail", "send-mail"])
            #expect(listed.allSatisfy { $0[string: "user_id"] == "ada" })
            let claimed = try await admin.claim("send-mail", max: 9)
            #expect(claimed.map { $0[member: "session"]?[string: "user_id"] } == ["ada", "ada"])
            for task in claimed {
                #expect(try await admin.post("result", of: task, #"{"outcome":"sent"}"#).status == 204)
            }
            try await next.event("send", #"{"to": "bob"}"#, on: try await next.start("note"))
            #expect(try await next.send("DELETE", Paths.current).status == 204)
            #expect(try await admin.get("/v1/tasks").items.isEmpty)
        }
    }

    @Test("one that signs somebody in cannot: its result is 400, and held when the lease ends, whatever its own time")
    func signIn() async throws {
        let clock = SteeredClock()
        try await Self.withNote(clock: clock) { app, client, admin, journey in
            let session = try #require(try await client.get(Paths.current)[member: "id"]?.string)
            try await client.event("send", #"{"to": "ada"}"#, on: journey)
            let task = try #require(try await admin.claim("send-mail", lease: "10s").first)
            let result = #"{"outcome":"sent","sign_in":{"user_id":"eve"}}"#
            let refused = try await admin.post("result", of: task, result)
            #expect(refused.status == 400 && refused.pointers == ["/sign_in"])
            clock.advance(.seconds(10))
            let held = try await admin.awaiting("held", clock)
            #expect(held[string: "id"] == task[string: "id"])
            #expect(try await admin.post("result", of: task, result).status == 202)
            clock.advance(.seconds(3_600))
            for _ in 0..<500 where try await admin.get("/v1/tasks").items.count > 1 {
                clock.advance(.milliseconds(100))
            }
            #expect(try await admin.get("/v1/tasks").items.map { $0[string: "status"] } == ["held"])
            #expect(try await admin.post("result", of: task, #"{"outcome":"sent"}"#).status == 204)
            #expect(try await admin.get("/v1/sessions/\(session)")[member: "user_id"] == JSONDocument.null)
        }
    }
}
