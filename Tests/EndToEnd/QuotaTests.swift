import Configuration
import HTTPServer
import HTTPTestClient
import JSONDocument
import Support
import Testing

@Suite("Quotas")
struct QuotaTests {
    /// One window is longer than any test.
    private static func quota(_ count: Int) -> Quota { Quota(count: count, window: .seconds(3_600)) }

    /// Clients on this machine count, and may say by whom they are asked.
    private static func withQuotas(
        _ key: WritableKeyPath<Configuration.Quotas, Quota?>, _ count: Int,
        _ body: (RunningApplication) async throws -> Void
    ) async throws {
        try await withApplication { configuration in
            configuration.quotas.exempt = []
            configuration.proxies.networks = ["127.0.0.1"].compactMap(AddressRange.init)
            configuration.quotas[keyPath: key] = quota(count)
        } _: {
            try await body($0)
        }
    }

    private static func client(_ app: RunningApplication, at address: String) -> TestClient {
        app.client().with("X-Forwarded-For", address)
    }

    @Test("of an address: what is beyond is 429 with everything that a client needs to wait")
    func address() async throws {
        try await Self.withQuotas(\.requests, 4) { app in
            let client = Self.client(app, at: "203.0.113.7")
            var answers: [TestResponse] = []
            for _ in 0..<6 { answers.append(try await client.get("/v1/flows")) }
            #expect(answers.map(\.status) == [200, 200, 200, 200, 429, 429])
            // Less than half is left.
            #expect(answers.map { $0["RateLimit-Policy"] != nil } == [false, false, true, true, true, true])
            #expect(answers[2]["RateLimit-Policy"] == #""requests";q=4;w=3600"#)
            let limit = try #require(answers[2]["RateLimit"])
            #expect(limit.wholeMatch(of: /"requests";r=1;t=2[67]\d\d/) != nil, "\(limit)")
            #expect(answers[4]["RateLimit"]?.contains(";r=0;") == true)
            #expect(answers[4].code == "quota_exceeded")
            #expect(try answers[4].json[member: "violated_policies"] == ["requests"])
            let wait = try #require(answers[4]["Retry-After"].flatMap(Int.init))
            #expect((1...900).contains(wait))
            // Others are not concerned, nor is what watches the server, nor is the admin listener.
            #expect(try await Self.client(app, at: "203.0.113.8").get("/v1/flows").status == 200)
            for path in ["/health/alive", "/health/ready"] {
                #expect(try await client.get(path).status == 200)
            }
            let metrics = try await app.admin().get("/metrics").text
            #expect(metrics.contains(#"concierge_quota_refusals_total{quota="requests"} 2"#))
            #expect(metrics.contains(#"concierge_problems_total{code="quota_exceeded"} 2"#))
        }
    }

    @Test("of an address of IPv6 are of its /64")
    func network() async throws {
        try await Self.withQuotas(\.requests, 1) { app in
            let expected = [("2001:db8:0:1::1", 200), ("2001:db8:0:1:ffff::2", 429), ("2001:db8:0:2::1", 200)]
            for (address, status) in expected {
                let answer = try await Self.client(app, at: address).get("/v1/flows")
                #expect(answer.status == status, "\(address)")
            }
        }
    }

    @Test("count what no route takes, too")
    func noRoute() async throws {
        try await Self.withQuotas(\.requests, 3) { app in
            let client = Self.client(app, at: "203.0.113.7")
            var statuses: [Int] = []
            for (method, path) in [("GET", "/nowhere"), ("BREW", "/v1/flows"), ("GET", "/%zz"), ("GET", "/nowhere")] {
                statuses.append(try await client.send(method, path).status)
            }
            #expect(statuses == [404, 405, 400, 429])
        }
    }

    @Test("count what is answered without a handler", arguments: [("OPTIONS", 204), ("POST", 415)])
    func early(method: String, status: Int) async throws {
        try await Self.withQuotas(\.requests, 1) { app in
            let client = Self.client(app, at: "203.0.113.7").with("Content-Encoding", "gzip")
            var statuses: [Int] = []
            for _ in 0..<2 { statuses.append(try await client.send(method, "/v1/sessions").status) }
            #expect(statuses == [status, 429])
            let preflight = client.with("Access-Control-Request-Method", "POST")
            #expect(try await preflight.send("OPTIONS", "/v1/sessions").status == 204)
        }
    }

    @Test("of creating sessions leave the address the rest")
    func creating() async throws {
        try await Self.withQuotas(\.sessions, 3) { app in
            let client = Self.client(app, at: "203.0.113.7")
            var last: TestResponse?
            for _ in 0..<3 { last = try await client.send("POST", Paths.sessions) }
            let token = try #require(last?[member: "token"]?.string)
            #expect(last?["RateLimit"]?.hasPrefix(#""sessions";r=0;"#) == true)
            let refused = try await client.send("POST", Paths.sessions)
            #expect(refused.status == 429)
            #expect(refused["RateLimit-Policy"] == #""sessions";q=3;w=3600"#)
            #expect(try await client.with(token: token).get(Paths.profile).status == 200)
            #expect(try await Self.client(app, at: "203.0.113.8").send("POST", Paths.sessions).status == 201)
            #expect(try await app.admin().get("/v1/stats").text.contains(#""created":4"#))
        }
    }

    @Test("of a session go with it from address to address, and another token of its id does not use them up")
    func session() async throws {
        try await Self.withQuotas(\.sessionRequests, 5) { app in
            let (_, id, token) = try await app.newSession()
            let forged = String(token.dropLast()) + (token.last == "A" ? "B" : "A")
            for _ in 0..<9 {
                let client = Self.client(app, at: "203.0.113.9").with(token: forged)
                #expect(try await client.get(Paths.current).status == 401)
            }
            for address in 1...5 {
                let client = Self.client(app, at: "203.0.113.\(address)").with(token: token)
                #expect(try await client.get(Paths.current).status == 200)
            }
            let refused = try await Self.client(app, at: "203.0.113.6").with(token: token).get("/v1/sessions/\(id)")
            #expect(refused.status == 429)
            #expect(try refused.json[member: "violated_policies"] == ["session_requests"])
            let (other, _, _) = try await app.newSession()
            #expect(try await other.get(Paths.current).status == 200)
        }
    }

    @Test("of a session are not renewed with its token, and a write that many watch takes more")
    func rotation() async throws {
        try await Self.withQuotas(\.sessionRequests, 22) { app in
            var (client, _, _) = try await app.newSession()
            let token = try #require(try await client.send("POST", Paths.tokens)[member: "token"]?.string)
            client = app.client().with(token: token)
            var streams: [EventReader] = []
            for _ in 0..<16 { streams.append(try await EventReader.open(client)) }
            // Seventeen are taken, and each write takes three.
            #expect(try await client.patch(Paths.profile, #"{"name":"a"}"#).status == 200)
            #expect(try await client.get(Paths.profile).status == 200)
            #expect(try await client.patch(Paths.profile, #"{"name":"b"}"#).status == 429)
            #expect(try await client.get(Paths.profile).status == 200)
            #expect(try await client.get(Paths.profile).status == 429)
            for stream in streams { stream.close() }
        }
    }

    @Test("of a session are taken by a request that is answered before its body comes, too")
    func expectation() async throws {
        try await Self.withQuotas(\.sessionRequests, 2) { app in
            let client = try await app.newSession().client.with("Expect", "100-continue").with("Content-Length", "1")
            var statuses: [Int] = []
            for _ in 0..<3 { statuses.append(try await client.get(Paths.current).status) }
            #expect(statuses == [200, 200, 429])
        }
    }

    @Test("of a session hold for its cookie, and are not doubled when the token is sent as a bearer token as well")
    func cookie() async throws {
        try await Self.withQuotas(\.sessionRequests, 2) { app in
            let created = try await app.client().send("POST", Paths.sessions, json: #"{"mode":"cookie"}"#)
            let pair = String((created["Set-Cookie"] ?? "").prefix { $0 != ";" })
            var statuses: [Int] = []
            let token = pair.split(separator: "=")[1]
            for (name, value) in [
                ("Cookie", "other=1; \(pair)"), ("Authorization", "Bearer \(token)"), ("Cookie", pair),
            ] {
                let client = app.client().with(name, value)
                statuses.append(try await client.get(Paths.current).status)
            }
            #expect(statuses == [200, 200, 429])
        }
    }

    @Test("are not for clients on this machine, but for those of a proxy on it that is not named")
    func exempt() async throws {
        try await withApplication(setting: \.quotas.requests, to: Self.quota(1)) { app in
            var statuses: [Int] = []
            for client in [
                app.client(), Self.client(app, at: "127.0.0.1"), app.client().with("Forwarded", "for=203.0.113.7"),
            ] {
                for _ in 0..<3 { statuses.append(try await client.get("/v1/flows").status) }
            }
            #expect(statuses == [200, 200, 200, 200, 429, 429, 429, 429, 429])
        }
        try await withApplication {
            $0.quotas.requests = Self.quota(1)
            $0.proxies.networks = ["127.0.0.1"].compactMap(AddressRange.init)
        } _: { app in
            var statuses: [Int] = []
            for _ in 0..<3 { statuses.append(try await Self.client(app, at: "127.0.0.1").get("/v1/flows").status) }
            #expect(statuses == [200, 200, 200])
        }
    }
}
