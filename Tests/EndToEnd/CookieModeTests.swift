import HTTPTestClient
import JSONDocument
import Support
import Testing

@Suite("Cookie mode")
struct CookieModeTests {
    /// A session in cookie mode: its id, and the cookie as `Cookie` has it.
    private static func session(of app: RunningApplication) async throws -> (id: String, cookie: String, set: String) {
        let created = try await app.client().send("POST", Paths.sessions, json: #"{"mode":"cookie"}"#)
        #expect(created.status == 201)
        #expect(try created.json.names == ["session"], "the token is in the cookie only")
        #expect(created.values("Set-Cookie").count == 1)
        let set = try #require(created["Set-Cookie"])
        let id = try #require(created[member: "session"]?[string: "id"])
        return (id, String(set.prefix { $0 != ";" }), set)
    }

    private static func attributes(of cookie: String) -> Set<String> {
        Set(cookie.split(separator: ";").dropFirst().map { String($0.drop { $0 == " " }) })
    }

    @Test("the cookie is __Host-concierge; Secure; HttpOnly; SameSite=Lax; Path=/, and no token is in the body")
    func cookie() async throws {
        try await withApplication { app in
            let (id, cookie, set) = try await Self.session(of: app)
            #expect(cookie.hasPrefix("__Host-concierge=cg_"))
            let attributes = Self.attributes(of: set)
            #expect(attributes.isSuperset(of: ["Secure", "HttpOnly", "SameSite=Lax", "Path=/"]))
            #expect(!attributes.contains { $0.hasPrefix("Domain") })
            let current = try await app.client().with("Cookie", "theme=dark; \(cookie); lang=de").get(Paths.current)
            #expect(current.status == 200)
            #expect(current[member: "id"]?.string == id)
        }
    }

    @Test("for plain HTTP it is concierge, without Secure")
    func plain() async throws {
        try await withApplication { configuration in
            configuration.cookie.secure = false
        } _: { app in
            let (id, cookie, set) = try await Self.session(of: app)
            #expect(cookie.hasPrefix("concierge=cg_"))
            #expect(!Self.attributes(of: set).contains("Secure"))
            #expect(Self.attributes(of: set).isSuperset(of: ["HttpOnly", "SameSite=Lax", "Path=/"]))
            #expect(try await app.client().with("Cookie", cookie).get(Paths.current)[member: "id"]?.string == id)
            let renamed = "__Host-\(cookie)"
            #expect(try await app.client().with("Cookie", renamed).get(Paths.current).status == 401)
        }
    }

    @Test(
        "an unsafe method needs Sec-Fetch-Site same-origin or none, or an Origin that is allowed",
        arguments: [
            ("Sec-Fetch-Site", "same-origin", true), ("Sec-Fetch-Site", "none", true),
            ("Sec-Fetch-Site", "same-site", false), ("Sec-Fetch-Site", "cross-site", false),
            ("Sec-Fetch-Site", "", false), ("Origin", "https://app.example.org", true),
            ("Origin", "https://app.example.org:443", false), ("Origin", "https://evil.example.org", false),
            ("Origin", "http://app.example.org", false), ("Origin", "null", false), ("X-Nothing", "x", false),
        ])
    func sites(field: String, value: String, isAllowed: Bool) async throws {
        try await withApplication { configuration in
            configuration.cors.allowedOrigins = ["https://app.example.org"]
        } _: { app in
            let client = app.client().with("Cookie", try await Self.session(of: app).cookie).with(field, value)
            let answers = [
                try await client.send("PUT", Paths.profile, json: #"{"name":"Ada"}"#),
                try await client.patch(Paths.profile, #"{"name":"Ada"}"#),
                try await client.send("DELETE", Paths.profile),
                try await client.patch(Paths.current, "{}"),
                try await client.send(
                    "POST", Paths.transactions, json: #"{"operations":[{"op":"clear","service":"quote"}]}"#),
                try await client.send("POST", Paths.tokens),
                try await client.send("DELETE", Paths.current),
            ]
            for answer in answers {
                #expect(answer.status == 403 || isAllowed)
                #expect(answer.status < 300 || !isAllowed)
                if !isAllowed { #expect(answer.code == "cross_site_request") }
            }
        }
    }

    @Test(
        "without Sec-Fetch-Site, an Origin with host and port of Host is the page's own",
        arguments: [
            ("http://dev.test:8080", "dev.test:8080", true), ("http://dev.test", "dev.test", true),
            ("http://dev.test", "dev.test:80", true), ("https://dev.test", "dev.test:443", true),
            ("http://dev.test", "Dev.Test", true), ("https://dev.test", "dev.test", true),
            ("http://[fd00::1]:8080", "[fd00::1]:8080", true), ("http://dev.test:8081", "dev.test:8080", false),
            ("http://evil.test", "dev.test", false), ("https://dev.test", "dev.test:80", false),
            ("http://dev.test.evil", "dev.test", false), ("null", "dev.test", false), ("http://", "dev.test", false),
        ])
    func ownOrigin(origin: String, host: String, isOwn: Bool) async throws {
        try await withApplication { app in
            let client = app.client().with("Cookie", try await Self.session(of: app).cookie).with("Origin", origin)
            let answer = try await client.send("PATCH", Paths.profile, json: #"{"name":"Ada"}"#, host: host)
            #expect(answer.status == (isOwn ? 200 : 403))
            let foreign = client.with("Sec-Fetch-Site", "cross-site")
            #expect(try await foreign.send("PATCH", Paths.profile, json: "{}", host: host).status == 403)
        }
    }

    @Test("the cookie's name and attributes are settings")
    func named() async throws {
        try await withApplication { configuration in
            configuration.cookie.name = "shop"
            configuration.cookie.sameSite = .none
            configuration.cookie.partitioned = true
        } _: { app in
            let (id, cookie, set) = try await Self.session(of: app)
            #expect(cookie.hasPrefix("__Host-shop=cg_"))
            #expect(Self.attributes(of: set).isSuperset(of: ["Secure", "SameSite=None", "Partitioned", "Path=/"]))
            #expect(try await app.client().with("Cookie", cookie).get(Paths.current)[member: "id"]?.string == id)
            // The cookie of another installation on this host.
            let both = "__Host-concierge=x; \(cookie)"
            #expect(try await app.client().with("Cookie", both).get(Paths.current).status == 200)
        }
    }

    @Test("safe methods, and bearer tokens, need none of that")
    func safe() async throws {
        try await withApplication { app in
            let cookie = try await Self.session(of: app).cookie
            let client = app.client().with("Cookie", cookie).with("Sec-Fetch-Site", "cross-site")
            for method in ["GET", "HEAD", "OPTIONS"] {
                #expect(try await client.send(method, Paths.profile).status < 300)
            }
            let bearer = try await app.newSession().client.with("Sec-Fetch-Site", "cross-site")
            #expect(try await bearer.patch(Paths.profile, #"{"name":"Ada"}"#).status == 200)
        }
    }

    @Test("a fresh token goes into the cookie; the session's end expires it")
    func rotatedAndEnded() async throws {
        try await withApplication { app in
            let (id, cookie, _) = try await Self.session(of: app)
            let client = app.client().with("Sec-Fetch-Site", "same-origin")
            let rotated = try await client.with("Cookie", cookie).send("POST", Paths.tokens)
            #expect(rotated.status == 201)
            #expect(try rotated.json == .emptyObject)
            let set = try #require(rotated["Set-Cookie"])
            let fresh = String(set.prefix { $0 != ";" })
            #expect(fresh != cookie)
            #expect(try await client.with("Cookie", fresh).get(Paths.current)[member: "id"]?.string == id)
            let ended = try await client.with("Cookie", fresh).send("DELETE", Paths.current)
            #expect(ended.status == 204)
            #expect(ended["Clear-Site-Data"] == "\"storage\"")
            let expired = try #require(ended["Set-Cookie"])
            #expect(expired.hasPrefix("__Host-concierge=;"))
            let attributes = Self.attributes(of: expired)
            #expect(attributes.isSuperset(of: ["Max-Age=0", "Secure", "HttpOnly", "SameSite=Lax", "Path=/"]))
            #expect(try await client.with("Cookie", fresh).get(Paths.current).status == 401)
        }
    }

    @Test("bad cookies get the same 401 as bad tokens", arguments: ["x", "", "cg_", "\"cg_\""])
    func bad(value: String) async throws {
        try await withApplication { app in
            let answer = try await app.client().with("Cookie", "__Host-concierge=\(value)").get(Paths.current)
            #expect(answer.status == 401)
            let none = try await app.client().get(Paths.current)
            #expect(answer[member: "detail"] == none[member: "detail"])
            #expect(answer.fieldNames == none.fieldNames)
        }
    }
}
