import Configuration
import JSONDocument
import Support
import Testing

@Suite("The admin listener")
struct AdminTests {
    static let key = "0123456789abcdef-key"
    static let paths = [
        "/v1/sessions", "/v1/sessions/ses_00000000000000000000000000000000", "/v1/service-kinds", "/v1/stats",
        "/metrics", "/v1/users/ada/sessions",
    ]

    @Test("with a key, nothing of a session is shown without it, in either field")
    func key() async throws {
        try await withApplication { configuration in
            configuration.admin.key = Secret(Self.key)
        } _: { app in
            for path in Self.paths {
                for fields in [
                    [], [("X-Admin-Key", "")], [("X-Admin-Key", Self.key + "x")],
                    [("X-Admin-Key", String(Self.key.dropLast()))], [("Authorization", "Bearer wrong")],
                    [("Authorization", "Basic \(Self.key)")], [("Authorization", Self.key)],
                    [("X-Admin-Key", Self.key.uppercased())],
                ] {
                    let answer = try await app.admin().get(path, fields: fields)
                    #expect(answer.status == 401)
                    #expect(answer.code == "admin_key_needed")
                    #expect(try await app.admin().get("\(path)?no=such", fields: fields).status == 401)
                }
                let gateway = ("Authorization", "Basic c3RhZ2luZzpzZWNyZXQ=")
                for fields in [
                    [("X-Admin-Key", Self.key)], [("Authorization", "Bearer \(Self.key)")],
                    [("X-Admin-Key", Self.key), gateway], [("X-Admin-Key", Self.key), ("Authorization", "Bearer eyJ")],
                ] {
                    let answer = try await app.admin().get(path, fields: fields)
                    #expect(answer.status == 200 || answer.code == "session_not_found")
                }
                for fields in [
                    [("X-Admin-Key", Self.key), ("Authorization", "Bearer cg_x")],
                    [("X-Admin-Key", Self.key), ("X-Admin-Key", Self.key)], [gateway, gateway],
                ] {
                    #expect(try await app.admin().get(path, fields: fields).code == "ambiguous_credentials")
                }
            }
            // What is on both listeners needs none.
            for path in ["/health/alive", "/health/ready", "/version", "/openapi.json", "/problems/not_found"] {
                #expect(try await app.admin().get(path).status == 200)
            }
        }
    }

    @Test(
        "any user id can be listed and ended",
        arguments: [
            "ada", "https://idp.example/users/7", "a/b", ".", "..", "../..", "ada\n", "\n", "a b", " ", "a+b", "a%2Fb",
            "%",
            "ü", "👩‍🚀", "a?b=c", "a&b=c", "a#b", "a;b", "\"a\"", "\\", "auth0|5f7c8ec7c33c6c004bbafe82",
            "ada@example.org",
            "CN=Ada,O=Example", "null", "a\u{0}b",
        ])
    func users(id: String) async throws {
        try await withApplication { app in
            let sessions = [try await app.newSession().id, try await app.newSession().id]
            let body = (["user_id": JSONDocument(id)] as JSONDocument).serialized()
            let admin = app.admin()
            let path = "/v1/sessions/\(sessions[0])/user"
            let signedIn = try await admin.send("PUT", path, json: String(decoding: body, as: UTF8.self))
            #expect(signedIn.status == 200)
            let encoded = id.utf8.map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            let listed = try await admin.get("/v1/sessions?user_id=\(encoded)")
            #expect(listed.items.map { $0[member: "id"]?.string } == [sessions[0]])
            let ended = try await admin.send("DELETE", "/v1/sessions?user_id=\(encoded)")
            #expect(ended.status == 200 && ended[member: "count"] == 1)
            #expect(try await admin.get("/v1/sessions/\(sessions[0])").status == 404)
            // Nobody has an empty id.
            #expect(try await admin.send("DELETE", "/v1/sessions?user_id=")[member: "count"] == 0)
            // A filter that has got lost ends nobody.
            for (path, body) in [("/v1/sessions?", nil), ("/v1/sessions", #"{"user_id":"ada"}"#)] {
                #expect(try await admin.send("DELETE", path, json: body).status == 400)
            }
            #expect(try await admin.get("/v1/sessions/\(sessions[1])").status == 200)
        }
    }

    @Test("the key opens nothing on the public listener, a session's token nothing on the admin listener")
    func apart() async throws {
        try await withApplication { configuration in
            configuration.admin.key = Secret(Self.key)
        } _: { app in
            let token = try await app.newSession().token
            #expect(try await app.client().with(token: Self.key).get(Paths.current).status == 401)
            #expect(try await app.admin().with(token: token).get("/v1/sessions").status == 401)
            for path in ["/metrics", "/v1/stats", "/v1/service-kinds", "/v1/users/ada/sessions"] {
                #expect(try await app.client().get(path).status == 404)
            }
        }
    }

    @Test("off loopback it does not start without a key")
    func mandatory() {
        let loader = ConfigurationLoader(environment: [:], files: FileReader())
        let loaded = loader.load(
            file: "/dev/null/none", flags: [FlagValue(flag: "--admin-host", path: "admin.host", text: "0.0.0.0")])
        #expect(loaded.hasErrors)
        #expect(loaded.problems.contains { $0.description.contains("admin.key is missing") })
    }

    @Test("sessions are listed, read and ended")
    func sessions() async throws {
        try await withApplication { app in
            let (client, id, _) = try await app.newSession()
            let shown = try await app.admin().get("/v1/sessions/\(id)")
            #expect(shown.status == 200)
            #expect(try shown.json.names == SessionTests.members)
            #expect(try await app.admin().get("/v1/sessions").items == [try shown.json])
            #expect(try await app.admin().send("DELETE", "/v1/sessions/\(id)").status == 204)
            #expect(try await client.get(Paths.current).status == 401)
            #expect(try await app.admin().get("/v1/sessions").items.isEmpty)
            for method in ["GET", "DELETE"] {
                let gone = try await app.admin().send(method, "/v1/sessions/\(id)")
                #expect(gone.status == 404)
                #expect(gone.code == "session_not_found")
            }
            #expect(try await app.admin().get("/v1/sessions/current").status == 404)
        }
    }

    @Test("services are read and written like by the client, user too")
    func services() async throws {
        try await withApplication { app in
            let (client, id, _) = try await app.newSession()
            let admin = app.admin()
            let profile = Paths.service("profile", of: id)
            let put = try await admin.send("PUT", profile, json: #"{"name":"Ada"}"#, fields: [("If-Match", "\"0\"")])
            #expect(put.status == 200)
            #expect(try await client.get(Paths.profile).body == put.body)
            #expect(try await admin.patch(profile, #"{"name":"Grace"}"#).status == 200)
            #expect(try await admin.patch(profile, #"{"name":1}"#).status == 400)
            #expect(try await admin.patch(profile, #"{"name":"x"}"#, fields: [("If-Match", "\"2\"")]).status == 412)
            #expect(try await client.get(Paths.profile)[member: "name"] == "Grace")
            #expect(try await admin.get(profile, fields: [("If-None-Match", "\"3\"")]).status == 304)
            #expect(try await admin.send("DELETE", profile).status == 204)
            #expect(try await client.get(Paths.profile).json == defaultProfile)
            #expect(try await admin.get("/v1/sessions/\(id)/services").items.count == 5)
            #expect(try await admin.get(Paths.service("nope", of: id)).code == "service_not_found")

            let user = try await admin.send(
                "PUT", Paths.service("user", of: id), json: #"{"id":"ada","authenticated":true,"claims":{"a":1}}"#)
            #expect(user.status == 200)
            #expect(try await client.get(Paths.user).json == ["id": "ada", "authenticated": true, "claims": ["a": 1]])
            #expect(try await admin.patch(Paths.service("user", of: id), #"{"claims":{"a":2}}"#).status == 200)
        }
    }

    @Test("writing the service user attaches whom it names, and clearing it nobody: the two always agree")
    func userService() async throws {
        let services = [try ServiceFile(name: "orders", boundTo: .user)]
        try await withApplication(services: services) { app in
            let (client, id, _) = try await app.newSession()
            let admin = app.admin()
            let path = Paths.service("user", of: id)
            func expect(_ user: String?, _ location: SourceLocation = #_sourceLocation) async throws {
                let seen = [
                    try await client.get(Paths.current)[member: "user_id"]?.string,
                    try await client.get(Paths.user)[member: "id"]?.string,
                ]
                #expect(seen == [user, user], sourceLocation: location)
                for name in ["ada", "grace"] {
                    let listed = try await admin.get("/v1/users/\(name)/sessions").items.count
                    #expect(listed == (name == user ? 1 : 0), sourceLocation: location)
                }
            }
            let ada = #"{"id":"ada","authenticated":true,"claims":{}}"#
            #expect(try await admin.send("PUT", path, json: ada).status == 200)
            try await expect("ada")
            try await client.patch(Paths.service("orders"), #"{"x":1}"#)
            #expect(try await admin.patch(path, #"{"claims":{"a":1}}"#).status == 200)
            #expect(try await client.get(Paths.service("orders")).json == ["x": 1], "the same user keeps it")
            #expect(try await admin.patch(path, #"{"id":"grace"}"#).status == 200)
            try await expect("grace")
            #expect(try await client.get(Paths.service("orders")).json == .emptyObject)
            #expect(try await admin.send("DELETE", path + "/state").status == 204)
            try await expect(nil)
            for (method, path, json) in [
                ("PUT", path, #"{"id":null,"authenticated":false,"claims":{}}"#), ("DELETE", path, nil),
                ("DELETE", "/v1/sessions/\(id)/services", nil),
            ] {
                try await admin.send("PUT", Paths.service("user", of: id), json: ada)
                try await expect("ada")
                #expect(try await admin.send(method, path, json: json).status < 300)
                try await expect(nil)
            }
            let long = String(repeating: "ä", count: 200)
            let refused = try await admin.patch(path, #"{"id":"\#(long)","authenticated":true}"#)
            #expect(refused.status == 400)
            #expect(try refused.json[member: "errors"]?[0]?[member: "pointer"] == "/id")
            try await expect(nil)
        }
    }

    @Test("OPTIONS says what an admin may do with each service")
    func options() async throws {
        try await withApplication { app in
            let id = try await app.newSession().id
            for (name, allow) in [
                ("user", "DELETE, GET, HEAD, OPTIONS, PATCH, PUT"), ("coordinator", "DELETE, GET, HEAD, OPTIONS"),
            ] {
                let path = Paths.service(name, of: id)
                #expect(try await app.admin().send("OPTIONS", path)["Allow"] == allow)
                #expect(try await app.admin().send("POST", path)["Allow"] == allow)
            }
            let refused = try await app.admin().send("PUT", Paths.service("coordinator", of: id), json: "{}")
            #expect(refused.status == 405)
            #expect(refused["Allow"] == "DELETE, GET, HEAD, OPTIONS")
        }
    }

    @Test("sign-in attaches the user and rotates the token at once: the old one is dead without grace")
    func signIn() async throws {
        try await withApplication { app in
            let (old, id, token) = try await app.newSession()
            let rotated = try #require(try await old.send("POST", Paths.tokens)[member: "token"]?.string)
            try await old.patch(Paths.profile, #"{"name":"Ada"}"#)
            let answer = try await app.admin().send(
                "PUT", "/v1/sessions/\(id)/user", json: #"{"user_id":"ada","claims":{"roles":["admin"]}}"#)
            #expect(answer.status == 200)
            #expect(try answer.json.names == ["session", "token"])
            #expect(answer[member: "session"]?[string: "user_id"] == "ada")
            let fresh = try #require(answer[member: "token"]?.string)
            #expect(![token, rotated].contains(fresh))
            for dead in [token, rotated] {
                #expect(try await app.client().with(token: dead).get(Paths.current).status == 401)
            }
            let client = app.client().with(token: fresh)
            #expect(try await client.get(Paths.current)[member: "user_id"] == "ada", "a dead token is no theft here")
            #expect(try await client.get(Paths.profile)[member: "name"] == "Ada", "the session goes on")
            #expect(
                try await client.get(Paths.user).json == [
                    "id": "ada", "authenticated": true, "claims": ["roles": ["admin"]],
                ])
        }
    }

    @Test("a sign-in can say how long the session lasts, within what the configuration allows")
    func chosenTimes() async throws {
        let allow = { (configuration: inout Configuration) in
            configuration.sessionIdleTimeoutMax = .seconds(14 * 86_400)
            configuration.sessionLifetimeMax = .seconds(90 * 86_400)
        }
        try await withApplication(allow) { app in
            let id = try await app.newSession().id
            let answer = try await app.admin().send(
                "PUT", "/v1/sessions/\(id)/user",
                json: #"{"user_id":"ada","idle_timeout":"7d","lifetime":"P30D"}"#)
            let session = try #require(answer[member: "session"])
            let times = try ["last_used_at", "idle_expires_at", "expires_at"].map { name in
                try #require(session[string: name].flatMap { Timestamp($0) }).millisecondsSince1970
            }
            #expect(times[1] - times[0] == 7 * 86_400_000)
            // The last use is that of the client before.
            #expect((30 * 86_400_000..<30 * 86_400_000 + 60_000).contains(times[2] - times[0]))
            let refused = try await app.admin().send(
                "PUT", "/v1/sessions/\(id)/user", json: #"{"user_id":"ada","lifetime":"91d","idle_timeout":"15d"}"#)
            #expect(refused.status == 400 && refused.pointers == ["/idle_timeout", "/lifetime"])
        }
    }

    @Test("sign-out removes what is bound to a user, and nothing else; the token stays")
    func signOut() async throws {
        let services = [try ServiceFile(name: "orders", boundTo: .user), try ServiceFile(name: "theme")]
        try await withApplication(services: services) { app in
            let id = try await app.newSession().id
            let client = app.client().with(token: try await app.signIn("ada", to: id))
            for name in ["orders", "theme"] { try await client.patch(Paths.service(name), #"{"x":1}"#) }
            try await client.patch(Paths.profile, #"{"name":"Ada"}"#)
            for _ in 0..<2 {
                #expect(try await app.admin().send("DELETE", "/v1/sessions/\(id)/user").status == 204)
            }
            #expect(try await client.get(Paths.current)[member: "user_id"]?.isNull == true)
            #expect(try await client.listing(of: "orders")?[string: "status"] == "registered")
            #expect(try await client.listing(of: "user")?[string: "status"] == "registered")
            #expect(try await client.get(Paths.service("orders")).json == .emptyObject)
            #expect(try await client.get(Paths.service("theme")).json == ["x": 1])
            #expect(try await client.get(Paths.profile)[member: "name"] == "Ada")
            #expect(try await client.get(Paths.user)[member: "authenticated"] == false)
            #expect(try await client.get(Paths.sessions).status == 403)
        }
    }

    @Test(
        "a sign-in that is none is 400",
        arguments: [
            ("{}", "invalid_input", "/user_id"), (#"{"user_id":7}"#, "invalid_input", "/user_id"),
            (#"{"user_id":""}"#, "invalid_state", "/user_id"),
            (#"{"user_id":"a","claims":[]}"#, "invalid_input", "/claims"),
            (#"{"user_id":"a","roles":[]}"#, "invalid_input", "/roles"), ("[]", "invalid_input", ""),
            (#"{"user_id":"a","lifetime":30}"#, "invalid_input", "/lifetime"),
            (#"{"user_id":"a","lifetime":"13h"}"#, "invalid_state", "/lifetime"),
        ])
    func badSignIn(body: String, code: String, pointer: String) async throws {
        try await withApplication { app in
            let (client, id, _) = try await app.newSession()
            let answer = try await app.admin().send("PUT", "/v1/sessions/\(id)/user", json: body)
            #expect(answer.status == 400)
            #expect(answer.code == code)
            #expect(answer.pointers == [pointer])
            #expect(try await client.get(Paths.current).status == 200, "the token was not touched")
        }
    }

    @Test("the sessions of a user are listed and ended, whatever the user's name")
    func ofUser() async throws {
        try await withApplication { app in
            let name = "a b?c&d"
            let path = "/v1/users/a%20b%3Fc%26d/sessions"
            var clients: [TestClient] = []
            for _ in 0..<3 {
                let id = try await app.newSession().id
                clients.append(app.client().with(token: try await app.signIn(name, to: id)))
            }
            let other = try await app.newSession()
            #expect(try await app.admin().get(path).items.count == 3)
            let ended = try await app.admin().send("DELETE", path)
            #expect(ended.status == 200)
            #expect(try ended.json == ["count": 3])
            for client in clients { #expect(try await client.get(Paths.current).status == 401) }
            #expect(try await other.client.get(Paths.current).status == 200)
            #expect(try await app.admin().send("DELETE", path).json == ["count": 0])
            #expect(try await app.admin().get("/v1/users/nobody/sessions").items.isEmpty)
        }
    }

    @Test("service kinds and numbers are shown")
    func insight() async throws {
        let notes = try ServiceFile(
            name: "notes", default: ["a": 1], lifetime: .seconds(90), concurrency: .firstWrite, boundTo: .user)
        try await withApplication(services: [notes]) { app in
            let client = try await app.newSession().client
            try await client.get(Paths.service("notes"))
            let kinds = try await app.admin().get("/v1/service-kinds")
            #expect(
                kinds.items.map { $0[string: "name"] } == [
                    "profile", "temporary-profile", "quote", "user", "coordinator", "notes",
                ])
            let expected: JSONDocument = [
                "name": "notes", "kind": "document", "default": ["a": 1], "concurrency": "first_write",
                "lifetime_ms": 90_000, "bound_to_user": true, "read_only": false, "hidden": false, "live": 1,
                "scope": "session",
            ]
            #expect(kinds.items.last == expected)
            let statistics = try await app.admin().get("/v1/stats").json
            let counts: JSONDocument = [
                "live": 1, "created": 1, "ended": 0, "stored": 1, "resident": 1, "allowed": 1_000_000,
            ]
            #expect(statistics[member: "sessions"] == counts)
            #expect(statistics[member: "services"]?[member: "notes"] == 1)
            #expect(statistics[member: "store"]?[member: "kind"] == "memory")
        }
    }
}
