import HTTPTestClient
import JSONDocument
import Support
import Testing

@Suite("Whoever has the token from before a sign-in")
struct SigningInAttackTests {
    /// What is the same for every bad token.
    private static func shape(_ answer: TestResponse) throws -> String {
        let members = try #require(answer.json.members).filter { $0.name != "request_id" }
        return "\(answer.status) \(JSONDocument(members: members)) \(answer.fieldNames.sorted())"
    }

    static let proofs: [String?] = [
        nil, "{}", SigningIn.verifying(SigningIn.otherVerifier), SigningIn.verifying(SigningIn.challenge),
        SigningIn.verifying(""), SigningIn.verifying("short"), SigningIn.verifying(SigningIn.verifier + "x"),
        SigningIn.verifying(String(repeating: "x", count: 129)), #"{"verifier":null}"#, #"{"verifier":7}"#,
        #"{"verifier":["\#(SigningIn.verifier)"]}"#, #"{"verifier":"\#(SigningIn.verifier)","x":1}"#, "[", "7",
    ]

    @Test("gets the 401 of an unknown token with every call but the right one, and ends nothing")
    func nothing() async throws {
        try await Entrance.with { entrance in
            try await entrance.end()
            let unknown = entrance.app.client().with(token: "cg_\(String(repeating: "A", count: 64))")
            let expected = try Self.shape(try await unknown.get(Paths.current))
            for (method, path, body) in [
                ("GET", Paths.current, nil), ("DELETE", Paths.current, nil), ("GET", entrance.journey, nil),
                ("POST", "\(entrance.journey)/events", #"{"event":"leave"}"#), ("GET", Paths.events, nil),
                ("GET", "/v1/sessions", nil), ("DELETE", "/v1/sessions", nil), ("PATCH", Paths.profile, "{}"),
                ("POST", Paths.journeys, #"{"flow":"enter"}"#), ("POST", Paths.transactions, #"{"operations":[]}"#),
                ("POST", "/v1/sessions/\(entrance.session)/tokens", nil),
            ] {
                for key in [[], [("Idempotency-Key", "5c2f0ad1-2222-4a4a-9d9d-3f1a2b3c4d5e")]] {
                    let answer = try await entrance.old.send(method, path, json: body, fields: key)
                    #expect(try Self.shape(answer) == expected, "\(method) \(path)")
                }
            }
            for proof in Self.proofs {
                for key in [[], [("Idempotency-Key", "5c2f0ad1-3333-4a4a-9d9d-3f1a2b3c4d5e")]] {
                    let answer = try await entrance.old.send("POST", Paths.tokens, json: proof, fields: key)
                    #expect(try Self.shape(answer) == expected, "\(proof ?? "none")")
                }
            }
            // The owner finishes, whatever was tried, and the old token is no sign of theft afterwards.
            let client = try entrance.client(after: try await entrance.exchange())
            #expect(try await entrance.old.get(Paths.current).status == 401)
            entrance.clock.advance(.seconds(60))
            #expect(try await entrance.old.get(Paths.current).status == 401)
            #expect(try await entrance.exchange().status == 401)
            #expect(try await client.get(entrance.journey).screen == "home")
        }
    }

    @Test("with the verifier opens no other session, and with another session's token not this one")
    func otherSession() async throws {
        try await Entrance.with { entrance in
            let (other, id, token) = try await entrance.app.newSession()
            try await entrance.end()
            // A token that opens its session is rotated as without one.
            let rotated = try await other.send("POST", Paths.tokens, json: SigningIn.verifying(SigningIn.verifier))
            #expect(rotated.status == 201)
            #expect(try await other.get(Paths.current)[member: "id"]?.string == id)
            let elsewhere = try await other.send(
                "POST", "/v1/sessions/\(entrance.session)/tokens", json: SigningIn.verifying(SigningIn.verifier))
            #expect(elsewhere.status == 404)
            let there = try await entrance.old.send(
                "POST", "/v1/sessions/\(id)/tokens", json: SigningIn.verifying(SigningIn.verifier))
            #expect(there.status == 404, "the right proof is the owner's, who has mistaken the path")
            let mixed = entrance.token.prefix(25) + token.dropFirst(25)
            let forged = entrance.app.client().with(token: String(mixed))
            #expect(
                try await forged.send("POST", Paths.tokens, json: SigningIn.verifying(SigningIn.verifier)).status == 401
            )
            _ = try entrance.client(after: try await entrance.exchange())
        }
    }

    @Test(
        "has rotation_grace for it: afterwards the session opens to nobody, until a back end signs in again or it expires"
    )
    func tooLate() async throws {
        try await Entrance.with { entrance in
            try await entrance.end()
            entrance.clock.advance(.milliseconds(29_999))
            #expect(try await entrance.exchange(SigningIn.otherVerifier).status == 401)
            entrance.clock.advance(.milliseconds(1))
            #expect(try await entrance.exchange().status == 401)
            let kept = try await entrance.admin.get("/v1/sessions/\(entrance.session)")
            #expect(kept.status == 200 && kept[member: "user_id"] == "ada")
            let token = try await entrance.app.signIn("ada", to: entrance.session)
            #expect(try await entrance.app.client().with(token: token).get(entrance.journey).screen == "home")
            #expect(try await entrance.exchange().status == 401)
        }
        try await Entrance.with { entrance in
            try await entrance.end()
            entrance.clock.advance(.seconds(31 * 60))
            #expect(try await entrance.exchange().status == 401)
        }
    }

    @Test("after a second sign-in only the second one's proof counts, and none after a sign-in by a back end")
    func secondSignIn() async throws {
        try await Entrance.with { entrance in
            // Two journeys of one session, each with a task that signs in.
            let other = try await entrance.old.start("enter")
            let sent = try await entrance.old.send(
                "POST", "\(other)/events", json: #"{"event":"submit","challenge":"\#(SigningIn.otherChallenge)"}"#)
            #expect(sent.status == 200)
            let tasks = try await entrance.admin.claim("check", max: 2).sorted { one, _ in
                entrance.journey.hasSuffix(one[member: "journey"]?[string: "id"] ?? "-")
            }
            #expect(try await entrance.admin.post("result", of: tasks[0], SigningIn.result()).status == 204)
            entrance.clock.advance(.seconds(20))
            #expect(try await entrance.admin.post("result", of: tasks[1], SigningIn.result()).status == 204)
            entrance.clock.advance(.seconds(20))
            #expect(try await entrance.exchange().status == 401)
            _ = try entrance.client(after: try await entrance.exchange(SigningIn.otherVerifier))
        }
        try await Entrance.with { entrance in
            try await entrance.end()
            let token = try await entrance.app.signIn("ada", to: entrance.session)
            #expect(try await entrance.exchange().status == 401)
            #expect(try await entrance.app.client().with(token: token).get(Paths.current).status == 200)
        }
    }

    @Test("an answer that was lost is given again to the same request, and to no other")
    func lostAnswer() async throws {
        try await Entrance.with { entrance in
            try await entrance.end()
            let key = [("Idempotency-Key", "5c2f0ad1-4444-4a4a-9d9d-3f1a2b3c4d5e")]
            let first = try await entrance.exchange(fields: key)
            let again = try await entrance.exchange(fields: key)
            #expect(first.status == 201 && again.status == 201 && again["Idempotency-Replayed"] == "true")
            #expect(again[member: "token"] == first[member: "token"])
            #expect(try await entrance.exchange(SigningIn.otherVerifier, fields: key).status == 401)
            #expect(try await entrance.exchange(nil, fields: key).status == 401)
            #expect(
                try await entrance.exchange(fields: [("Idempotency-Key", "5c2f0ad1-5555-4a4a-9d9d-3f1a2b3c4d5e")])
                    .status
                    == 401)
            entrance.clock.advance(.seconds(30))
            #expect(try await entrance.exchange(fields: key).status == 401)
            _ = try entrance.client(after: first)
        }
    }

    @Test("many at once with the right verifier get one token")
    func atOnce() async throws {
        try await Entrance.with(.sqlite) { entrance in
            try await entrance.end()
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<8 { group.addTask { try await entrance.exchange().status } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses.sorted() == [201] + Array(repeating: 401, count: 7))
        }
    }
}

@Suite("Signing in from a flow in cookie mode")
struct SigningInCookieTests {
    private static let own = ("Sec-Fetch-Site", "same-origin")

    /// - Parameter isSecure: whether the cookie has the prefix `__Host-`.
    private static func with(
        isSecure: Bool = true, challenge: String? = SigningIn.challenge,
        _ body: (RunningApplication, _ name: String, _ token: String, _ session: String) async throws -> Void
    ) async throws {
        try await withApplication(flows: [SigningIn.flow]) {
            $0.cookie.secure = isSecure
        } _: { app in
            let created = try await app.client().send("POST", Paths.sessions, json: #"{"mode":"cookie"}"#)
            let cookie = try #require(created["Set-Cookie"]).prefix { $0 != ";" }.split(separator: "=")
            let (name, token) = (String(cookie[0]), String(cookie[1]))
            let client = app.client().with("Cookie", "\(name)=\(token)").with(own.0, own.1)
            let journey = try await client.start("enter")
            let challenge = challenge.map { #","challenge":"\#($0)""# } ?? ""
            _ = try await client.send("POST", "\(journey)/events", json: #"{"event":"submit"\#(challenge)}"#)
            let task = try #require(try await app.admin().claim("check").first)
            let posted = try await app.admin().post("result", of: task, SigningIn.result())
            #expect(posted.status == (isSecure || !challenge.isEmpty ? 204 : 200))
            #expect(try await client.get(journey).status == 401)
            try await body(app, name, token, try #require(created[member: "session"]?[string: "id"]))
        }
    }

    private static func exchange(
        _ app: RunningApplication, _ field: (String, String), _ json: String? = nil, site: String? = "same-origin"
    ) async throws -> TestResponse {
        let fields = [field] + (site.map { [("Sec-Fetch-Site", $0)] } ?? [])
        return try await app.client().send("POST", Paths.tokens, json: json, fields: fields)
    }

    @Test("the browser gets the new cookie with that call, without a verifier", arguments: [nil, SigningIn.challenge])
    func browser(challenge: String?) async throws {
        try await Self.with(challenge: challenge) { app, name, token, session in
            let cookie = ("Cookie", "\(name)=\(token)")
            // Not as a bearer token, not from another site, not with a wrong verifier.
            #expect(try await Self.exchange(app, ("Authorization", "Bearer \(token)")).status == 401)
            #expect(try await Self.exchange(app, cookie, site: "cross-site").status == 403)
            #expect(try await Self.exchange(app, cookie, site: nil).status == 403)
            let wrong = SigningIn.verifying(SigningIn.otherVerifier)
            #expect(try await Self.exchange(app, cookie, wrong).status == 401)
            let exchanged = try await Self.exchange(app, cookie)
            #expect(exchanged.status == 201 && exchanged.text == "{}")
            let fresh = try #require(exchanged["Set-Cookie"]).prefix { $0 != ";" }
            #expect(fresh.hasPrefix("\(name)=cg_") && !fresh.hasSuffix(token))
            let shown = try await app.client().with("Cookie", String(fresh)).get(Paths.current)
            #expect(shown[member: "id"]?.string == session && shown[member: "user_id"] == "ada")
            #expect(try await Self.exchange(app, cookie).status == 401)
        }
    }

    @Test(
        "an event that came with the token as a bearer's proves nothing to whoever has the cookie",
        arguments: [nil, SigningIn.challenge])
    func bearerEvent(challenge: String?) async throws {
        try await withApplication(flows: [SigningIn.flow]) { app in
            let created = try await app.client().send("POST", Paths.sessions, json: #"{"mode":"cookie"}"#)
            let cookie = String(try #require(created["Set-Cookie"]).prefix { $0 != ";" })
            let token = String(try #require(cookie.split(separator: "=").last))
            let client = app.client().with(token: token)
            let journey = try await client.start("enter")
            let challenge = challenge.map { #","challenge":"\#($0)""# } ?? ""
            _ = try await client.send("POST", "\(journey)/events", json: #"{"event":"submit"\#(challenge)}"#)
            let task = try #require(try await app.admin().claim("check").first)
            let posted = try await app.admin().post("result", of: task, SigningIn.result())
            #expect(posted.status == (challenge.isEmpty ? 200 : 204))
            #expect(try await Self.exchange(app, ("Cookie", cookie)).status == 401)
            let verified = try await Self.exchange(
                app, ("Authorization", "Bearer \(token)"), SigningIn.verifying(SigningIn.verifier), site: nil)
            #expect(verified.status == (challenge.isEmpty ? 401 : 201))
        }
    }

    @Test("a cookie without the prefix proves nothing: it takes the verifier, or the back end hands the token over")
    func insecure() async throws {
        try await Self.with(isSecure: false) { app, name, token, _ in
            let cookie = ("Cookie", "\(name)=\(token)")
            #expect(name == "concierge")
            #expect(try await Self.exchange(app, cookie).status == 401)
            #expect(try await Self.exchange(app, cookie, SigningIn.verifying(SigningIn.otherVerifier)).status == 401)
            let exchanged = try await Self.exchange(app, cookie, SigningIn.verifying(SigningIn.verifier))
            #expect(exchanged.status == 201 && exchanged["Set-Cookie"]?.hasPrefix("concierge=cg_") == true)
        }
        try await Self.with(isSecure: false, challenge: nil) { app, name, token, _ in
            let exchanged = try await Self.exchange(app, ("Cookie", "\(name)=\(token)"))
            #expect(exchanged.status == 401)
        }
    }

    @Test("a session in bearer mode cannot be had by a cookie")
    func bearer() async throws {
        try await Entrance.with { entrance in
            try await entrance.end()
            let cookie = ("Cookie", "__Host-concierge=\(entrance.token)")
            #expect(try await Self.exchange(entrance.app, cookie).status == 401)
            _ = try entrance.client(after: try await entrance.exchange())
        }
    }
}
