import Configuration
import HTTPTestClient
import JSONDocument
import Sessions
import Support
import Testing

/// Results that flows cannot take.
@Suite("Tasks that are held")
struct HeldTaskTests {
    static let flow = """
        {"id": "order", "version": 1, "initial": "basket", "tasks": {"send-mail": {"retry": {"attempts": 2, "after": "1s"}}},
         "on": {"cancel": {"target": "cancelled"}},
         "states": {
           "basket": {"on": {"pay": {"target": "paying"}}},
           "paying": {"type": "task", "task": "charge", "timeout": "10m", "retry": {"attempts": 3, "after": "1s"},
             "outcomes": {"paid": {"type": "object", "required": ["reference"], "properties": {"reference": {}}},
                          "declined": {}},
             "on": {"done.paid": {"target": "thanks", "actions": [
                      {"op": "replace", "path": "/quote/text", "value": {"$from": "/output/reference"}},
                      {"task": "send-mail", "with": {"reference": {"$from": "/output/reference"}}}]},
                    "done": {"target": "sorry"}}},
           "thanks": {"data": ["quote"], "on": {"close": {"target": "cancelled"}}},
           "sorry": {"on": {"again": {"target": "basket"}}}, "cancelled": {"type": "final"}}}
        """

    private static func withOrder(
        _ store: TaskTests.Store = .memory, clock: SteeredClock = SteeredClock(),
        _ body: (RunningApplication, TestClient, TestClient, String) async throws -> Void
    ) async throws {
        try await withJourney(of: "order", flow, store, clock) { app, client, admin, journey in
            try await client.event("pay", on: journey)
            try await body(app, client, admin, journey)
        }
    }

    @Test(
        "a result that the task cannot have is 400 with its place while the lease lasts, and a better one ends it",
        arguments: TaskTests.Store.allCases)
    func wrong(store: TaskTests.Store) async throws {
        try await Self.withOrder(store) { _, client, admin, journey in
            let task = try #require(try await admin.claim("charge").first)
            let misspelt = try await admin.post("result", of: task, #"{"outcome":"payed"}"#)
            #expect(misspelt.status == 400 && misspelt.pointers == ["/outcome"] && misspelt.code == "invalid_input")
            let unfit = try await admin.post("result", of: task, #"{"outcome":"paid","output":{"ref":"r1"}}"#)
            #expect(unfit.status == 400 && unfit.pointers == ["/output/reference"])
            let listed = try #require(try await admin.get("/v1/tasks?status=claimed").items.first)
            #expect(listed[member: "result"] == ["outcome": "paid", "output": ["ref": "r1"]])
            #expect(try await client.get(journey).screen == "paying")
            let right = #"{"outcome":"paid","output":{"reference":"r1"}}"#
            #expect(try await admin.post("result", of: task, right).status == 204)
            #expect(try await client.get(journey).screen == "thanks")
            #expect(try await admin.post("result", of: task, right).status == 410)
        }
    }

    @Test("if no better result comes before the lease ends the task is held: no attempt, no failure, no timeout")
    func leaseEnds() async throws {
        let clock = SteeredClock()
        try await Self.withOrder(clock: clock) { _, client, admin, journey in
            let task = try #require(try await admin.claim("charge", lease: "5s").first)
            #expect(try await admin.post("result", of: task, #"{"outcome":"payed"}"#).status == 400)
            clock.advance(.seconds(5))
            let held = try await admin.awaiting("held", clock)
            #expect(
                held[string: "id"] == task[string: "id"] && held[member: "problem"]?[string: "code"] == "invalid_input")
            #expect(try await admin.claim("charge").isEmpty)
            clock.advance(.seconds(1_200))
            #expect(try await client.get(journey).screen == "paying")
            // The same again is told the same; another wrong one is no better.
            let again = try await admin.post("result", of: task, #"{"outcome":"payed"}"#)
            #expect(again.status == 202 && again[member: "held"] == true)
            #expect(again[member: "problem"]?[string: "code"] == "invalid_input")
            #expect(try await admin.post("result", of: task, #"{"outcome":"pait"}"#).status == 400)
            #expect(try await admin.post("failure", of: task, #"{"reason":"x"}"#).code == "task_held")
            #expect(try await admin.post("lease", of: task, #"{"lease":"9s"}"#).code == "task_not_claimed")
            let mended = #"{"outcome":"paid","output":{"reference":"r1"}}"#
            #expect(try await admin.post("result", of: task, mended).status == 204)
            #expect(try await client.get(journey).screen == "thanks")
        }
    }

    @Test(
        "a result whose actions a service forbids is 202 and held, over a restart of nothing but its reading",
        arguments: TaskTests.Store.allCases)
    func forbidden(store: TaskTests.Store) async throws {
        try await Self.withOrder(store) { _, client, admin, journey in
            let task = try #require(try await admin.claim("charge").first)
            // The text of a quote is a string.
            let odd = #"{"outcome":"paid","output":{"reference":7}}"#
            let answer = try await admin.post("result", of: task, odd)
            #expect(answer.status == 202 && answer[member: "held"] == true)
            #expect(answer[member: "problem"]?[string: "code"] == "invalid_state")
            #expect(answer[member: "problem"]?[member: "errors"]?[0]?[string: "pointer"] == "/quote/text")
            let held = try #require(try await admin.get("/v1/tasks?status=held&task=charge").items.first)
            #expect(held[member: "result"] == ["outcome": "paid", "output": ["reference": 7]])
            #expect(held[member: "problem"]?[string: "code"] == "invalid_state")
            #expect(try await admin.claim("charge").isEmpty)
            #expect(try await admin.post("result", of: task, odd).status == 202)
            let other = try await admin.post("result", of: task, #"{"outcome":"paid","output":{"reference":8}}"#)
            #expect(other.status == 400 && other.code == "invalid_state")
            let retried = try await admin.send("POST", "/v1/tasks/\(task[string: "id"] ?? "")/retry")
            #expect(retried.status == 202)
            #expect(try await client.get(journey).screen == "paying")
            #expect(try await admin.post("failure", of: task, #"{"reason":"x","final":true}"#).status == 204)
            #expect(try await client.get(journey).screen == "sorry")
            #expect(try await admin.get("/v1/tasks").items.isEmpty)
        }
    }

    @Test("a held result outlives the journey that leaves it, until an operator ends it")
    func leaving() async throws {
        try await Self.withOrder { _, client, admin, journey in
            let task = try #require(try await admin.claim("charge").first)
            let odd = #"{"outcome":"paid","output":{"reference":7}}"#
            #expect(try await admin.post("result", of: task, odd).status == 202)
            #expect(try await client.event("cancel", on: journey).status == 200)
            let held = try #require(try await admin.get("/v1/tasks?status=held").items.first)
            #expect(held[member: "result"]?[member: "output"] == ["reference": 7])
            #expect(try await client.send("DELETE", journey).status == 204)
            #expect(try await admin.get("/v1/tasks?status=held").items.count == 1)
            #expect(try await admin.post("result", of: task, #"{"outcome":"declined"}"#).status == 204)
            #expect(try await admin.get("/v1/tasks").items.isEmpty)
            #expect(try await admin.post("result", of: task, odd).status == 410)
        }
    }

    @Test("retry makes a task due now, with one more attempt if none is left")
    func retry() async throws {
        let clock = SteeredClock()
        try await Self.withOrder(clock: clock) { _, client, admin, journey in
            let task = try #require(try await admin.claim("charge").first)
            #expect(
                try await admin.post("failure", of: task, #"{"reason":"no answer","retry_after":"1h"}"#).status == 204)
            #expect(try await admin.claim("charge").isEmpty)
            let listed = try #require(try await admin.get("/v1/tasks?task=charge").items.first)
            #expect(listed[string: "last_failure"] == "no answer")
            #expect(try await admin.send("POST", "/v1/tasks/\(task[string: "id"] ?? "")/retry").status == 204)
            #expect(try await admin.claim("charge").first?[member: "attempt"] == 2)
            #expect(try await admin.send("POST", "/v1/tasks/x/retry").status == 404)
        }
    }

    @Test("a failure of a task that nobody has had is refused, and a final one ends it at once")
    func failures() async throws {
        try await Self.withOrder { _, client, admin, journey in
            let task = try #require(try await admin.get("/v1/tasks").items.first)
            #expect(
                try await admin.post("failure", of: task, #"{"reason":"x","retry_after":"1s"}"#).code
                    == "task_not_claimed")
            #expect(try await admin.post("failure", of: task, #"{"reason":"x","final":true}"#).status == 204)
            #expect(try await client.get(journey).screen == "sorry")
        }
    }

    @Test("tasks are found by session, user and age")
    func found() async throws {
        let clock = SteeredClock()
        try await Self.withOrder(clock: clock) { app, client, admin, journey in
            let session = try #require(try await client.get(Paths.current)[member: "id"]?.string)
            let (_, id, _) = try await app.newSession()
            let other = app.client().with(token: try await app.signIn("ada", to: id))
            clock.advance(.seconds(60))
            try await other.event("pay", on: try await other.start("order"))
            #expect(try await admin.get("/v1/tasks").items.count == 2)
            #expect(
                try await admin.get("/v1/tasks?session_id=\(session)").items.map { $0[string: "session"] } == [session])
            let ofAda = try await admin.get("/v1/tasks?user_id=ada").items
            #expect(ofAda.map { $0[string: "user_id"] } == ["ada"])
            #expect(try await admin.get("/v1/tasks?user_id=nobody").items.isEmpty)
            #expect(try await admin.get("/v1/tasks?older_than=30s").items.map { $0[string: "session"] } == [session])
            #expect(try await admin.get("/v1/tasks?older_than=soon").status == 400)
            #expect(try await admin.get("/v1/tasks?session_id=x").status == 400)
        }
    }

    @Test("a failure that the flow refuses is held, too, and its journey does not expire")
    func refusedFailure() async throws {
        let flow = """
            {"id": "work", "version": 1, "initial": "a", "states": {
               "a": {"on": {"go": {"target": "t"}}}, "b": {"on": {"go": {"target": "a"}}},
               "t": {"type": "task", "task": "work", "on": {
                 "done": [{"guard": {"compare": ["/quote/text", "==", {"value": "x"}]}, "target": "b"}]}}}}
            """
        try await withApplication(flows: [flow]) { app in
            let (client, admin) = (try await app.newSession().client, app.admin())
            let journey = try await client.start("work")
            try await client.event("go", on: journey)
            let task = try #require(try await admin.claim("work").first)
            let answer = try await admin.post("failure", of: task, #"{"reason":"no answer"}"#)
            #expect(answer.status == 202 && answer[member: "problem"]?[string: "code"] == "guard_not_met")
            #expect(try await client.get(journey).screen == "t")
            // Once what kept it is mended, the same is taken.
            #expect(
                try await client.send("PATCH", "\(Paths.current)/services/quote", json: #"{"text":"x"}"#).status == 200)
            #expect(try await admin.send("POST", "/v1/tasks/\(task[string: "id"] ?? "")/retry").status == 204)
            #expect(try await client.get(journey).screen == "b")
        }
    }
}
