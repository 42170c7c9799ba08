import Configuration
import HTTPTestClient
import JSONDocument
import Support
import Testing

/// What an operator sees of a journey, and does with it.
@Suite("One journey for operators")
struct OperatorTests {
    private static let kiosk = """
        {"id": "kiosk", "version": 1, "initial": "menu",
         "states": {
           "menu": {"on": {"order": {"target": "table", "link": false}}},
           "table": {"back": false, "data": ["profile"],
             "on": {"send": {"target": "bill", "guard": {"has": "/profile/email"},
                             "actions": [{"op": "replace", "path": "/quote/text", "value": "sent"}]}}},
           "bill": {"data": ["quote"], "accepts": {"pay": {"type": "object", "required": ["coins"]}},
             "on": {"pay": {"target": "thanks"}, "split": {"target": "halves", "history": "invalidate"}}},
           "halves": {"on": {"on": {"target": "thanks"}}},
           "thanks": {"on": {"close": {"target": "closed"}}}, "closed": {"type": "final"}}}
        """

    /// A journey of the flow, its path for clients and for operators.
    private static func withKiosk(
        _ body: (RunningApplication, TestClient, TestClient, _ own: String, _ journey: String) async throws -> Void
    ) async throws {
        try await withApplication(flows: [kiosk]) { app in
            let (client, id, _) = try await app.newSession()
            let own = try await client.start("kiosk").replacing(id, with: "current")
            try await body(app, client, app.admin(), own, own.replacing("current", with: id))
        }
    }

    private func go(
        to screen: String, _ journey: String, _ admin: TestClient, fields: [(name: String, value: String)] = []
    ) async throws -> TestResponse {
        try await admin.send("POST", "\(journey)/navigation", json: #"{"to":"\#(screen)"}"#, fields: fields)
    }

    @Test("from the user's id to a journey whose result was held and that goes on, in four calls")
    func held() async throws {
        try await withApplication(flows: [HeldTaskTests.flow]) { app in
            let admin = app.admin()
            let client = app.client().with(token: try await app.signIn("ada", to: try await app.newSession().id))
            let own = try await client.start("order")
            try await client.event("pay", on: own)
            let task = try #require(try await admin.claim("charge").first)
            #expect(
                try await admin.post("result", of: task, #"{"outcome":"paid","output":{"reference":7}}"#).status == 202)
            let seen = try await client.get(own)

            let session = try #require(try await admin.get("/v1/sessions?user_id=ada").items.first?[string: "id"])
            let journeys = try await admin.get("/v1/sessions/\(session)/journeys").items
            let journey = Paths.journey(try #require(journeys.first?[string: "id"]), of: session)
            let found = try await admin.get(journey)
            #expect(found.screen == "paying" && found[member: "screen"]?[string: "status"] == "busy")
            let shown = try #require(found[member: "tasks"]?.elements?.first)
            #expect(shown[string: "status"] == "held" && shown[member: "attempt"] == 1)
            #expect(shown[member: "result"] == ["outcome": "paid", "output": ["reference": 7]])
            #expect(shown[member: "problem"]?[member: "errors"]?[0]?[string: "pointer"] == "/quote/text")
            let mended = #"{"outcome":"paid","output":{"reference":"r7"}}"#
            #expect(try await admin.post("result", of: shown, mended).status == 204)

            #expect(try await client.event("cancel", on: own, fields: ifMatch(seen)).status == 412)
            #expect(try await client.get(own).screen == "thanks")
            let after = try await admin.get(journey)
            #expect(after[member: "services"]?[0]?[member: "state"]?[string: "text"] == "r7")
            #expect(after[member: "tasks"]?.elements?.map { $0[string: "task"] } == ["send-mail"])
            let steps = try await admin.get("\(journey)/history").items
            #expect(steps.map { $0[string: "event"] } == [nil, "pay", "done.paid"])
            #expect(steps.map { $0[string: "who"] } == ["client", "client", "backend"])
            #expect(steps.map { $0[string: "to"] } == ["basket", "paying", "thanks"])
        }
    }

    @Test("a task that nobody has a result of ends by an operator, or is left: its result stays in the list")
    func failing() async throws {
        try await withApplication(flows: [HeldTaskTests.flow]) { app in
            let (client, id, _) = try await app.newSession()
            let admin = app.admin()
            let own = try await client.start("order")
            let journey = own.replacing("current", with: id)
            try await client.event("pay", on: own)
            let task = try #require(try await admin.claim("charge").first)
            #expect(
                try await admin.post("failure", of: task, #"{"reason":"no line","retry_after":"1h"}"#).status == 204)
            let shown = try #require(try await admin.get(journey)[member: "tasks"]?.elements?.first)
            #expect(shown[string: "last_failure"] == "no line" && shown[string: "status"] == "waiting")
            #expect(isTimestamp(shown[string: "next_attempt_at"]))
            #expect(try await admin.post("failure", of: task, #"{"reason":"closed","final":true}"#).status == 204)
            #expect(try await client.get(own).screen == "sorry")

            try await client.event("again", on: own)
            try await client.event("pay", on: own)
            let second = try #require(try await admin.claim("charge").first)
            let odd = #"{"outcome":"paid","output":{"reference":7}}"#
            #expect(try await admin.post("result", of: second, odd).status == 202)
            // A task has no way back for anybody else.
            #expect(
                try await client.send("POST", "\(own)/navigation", json: #"{"to":"basket"}"#).code == "unreachable")
            #expect(try await go(to: "basket", journey, admin).screen == "basket")
            let held = try await admin.get("/v1/tasks?status=held").items
            #expect(held.map { $0[string: "id"] } == [second[string: "id"]])
            #expect(try await admin.get(journey)[member: "tasks"]?.elements?.count == 1)
            let last = try await admin.get("\(journey)/history").items.last
            #expect(last?[string: "cause"] == "navigation" && last?[string: "who"] == "admin")
            #expect(last?[string: "from"] == "paying" && last?[string: "to"] == "basket")
            let failed = try await admin.get("\(journey)/history").items[2]
            #expect(failed[string: "event"] == "done.failed" && failed[string: "who"] == "admin")
        }
    }

    @Test("an operator goes where back and link stop a client; guards, data and closed ways stop both")
    func navigation() async throws {
        try await Self.withKiosk { _, client, admin, own, journey in
            func refused(_ screen: String, at blocked: String, _ pointers: [String]) async throws {
                let answer = try await go(to: screen, journey, admin)
                #expect(answer.status == 409 && answer.code == "unreachable", "\(answer.text)")
                #expect(answer[member: "screen"]?.string == blocked && answer.pointers == pointers, "\(answer.text)")
            }
            #expect(try await client.send("POST", "\(own)/navigation", json: #"{"to":"table"}"#).status == 409)
            let table = try await go(to: "table", journey, admin)
            #expect(table.status == 200 && table[member: "path"] == ["table"] && table.stack == ["menu", "table"])
            #expect(try await client.send("POST", "\(own)/navigation", json: #"{"to":"menu"}"#).status == 409)
            #expect(try await go(to: "menu", journey, admin).stack == ["menu"])
            // The first guard that does not hold.
            try await refused("thanks", at: "bill", ["/profile/email"])
            #expect(try await client.get(own).screen == "menu")
            let services = "\(journey)/services"
            #expect(try await admin.patch("\(services)/profile", #"{"email":"a@example.org"}"#).status == 200)
            #expect(try await go(to: "bill", journey, admin)[member: "path"] == ["table", "bill"])
            // What a person's event does is done.
            #expect(try await client.get(Paths.quote)[member: "text"] == "sent")
            #expect(
                try await admin.get(journey)[member: "services"]?.elements?.map { $0[string: "name"] } == [
                    "quote", "profile",
                ])
            #expect(try await go(to: "halves", journey, admin).screen == "halves")
            try await refused("menu", at: "bill", [""])
            #expect(try await go(to: "nowhere", journey, admin).pointers == ["/to"])
            #expect(try await admin.send("POST", "\(journey)/navigation", json: "{}").status == 400)
            #expect(try await client.event("on", on: own).screen == "thanks")
        }
    }

    @Test("where an event needs data an operator gets no further: it says which")
    func dataNeeded() async throws {
        let flow = """
            {"id": "desk", "version": 1, "initial": "form",
             "states": {"form": {"accepts": {"send": {"type": "object", "required": ["n"]}},
                                 "on": {"send": {"target": "read", "link": false}}},
                        "read": {"on": {"end": {"target": "over"}}}, "over": {"type": "final"}}}
            """
        try await withApplication(flows: [flow]) { app in
            let (client, id, _) = try await app.newSession()
            let journey = try await client.start("desk").replacing("current", with: id)
            let answer = try await go(to: "read", journey, app.admin())
            #expect(answer.code == "unreachable" && answer.pointers == ["/event/n"])
        }
    }

    @Test("an operator's steps are a client's: once, if the state is the one that was seen, and told to who waits")
    func steps() async throws {
        try await Self.withKiosk { _, client, admin, own, journey in
            let seen = try await client.get(own)
            async let waiting = client.get(
                own, fields: [("If-None-Match", seen["ETag"] ?? ""), ("Prefer", "wait=30")])
            let key = [(name: "Idempotency-Key", value: "move-1")]
            #expect(try await go(to: "table", journey, admin, fields: ifMatch(seen) + key).status == 200)
            #expect(try await waiting.screen == "table")
            let again = try await go(to: "table", journey, admin, fields: ifMatch(seen) + key)
            #expect(again.status == 200 && again["Idempotency-Replayed"] == "true" && again.screen == "table")
            #expect(try await go(to: "menu", journey, admin, fields: ifMatch(seen)).status == 412)
            #expect(try await client.event("send", on: own, fields: ifMatch(seen)).status == 412)
            // The tag of what an operator sees names the journey, too.
            let inspected = try await admin.get(journey)
            let known = try await admin.get(journey, fields: [("If-None-Match", inspected["ETag"] ?? "")])
            #expect(known.status == 304 && known["ETag"] == inspected["ETag"])
            try await admin.patch("\(journey)/services/profile", #"{"email":"a@example.org"}"#)
            let other = try await admin.get(journey)
            #expect(other["ETag"] != inspected["ETag"])
            #expect(try await go(to: "menu", journey, admin, fields: ifMatch(inspected)).status == 412)
            #expect(try await admin.send("PUT", journey, fields: ifMatch(other)).screen == "menu")
            let steps = try await admin.get("\(journey)/history").items
            #expect(steps.map { $0[string: "cause"] } == ["start", "navigation", "start_over"])
            #expect(steps.map { $0[string: "who"] } == ["client", "admin", "admin"])
            #expect(steps.map { $0[string: "from"] } == [nil, "menu", "table"])
            #expect(try await admin.send("DELETE", journey).status == 204)
            #expect(try await client.get(own).status == 404)
        }
    }

    @Test("main is begun by a look, which says that it was an operator's; what is not there is 404, whatever its name")
    func absence() async throws {
        try await withWizard { app, client in
            let admin = app.admin()
            let id = try #require(try await client.get(Paths.current)[member: "id"]?.string)
            #expect(try await admin.get(Paths.journey("main", of: id)).screen == "start")
            #expect(try await admin.get("\(Paths.journey("main", of: id))/history").items[0][string: "who"] == "admin")
            let long = String(repeating: "m", count: 500)
            for name in ["nope", "jrn_1", "%22%7B", "%E2%80%AE", "MAIN", "main%20", long] {
                let journey = Paths.journey(name, of: id)
                for path in [journey, "\(journey)/history", "\(journey)/services"] {
                    let answer = try await admin.get(path)
                    #expect(answer.status == 404, "\(path) \(answer.text)")
                }
                #expect(try await go(to: "page1", journey, admin).status == 404)
                #expect(try await admin.send("DELETE", journey).status == 404)
            }
            // No path has these, whatever it names.
            for name in ["main%00", "%2E%2E%2Fmain", "main%2Fhistory"] {
                #expect(try await admin.get(Paths.journey(name, of: id)).code == "invalid_target")
            }
            for session in ["ses_nope", "current", "%20", "ses_\(String(repeating: "0", count: 32))"] {
                let journey = Paths.journey("main", of: session)
                #expect(try await admin.get(journey).code == "session_not_found")
                #expect(try await admin.get("\(journey)/history").code == "session_not_found")
            }
            #expect(try await client.send("DELETE", Paths.current).status == 204)
            let journey = Paths.journey("main", of: id)
            for answer in [
                try await admin.get(journey), try await admin.get("\(journey)/history"),
                try await go(to: "page1", journey, admin), try await admin.send("PUT", journey),
            ] { #expect(answer.status == 404 && answer.code == "session_not_found") }
        }
    }

    @Test("no client has a history of its journeys, nor what operators see beside them")
    func clients() async throws {
        try await Self.withKiosk { _, client, _, own, _ in
            #expect(try await client.get("\(own)/history").status == 404)
            #expect(try await client.get(own)[member: "tasks"] == nil)
            let summary = try await client.get(Paths.service("coordinator")).text
            #expect(!summary.contains("histor") && summary.contains("kiosk"))
        }
    }

    @Test("a history goes along: over a restart, with an export, and to another session")
    func lasting() async throws {
        let flows = [GoingOnElsewhereTests.trip]
        func steps(_ app: RunningApplication, _ own: String, _ id: String) async throws -> [JSONDocument] {
            try await app.admin().get("\(own.replacing("current", with: id))/history").items
        }
        try await withFolder([:]) { _, folder in
            let (token, id, own, before) = try await withApplication(
                flows: flows, setting: \.store, to: .sqlite("\(folder)/s.db")
            ) { app in
                let (client, id, token) = try await app.newSession()
                let own = try await client.start("trip").replacing(id, with: "current")
                try await client.event("next", on: own)
                try await client.event("back", on: own)
                return (token, id, own, try await steps(app, own, id))
            }
            #expect(before.map { $0[string: "event"] } == [nil, "next", "back"])
            #expect(before.allSatisfy { isTimestamp($0[string: "time"]) })
            let archive = try await withApplication(flows: flows, setting: \.store, to: .sqlite("\(folder)/s.db")) {
                #expect(try await steps($0, own, id) == before)
                return try await $0.admin().send("POST", "/v1/exports").text
            }
            try await withApplication(flows: flows) { app in
                let imported = try await app.admin().send(
                    "POST", "/v1/imports", json: archive, fields: [("Content-Type", "application/x-ndjson")])
                #expect(imported[member: "imported"] == 1)
                #expect(try await steps(app, own, id) == before)
                let client = app.client().with(token: token)
                let link = try #require(try await client.send("POST", "\(own)/links")[member: "link"]?.string)
                let (other, otherID, _) = try await app.newSession()
                let taken = try await other.send("POST", Paths.journeys, json: #"{"link":"\#(link)"}"#)
                #expect(try await app.admin().get("\(own.replacing("current", with: id))/history").status == 410)
                let there = try #require(taken["Location"]).replacing(otherID, with: "current")
                let after = try await steps(app, there, otherID)
                #expect(Array(after.dropLast()) == before)
                #expect(after.last?[string: "cause"] == "move" && after.last?[string: "to"] == "a")
            }
        }
    }
}
