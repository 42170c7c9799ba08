import Configuration
import HTTPTestClient
import JSONDocument
import Sessions
import Support
import Testing

@Suite("Idempotency-Key")
struct IdempotencyTests {
    private static func key(_ key: String) -> (name: String, value: String) { ("Idempotency-Key", key) }

    @Test("POST /v1/sessions sent again gets the first answer, marked; its token works")
    func replaysSession() async throws {
        try await withApplication { app in
            let fields = [Self.key("\"8e03978e-40d5-43dd-bc93-6894a57f9324\"")]
            let first = try await app.client().send("POST", Paths.sessions, json: "{}", fields: fields)
            #expect(first.status == 201)
            #expect(first["Idempotency-Replayed"] == nil)
            let again = try await app.client().send("POST", Paths.sessions, json: "{}", fields: fields)
            #expect(again.status == 201)
            #expect(again["Idempotency-Replayed"] == "true")
            #expect(again.body == first.body)
            #expect(again["Location"] == first["Location"])
            #expect(again["Request-Id"] != first["Request-Id"])
            let token = try #require(again[member: "token"]?.string)
            #expect(try await app.client().with(token: token).get(Paths.current).status == 200)
            #expect(try await app.admin().get("/v1/stats")[member: "sessions"]?[member: "created"] == 1)
        }
    }

    @Test("a key that others may guess opens no session", arguments: ["1", "fifteen-letters"])
    func guessable(key: String) async throws {
        try await withApplication { app in
            let refused = try await app.client().send("POST", Paths.sessions, json: "{}", fields: [Self.key(key)])
            #expect(refused.status == 400 && refused.code == "invalid_idempotency_key")
        }
    }

    @Test("a dead token gets 401, not a replay")
    func deadToken() async throws {
        try await withApplication { app in
            let client = try await app.newSession().client
            let rotated = try await client.send("POST", Paths.tokens, fields: [Self.key("k")])
            #expect(rotated.status == 201)
            let again = try await client.send("POST", Paths.tokens, fields: [Self.key("k")])
            #expect(again["Idempotency-Replayed"] == "true")
            #expect(again.body == rotated.body)
            try await client.send("DELETE", Paths.current)
            let dead = try await client.send("POST", Paths.tokens, fields: [Self.key("k")])
            #expect(dead.status == 401)
            #expect(!dead.text.contains("cg_"))
            #expect(dead["Idempotency-Replayed"] == nil)
        }
    }

    @Test("a transaction is done once")
    func replaysTransaction() async throws {
        try await withSession(services: [try ServiceFile(name: "notes", default: [])]) { client in
            let body =
                #"{"operations":[{"op":"patch","service":"notes","value":[{"op":"add","path":"/-","value":1}]}]}"#
            let answers = [
                try await client.send("POST", Paths.transactions, json: body, fields: [Self.key("k")]),
                try await client.send("POST", Paths.transactions, json: body, fields: [Self.key("\"k\"")]),
                try await client.send("POST", Paths.transactions, json: body, fields: [Self.key("k")]),
            ]
            #expect(answers.allSatisfy { $0.status == 200 && $0.body == answers[0].body })
            #expect(answers.map { $0["Idempotency-Replayed"] } == [nil, "true", "true"])
            #expect(try await client.get(Paths.service("notes")).json == [1])
            #expect(
                try await client.send("POST", Paths.transactions, json: body, fields: [Self.key("l")]).status == 200)
            #expect(try await client.get(Paths.service("notes")).json == [1, 1])
        }
    }

    @Test("another order of members, blanks, a charset and the session's own id make no other request")
    func sameRequest() async throws {
        try await withApplication(services: [try ServiceFile(name: "notes", default: [])]) { app in
            let (client, id) = try await { ($0.client, $0.id) }(app.newSession())
            let one = #"{"operations":[{"op":"patch","service":"notes","value":[{"op":"add","path":"/-","value":1}]}]}"#
            let two =
                #"{ "operations": [ {"value": [{"path": "/-", "op": "add", "value": 1.0}], "service": "notes", "op": "patch"} ] }"#
            let first = try await client.send("POST", Paths.transactions, json: one, fields: [Self.key("k")])
            let again = try await client.send(
                "POST", "/v1/sessions/\(id)/transactions", json: two,
                fields: [Self.key("k"), ("Content-Type", "application/json; charset=utf-8")])
            #expect(first.status == 200 && again.status == 200 && again["Idempotency-Replayed"] == "true")
            #expect(again.body == first.body)
            #expect(try await client.get(Paths.service("notes")).json == [1])
        }
    }

    @Test("a token that has been replaced is not shown again, and its session lives on")
    func replacedToken() async throws {
        let clock = SteeredClock()
        try await withApplication(clock: clock) { app in
            let fields = [Self.key("install-5f3c9a1e-77aa-4c02")]
            let created = try await app.client().send("POST", Paths.sessions, fields: fields)
            let first = app.client().with(token: try #require(created[member: "token"]?.string))
            let rotated = try await first.send("POST", Paths.tokens, fields: [Self.key("r")])
            let second = app.client().with(token: try #require(rotated[member: "token"]?.string))
            #expect(try await first.send("POST", Paths.tokens, fields: [Self.key("r")]).body == rotated.body)
            // In its grace the old one still works, but a client that gets it now would use it after that.
            for _ in 0..<2 {
                let again = try await app.client().send("POST", Paths.sessions, fields: fields)
                #expect(again.status == 409 && again.code == "replay_expired" && !again.text.contains("cg_"))
                #expect(try await second.get(Paths.current).status == 200)
                clock.advance(.seconds(31))
            }
            #expect(try await second.send("POST", Paths.tokens, fields: [Self.key("r")]).body == rotated.body)
            try await second.send("DELETE", Paths.current)
            let ended = try await app.client().send("POST", Paths.sessions, fields: fields)
            #expect(ended.status == 409 && ended.code == "replay_expired")
        }
    }

    @Test(
        "a client that has not had its new token gets it with the key after the grace of the old one, and nothing else")
    func lostRotation() async throws {
        let clock = SteeredClock()
        try await withApplication(clock: clock) { app in
            let client = try await app.newSession().client
            let rotated = try await client.send("POST", Paths.tokens, fields: [Self.key("r")])
            clock.advance(.seconds(60))
            let again = try await client.send("POST", Paths.tokens, fields: [Self.key("r")])
            #expect(again.status == 201 && again.body == rotated.body)
            let other = try await client.send("PATCH", Paths.profile, json: "{}", fields: [Self.key("r")])
            #expect(other.status == 422)
            let new = app.client().with(token: try #require(rotated[member: "token"]?.string))
            #expect(try await new.get(Paths.current).status == 200)
            // Without the key, or with one that the session does not know, it is a thief's.
            #expect(try await client.send("PATCH", Paths.profile, json: "{}", fields: [Self.key("s")]).status == 401)
            #expect(try await new.get(Paths.current).status == 401)
        }
    }

    @Test("no replay shows a token or a link after the session has expired, or a user has signed in")
    func endedSecrets() async throws {
        let clock = SteeredClock()
        let configure = { @Sendable (configuration: inout Configuration) in
            configuration.sessionIdleTimeout = .seconds(60)
        }
        try await withApplication(flows: [GoingOnElsewhereTests.trip], clock: clock, configure) { app in
            func created(_ key: String) async throws -> TestResponse {
                try await app.client().send("POST", Paths.sessions, fields: [Self.key(key)])
            }
            let first = try await created("the-key-of-a-phone")
            let guest = app.client().with(token: try #require(first[member: "token"]?.string))
            let journey = try await guest.start("trip")
            let link = try await guest.send("POST", "\(journey)/links", fields: [Self.key("link")])
            #expect(link.status == 201)
            let id = try #require(first[member: "session"]?[string: "id"])
            let ada = app.client().with(token: try await app.signIn("ada", to: id))
            #expect(try await created("the-key-of-a-phone").code == "replay_expired")
            #expect(try await ada.send("POST", "\(journey)/links", fields: [Self.key("link")]).code == "replay_expired")
            #expect(try await ada.get(Paths.current).status == 200)
            _ = try await created("the-key-of-a-tablet")
            clock.advance(.seconds(120))
            #expect(try await created("the-key-of-a-tablet").code == "replay_expired")
            #expect(try await ada.send("POST", Paths.tokens, fields: [Self.key("late")]).status == 401)
        }
    }

    @Test("a refusal of a request without a session is not kept, so that its key may be used for what is right")
    func refusalWithoutSession() async throws {
        try await withApplication { app in
            let fields = [Self.key("a-key-of-random-letters")]
            let refused = try await app.client().send("POST", Paths.sessions, json: #"{"labels":7}"#, fields: fields)
            #expect(refused.status == 400)
            let made = try await app.client().send("POST", Paths.sessions, json: "{}", fields: fields)
            #expect(made.status == 201 && made["Idempotency-Replayed"] == nil)
        }
    }

    @Test("an event is done once, whether or not the store has to be waited for", arguments: [false, true])
    func replaysEvent(waits: Bool) async throws {
        let store: any SessionStore = waits ? SteeredStore() : MemoryStore()
        try await withSession(flows: [TestFlows.wizard], store: store) { client in
            let path = try await client.start("wizard")
            let body = #"{"event":"sign_in","data":{"name":"Ada"}}"#
            func send(_ body: String, _ key: String) async throws -> TestResponse {
                try await client.send("POST", path + "/events", json: body, fields: [Self.key(key)])
            }
            let first = try await send(body, "k")
            #expect(first.status == 200 && first["Idempotency-Replayed"] == nil)
            let again = try await send(body, "k")
            #expect(again.status == 200 && again["Idempotency-Replayed"] == "true")
            #expect(again.body == first.body && again["ETag"] == first["ETag"])
            // A refusal is kept too, and names the request that it answers.
            let refused = try await send(body, "l")
            #expect(refused.status == 409 && refused["Idempotency-Replayed"] == nil)
            let refusedAgain = try await send(body, "l")
            #expect(refusedAgain.status == 409 && refusedAgain["Idempotency-Replayed"] == "true")
            #expect(refusedAgain[member: "request_id"]?.string == refusedAgain["Request-Id"])
            #expect(try await send(#"{"event":"next"}"#, "k").status == 422)
        }
    }

    @Test("an event that the store did not take is not kept: its key is free again")
    func failedCommit() async throws {
        let store = SteeredStore()
        try await withSession(flows: [TestFlows.wizard], store: store) { client in
            let path = try await client.start("wizard")
            store.before { call async throws(StoreError) in
                if call == .commit { throw .unavailable("gone fishing") }
            }
            let body = #"{"event":"sign_in","data":{"name":"Ada"}}"#
            for status in [503, 200] {
                if status == 200 { store.before(nil) }
                let answer = try await client.send("POST", path + "/events", json: body, fields: [Self.key("k")])
                #expect(answer.status == status && answer["Idempotency-Replayed"] == nil)
            }
        }
    }

    @Test(
        "behind one proxy the same key of two clients is two keys: nobody gets another one's token",
        arguments: ["X-Forwarded-For", "Forwarded", "X-Real-IP", "User-Agent", "Accept-Language", "Origin"])
    func behindProxy(field: String) async throws {
        try await withApplication { app in
            func create(_ value: String?) async throws -> TestResponse {
                try await app.client().send(
                    "POST", Paths.sessions,
                    fields: [Self.key("a-key-of-random-letters")] + (value.map { [(field, $0)] } ?? []))
            }
            let answers = [try await create("one"), try await create("another"), try await create(nil)]
            #expect(answers.allSatisfy { $0.status == 201 && $0["Idempotency-Replayed"] == nil })
            #expect(Set(answers.compactMap { $0[member: "token"]?.string }).count == 3)
            let again = try await create("another")
            #expect(again["Idempotency-Replayed"] == "true")
            #expect(again.body == answers[1].body)
        }
    }

    @Test("in cookie mode the replay sets the same cookie")
    func cookie() async throws {
        try await withApplication { app in
            let fields = [Self.key("a-key-of-random-letters")]
            let body = #"{"mode":"cookie"}"#
            let first = try await app.client().send("POST", Paths.sessions, json: body, fields: fields)
            let again = try await app.client().send("POST", Paths.sessions, json: body, fields: fields)
            #expect(again["Idempotency-Replayed"] == "true")
            #expect(again["Set-Cookie"] == first["Set-Cookie"])
            #expect(again["Set-Cookie"] != nil)
        }
    }
}
