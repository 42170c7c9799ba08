import HTTPTestClient
import JSONDocument
import Support
import Testing

@Suite("A server that a proxy publishes under a path")
struct BasePathTests {
    /// Two ways to tell the path, and the fields of each request that do so.
    enum Way: CaseIterable {
        case configured, told

        var fields: [(name: String, value: String)] { self == .told ? [("X-Forwarded-Prefix", "/shop")] : [] }
    }

    /// An application under `/shop`, and a client that its addresses are for.
    private static func withShop(
        _ way: Way, _ body: (RunningApplication, TestClient, TestClient) async throws -> Void
    ) async throws {
        try await withWizard {
            if way == .configured { $0.basePath = "/shop" } else { $0.proxies.networks = $0.quotas.exempt }
            $0.demo = true
        } _: { app, client in
            func shown(_ client: TestClient) -> TestClient {
                var client = client
                client.fields += way.fields
                client.basePath = "/shop"
                return client
            }
            try await body(app, shown(client), shown(app.admin()))
        }
    }

    @Test("gives addresses that lead to it from outside", arguments: Way.allCases)
    func addresses(way: Way) async throws {
        try await Self.withShop(way) { app, client, admin in
            let created = try await client.send("POST", Paths.sessions, json: #"{"mode":"cookie"}"#)
            let id = try #require(created[member: "session"]?[string: "id"])
            #expect(created["Location"] == "/shop/v1/sessions/\(id)")
            #expect(created["Set-Cookie"]?.contains("; Path=/;") == true, "as the prefix of its name wants it")
            let started = try await client.send("POST", Paths.journeys, json: #"{"flow":"wizard"}"#)
            #expect(started["Location"]?.hasPrefix("/shop/v1/sessions/ses_") == true)
            for client in [client, admin] {
                let document = try await client.get("/openapi.json")
                #expect(document[member: "servers"]?.elements?.map { $0[string: "url"] } == ["/shop"])
                #expect(try await client.get("/problems/not_found")[member: "type"] == "/shop/problems/not_found")
                // The client checks the type of each problem.
                #expect(try await client.get("/nothing").status == 404)
            }
            let plain = try await app.client().get("/openapi.json")
            let own = try await client.get("/openapi.json")
            #expect((plain["ETag"] == own["ETag"]) == (way == .configured), "another document has another tag")
        }
    }

    @Test("says how to start again in words that work there", arguments: Way.allCases)
    func startAgain(way: Way) async throws {
        try await Self.withShop(way) { app, client, _ in
            try await client.event("cancel", on: Paths.main)
            let gone = try await client.event("next", on: Paths.main)
            #expect(gone.code == "journey_finished")
            #expect(gone[member: "start_again"]?[string: "href"] == "/shop\(Paths.main)")
        }
    }

    @Test("serves requests from which the proxy has not taken the path")
    func whole() async throws {
        try await Self.withShop(.configured) { app, client, admin in
            let started = try await client.send("POST", "/shop\(Paths.journeys)", json: #"{"flow":"note"}"#)
            let journey = try #require(started["Location"])
            #expect(try await client.get(journey).status == 200)
            #expect(try await client.event("close", on: journey).status == 200)
            let gone = try await client.event("close", on: journey)
            let again = try #require(gone[member: "start_again"])
            let restarted = try await client.send(
                "PUT", try #require(again[string: "href"]), json: try #require(again[member: "body"]).description)
            #expect(restarted.status == 200)
            for path in ["", "/", "/health/ready", "/demo", "/demo/demo.js", "/openapi.json"] {
                #expect(try await client.get("/shop\(path)").status == 200, "\(path)")
            }
            #expect(try await admin.get("/shop/v1/stats").status == 200)
            #expect(try await client.get("/shopping/version").status == 404)
        }
    }

    @Test("takes a key for the same one with and without the path")
    func keys() async throws {
        try await Self.withShop(.configured) { _, client, _ in
            let key = [(name: "Idempotency-Key", value: "\"once\"")]
            let first = try await client.send("POST", Paths.journeys, json: #"{"flow":"note"}"#, fields: key)
            let second = try await client.send("POST", "/shop\(Paths.journeys)", json: #"{"flow":"note"}"#, fields: key)
            #expect(second["Idempotency-Replayed"] == "true" && second["Location"] == first["Location"])
        }
    }

    @Test("ignores a path that could lead elsewhere, and one that no trusted proxy says")
    func untrusted() async throws {
        try await withApplication { app in
            let client = app.client().with("X-Forwarded-Prefix", "/shop")
            #expect(try await client.send("POST", Paths.sessions)["Location"]?.hasPrefix("/v1/sessions/ses_") == true)
            #expect(try await client.get("/nothing").status == 404)
        }
        try await withApplication {
            $0.proxies.networks = $0.quotas.exempt
        } _: { app in
            let client = app.client().with("X-Forwarded-Prefix", "//evil.example")
            #expect(try await client.send("POST", Paths.sessions)["Location"]?.hasPrefix("/v1/sessions/ses_") == true)
        }
    }
}
