import HTTPTestClient
import JSONDocument
import Support
import Testing

/// FLOWS, "Signing in from a flow".
@Suite("Signing in from a flow")
struct SigningInTests {
    @Test(
        "user and outcome are one commit, and the verifier gets the new token, once",
        arguments: TaskTests.Store.allCases)
    func wholeWay(store: TaskTests.Store) async throws {
        try await Entrance.with(store) { entrance in
            let before = try await entrance.old.revision()
            let posted = try await entrance.end()
            #expect(posted.status == 204 && posted.text.isEmpty, "the token is for the client")
            let summary = try await entrance.admin.get("/v1/sessions/\(entrance.session)")
            #expect(summary[member: "user_id"] == "ada" && summary[member: "revision"]?.int == before.map { $0 + 1 })
            let client = try entrance.client(after: try await entrance.exchange())
            let home = try await client.get(entrance.journey)
            #expect(home.screen == "home")
            #expect(home.shown("user") == ["id": "ada", "authenticated": true, "claims": ["name": "Ada"]])
            #expect(try await entrance.exchange().status == 401, "once")
            #expect(try await entrance.old.get(Paths.current).status == 401)
            #expect(try await client.get(Paths.current).status == 200)
        }
    }

    @Test("without a challenge the new token is in the answer to the back end")
    func withoutChallenge() async throws {
        try await Entrance.with(challenge: nil) { entrance in
            let posted = try await entrance.end()
            #expect(posted.status == 200)
            #expect(posted[member: "session"]?[string: "user_id"] == "ada")
            let token = try #require(posted[member: "token"]?.string)
            let client = entrance.app.client().with(token: token)
            let session = try await client.get(Paths.current)
            #expect(session[member: "revision"] == posted[member: "session"]?[member: "revision"])
            #expect(try await client.get(entrance.journey).screen == "home")
            #expect(try await entrance.exchange().status == 401)
            #expect(try await entrance.exchange(nil).status == 401)
        }
    }

    @Test("a repeated result is replayed; one whose token is not valid any more is 409 replay_expired")
    func repeatedResult() async throws {
        try await Entrance.with(challenge: nil) { entrance in
            let task = try #require(try await entrance.admin.claim("check").first)
            let back = entrance.admin.with("Idempotency-Key", "5c2f0ad1-1111-4a4a-9d9d-3f1a2b3c4d5e")
            let posted = try await back.post("result", of: task, SigningIn.result())
            let again = try await back.post("result", of: task, SigningIn.result())
            #expect(posted.status == 200 && again["Idempotency-Replayed"] == "true")
            #expect(again[member: "token"] == posted[member: "token"])
            #expect(posted[member: "session"]?[string: "user_id"] == "ada")
            _ = try await entrance.app.signIn("bob", to: entrance.session)
            let late = try await back.post("result", of: task, SigningIn.result())
            #expect(late.status == 409 && late.code == "replay_expired")
        }
    }

    @Test(
        "a result that is refused signs nobody in, and changes nothing",
        arguments: [
            (SigningIn.result("perhaps"), 400), (SigningIn.result(user: ""), 400),
            (SigningIn.result(user: String(repeating: "x", count: 257)), 400),
            (#"{"outcome":"ok","sign_in":{"claims":{}}}"#, 400), (#"{"outcome":"ok","sign_in":"ada"}"#, 400),
            (#"{"outcome":"ok","sign_in":{"user_id":"ada","token":"x"}}"#, 400),
            (#"{"outcome":"ok","sign_in":{"user_id":"ada","claims":[]}}"#, 400),
            (#"{"outcome":"ok","sign_in":{"user_id":"ada","lifetime":"13h"}}"#, 400),
        ])
    func refused(result: String, status: Int) async throws {
        try await Entrance.with { entrance in
            let before = try await entrance.old.get(Paths.current)
            let posted = try await entrance.end(result)
            #expect(posted.status == status)
            #expect(posted.pointers.allSatisfy { $0 == "/outcome" || $0.hasPrefix("/sign_in") }, "\(posted.text)")
            let after = try await entrance.old.get(Paths.current)
            #expect(after[member: "user_id"] == nil || after[member: "user_id"] == JSONDocument.null)
            #expect(try await entrance.old.get(entrance.journey).screen == "checking")
            // It is kept until the lease ends, and held then: what was done is not done again.
            #expect(after[member: "revision"] != before[member: "revision"])
            entrance.clock.advance(.seconds(30))
            let held = try await entrance.held()
            #expect(held[member: "problem"]?[string: "code"] == posted.code)
            #expect(try await entrance.admin.claim("check").isEmpty)
            #expect(try await entrance.admin.post("result", of: held, SigningIn.result()).status == 204)
            _ = try entrance.client(after: try await entrance.exchange())
        }
    }

    @Test("an action that would break a service signs nobody in either")
    func broken() async throws {
        try await Entrance.with { entrance in
            _ = try await entrance.end(SigningIn.result("bad", output: #"{"name":7}"#))
            let session = try await entrance.old.get(Paths.current)
            #expect(session.status == 200 && session[member: "user_id"] == JSONDocument.null)
        }
    }

    @Test("journeys of the user before are gone, and the one that signs in goes on")
    func someoneElse() async throws {
        try await Entrance.with { entrance in
            try await entrance.end()
            var client = try entrance.client(after: try await entrance.exchange())
            let other = try await client.start("wizard")
            try await client.event("sign_in", #"{"name":"Ada"}"#, on: other)
            try await entrance.submit(SigningIn.otherChallenge, by: client)
            let task = try #require(try await entrance.admin.claim("check").first)
            #expect(task[member: "session"]?[string: "user_id"] == "ada")
            #expect(try await entrance.admin.post("result", of: task, SigningIn.result(user: "bob")).status == 204)
            let exchanged = try await client.send(
                "POST", Paths.tokens, json: SigningIn.verifying(SigningIn.otherVerifier))
            client = try entrance.client(after: exchanged)
            #expect(try await client.get(other).code == "journey_not_found")
            let home = try await client.get(entrance.journey)
            #expect(home.screen == "home" && home.shown("user")?[string: "id"] == "bob")
        }
    }

    @Test("the challenge goes from task to task, and ends with the next screen")
    func chain() async throws {
        try await Entrance.with { entrance in
            #expect(try await entrance.end(SigningIn.result("load", user: nil)).status == 204)
            #expect(try await entrance.end(task: "load").status == 204)
            let client = try entrance.client(after: try await entrance.exchange())
            #expect(try await client.get(entrance.journey).screen == "home")
        }
        try await Entrance.with { entrance in
            let asked = try await entrance.end(SigningIn.result("ask", user: nil))
            let sent = try await entrance.submit(nil, "go")
            let posted = try await entrance.end(task: "load")
            #expect([asked, sent, posted].map(\.status) == [204, 200, 200], "nobody has sent a challenge with `go`")
        }
    }

    @Test(
        "a challenge that is none is 400 at its place",
        arguments: [
            #""""#, "7", "null", #""short""#, #""E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-c""#,
            #""E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM=""#, #""E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cN""#,
            #""E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw+cM""#, #""E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw cM""#,
        ])
    func badChallenge(text: String) async throws {
        try await withApplication(flows: [SigningIn.flow]) { app in
            let client = try await app.newSession().client
            let journey = try await client.start("enter")
            let sent = try await client.send(
                "POST", "\(journey)/events", json: #"{"event":"submit","challenge":\#(text)}"#)
            #expect(sent.status == 400 && sent.pointers == ["/challenge"], "\(sent.text)")
            #expect(try await client.get(journey).screen == "name")
        }
    }

    @Test("neither challenge nor verifier is in any answer")
    func secrecy() async throws {
        try await Entrance.with { entrance in
            let admin = entrance.admin
            let task = try await admin.claim("check").first
            var shown = [try await entrance.old.get(entrance.journey), try await entrance.old.get(Paths.journeys)]
            shown += [try await entrance.old.get(Paths.service("coordinator")), try await admin.get("/v1/tasks")]
            for path in ["", "/journeys", "/services/coordinator"] {
                shown.append(try await admin.get("/v1/sessions/\(entrance.session)\(path)"))
            }
            for answer in shown {
                #expect(answer.status == 200 && !answer.text.contains(SigningIn.challenge), "\(answer.text)")
            }
            #expect(task.map { "\($0)".contains(SigningIn.challenge) } == false)
            let named = try #require(task)
            #expect(try await admin.post("result", of: named, SigningIn.result()).status == 204)
            let exchanged = try await entrance.exchange()
            #expect(!exchanged.text.contains(SigningIn.verifier))
            #expect(try exchanged.json.names == ["token"])
        }
    }

    @Test("the stream that the old token opened ends and says why, and goes on with the new one")
    func stream() async throws {
        try await Entrance.with { entrance in
            let stream = try await EventReader.open(entrance.old)
            let known = try await entrance.old.get(entrance.journey)["ETag"] ?? ""
            async let waiting = entrance.old.get(
                entrance.journey, fields: [("If-None-Match", known), ("Prefer", "wait=30")])
            try await entrance.end()
            let last = try #require(try await stream.rest().last)
            #expect(last.name == "stream.closed" && last["reason"] == "token_replaced")
            // What has happened is not for whoever has the old token.
            #expect([304, 401].contains(try await waiting.status))
            #expect(try await EventReader.open(entrance.old).head.status == 401)
            let client = try entrance.client(after: try await entrance.exchange())
            let resumed = try await EventReader.open(client, after: stream.lastID)
            try await client.patch(Paths.profile, #"{"name":"Ada"}"#)
            #expect(try await resumed.next()?["service"] == "profile")
        }
    }

    @Test(
        "a task that is sent signs in with its answer if a client can fetch the token, and else is held",
        arguments: [(true, true), (false, true), (true, false)])
    func sent(hasChallenge: Bool, isWellFormed: Bool) async throws {
        try await WebhookReceiver.run { _, _ in
            .json(isWellFormed ? SigningIn.result() : #"{"outcome":"ok","sign_in":{"user_id":7}}"#)
        } _: { receiver in
            try await withApplication(flows: [SigningIn.flow]) {
                $0.tasks["check"].url = receiver.url
                $0.tasks["check"].secret = .init(WebhookReceiver.secret)
            } _: { app in
                let (client, id, _) = try await app.newSession()
                let journey = try await client.start("enter")
                let challenge = hasChallenge ? #","challenge":"\#(SigningIn.challenge)""# : ""
                let stream = try await EventReader.open(client)
                _ = try await client.send("POST", "\(journey)/events", json: #"{"event":"submit"\#(challenge)}"#)
                if hasChallenge, isWellFormed {
                    // The stream ends with the token.
                    while try await stream.next() != nil {}
                    let exchanged = try await client.send(
                        "POST", Paths.tokens, json: SigningIn.verifying(SigningIn.verifier))
                    #expect(exchanged.status == 201)
                    let user = try await app.admin().get("/v1/sessions/\(id)")[member: "user_id"]
                    #expect(user == "ada")
                    return
                }
                var held: [JSONDocument] = []
                while held.isEmpty { held = try await app.admin().get("/v1/tasks?status=held").items }
                #expect(receiver.messages.count == 1)
                #expect(held[0][member: "result"]?[member: "sign_in"]?[member: "user_id"] == (isWellFormed ? "ada" : 7))
                #expect(try await client.get(journey).screen == "checking")
                #expect(try await app.admin().get("/v1/sessions/\(id)")[member: "user_id"] == JSONDocument.null)
                // An operator can be given the token, and hand it over.
                let retried = try await app.admin().send("POST", "/v1/tasks/\(held[0][string: "id"] ?? "")/retry")
                #expect(retried.status == (isWellFormed ? 200 : 202))
            }
        }
    }
}
