import Configuration
import HTTPTestClient
import JSONDocument
import RedisTestServer
import Sessions
import Support
import Testing

/// Everything that there is of a person: exported, and erased.
@Suite("Persons")
struct PersonTests {
    /// The ids of users that differ in little, or that no path can carry.
    private static let ids = [
        "ada", "Ada", "ADA", "ada ", "a b", "a/b", ".", "..", "/", "%", "a%2Fb", "a?b", "a#b", "https://idp.example/x",
        "ada@example.org", "👩‍🚀", "\u{301}ada", String(repeating: "x", count: 256), "ada\n", "a+b", "a:b", "\"ada\"",
        "a\\b", "caf\u{e9}", "cafe\u{301}", "null", "*", "a}=", "a\u{0}b",
    ]

    private static func encoded(_ id: String) -> String {
        id.utf8.map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    private static func path(_ id: String) -> String { "/v1/users?user_id=\(encoded(id))" }

    /// What a person has entered, which no other has.
    private static func secret(_ number: Int) -> String { "secret-\(number)-of-a-person" }

    /// Signs one person of each id in, and erases one after the other.
    private static func eraseAll(
        _ client: TestClient, _ admins: [TestClient], other: TestClient? = nil
    ) async throws {
        var sessions: [String] = []
        for (number, id) in ids.enumerated() {
            let created = try await client.send("POST", "/v1/sessions")
            let session = try #require(created[member: "session"]?[string: "id"])
            let body = String(decoding: (["user_id": JSONDocument(id)] as JSONDocument).serialized(), as: UTF8.self)
            let signedIn = try await admins[0].send("PUT", "/v1/sessions/\(session)/user", json: body)
            #expect(signedIn.status == 200, "\(id.debugDescription)")
            let service = Paths.service("profile", of: session)
            #expect(try await admins[0].patch(service, #"{"name":"\#(secret(number))"}"#).status == 200)
            sessions.append(session)
        }
        for (number, id) in ids.enumerated() {
            let admin = admins[number % admins.count]
            let name = "\(id.debugDescription)"
            let export = try await admin.get(path(id))
            #expect(
                export.status == 200 && (export[member: "user_id"]?.string).map { Array($0.utf8) } == Array(id.utf8),
                "\(name)")
            let exported = export[member: "sessions"]?.elements ?? []
            #expect(exported.map { $0[member: "session"]?[string: "id"] } == [sessions[number]], "\(name)")
            #expect(export.text.contains(secret(number)), "\(name)")
            // The same by the path, where it can carry the id.
            if !["/", ".", "..", "a/b", "ada\n", "https://idp.example/x", "a\u{0}b"].contains(id) {
                #expect(try await admin.get("/v1/users/\(encoded(id))").body == export.body, "\(name)")
            }
            let named = try await admin.get("/v1/tasks?user_id=\(encoded(id))").items
            #expect(named.map { $0[string: "session"] } == [sessions[number], sessions[number]], "\(name)")
            let erased = try await admin.send("DELETE", path(id))
            #expect(
                try erased.status == 200 && erased.json == ["sessions": 1, "journeys": 0, "tasks": 0, "notices": 1])
            let again = try await admin.send("DELETE", path(id))
            #expect(try again.json == ["sessions": 0, "journeys": 0, "tasks": 0, "notices": 0], "\(name)")
            // Wherever it is looked for.
            for admin in admins {
                #expect(try await admin.get("/v1/sessions/\(sessions[number])").status == 404)
                #expect(try await admin.get("/v1/sessions?user_id=\(encoded(id))").items.isEmpty)
                let left = try await admin.get(path(id))
                #expect(left[member: "sessions"] == [] && left[member: "tasks"] == [], "\(name)")
                let notices = left[member: "notices"]?.elements ?? []
                #expect(notices.map { $0[member: "input"]?[string: "reason"] } == ["erased"], "\(name)")
                let lines = try await admin.send("POST", "/v1/exports").text
                #expect(!lines.contains(secret(number)) && !lines.contains(sessions[number]), "\(name)")
                // And nothing of the others has gone.
                for later in number + 1..<ids.count { #expect(lines.contains(secret(later)), "\(name)") }
            }
        }
        let told = try await admins[0].claim("feed", max: 100)
        let erased = told.filter { $0[member: "input"]?[string: "reason"] == "erased" }
        #expect(
            Set(erased.compactMap { $0[member: "session"]?[string: "user_id"].map { Array($0.utf8) } })
                == Set(ids.map { Array($0.utf8) }))
        for task in told { #expect(try await admins[0].post("result", of: task, #"{"outcome":"ok"}"#).status == 204) }
        for id in ids {
            #expect(try await admins[0].get("/v1/tasks?user_id=\(encoded(id))").items.isEmpty)
            #expect(try await admins[0].get(path(id))[member: "notices"] == [])
        }
    }

    @Test("any user id is exported and erased, and nothing of a twin goes", arguments: TaskTests.Store.allCases)
    func ids(store: TaskTests.Store) async throws {
        try await withFolder([:]) { _, folder in
            try await withApplication {
                if store == .sqlite { $0.store = .sqlite("\(folder)/sessions.db") }
                $0.sessionNotices = "feed"
            } _: { app in
                try await Self.eraseAll(app.client(), [app.admin()])
            }
        }
    }

    @Test("the same of two servers with one Redis")
    func shared() async throws {
        let redis = try RedisTestServer()
        func start() async throws -> ServingProgram {
            try await ServingProgram([
                "--store", "redis://127.0.0.1:\(redis.port)", "--set", "session_notices=feed", "--set",
                "store_grace=0s",
            ])
        }
        let (one, two) = (try await start(), try await start())
        try await Self.eraseAll(one.client, [one.admin, two.admin])
        for server in [one, two] { try await server.end() }
    }

    @Test("a request without a user, or with an empty one, erases nobody")
    func nobody() async throws {
        try await withApplication { app in
            let id = try await app.newSession().id
            _ = try await app.signIn("ada", to: id)
            let admin = app.admin()
            for path in ["/v1/users", "/v1/users?user_id=", "/v1/users?"] {
                for method in ["GET", "DELETE"] {
                    let refused = try await admin.send(method, path)
                    #expect(
                        refused.status == 400 && refused.code == "invalid_input" && refused.pointers == ["/user_id"])
                }
            }
            #expect(try await admin.send("DELETE", "/v1/users?user=ada").status == 400)
            #expect(try await admin.send("DELETE", "/v1/users?user_id=ada&user_id=bob").status == 400)
            #expect(try await admin.get("/v1/sessions/\(id)").status == 200)
            // Of a person of whom there is nothing.
            let export = try await admin.get("/v1/users/nobody")
            let nothing: JSONDocument = [
                "user_id": "nobody", "notices": [], "tasks": [], "damaged_sessions": [], "sessions": [],
            ]
            #expect(try export.status == 200 && export.json == nothing)
            #expect(export["Cache-Control"] == "no-store" && export["Content-Type"] == "application/json")
            #expect(try await admin.send("HEAD", "/v1/users/nobody").status == 200)
        }
    }

    @Test("a copy of the request with its key is told the same")
    func repeated() async throws {
        try await withApplication { app in
            _ = try await app.signIn("ada", to: try await app.newSession().id)
            let key = [(name: "Idempotency-Key", value: "\"once\"")]
            let first = try await app.admin().send("DELETE", "/v1/users/ada", fields: key)
            _ = try await app.signIn("ada", to: try await app.newSession().id)
            let copy = try await app.admin().send("DELETE", "/v1/users/ada", fields: key)
            #expect(try first.json == copy.json && copy["Idempotency-Replayed"] == "true")
            #expect(try await app.admin().get("/v1/users/ada/sessions").items.count == 1)
        }
    }

    @Test("both have a line in the log with counts, whatever its level")
    func audit() async throws {
        var settings = Configuration().log
        settings.level = .error
        settings.users = .plain
        let file = try LogFile(settings)
        try await withApplication(log: file) { app in
            let id = try await app.newSession().id
            _ = try await app.signIn("ada", to: id)
            let admin = app.admin()
            try await admin.get("/v1/users/ada", fields: [("Request-Id", "read-1")])
            try await admin.send("DELETE", "/v1/users?user_id=ada", fields: [("Request-Id", "erase-1")])
            #expect(try await admin.get("/v1/users").status == 400)
            try await admin.get("/v1/users/ada/sessions")
        }
        let documents = try file.documents()
        let reads = documents.filter { $0[string: "event"] == "admin_read" }
        #expect(reads.map { $0[string: "route"] } == ["/v1/users/{user}", "/v1/users/{user}/sessions"])
        let read = try #require(reads.first { $0[string: "request_id"] == "read-1" })
        #expect(read[string: "route"] == "/v1/users/{user}" && read[string: "user"] == "ada")
        #expect(read[string: "key"] == "loopback" && read[member: "status"] == 200)
        #expect(read[member: "sessions"] == 1 && read[member: "notices"] == 0)
        let erase = try #require(documents.first { $0[string: "request_id"] == "erase-1" })
        #expect(erase[string: "event"] == "admin_change" && erase[string: "user"] == "ada")
        #expect(erase[string: "route"] == "/v1/users" && erase[string: "method"] == "DELETE")
        #expect(["sessions", "journeys", "tasks", "notices"].map { erase[member: $0] } == [1, 0, 0, 0])
    }

    @Test("when the store fails in the middle it is 503, and the next call does the rest")
    func failure() async throws {
        let store = SteeredStore()
        try await withApplication(store: store) { app in
            _ = try await app.signIn("ada", to: try await app.newSession().id)
            store.before { call throws(StoreError) in if call == .end { throw .unavailable("no disk") } }
            let refused = try await app.admin().send("DELETE", "/v1/users/ada")
            #expect(refused.status == 503 && refused["Retry-After"] != nil)
            #expect(try await app.admin().get("/v1/users/ada")[member: "sessions"]?.elements?.count == 1)
            store.before { call throws(StoreError) in if call == .list { throw .unavailable("no disk") } }
            #expect(try await app.admin().get("/v1/users/ada").status == 503)
            store.before(nil)
            #expect(try await app.admin().send("DELETE", "/v1/users/ada")[member: "sessions"] == 1)
        }
    }

    @Test("a stream of the session ends, and says why")
    func stream() async throws {
        try await withApplication { app in
            let id = try await app.newSession().id
            let token = try await app.signIn("ada", to: id)
            let events = try await EventReader.open(app.client().with(token: token))
            #expect(try await app.admin().send("DELETE", "/v1/users/ada").status == 200)
            var last: EventReader.Event?
            while let event = try await events.next() { last = event }
            #expect(last?.name == "session.ended" && last?["reason"] == "erased")
        }
    }
}
