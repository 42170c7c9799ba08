import HTTPTestClient
import JSONDocument
import Support
import Testing

@Suite("Tokens")
struct TokenTests {
    @Test("a token is shown once: no other answer has it")
    func shownOnce() async throws {
        try await withApplication { app in
            let (client, id, token) = try await app.newSession()
            let answers = [
                try await client.get(Paths.current), try await client.get(Paths.services),
                try await client.patch(Paths.current, #"{"labels":{"a":"b"}}"#),
                try await app.admin().get("/v1/sessions/\(id)"), try await app.admin().get("/v1/sessions"),
                try await app.admin().get("/v1/stats"), try await app.admin().get("/metrics"),
            ]
            for answer in answers {
                #expect(answer.status == 200)
                #expect(!answer.text.contains("cg_"))
                #expect(!answer.text.contains(token.suffix(20)))
                #expect(!answer.fields.contains { $0.value.contains("cg_") })
            }
        }
    }

    @Test("none, an unknown, a malformed, an ended one: the same 401, the same fields, the same body")
    func refusals() async throws {
        try await withApplication { app in
            let ended = try await app.newSession()
            try await ended.client.send("DELETE", Paths.current)
            let (_, id, good) = try await app.newSession()
            let other = try await app.newSession()
            let altered = good.dropLast() + (good.hasSuffix("A") ? "B" : "A")
            let mixed = good.prefix(24) + other.token.dropFirst(24)
            let credentials: [String?] = [
                nil, "Bearer \(ended.token)", "Bearer \(altered)", "Bearer \(mixed)", "Bearer", "Bearer cg_",
                "Bearer cg_\(String(repeating: "A", count: 64))", "Bearer \(good)x", "Bearer \(good.dropLast())",
                "Bearer \(id)", "Bearer \(good.dropFirst(3))", good, "Basic \(good)", "Token \(good)",
                "Bearer \(good),x", "Bearer \(good) \(good)", "Bearer \"\(good)\"", "Bearer \(good.uppercased())",
            ]
            var seen: Set<String> = []
            var fields: Set<Set<String>> = []
            for credential in credentials {
                for (method, path, body) in [
                    ("GET", Paths.current, nil), ("GET", Paths.profile, nil), ("GET", "/v1/sessions/\(id)", nil),
                    ("DELETE", Paths.current, nil), ("PATCH", Paths.profile, #"{"name":"x"}"#),
                    ("POST", Paths.tokens, nil), ("POST", Paths.transactions, "{}"),
                ] {
                    let answer = try await app.client().send(
                        method, path, json: body, fields: credential.map { [("Authorization", $0)] } ?? [])
                    #expect(answer.status == 401, "\(credential ?? "none") \(method) \(path)")
                    #expect(answer.values("WWW-Authenticate") == ["Bearer"])
                    let members = try #require(answer.json.members).filter { $0.name != "request_id" }
                    seen.insert(JSONDocument(members: members).description)
                    fields.insert(answer.fieldNames)
                }
            }
            #expect(seen.count == 1, "\(seen)")
            #expect(fields.count == 1, "\(fields)")
            #expect(try await app.client().with(token: good).get(Paths.current).status == 200)
        }
    }

    @Test(
        "the scheme's case does not matter, nor blanks around the token",
        arguments: ["bearer ", "BEARER ", "Bearer   "])
    func scheme(prefix: String) async throws {
        try await withApplication { app in
            let token = try await app.newSession().token
            let answer = try await app.client().get(Paths.current, fields: [("Authorization", prefix + token)])
            #expect(answer.status == 200)
        }
    }

    @Test("a token in the URL opens nothing", arguments: ["access_token", "token", "authorization"])
    func notInURL(name: String) async throws {
        try await withApplication { app in
            let token = try await app.newSession().token
            let answer = try await app.client().get("\(Paths.current)?\(name)=\(token)")
            #expect(answer.status == 400 && answer.pointers == ["/\(name)"])
            #expect(!answer.text.contains(token))
            #expect(try await app.client().get("/v1/sessions/\(token)").status == 401)
        }
    }

    @Test("two credentials are 400, also when they are the same, or when one of them opens nothing")
    func ambiguous() async throws {
        try await withApplication { app in
            let token = try await app.newSession().token
            let bearer = ("Authorization", "Bearer \(token)")
            let cookie = "__Host-concierge=\(token)"
            let cases: [[(String, String)]] = [
                [bearer, bearer], [bearer, ("Authorization", "Basic x")], [bearer, ("Cookie", cookie)],
                [("Authorization", "Bearer cg_x"), ("Cookie", cookie)], [bearer, ("Session-Token", token)],
                [("Session-Token", token), ("Session-Token", token)], [("Session-Token", "x"), bearer],
                [("Session-Token", token), ("Cookie", cookie)], [("Cookie", "\(cookie); \(cookie)")],
                [("Cookie", cookie), ("Cookie", cookie)], [("Cookie", "\(cookie); a=b; __Host-concierge=")],
                [("Cookie", "__Host-concierge=x; \(cookie)")],
            ]
            for fields in cases {
                for method in ["GET", "DELETE"] {
                    let answer = try await app.client().send(method, Paths.current, fields: fields)
                    #expect(answer.status == 400, "\(fields)")
                    #expect(answer.code == "ambiguous_credentials")
                }
            }
            // A cookie of another name is none of ours.
            let other = try await app.client().get(Paths.current, fields: [bearer, ("Cookie", "concierge=x; a=b")])
            #expect(other.status == 200)
        }
    }

    @Test(
        "Authorization may be a gateway's, while the session's credential is elsewhere",
        arguments: [
            "Basic c3RhZ2luZzpzZWNyZXQ=", "Negotiate YII=", "Digest username=\"a\"", "Bearer eyJhbGciOiJub25lIn0",
        ])
    func besideGateways(authorization: String) async throws {
        try await withApplication { app in
            let (_, id, token) = try await app.newSession()
            let gateway = app.client().with("Authorization", authorization)
            #expect(try await gateway.get(Paths.current).status == 401)
            for own in [("Session-Token", token), ("Cookie", "__Host-concierge=\(token)")] {
                #expect(try await gateway.get(Paths.current, fields: [own])[member: "id"]?.string == id)
            }
            let client = app.client().with("Session-Token", token)
            #expect(try await client.patch(Paths.profile, #"{"name":"Ada"}"#).status == 200)
            // A cookie still has to show where it comes from.
            let cookie = gateway.with("Cookie", "__Host-concierge=\(token)")
            #expect(try await cookie.patch(Paths.profile, "{}").code == "cross_site_request")
        }
    }

    @Test("rotation: the fresh token works, the old one until the grace is over; then it ends the session")
    func rotation() async throws {
        let clock = SteeredClock()
        try await withApplication(clock: clock) { app in
            let (old, id, token) = try await app.newSession()
            let rotated = try await old.send("POST", Paths.tokens)
            #expect(rotated.status == 201)
            #expect(try rotated.json.names == ["token"])
            let fresh = try #require(rotated[member: "token"]?.string)
            #expect(fresh != token)
            let client = app.client().with(token: fresh)
            for caller in [old, client] {
                #expect(try await caller.get(Paths.current)[member: "id"]?.string == id)
            }
            clock.advance(.milliseconds(29_999))
            #expect(try await old.get(Paths.current).status == 200)
            #expect(try await client.get(Paths.current).status == 200)
            clock.advance(.milliseconds(1))
            #expect(try await client.get(Paths.current).status == 200)
            #expect(try await old.get(Paths.current).status == 401)
            #expect(try await client.get(Paths.current).status == 401, "reuse is a sign of theft")
            #expect(try await app.admin().get("/v1/sessions/\(id)").status == 404)
        }
    }

    @Test("two tabs that rotate the same token get one new token, and nobody is logged out")
    func rotatedAtOnce() async throws {
        let clock = SteeredClock()
        try await withApplication(clock: clock) { app in
            let (old, _, _) = try await app.newSession()
            async let one = old.send("POST", Paths.tokens)
            async let two = old.send("POST", Paths.tokens)
            let answers = try await [one, two].sorted { $0.status < $1.status }
            #expect(answers.map(\.status) == [201, 409])
            #expect(answers[1].code == "token_replaced")
            let fresh = try #require(answers[0][member: "token"]?.string)
            clock.advance(.seconds(60))
            #expect(try await app.client().with(token: fresh).get(Paths.current).status == 200)
        }
    }
}
