import JSONDocument
import Support
import Testing

@Suite("Sessions")
struct SessionTests {
    static let members: Set<String> = [
        "id", "created_at", "last_used_at", "idle_expires_at", "expires_at", "user_id", "labels", "revision",
    ]

    @Test(
        "POST makes one: 201 with Location, the session and its token",
        arguments: [
            (nil, .emptyObject), ("{}", .emptyObject), (#"{"mode":"bearer"}"#, .emptyObject),
            (#"{"labels":{"device":"phone","app":"web"}}"#, ["device": "phone", "app": "web"]),
        ] as [(String?, JSONDocument)])
    func creates(body: String?, labels: JSONDocument) async throws {
        try await withApplication { app in
            let created = try await app.client().send("POST", Paths.sessions, json: body)
            #expect(created.status == 201)
            #expect(try created.json.names == ["session", "token"])
            let session = try #require(created[member: "session"])
            #expect(session.names == Self.members)
            let id = try #require(session[string: "id"])
            #expect(id.hasPrefix("ses_"))
            #expect(created["Location"] == "/v1/sessions/\(id)")
            for time in ["created_at", "last_used_at", "idle_expires_at", "expires_at"] {
                #expect(isTimestamp(session[string: time]), "\(time)")
            }
            #expect(session[member: "user_id"]?.isNull == true)
            #expect(session[member: "labels"] == labels)
            #expect(session[member: "revision"]?.int == 1)
            #expect(created["Set-Cookie"] == nil)
        }
    }

    @Test(
        "POST with a body that is none is refused, place by place",
        arguments: [
            ("[]", "invalid_input", ""),
            (#"{"mode":"token"}"#, "invalid_input", "/mode"),
            (#"{"mode":1}"#, "invalid_input", "/mode"),
            (#"{"token":"x"}"#, "invalid_input", "/token"),
            (#"{"labels":[]}"#, "invalid_state", "/labels"),
            (#"{"labels":{"a":1}}"#, "invalid_state", "/labels/a"),
            (#"{"labels":{"":"x"}}"#, "invalid_state", "/labels/"),
        ])
    func refused(body: String, code: String, pointer: String) async throws {
        try await withApplication { app in
            let answer = try await app.client().send("POST", Paths.sessions, json: body)
            #expect(answer.status == 400)
            #expect(answer.code == code)
            #expect(answer.pointers == [pointer])
        }
    }

    @Test("current and the own id are the same session; anybody else's id is 404")
    func paths() async throws {
        try await withApplication { app in
            let (client, id, _) = try await app.newSession()
            let (_, otherID, _) = try await app.newSession()
            let current = try await client.get(Paths.current)
            #expect(current.status == 200)
            #expect(try current.json.names == Self.members)
            #expect(current[member: "id"]?.string == id)
            #expect(try await client.get("/v1/sessions/\(id)")[member: "id"]?.string == id)
            for foreign in [otherID, "ses_00000000000000000000000000000000", "ses_", "me", "CURRENT"] {
                let answers = [
                    try await client.get("/v1/sessions/\(foreign)"),
                    try await client.get("/v1/sessions/\(foreign)/services"),
                    try await client.get("/v1/sessions/\(foreign)/services/profile"),
                    try await client.patch("/v1/sessions/\(foreign)/services/profile", #"{"name":"x"}"#),
                    try await client.send("DELETE", "/v1/sessions/\(foreign)"),
                    try await client.send("POST", "/v1/sessions/\(foreign)/tokens"),
                ]
                for answer in answers {
                    #expect(answer.status == 404)
                    #expect(answer.code == "session_not_found")
                }
            }
        }
    }

    @Test(
        "PATCH merges labels: sets, replaces, removes", arguments: ["application/json", "application/merge-patch+json"])
    func patchesLabels(type: String) async throws {
        try await withSession { client in
            func patch(_ body: String) async throws -> JSONDocument? {
                let answer = try await client.send(
                    "PATCH", Paths.current, json: body, fields: [("Content-Type", type)])
                #expect(answer.status == 200)
                return answer[member: "labels"]
            }
            #expect(try await patch(#"{"labels":{"a":"1","b":"2"}}"#) == ["a": "1", "b": "2"])
            #expect(try await patch(#"{"labels":{"a":null,"b":"3","c":"4"}}"#) == ["b": "3", "c": "4"])
            #expect(try await patch("{}") == ["b": "3", "c": "4"])
            #expect(try await client.get(Paths.current)[member: "labels"] == ["b": "3", "c": "4"])
            #expect(try await patch(#"{"labels":null}"#) == .emptyObject)
            let wrong = try await client.patch(Paths.current, #"{"labels":{"a":1,"b":"fine"},"user_id":"ada"}"#)
            #expect(wrong.status == 400 && wrong.pointers.contains("/user_id"))
        }
    }

    @Test("a JSON Patch of a session is 415, with what is possible")
    func noJSONPatch() async throws {
        try await withSession { client in
            let answer = try await client.send(
                "PATCH", Paths.current, json: "[]", fields: [("Content-Type", "application/json-patch+json")])
            #expect(answer.status == 415)
            #expect(answer["Accept-Patch"] == "application/merge-patch+json, application/json")
        }
    }

    @Test("DELETE ends it: its services are removed, its token is dead at once and for good", arguments: [true, false])
    func ends(byID: Bool) async throws {
        try await withApplication { app in
            let (client, id, _) = try await app.newSession()
            try await client.patch(Paths.profile, #"{"name":"Ada"}"#)
            try await client.get(Paths.quote)
            let ended = try await client.send("DELETE", byID ? "/v1/sessions/\(id)" : Paths.current)
            #expect(ended.status == 204)
            #expect(ended["Set-Cookie"] == nil)
            for _ in 0..<2 {
                #expect(try await client.get(Paths.current).status == 401)
                #expect(try await client.get(Paths.profile).status == 401)
                #expect(try await client.send("DELETE", Paths.current).status == 401)
                #expect(try await client.send("POST", Paths.tokens).status == 401)
            }
            #expect(try await app.admin().get("/v1/sessions/\(id)").status == 404)
            let statistics = try await app.admin().get("/v1/stats")
            let counts: JSONDocument = [
                "live": 0, "created": 1, "ended": 1, "stored": 0, "resident": 0, "allowed": 1_000_000,
            ]
            #expect(statistics[member: "sessions"] == counts)
            let live = statistics[member: "services"]?.members ?? []
            #expect(!live.isEmpty)
            #expect(live.allSatisfy { $0.value.int == 0 })
        }
    }

    @Test("the sessions of the caller's user: 403 without one, else listed, and all but the caller's ended")
    func ofUser() async throws {
        try await withApplication { app in
            let stranger = try await app.newSession()
            for method in ["GET", "DELETE"] {
                let answer = try await stranger.client.send(method, Paths.sessions)
                #expect(answer.status == 403)
                #expect(answer.code == "no_user")
            }
            var tokens: [String] = []
            var ids: Set<String> = []
            for _ in 0..<3 {
                let session = try await app.newSession()
                tokens.append(try await app.signIn("ada", to: session.id))
                ids.insert(session.id)
            }
            let other = try await app.newSession()
            let otherToken = try await app.signIn("grace", to: other.id)
            let caller = app.client().with(token: tokens[0])
            let list = try await caller.get(Paths.sessions)
            #expect(list.status == 200)
            #expect(Set(list.items.compactMap { $0[string: "id"] }) == ids)
            #expect(list.items.allSatisfy { $0.names == Self.members && $0[string: "user_id"] == "ada" })
            let ended = try await caller.send("DELETE", Paths.sessions)
            #expect(ended.status == 200)
            #expect(try ended.json == ["count": 2])
            #expect(try await caller.get(Paths.current).status == 200)
            for token in tokens[1...] {
                #expect(try await app.client().with(token: token).get(Paths.current).status == 401)
            }
            #expect(try await app.client().with(token: otherToken).get(Paths.current).status == 200)
            #expect(try await stranger.client.get(Paths.current).status == 200)
        }
    }

    @Test("a user ends another session of theirs, and nobody else's; a back end ends all")
    func endsOther() async throws {
        try await withApplication { app in
            var sessions: [(id: String, client: TestClient)] = []
            for user in ["ada", "ada", "grace"] {
                let session = try await app.newSession()
                sessions.append((session.id, app.client().with(token: try await app.signIn(user, to: session.id))))
            }
            let stranger = try await app.newSession()
            let ada = sessions[0].client
            for id in [sessions[2].id, stranger.id, "ses_\(String(repeating: "0", count: 32))"] {
                #expect(try await ada.send("DELETE", "/v1/sessions/\(id)").code == "session_not_found")
                #expect(try await stranger.client.send("DELETE", "/v1/sessions/\(sessions[0].id)").status == 404)
            }
            let ended = try await ada.send("DELETE", "/v1/sessions/\(sessions[1].id)")
            #expect(ended.status == 204 && ended["Clear-Site-Data"] == nil)
            #expect(try await sessions[1].client.get(Paths.current).status == 401)
            #expect(try await ada.get("/v1/sessions/\(sessions[2].id)").status == 404)
            #expect(try await app.admin().send("DELETE", Paths.sessions).json == ["count": 3])
            #expect(try await stranger.client.get(Paths.current).status == 401)
            #expect(try await app.admin().get(Paths.sessions).items.isEmpty)
        }
    }
}
