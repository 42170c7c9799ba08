import Configuration
import HTTPServer
import HTTPTestClient
import JSONDocument
import Sessions
import Support
import Testing

@Suite("Access to the admin listener")
struct AdminAccessTests {
    private static let keys = ["first-key-0123456789", "second-key-0123456789"]

    private static func hash(_ key: String, _ name: String) -> AdminKeyHash {
        AdminKeyHash(name: name, digest: SHA256Digest(of: Array(key.utf8)))
    }

    @Test("several keys are valid at the same time, of which the configuration has only the digests")
    func several() async throws {
        let file = try LogFile()
        let id = try await withApplication(log: file) { configuration in
            configuration.admin.key = Secret(AdminTests.key)
            configuration.admin.keyHashes = [Self.hash(Self.keys[0], "old"), Self.hash(Self.keys[1], "new")]
        } _: { app in
            let id = try await app.newSession().id
            for key in Self.keys + [AdminTests.key] {
                let admin = app.admin().with("X-Admin-Key", key)
                let patched = try await admin.patch(Paths.service("profile", of: id), #"{"name":"hunter2"}"#)
                #expect(patched.status == 200)
            }
            let digest = Self.hash(Self.keys[0], "old").digest.text()
            for wrong in [digest, "old", "old:\(digest)"] {
                let refused = try await app.admin().get("/v1/stats", fields: [("X-Admin-Key", wrong)])
                #expect(refused.status == 401)
            }
            return id
        }
        let documents = try file.documents()
        let changes = documents.filter { $0[string: "event"] == "admin_change" }
        #expect(changes.map { $0[string: "key"] } == ["old", "new", "admin.key"])
        for change in changes {
            #expect(
                change.names == [
                    "time", "level", "event", "request_id", "key", "client", "peer", "method", "route",
                    "service", "session_id", "status",
                ])
            #expect(change[string: "client"] == "127.0.0.1")
            #expect(change[string: "method"] == "PATCH")
            #expect(change[string: "service"] == "profile")
            #expect(change[string: "session_id"] == id)
        }
        let refusals = documents.filter { $0[string: "event"] == "admin_key_refused" }
        #expect(refusals.map { $0[string: "level"] } == ["warning", "warning", "warning"])
        #expect(
            refusals.allSatisfy {
                $0[string: "key"] == nil && $0[string: "client"] == "127.0.0.1" && $0[string: "route"] == "/v1/stats"
            })
        let lines = file.lines()
        for secret in Self.keys + [AdminTests.key, "hunter2"] { #expect(!lines.contains { $0.contains(secret) }) }
    }

    @Test(
        "each change, and each read of persons' data, has a line, whatever the level of the log; what is refused has none"
    )
    func audit() async throws {
        var settings = Configuration().log
        settings.level = .error
        settings.users = .plain
        let file = try LogFile(settings)
        try await withApplication(log: file) { app in
            let id = try await app.newSession().id
            _ = try await app.signIn("ada", to: id)
            let admin = app.admin()
            try await admin.get("/v1/sessions")
            try await admin.get("/v1/stats")
            try await admin.patch(Paths.service("profile", of: id), #"{"name":1}"#)
            try await admin.send("DELETE", "/v1/sessions/\(id)/user")
            try await admin.send("DELETE", "/v1/users/ada/sessions")
            try await admin.send("DELETE", "/v1/sessions/\(id)")
            try await admin.send("DELETE", "/v1/sessions/\(id)")
        }
        let lines = try file.documents().map { "\($0[string: "key"] ?? "-") \($0[string: "method"] ?? "-")" }
        #expect(lines == ["loopback PUT", "loopback GET", "loopback DELETE", "loopback DELETE", "loopback DELETE"])
        #expect(try file.documents()[3][string: "user"] == "ada")
    }

    @Test("who reads where a person stands has a line, without what was read; a look at another's or at none has none")
    func reads() async throws {
        let file = try LogFile(Configuration().log)
        try await withApplication(flows: [TestFlows.wizard], log: file) { app in
            let (client, id, _) = try await app.newSession()
            try await client.patch(Paths.profile, #"{"name":"Hypatia"}"#)
            let journey = try await client.start("wizard").replacing("current", with: id)
            let admin = app.admin()
            for path in ["", "/history", "/services", "/services/profile"] {
                #expect(try await admin.get(journey + path).status == 200)
            }
            #expect(try await admin.get("/v1/sessions/\(id)/journeys").items.count == 1)
            #expect(try await admin.get("\(journey)0").status == 404)
            #expect(try await admin.send("OPTIONS", journey).status == 204)
            #expect(try await client.get(journey).status == 200)
        }
        let lines = try file.documents().filter { $0[string: "event"] == "admin_read" }
        #expect(
            lines.compactMap { $0[string: "route"]?.dropFirst("/v1/sessions/{session}/journeys".count) } == [
                "/{id}", "/{id}/history", "/{id}/services", "/{id}/services/{name}", "",
            ])
        #expect(lines.allSatisfy { $0[string: "key"] == "loopback" && $0[string: "session_id"] != nil })
        #expect(lines.first?[string: "id"]?.hasPrefix("jrn_") == true && lines[3][string: "service"] == "profile")
        #expect(!file.lines().contains { $0.contains("Hypatia") })
    }

    @Test("a claim of no task has no line, and claims that wait keep nobody from asking how the server is")
    func claims() async throws {
        let file = try LogFile(Configuration().log)
        // Used by this test alone, during the application's life and after it.
        nonisolated(unsafe) var waiting: [RawConnection] = []
        try await withApplication(flows: [TaskFlows.login], log: file) { configuration in
            configuration.admin.connections = 16
        } _: { app in
            let admin = app.admin()
            #expect(try await admin.claim("slow").isEmpty)
            // One after the other: a client that has connected and sent nothing yet makes room for the next.
            let claim = String(
                decoding: admin.request("POST", "/v1/tasks/claims", json: #"{"task":"slow","wait":"60s"}"#),
                as: UTF8.self)
            waiting = try (0..<40).map { _ in try RawConnection(port: admin.port, sending: claim) }
            let unfinished = try (0..<40).map { _ in
                let connection = try RawConnection(port: admin.port)
                try connection.send("GET /health/ready HTTP/1.1\r\nHost: h")
                return connection
            }
            #expect(try await admin.get("/health/ready").status == 200)
            #expect(try await admin.get("/metrics").status == 200)
            let client = try await app.newSession().client
            for _ in 0..<10 { try await client.event("ask", on: try await client.start("login")) }
            #expect(unfinished.count == 40)
        }
        var claimed = 0
        for connection in waiting { claimed += try connection.readResponse().items.count }
        #expect(claimed == 10)
        let lines = try file.documents().filter { $0[string: "event"] == "admin_change" }
        #expect(lines.map { $0[string: "route"] } == Array(repeating: "/v1/tasks/claims", count: 10))
    }

    @Test("a change that fails in the middle has a line")
    func partialChange() async throws {
        let file = try LogFile(Configuration().log)
        let store = SteeredStore()
        try await withApplication(store: store, log: file) { app in
            _ = try await app.newSession()
            store.before { call throws(StoreError) in if call == .end { throw .unavailable("no disk") } }
            #expect(try await app.admin().send("DELETE", "/v1/sessions").status == 503)
        }
        let changes = try file.documents().filter { $0[string: "event"] == "admin_change" }
        #expect(changes.map { $0[member: "status"]?.int } == [503])
        #expect(!file.lines().contains { $0.contains("\"ada\"") })
    }

    @Test("after too many wrong keys from an address no key of it is looked at, whatever address it claims")
    func tries() async throws {
        try await withApplication { configuration in
            configuration.admin.key = Secret(AdminTests.key)
            configuration.admin.failedTries = Quota(count: 3, window: .seconds(3_600))
            configuration.proxies.networks = ["127.0.0.1"].compactMap(AddressRange.init)
        } _: { app in
            func ask(_ key: String?, _ address: String = "203.0.113.7") async throws -> TestResponse {
                let fields = [("X-Forwarded-For", address)] + (key.map { [("X-Admin-Key", $0)] } ?? [])
                return try await app.admin().get("/v1/stats", fields: fields)
            }
            // No key is no try, and a right one costs none.
            for _ in 0..<5 {
                let statuses = [try await ask(nil).status, try await ask(AdminTests.key).status]
                #expect(statuses == [401, 200])
            }
            for _ in 0..<3 {
                let status = try await ask("wrong-key-0123456789").status
                #expect(status == 401)
            }
            for key in ["wrong-key-0123456789", AdminTests.key] {
                let refused = try await ask(key)
                #expect(refused.status == 429)
                #expect(refused.code == "quota_exceeded")
                #expect(try refused.json[member: "violated_policies"] == ["admin_tries"])
            }
            // A guesser writes into the field what it likes.
            #expect(try await ask(AdminTests.key, "203.0.113.8").status == 429)
        }
    }

    @Test(
        "without a key, the target and Host must both name loopback",
        arguments: [
            ("/v1/stats", "localhost:8081", 200), ("/v1/stats", "127.0.0.1", 200), ("/v1/stats", "[::1]:8081", 200),
            ("/v1/stats", "LOCALHOST", 200), ("/metrics", "127.0.0.1:1", 200), ("/metrics", "evil.example", 403),
            ("/v1/stats", "10.0.0.1", 403), ("/v1/stats", "[::2]", 403),
            ("/v1/stats", "evil.example", 403), ("/v1/stats", "localhost.evil.example", 403),
            ("/v1/stats", "127.0.0.1.evil.example", 403), ("/v1/stats", "[::1]evil.example", 403),
            ("http://evil.example/v1/stats", "localhost", 403), ("http://localhost/v1/stats", "evil.example", 403),
            ("http://evil.example:8081/v1/stats", "127.0.0.1:8081", 403),
            ("http://localhost:8081/v1/stats", "localhost:8081", 200), ("http://127.0.0.1/v1/stats", "localhost", 200),
        ])
    func rebinding(_ target: String, _ host: String, _ status: Int) async throws {
        try await withApplication { app in
            let head = "GET \(target) HTTP/1.1\r\nHost: \(host)\r\n\r\n"
            let answer = try await app.admin().send(Array(head.utf8), "GET", "/v1/stats")
            // The framing checks refuse some of these before.
            #expect(answer.status == status || (status == 403 && answer.status == 400), "\(answer.text)")
            if status == 403 { #expect(["foreign_host", "invalid_host", "malformed_request"].contains(answer.code)) }
        }
    }

    @Test("requests that a page of another site causes are refused, with and without a key", arguments: [true, false])
    func otherSites(hasKey: Bool) async throws {
        try await withApplication { configuration in
            if hasKey { configuration.admin.key = Secret(AdminTests.key) }
        } _: { app in
            let here = "127.0.0.1:\(app.adminPort)"
            let table: [([(String, String)], Bool)] = [
                ([], true), ([("Sec-Fetch-Site", "same-origin")], true), ([("Sec-Fetch-Site", "none")], true),
                ([("Origin", "http://\(here)")], true),
                ([("Origin", "http://\(here)"), ("Sec-Fetch-Site", "same-origin")], true),
                ([("Sec-Fetch-Site", "cross-site")], false), ([("Sec-Fetch-Site", "same-site")], false),
                ([("Origin", "https://evil.example")], false), ([("Origin", "null")], false),
                ([("Origin", "http://127.0.0.1:1")], false),
                ([("Origin", "http://\(here)"), ("Origin", "http://\(here)")], false),
                ([("Origin", "http://\(here)"), ("Sec-Fetch-Site", "cross-site")], false),
                ([("Sec-Fetch-Site", "none"), ("Sec-Fetch-Site", "cross-site")], false),
            ]
            let key = hasKey ? [("X-Admin-Key", AdminTests.key)] : []
            for (fields, isAllowed) in table {
                let fields = key + fields
                let read = try await app.admin().get("/v1/sessions", fields: fields)
                let written = try await app.admin().send("POST", "/v1/exports", fields: fields)
                #expect(read.status == (isAllowed ? 200 : 403), "\(fields)")
                #expect(written.status == (isAllowed ? 200 : 403), "\(fields)")
                if !isAllowed { #expect(read.code == "cross_site_request") }
            }
        }
    }

    @Test("a replaced token that is used ends its session with a line and a count")
    func theft() async throws {
        let file = try LogFile()
        let clock = SteeredClock()
        let (id, tokens) = try await withApplication(clock: clock, log: file) { app in
            let (client, id, token) = try await app.newSession()
            let fresh = try #require(try await client.send("POST", Paths.tokens)[member: "token"]?.string)
            clock.advance(.seconds(31))
            for _ in 0..<2 {
                let status = try await client.get(Paths.current).status
                #expect(status == 401)
            }
            let status = try await app.client().with(token: fresh).get(Paths.current).status
            #expect(status == 401)
            let metrics = try await app.admin().get("/metrics").text
            #expect(metrics.contains("concierge_sessions_stolen_total 1"))
            return (id, [token, fresh])
        }
        let thefts = try file.documents().filter { $0[string: "event"] == "token_reused" }
        #expect(thefts.count == 1)
        #expect(thefts.first?[string: "session_id"] == id)
        #expect(thefts.first?[string: "level"] == "warning")
        #expect(thefts.first?[string: "client"] == "127.0.0.1")
        for token in tokens { #expect(!file.lines().contains { $0.contains(token.suffix(40)) }) }
    }
}
