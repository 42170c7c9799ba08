import Configuration
import HTTPServer
import HTTPTestClient
import JSONDocument
import Sessions
import Support
import Testing

@Suite("The sign-in of the console")
struct ConsoleSessionTests {
    private static let key = [("X-Admin-Key", AdminTests.key)]
    private static let own = [("Sec-Fetch-Site", "same-origin")]
    private static let path = "/console/session"

    private static func withKey(
        _ clock: SteeredClock? = nil, log: LogFile? = nil, _ configure: (inout Configuration) -> Void = { _ in },
        _ body: (RunningApplication) async throws -> Void
    ) async throws {
        try await withApplication(clock: clock, log: log) { configuration in
            configuration.admin.key = Secret(AdminTests.key)
            configure(&configuration)
        } _: { app in
            try await body(app)
        }
    }

    /// Signs in.
    /// - Returns: the cookie as a request has it.
    private static func signIn(
        _ app: RunningApplication, _ fields: [(name: String, value: String)] = key
    ) async throws -> String {
        let response = try await app.admin().send("POST", path, fields: own + fields)
        #expect(response.status == 204)
        return try cookie(response)
    }

    private static func cookie(_ response: TestResponse) throws -> String {
        String(try #require(response["Set-Cookie"]?.split(separator: ";").first))
    }

    @Test("is a cookie out of reach of scripts and of other sites, which opens the admin listener for the console")
    func signsIn() async throws {
        try await Self.withKey { app in
            let admin = app.admin()
            #expect(try await admin.get(Self.path, fields: Self.own).status == 401)
            let response = try await admin.send("POST", Self.path, fields: Self.own + Self.key)
            let field = try #require(response["Set-Cookie"])
            #expect(
                field.firstMatch(
                    of:
                        /^concierge-console=\d+\.\d+\.[0-9a-f]{64}; HttpOnly; SameSite=Strict; Path=\/; Max-Age=(900|899)$/
                ) != nil, "\(field)")
            let cookie = [("Cookie", try Self.cookie(response))]
            let session = try await admin.get(Self.path, fields: Self.own + cookie)
            #expect(try session.json == ["key": "admin.key", "signed_in": true])
            #expect(session["Cache-Control"] == "no-store")
            #expect(try await admin.get("/v1/sessions", fields: Self.own + cookie).status == 200)
            #expect(try await admin.send("DELETE", "/v1/sessions", fields: Self.own + cookie).status == 200)
            // Browsers send the first of these over HTTPS and to localhost alone.
            let origin = [("Origin", "http://127.0.0.1:\(app.adminPort)")]
            #expect(try await admin.send("DELETE", "/v1/sessions", fields: origin + cookie).status == 200)
        }
    }

    @Test("counts for the console alone: for any other request it is as if there were no cookie")
    func otherOrigins() async throws {
        try await Self.withKey { app in
            let cookie = try await Self.signIn(app)
            let here = "http://127.0.0.1:\(app.adminPort)"
            let table: [([(name: String, value: String)], Int)] = [
                ([], 401), ([("Sec-Fetch-Site", "none")], 401),
                ([("Sec-Fetch-Site", "cross-site")], 403), ([("Sec-Fetch-Site", "same-site")], 403),
                ([("Origin", "http://127.0.0.1:1")], 403), ([("Origin", "null")], 403),
                ([("Origin", here), ("Sec-Fetch-Site", "none")], 401),
                ([("Origin", "http://evil.example"), ("Sec-Fetch-Site", "same-origin")], 403),
                (Self.own + Self.own, 403), ([("Origin", here), ("Origin", here)], 403),
            ]
            for (fields, status) in table {
                for method in ["GET", "DELETE"] {
                    let response = try await app.admin().send(
                        method, "/v1/sessions", fields: fields + [("Cookie", cookie)])
                    #expect(response.status == status, "\(method) \(fields)")
                }
            }
        }
    }

    @Test("nobody makes or changes a cookie, and none of another key or name is one")
    func forged() async throws {
        let digest = SHA256Digest(of: Array("second-key-0123456789".utf8))
        try await Self.withKey { configuration in
            configuration.admin.keyHashes = [AdminKeyHash(name: "second", digest: digest)]
        } _: { app in
            func status(_ cookie: String) async throws -> Int {
                try await app.admin().get("/v1/stats", fields: Self.own + [("Cookie", cookie)]).status
            }
            let cookie = try await Self.signIn(app)
            #expect(try await status(cookie) == 200)
            #expect(try await status("other=1; \(cookie)") == 200)
            let parts = cookie.split(separator: "=")[1].split(separator: ".").map(String.init)
            let later = String((Int64(parts[0]) ?? 0) + 1)
            for value in [
                "\(later).\(parts[1]).\(parts[2])", "\(parts[0]).\(later).\(parts[2])", "\(parts[0]).\(parts[1]).",
                "\(parts[0]).\(parts[1])", "..", "", "\(parts[0]).\(parts[1]).\(parts[2]).",
                "+\(parts.joined(separator: "."))",
                "\(parts[0]).\(parts[1]).\(parts[2].uppercased())",
                "9223372036854775807.9223372036854775807.\(parts[2])",
            ] { #expect(try await status("concierge-console=\(value)") == 401, "\(value)") }
            #expect(try await status("\(cookie); \(cookie)") == 401)
            #expect(try await status("concierge=\(parts.joined(separator: "."))") == 401)
            // Nor who knows the digest of the key, which another configuration may have.
            func forged(by digest: SHA256Digest) -> String {
                let secret = SHA256Digest.derived(from: digest, for: Array("the console's cookie".utf8))
                let signature = SHA256Digest.derived(from: secret, for: Array("\(parts[0]).\(parts[1])".utf8)).text()
                return "concierge-console=\(parts[0]).\(parts[1]).\(signature)"
            }
            #expect(try await status(forged(by: SHA256Digest(of: Array(AdminTests.key.utf8)))) == 401)
            // The digest that the configuration has is no key, and its sign-in is named by its own.
            let second = try await Self.signIn(app, [("X-Admin-Key", "second-key-0123456789")])
            let session = try await app.admin().get(Self.path, fields: Self.own + [("Cookie", second)])
            #expect(session[member: "key"] == "second")
            #expect(try await status(forged(by: digest)) == 401)
        }
    }

    @Test("another server with the same key takes it, one with another key does not")
    func servers() async throws {
        try await Self.withKey { first in
            let cookie = [("Cookie", try await Self.signIn(first))]
            try await Self.withKey { second in
                let response = try await second.admin().get("/v1/stats", fields: Self.own + cookie)
                #expect(response.status == 200)
            }
            try await Self.withKey {
                $0.admin.key = Secret("another-key-0123456789")
            } _: { third in
                let response = try await third.admin().get("/v1/stats", fields: Self.own + cookie)
                #expect(response.status == 401)
            }
        }
    }

    @Test("ends after 15 minutes without use and after 8 hours in any case; a look for changes is no use")
    func time() async throws {
        let clock = SteeredClock()
        try await Self.withKey(clock) { app in
            func ask(_ cookie: String, _ more: [(name: String, value: String)] = []) async throws -> TestResponse {
                try await app.admin().get("/v1/stats", fields: Self.own + [("Cookie", cookie)] + more)
            }
            let first = try await Self.signIn(app)
            #expect(try await ask(first)["Set-Cookie"] == nil, "it is young")
            clock.advance(.seconds(899))
            #expect(try await ask(first, [("If-None-Match", "\"1\"")])["Set-Cookie"] == nil)
            var cookie = try Self.cookie(try await ask(first))
            clock.advance(.seconds(1))
            #expect(try await ask(first).status == 401)
            #expect(try await ask(cookie).status == 200)
            // Signing in needs the key, or else 8 hours would begin anew.
            let again = try await app.admin().send("POST", Self.path, fields: Self.own + [("Cookie", cookie)])
            #expect(again.status == 401 && again["Set-Cookie"] == nil)
            var hours = 0.25
            while hours < 7.8 {
                clock.advance(.seconds(720))
                hours += 0.2
                cookie = try Self.cookie(try await ask(cookie))
            }
            let last = try await ask(cookie)
            #expect(last["Set-Cookie"] == nil)
            clock.advance(.seconds(720))
            #expect(try await ask(cookie).status == 401)
        }
    }

    @Test("is secure where HTTPS is spoken, and ends in the browser with a sign-out")
    func signsOut() async throws {
        try await Self.withKey { app in
            let host = "admin.example"
            let fields = Self.own + [("Origin", "https://\(host)")]
            let response = try await app.admin().send("POST", Self.path, fields: fields + Self.key, host: host)
            let field = try #require(response["Set-Cookie"])
            #expect(
                field.hasPrefix("__Host-concierge-console=") && field.contains("; Secure; HttpOnly; SameSite=Strict"))
            let cookie = [("Cookie", try Self.cookie(response))]
            let out = try await app.admin().send("DELETE", Self.path, fields: Self.own + cookie, host: host)
            #expect(out.status == 204)
            #expect(
                out.values("Set-Cookie") == [
                    "__Host-concierge-console=; Secure; HttpOnly; SameSite=Strict; Path=/; Max-Age=0"
                ])
            let plain = try await Self.signIn(app)
            let end = try await app.admin().send("DELETE", Self.path, fields: Self.own + [("Cookie", plain)])
            #expect(end["Set-Cookie"] == "concierge-console=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0")
        }
    }

    @Test("counts wrong keys like any other request, and a cookie works while they are too many")
    func tries() async throws {
        try await Self.withKey { configuration in
            configuration.admin.failedTries = Quota(count: 2, window: .seconds(3_600))
        } _: { app in
            let cookie = [("Cookie", try await Self.signIn(app))]
            let wrong = Self.own + [("X-Admin-Key", "wrong-key-0123456789")]
            for _ in 0..<2 { #expect(try await app.admin().send("POST", Self.path, fields: wrong).status == 401) }
            #expect(try await app.admin().send("POST", Self.path, fields: Self.own + Self.key).status == 429)
            #expect(try await app.admin().get("/v1/stats", fields: Self.own + cookie).status == 200)
        }
    }

    @Test("without a key there is nothing to sign in to")
    func loopback() async throws {
        try await withApplication { app in
            let admin = app.admin()
            #expect(try await admin.get(Self.path).json == ["key": "loopback", "signed_in": false])
            for method in ["POST", "DELETE"] {
                let response = try await admin.send(method, Self.path)
                #expect(response.status == 204 && response["Set-Cookie"] == nil)
            }
            #expect(try await admin.get(Self.path, host: "evil.example").status == 403)
        }
    }

    @Test("the audit says what went through the console, and has no cookie")
    func audit() async throws {
        let file = try LogFile(Configuration().log)
        nonisolated(unsafe) var signature = ""
        try await Self.withKey(log: file) { app in
            let id = try await app.newSession().id
            let cookie = try await Self.signIn(app)
            signature = String(cookie.suffix(64))
            try await app.admin().get("/v1/sessions/\(id)", fields: Self.own + [("Cookie", cookie)])
            try await app.admin().send("DELETE", "/v1/sessions/\(id)", fields: Self.own + [("Cookie", cookie)])
            try await app.admin().get("/v1/sessions", fields: Self.key)
            try await app.admin().send("POST", Self.path, fields: Self.own + [("X-Admin-Key", "wrong-key-0123456789")])
        }
        let lines = try file.documents().filter { $0[string: "event"]?.hasPrefix("admin_") == true }
        #expect(
            lines.map { "\($0[string: "event"] ?? "") \($0[string: "route"] ?? "") \($0[string: "through"] ?? "-")" }
                == [
                    "admin_change /console/session console", "admin_read /v1/sessions/{session} console",
                    "admin_change /v1/sessions/{session} console", "admin_read /v1/sessions -",
                    "admin_key_refused /console/session -",
                ])
        #expect(lines.dropLast().allSatisfy { $0[string: "key"] == "admin.key" })
        #expect(!file.lines().contains { $0.contains(signature) })
    }
}
