import Configuration
import HTTPTestClient
import JSONDocument
import Operations
import Support
import Testing

@Suite("The log")
struct LogTests {
    private static let required: Set<String> = [
        "time", "level", "event", "request_id", "method", "route", "status", "duration_ms",
    ]

    /// Does a bit of everything, with `secret` wherever a client can put something.
    private static func traffic(
        _ app: RunningApplication, secret: String
    ) async throws -> (session: String, tokens: [String]) {
        let (client, id, token) = try await app.newSession()
        let query = "?secret=\(secret)"
        try await client.get(Paths.profile + query)
        try await client.patch(Paths.profile, #"{"name":"\#(secret)"}"#)
        try await client.patch(Paths.profile, #"{"\#(secret)":1}"#)
        try await client.patch(Paths.current, #"{"labels":{"a":"\#(secret)"}}"#)
        try await client.send("PUT", Paths.quote, json: "{\(secret)")
        try await client.get("/\(secret)/nowhere\(query)")
        try await client.get(Paths.service(secret))
        try await client.get("/v1/sessions/\(secret)")
        try await client.get(Paths.current, fields: [("Cookie", "x=\(secret)"), ("X-Thing", secret)])
        try await app.client().get(Paths.current, fields: [("Authorization", "Bearer \(secret)")])
        try await app.client().send("POST", Paths.sessions, fields: [("Idempotency-Key", secret)])
        try await client.send(
            "POST", Paths.transactions, json: #"{"operations":[{"op":"clear","service":"\#(secret)"}]}"#)
        let rotated = try await client.send("POST", Paths.tokens)
        let signedIn = try await app.admin().with("X-Admin-Key", AdminTests.key).send(
            "PUT", "/v1/sessions/\(id)/user", json: #"{"user_id":"\#(secret)","claims":{"a":"\#(secret)"}}"#)
        try await app.admin().get("/v1/users/\(secret)/sessions", fields: [("X-Admin-Key", AdminTests.key)])
        let tokens = [rotated, signedIn].compactMap { $0[member: "token"]?.string }
        #expect(tokens.count == 2)
        return (id, tokens + [token])
    }

    @Test(
        "no token, no query, no body, no key is in any line", arguments: [Configuration.Log.Format.json, .text])
    func noSecrets(format: Configuration.Log.Format) async throws {
        var settings = Configuration().log
        settings.format = format
        settings.level = .debug
        let file = try LogFile(settings)
        let (id, tokens) = try await withApplication(log: file) { configuration in
            configuration.admin.key = Secret(AdminTests.key)
        } _: { app in
            try await Self.traffic(app, secret: "hunter2hunter2")
        }
        let lines = file.lines()
        #expect(lines.count >= 18)
        #expect(lines.contains { $0.contains(id) }, "ids of sessions are no secrets")
        for line in lines {
            #expect(!line.contains("hunter2"))
            #expect(!line.contains("cg_"))
            #expect(!line.contains(AdminTests.key))
            #expect(!line.contains("?"))
            for token in tokens { #expect(!line.contains(token.suffix(16))) }
        }
    }

    @Test("every line is JSON; a request's line says what it must, with the pattern for the path")
    func members() async throws {
        let file = try LogFile()
        let (id, client) = try await withApplication(log: file) { app in
            let (client, id, _) = try await app.newSession()
            try await client.get(
                Paths.profile,
                fields: [
                    ("Request-Id", "mine-1"),
                    ("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
                ])
            try await client.get("/nowhere/at/all")
            try await client.send("POST", Paths.profile, fields: [("Request-Id", "wrong-1")])
            try await client.send("BREW", Paths.profile, fields: [("Request-Id", "wrong-2")])
            try await client.send("OPTIONS", Paths.profile, fields: [("Request-Id", "options-1")])
            let connection = try RawConnection(port: app.publicPort)
            try connection.send("GET / HTTP/5.1\r\nHost: h\r\n\r\n")
            _ = try connection.readToEnd()
            try await app.admin().get("/v1/stats")
            return (id, client)
        }
        _ = client
        let documents = try file.lines().map { try JSONDocument(parsing: $0) }
        for document in documents {
            #expect(isTimestamp(document[string: "time"]))
            #expect(document[string: "level"] != nil)
            #expect(document[string: "event"] != nil)
        }
        let requests = documents.filter { $0[string: "event"] == "request" }
        #expect(requests.count == 8)
        #expect(
            !requests.contains { $0[string: "level"] == "error" }, "a version that nobody has is the client's error")
        for request in requests {
            #expect(request.names.isSuperset(of: Self.required))
            #expect(request[member: "duration_ms"]?.double != nil)
        }
        let get = try #require(requests.first { $0[string: "request_id"] == "mine-1" })
        #expect(get[string: "method"] == "GET")
        #expect(get[string: "route"] == "/v1/sessions/{session}/services/{name}")
        #expect(get[member: "status"] == 200)
        #expect(get[string: "session_id"] == id)
        #expect(get[string: "trace_id"] == "0af7651916cd43dd8448eb211c80319c")
        let others = [("wrong-1", "POST", 405), ("wrong-2", "_OTHER", 405), ("options-1", "OPTIONS", 204)]
        for (id, method, status) in others {
            let other = try #require(requests.first { $0[string: "request_id"] == id })
            #expect(other[string: "method"] == method)
            #expect(other[string: "route"] == "/v1/sessions/{session}/services/{name}")
            #expect(other[member: "status"]?.int == status)
        }
        #expect(!file.lines().contains { $0.contains("nowhere") })
        let events = documents.compactMap { $0[string: "event"] }
        #expect(events.first == "listening")
        #expect(events.suffix(2) == ["draining", "stopped"] || events.contains("stopped"))
        let listening = try #require(documents.first)
        for listener in ["public", "admin"] {
            #expect(listening[string: listener]?.hasPrefix("http://127.0.0.1:") == true)
        }
    }

    @Test("with log.requests off, only what failed inside is a line")
    func withoutRequests() async throws {
        var settings = Configuration().log
        settings.requests = false
        let file = try LogFile(settings)
        try await withApplication(log: file) { app in
            _ = try await app.newSession()
            try await app.client().get("/nowhere")
        }
        #expect(!file.lines().contains { $0.contains("\"request\"") })
    }
}
