import API
import Configuration
import HTTPServer
import HTTPTestClient
import JSONDocument
import Sessions
import Support
import Testing

@Suite("Problems")
struct ProblemTests {
    /// Asks for one thing after another and notes the codes of what came back.
    private struct Causes {
        var codes: Set<String> = []

        /// Expects exactly that problem, with the status that its explanation has.
        mutating func expect(_ code: String, _ answer: TestResponse) {
            #expect(answer.code == code, "\(answer.status) \(answer.text)")
            #expect(ProblemKind.named(code).map { Int($0.status.code) } == answer.status)
            codes.insert(code)
        }
    }

    @Test("every kind can be caused, but what needs a machine in trouble, and is what it says")
    func all() async throws {
        var causes = Causes()
        try await Self.causeByInput(&causes)
        try await Self.causeByFraming(&causes)
        try await Self.causeByStore(&causes)
        try await Self.causeByBrokenService(&causes)
        try await Self.causeByWaiting(&causes)
        try await Self.causeByWatching(&causes)
        try await Self.causeByJourneys(&causes)
        try await Self.causeByMovingJourneys(&causes)
        try await Self.causeByTasks(&causes)
        try await Self.causeByLostVersion(&causes)
        try await Self.causeByCommands(&causes)
        // Those and a reload of broken files, which ``ReloadTests`` cause.
        let untried: Set = ["out_of_memory", "drawing_failed", "reload_refused"]
        #expect(causes.codes == Set(ProblemKind.all.map(\.code)).subtracting(untried))
    }

    private static func causeByCommands(_ causes: inout Causes) async throws {
        var found = causes
        try await withSession(adding: Shop.services) { client in
            let cart = Paths.service("cart")
            found.expect("command_not_found", try await client.send("POST", "\(cart)/commands/x"))
            found.expect("command_refused", try await client.send("POST", "\(cart)/commands/order"))
        }
        causes = found
    }

    private static func causeByInput(_ causes: inout Causes) async throws {
        let services = [try ServiceFile(name: "notes", concurrency: .firstWrite)]
        var found = causes
        try await withApplication(services: services) { configuration in
            configuration.limits.bodyBytes = 600
            configuration.maxSessions = 2
        } _: { app in
            let (client, id, _) = try await app.newSession()
            let jsonPatch = [("Content-Type", "application/json-patch+json")]
            found.expect("invalid_json", try await client.send("PUT", Paths.profile, json: "{"))
            found.expect("invalid_input", try await client.send("POST", Paths.transactions, json: "{}"))
            found.expect("invalid_state", try await client.send("PUT", Paths.profile, json: "7"))
            found.expect(
                "invalid_patch", try await client.send("PATCH", Paths.profile, json: "{}", fields: jsonPatch))
            found.expect("invalid_condition", try await client.get(Paths.profile, fields: [("If-Match", "7")]))
            found.expect(
                "ambiguous_credentials", try await client.get(Paths.profile, fields: [("Session-Token", "x")]))
            found.expect(
                "invalid_idempotency_key",
                try await client.send("POST", Paths.tokens, fields: [("Idempotency-Key", "a b")]))
            found.expect("unauthenticated", try await app.client().get(Paths.profile))
            found.expect("foreign_host", try await app.admin().get("/v1/stats", host: "example.org"))
            found.expect(
                "idempotency_key_not_possible",
                try await app.admin().send("POST", "/v1/exports", fields: [("Idempotency-Key", "k")]))
            found.expect(
                "not_an_export",
                try await app.admin().send(
                    "POST", "/v1/imports", json: "{}", fields: [("Content-Type", "application/x-ndjson")]))
            found.expect("no_user", try await client.get(Paths.sessions))
            found.expect("not_found", try await client.get("/v2"))
            found.expect("session_not_found", try await client.get("/v1/sessions/x"))
            found.expect("service_not_found", try await client.get(Paths.service("x")))
            found.expect("method_not_allowed", try await client.send("PUT", Paths.current, json: "{}"))
            found.expect(
                "patch_conflict",
                try await client.send(
                    "PATCH", Paths.profile, json: #"[{"op":"remove","path":"/x"}]"#, fields: jsonPatch))
            found.expect(
                "precondition_failed", try await client.patch(Paths.profile, "{}", fields: [("If-Match", "\"9\"")]))
            found.expect("precondition_required", try await client.patch(Paths.service("notes"), "{}"))
            found.expect(
                "body_too_large",
                try await client.patch(Paths.profile, #"{"name":"\#(String(repeating: "x", count: 600))"}"#))
            let half = String(repeating: "x", count: 400)
            #expect(try await client.patch(Paths.profile, #"{"attributes":{"a":"\#(half)"}}"#).status == 200)
            found.expect(
                "state_too_large", try await client.patch(Paths.profile, #"{"attributes":{"b":"\#(half)"}}"#))
            found.expect(
                "unsupported_media_type",
                try await client.send("PUT", Paths.profile, json: "{}", fields: [("Content-Type", "text/plain")]))
            let key = [("Idempotency-Key", "k")]
            let clear = #"{"operations":[{"op":"clear","service":"quote"}]}"#
            #expect(try await client.send("POST", Paths.transactions, json: clear, fields: key).status == 200)
            found.expect(
                "idempotency_key_reused", try await client.send("POST", Paths.tokens, fields: key))
            #expect(try await client.send("POST", Paths.tokens).status == 201)
            found.expect("token_replaced", try await client.send("POST", Paths.tokens))
            let made = [("Idempotency-Key", "a-key-of-random-letters")]
            let other = try await app.client().send("POST", Paths.sessions, fields: made)
            let token = try #require(other[member: "token"]?.string)
            #expect(try await app.client().with(token: token).send("DELETE", Paths.current).status == 204)
            found.expect("replay_expired", try await app.client().send("POST", Paths.sessions, fields: made))
            let cookie = try await app.client().send("POST", Paths.sessions, json: #"{"mode":"cookie"}"#)
            let pair = String((cookie["Set-Cookie"] ?? "").prefix { $0 != ";" })
            found.expect(
                "cross_site_request", try await app.client().with("Cookie", pair).send("DELETE", Paths.current))
            found.expect("too_many_sessions", try await app.client().send("POST", Paths.sessions))
            #expect(try await app.admin().get("/v1/sessions/\(id)").status == 200)
        }
        try await withApplication { configuration in
            configuration.admin.key = Secret(AdminTests.key)
        } _: { app in
            found.expect("admin_key_needed", try await app.admin().get("/v1/stats"))
        }
        try await withApplication { configuration in
            configuration.quotas.exempt = []
            configuration.quotas.sessions = Quota(count: 2, window: .seconds(3_600))
            configuration.maxUserSessions = 1
            configuration.userSessionsAtLimit = .refuse
        } _: { app in
            _ = try await app.signIn("ada", to: app.newSession().id)
            found.expect(
                "too_many_user_sessions",
                try await app.admin().send(
                    "PUT", "/v1/sessions/\(app.newSession().id)/user", json: #"{"user_id":"ada"}"#))
            found.expect("quota_exceeded", try await app.client().send("POST", Paths.sessions))
        }
        causes = found
    }

    private static func causeByFraming(_ causes: inout Causes) async throws {
        var found = causes
        try await withApplication { app in
            let client = app.client()
            func ask(_ target: String = "/version", _ fields: String = "", method: String = "GET") async throws
                -> TestResponse
            {
                let head = "\(method) \(target) HTTP/1.1\r\nHost: h\r\n\(fields)\r\n"
                return try await client.send(Array(head.utf8), method, target)
            }
            found.expect("invalid_target", try await ask("/%zz"))
            found.expect("target_too_long", try await ask("/" + String(repeating: "x", count: 3000)))
            found.expect("too_many_arguments", try await ask("/version?a" + String(repeating: "&a", count: 70)))
            found.expect("head_too_large", try await ask("/version", "A: \(String(repeating: "x", count: 20_000))\r\n"))
            found.expect("too_many_fields", try await ask("/version", String(repeating: "A: b\r\n", count: 120)))
            found.expect(
                "too_many_cookies",
                try await ask("/version", "Cookie: a=b" + String(repeating: "; a=b", count: 300) + "\r\n"))
            found.expect("malformed_request", try await ask("/version", "A: b\r\n c\r\n"))
            found.expect(
                "ambiguous_length",
                try await ask("/v1/sessions", "Content-Length: 0\r\nContent-Length: 0\r\n", method: "POST"))
            found.expect(
                "unknown_transfer_coding",
                try await ask("/v1/sessions", "Transfer-Encoding: gzip, chunked\r\n", method: "POST"))
            found.expect(
                "http_version_not_supported",
                try await client.send(Array("GET / HTTP/2.0\r\nHost: h\r\n\r\n".utf8), "GET", "/"))
            // What the library refuses before anybody of ours sees it.
            found.expect("malformed_request", try await client.send(Array("GET /\r\n".utf8), "GET", "/"))
            found.expect("malformed_request", try await ask("/version", "no colon\r\n"))
            found.expect("ambiguous_length", try await ask("/version", "Content-Length: x\r\n"))
            found.expect("target_too_long", try await ask("/" + String(repeating: "x", count: 30_000)))
            found.expect("head_too_large", try await ask("/version", "A: \(String(repeating: "x", count: 30_000))\r\n"))
            found.expect(
                "malformed_request",
                try await ask("/v1/sessions", "Transfer-Encoding: chunked\r\n\r\n2\n{}\r\n0\r\n", method: "POST"))
            found.expect(
                "body_too_large",
                try await ask("/v1/sessions", "Transfer-Encoding: chunked\r\n\r\nfffffff\r\n", method: "POST"))
            found.expect(
                "invalid_host", try await client.send(Array("GET / HTTP/1.1\r\n\r\n".utf8), "GET", "/"))
        }
        causes = found
    }

    private static func causeByStore(_ causes: inout Causes) async throws {
        var found = causes
        let store = SteeredStore()
        try await withApplication(store: store) { app in
            let client = try await app.newSession().client
            func fail(_ error: StoreError) {
                store.before { (call) throws(StoreError) in if call != .load { throw error } }
            }
            fail(.unavailable("secret reason"))
            let unreachable = try await client.patch(Paths.profile, #"{"name":"x"}"#)
            found.expect("store_unavailable", unreachable)
            #expect(!unreachable.text.contains("secret reason"))
            found.expect("store_unavailable", try await app.client().send("POST", Paths.sessions))
            fail(.damaged("secret reason"))
            let damaged = try await client.patch(Paths.profile, #"{"name":"x"}"#)
            found.expect("data_damaged", damaged)
            #expect(!damaged.text.contains("secret reason") && damaged["Retry-After"] != nil)
            fail(.full("secret reason"))
            let full = try await client.patch(Paths.profile, #"{"name":"x"}"#)
            found.expect("storage_full", full)
            #expect(!full.text.contains("secret reason"))
            #expect(try await client.get(Paths.profile).status == 200, "reads go on")
            fail(.conflict)
            found.expect("contention", try await client.patch(Paths.profile, #"{"name":"x"}"#))
            store.before(nil)
            #expect(try await client.patch(Paths.profile, #"{"name":"x"}"#).status == 200)
        }
        causes = found
    }

    /// What a store has kept of a service is not JSON: nobody's fault that a client could mend.
    private static func causeByBrokenService(_ causes: inout Causes) async throws {
        var found = causes
        let kept = MemoryStore()
        let token = try await withApplication(store: kept) { app in
            let (client, _, token) = try await app.newSession()
            try await client.patch(Paths.profile, #"{"name":"x"}"#)
            return token
        }
        let store = SteeredStore(kept)
        store.afterLoad { stored in
            let record = stored.record
            let broken = record.services.map { document in
                ServiceDocument(
                    service: document.service, birth: document.birth, revision: document.revision,
                    createdAt: document.createdAt, updatedAt: document.updatedAt, bytes: Array("broken secret".utf8))
            }
            return StoredSession(
                record: SessionRecord(
                    id: record.id, token: record.token, createdAt: record.createdAt, expiresAt: record.expiresAt,
                    revision: record.revision, services: broken, details: record.details),
                lastUsedAt: stored.lastUsedAt)
        }
        let log = try LogFile()
        let requestID = try await withApplication(store: store, log: log) { app in
            let client = app.client().with(token: token)
            let answer = try await client.patch(Paths.profile, #"{"name":"y"}"#)
            found.expect("internal_error", answer)
            #expect(!answer.text.contains("JSON"))
            #expect(answer.pointers.isEmpty)
            return answer[member: "request_id"]?.string ?? "none"
        }
        let story = log.lines().filter { $0.contains("\"failure\"") }
        #expect(story.count == 1)
        #expect(story.first?.contains(requestID) == true)
        causes = found
    }

    /// A flow that runs itself as its child, ends in circles, and does what cannot be done.
    private static let trouble = [
        """
        {"id": "trouble", "version": 1, "initial": "a", "states": {
          "a": {"on": {"down": {"target": "deeper"}, "round": {"target": "circle"}, "end": {"target": "z"},
                       "fail": {"actions": [{"op": "remove", "path": "/profile/attributes/none"}]}}},
          "deeper": {"type": "flow", "flow": "trouble", "on": {"done": {}}},
          "circle": {"type": "flow", "flow": "nothing", "on": {"done": {"target": "circle",
            "actions": [{"clear": "quote"}]}}},
          "z": {"type": "final"}}}
        """,
        #"{"id": "nothing", "version": 1, "initial": "z", "states": {"z": {"type": "final"}}}"#,
    ]

    private static func causeByJourneys(_ causes: inout Causes) async throws {
        var found = causes
        let clock = SteeredClock()
        let flows = trouble + [TestFlows.wizard, TestFlows.order]
        try await withSession(flows: flows, clock: clock) { configuration in
            configuration.journeys.max = 2
            configuration.mainFlow = "wizard"
            configuration.sessionIdleTimeout = .seconds(7200)
        } _: { client in
            let start = #"{"flow":"trouble"}"#
            found.expect("flow_not_found", try await client.get("/v1/flows/none"))
            found.expect(
                "not_acceptable", try await client.get("/v1/flows/wizard/graph", fields: [("Accept", "image/png")]))
            found.expect("journey_not_found", try await client.get(Paths.journey("none")))
            found.expect("event_not_accepted", try await client.event("none", on: Paths.main))
            found.expect("guard_not_met", try await client.event("skip", on: Paths.main))
            found.expect(
                "unreachable", try await client.send("POST", "\(Paths.main)/navigation", json: #"{"to":"page2"}"#))
            let journey = try await client.start("trouble")
            found.expect("too_many_journeys", try await client.send("POST", Paths.journeys, json: start))
            found.expect("action_failed", try await client.event("fail", on: journey))
            found.expect("endless_flow", try await client.event("round", on: journey))
            var deep = try await client.event("down", on: journey)
            while deep.status == 200 { deep = try await client.event("down", on: journey) }
            found.expect("stack_full", deep)
            try await client.event("cancel", on: Paths.main)
            found.expect("journey_finished", try await client.event("next", on: Paths.main))
            try await client.send("PUT", Paths.main)
            clock.advance(.seconds(1801))
            found.expect("journey_expired", try await client.event("cancel", on: Paths.main))
        }
        causes = found
    }

    private static func causeByMovingJourneys(_ causes: inout Causes) async throws {
        var found = causes
        let portable =
            #"{"id": "p", "version": 1, "initial": "a", "portable": true, "states": {"a": {"on": {"go": {"target": "a"}}}}}"#
        try await withApplication(flows: [portable, TestFlows.wizard]) { app in
            let (client, other) = (try await app.newSession().client, try await app.newSession().client)
            let rooted = try await client.start("wizard")
            found.expect("journey_not_portable", try await client.send("POST", "\(rooted)/links"))
            let journey = try await client.start("p")
            var made = try await client.send("POST", "\(journey)/links")
            let link = try #require(made[member: "link"]?.string)
            while made.status == 201 { made = try await client.send("POST", "\(journey)/links") }
            found.expect("too_many_links", made)
            try await other.send("POST", Paths.journeys, json: #"{"link":"\#(link)"}"#)
            found.expect("journey_moved", try await client.get(journey))
            found.expect(
                "link_not_found", try await client.send("POST", Paths.journeys, json: #"{"link":"\#(link)"}"#))
        }
        causes = found
    }

    private static func causeByTasks(_ causes: inout Causes) async throws {
        var found = causes
        try await withApplication(flows: [TaskFlows.login]) { app in
            let (client, admin) = (try await app.newSession().client, app.admin())
            let journey = try await client.start("login")
            try await client.event("ask", on: journey)
            let task = try #require(try await admin.get("/v1/tasks").items.first)
            found.expect("task_not_claimed", try await admin.post("lease", of: task, #"{"lease":"9s"}"#))
            try await client.event("back", on: journey)
            found.expect("task_over", try await admin.post("result", of: task, #"{"outcome":"ok"}"#))
            found.expect("task_not_found", try await admin.post("result", of: ["id": "x"], #"{"outcome":"ok"}"#))
        }
        try await withApplication(flows: [HeldTaskTests.flow, SideTaskTests.flow]) { app in
            let (client, admin) = (try await app.newSession().client, app.admin())
            try await client.event("pay", on: try await client.start("order"))
            let task = try #require(try await admin.claim("charge").first)
            let odd = #"{"outcome":"paid","output":{"reference":7}}"#
            #expect(try await admin.post("result", of: task, odd).status == 202)
            found.expect("task_held", try await admin.post("failure", of: task, #"{"reason":"x"}"#))
            let note = try await client.start("note")
            for _ in 0..<50 { try await client.event("send", #"{"to": "ada"}"#, on: note) }
            found.expect("too_many_tasks", try await client.event("send", #"{"to": "ada"}"#, on: note))
        }
        causes = found
    }

    /// A server that shares its store with one that has another version.
    private static func causeByLostVersion(_ causes: inout Causes) async throws {
        var found = causes
        let store = MemoryStore()
        let newer = TestFlows.wizard.replacing(#""version": 1"#, with: #""version": 2"#)
        try await withApplication(flows: [newer], store: store) { new in
            let token = try await withApplication(flows: [TestFlows.wizard], store: store) { old in
                let session = try await old.newSession()
                try await session.client.send("PUT", Paths.main, json: #"{"flow":"wizard"}"#)
                return session.token
            }
            let client = new.client().with(token: token)
            found.expect("journey_orphaned", try await client.event("cancel", on: Paths.main))
            #expect(try await client.send("PUT", Paths.main).status == 200)
        }
        causes = found
    }

    private static func causeByWatching(_ causes: inout Causes) async throws {
        var found = causes
        try await withSession { client in
            found.expect("resume_point_gone", try await client.get(Paths.events, fields: [("Last-Event-ID", "7")]))
        }
        causes = found
    }

    private static func causeByWaiting(_ causes: inout Causes) async throws {
        var found = causes
        for isStopped in [false, true] {
            let store = SteeredStore()
            let arrived = Event()
            let release = Event()
            try await withApplication(store: store) { configuration in
                configuration.timeouts.handler = isStopped ? .seconds(30) : .seconds(3)
                configuration.drainTimeout = .milliseconds(200)
            } _: { app in
                let client = try await app.newSession().client
                store.before { _ in
                    arrived.happen()
                    await release.wait()
                }
                let body = #"{"operations":[{"op":"patch","service":"profile","value":{"name":"x"}}]}"#
                let key = [("Idempotency-Key", "k")]
                async let held = client.send("POST", Paths.transactions, json: body, fields: key)
                await arrived.wait()
                if isStopped {
                    async let stopped: Void = app.stop()
                    found.expect("stopping", try await held)
                    release.happen()
                    try await stopped
                } else {
                    found.expect(
                        "request_in_progress",
                        try await client.send("POST", Paths.transactions, json: body, fields: key))
                    found.expect("handler_timeout", try await held)
                    release.happen()
                }
            }
        }
        causes = found
    }

    @Test("GET /problems/{code} explains every kind, on both listeners, and 404 what is none")
    func explained() async throws {
        try await withApplication { app in
            for kind in ProblemKind.all {
                for client in [app.client(), app.admin()] {
                    let answer = try await client.get("/problems/\(kind.code)")
                    #expect(answer.status == 200)
                    #expect(answer[member: "type"]?.string == "/problems/\(kind.code)")
                    #expect(answer[member: "status"]?.int == Int(kind.status.code))
                    #expect(answer[member: "title"]?.string?.isEmpty == false)
                    #expect(answer[member: "explanation"]?.string?.isEmpty == false)
                }
            }
            #expect(try await app.client().get("/problems/nothing").status == 404)
        }
    }
}
