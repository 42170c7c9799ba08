import HTTPTestClient
import JSONDocument
import Support
import Testing

@Suite("Going to a screen")
struct JourneyNavigationTests {
    private static let navigation = "\(Paths.main)/navigation"

    @Test("takes the way that a person would have taken, and names it")
    func path() async throws {
        try await withWizard { _, client in
            try await client.patch(Paths.profile, #"{"name":"Ada"}"#)
            let there = try await client.send("POST", Self.navigation, json: #"{"to":"page2"}"#)
            #expect(there.status == 200)
            #expect(there[member: "path"] == ["page1", "page2"])
            #expect(there.screen == "page2")
            #expect(there.stack == ["start", "page1", "page2"])
            #expect(there["ETag"] == (try await client.get(Paths.main)["ETag"]))
            let back = try await client.send("POST", Self.navigation, json: #"{"to":"start"}"#)
            #expect(back.status == 200)
            #expect(back.stack == ["start"])
            #expect(try await client.get(Paths.main)[member: "path"] == nil)
        }
    }

    @Test("says which screen blocks and why, when there is no way: 409, and nothing has happened")
    func unreachable() async throws {
        try await withWizard { _, client in
            let blocked = try await client.send("POST", Self.navigation, json: #"{"to":"page2"}"#)
            #expect(blocked.status == 409)
            #expect(blocked.code == "unreachable")
            #expect(blocked[member: "screen"] == "page1")
            #expect(Set(blocked.pointers) == ["/profile/name"])
            #expect(try await client.get(Paths.main).step == 1)
            let unknown = try await client.send("POST", Self.navigation, json: #"{"to":"pgae2"}"#)
            #expect(unknown.status == 400)
            #expect(unknown.pointers == ["/to"])
            let stale = try await client.send(
                "POST", Self.navigation, json: #"{"to":"page2"}"#, fields: [("If-Match", "\"7\"")])
            #expect(stale.status == 412)
        }
    }

    @Test("a journey can begin in the middle, with the screens below that a person would have passed")
    func startAt() async throws {
        try await withWizard { _, client in
            let body = #"{"flow":"wizard","at":"page2"}"#
            let blocked = try await client.send("POST", Paths.journeys, json: body)
            #expect(blocked.status == 409)
            #expect(blocked.code == "unreachable")
            try await client.patch(Paths.profile, #"{"name":"Ada"}"#)
            let started = try await client.send("POST", Paths.journeys, json: body)
            #expect(started.status == 201)
            #expect(started.stack == ["start", "page1", "page2"])
            let unknown = try await client.send("POST", Paths.journeys, json: #"{"flow":"wizard","at":"nowhere"}"#)
            #expect(unknown.status == 400)
            #expect(unknown.pointers == ["/at"])
            #expect(try await client.get(Paths.journeys).items.count == 1)
        }
    }

    private static let shop = """
        {"id": "shop", "version": 1, "initial": "list",
         "accepts": {"show": {"type": "object", "required": ["id"], "properties": {"id": {"type": "string", "maxLength": 9}}}},
         "on": {"show": {"target": "product", "params": {"id": {"$from": "/event/id"}}}},
         "states": {"list": {}, "product": {}}}
        """

    @Test("params say which frame of a screen is meant, for a journey that runs and one that begins there")
    func params() async throws {
        try await withApplication(flows: [Self.shop]) { app in
            let (client, session, _) = try await app.newSession()
            let body = #"{"flow":"shop","at":"product","params":{"id":"x"}}"#
            let started = try await client.send("POST", Paths.journeys, json: body)
            #expect(started.status == 201)
            #expect(started[member: "screen"]?[member: "params"] == ["id": "x"])
            let journey = try #require(started["Location"])
            func go(_ params: String, by another: TestClient? = nil, _ path: String? = nil) async throws -> TestResponse
            {
                try await (another ?? client).send(
                    "POST", "\(path ?? journey)/navigation", json: #"{"to":"product","params":\#(params)}"#)
            }
            let other = try await go(#"{"id":"y"}"#)
            #expect(other.status == 200 && other[member: "path"] == ["product"])
            #expect(other.stack == ["list", "product", "product"])
            #expect(try await go(#"{"id":"y"}"#)[member: "path"] == [])
            #expect(try await go(#"{"id":"x"}"#).stack == ["list", "product"])
            for (params, pointer) in [
                (#"{"nr":1}"#, "/params/nr"), (#"{"id":1}"#, "/params/id"),
                (#"{"id":"too long for it"}"#, "/params/id"),
                ("7", "/params"), (#"{"id":{"x":[]}}"#, "/params/id"),
            ] {
                let refused = try await go(params)
                #expect(refused.status == 400 && refused.code == "invalid_input", "\(params): \(refused.text)")
                #expect(refused.pointers == [pointer])
            }
            let id = try #require(started[member: "id"]?.string)
            #expect(try await go(#"{"id":"z"}"#, by: app.admin(), Paths.journey(id, of: session)).status == 200)
            for wrong in [#"{"flow":"shop","params":{"id":"x"}}"#, #"{"flow":"shop","at":"product","params":[]}"#] {
                let refused = try await client.send("POST", Paths.journeys, json: wrong)
                #expect(refused.status == 400 && refused.pointers == ["/params"])
            }
        }
    }
}
