import HTTPTestClient
import JSONDocument
import Support
import Testing

@Suite("Conditions on journeys")
struct JourneyConditionTests {
    private static func ifMatch(_ value: String) -> [(name: String, value: String)] { [("If-Match", value)] }

    @Test("an entity tag that is not the current one is 412 with the current one, and nothing has happened")
    func stale() async throws {
        try await withWizard { _, client in
            let old = try #require(try await client.get(Paths.main)["ETag"])
            let moved = try await client.event(
                "sign_in", #"{"name":"Ada"}"#, on: Paths.main, fields: Self.ifMatch(old))
            let current = try #require(moved["ETag"])
            let stale = Self.ifMatch(old)
            for answer in [
                try await client.event("next", on: Paths.main, fields: stale),
                try await client.send("PUT", Paths.main, fields: stale),
                try await client.send("DELETE", Paths.main, fields: stale),
                try await client.get(Paths.main, fields: stale),
            ] {
                #expect(answer.status == 412)
                #expect(answer.code == "precondition_failed")
                #expect(answer["ETag"] == current)
            }
            #expect(try await client.get(Paths.main).screen == "page1")
            #expect(try await client.event("next", on: Paths.main, fields: Self.ifMatch("2")).status == 400)
            #expect(
                try await client.event("next", on: Paths.main, fields: Self.ifMatch("\(old), \(current)")).status == 200
            )
            #expect(try await client.event("back", on: Paths.main, fields: Self.ifMatch("*")).status == 200)
        }
    }

    @Test("the 412 of an event carries the current view and its entity tag, with which the next one is taken")
    func staleView() async throws {
        try await withWizard { _, client in
            let old = try #require(try await client.get(Paths.main)["ETag"])
            try await client.event("sign_in", #"{"name":"Ada"}"#, on: Paths.main)
            for query in ["", "?include=schema"] {
                let refused = try await client.send(
                    "POST", "\(Paths.main)/events\(query)", json: #"{"event":"next"}"#, fields: Self.ifMatch(old))
                let current = try await client.get("\(Paths.main)\(query)")
                #expect(refused.status == 412 && refused["Content-Type"] == "application/problem+json")
                #expect(refused[member: "journey"] == (try current.json))
                #expect(refused["ETag"] == current["ETag"])
            }
            let byStep = try await client.send("POST", "\(Paths.main)/events", json: #"{"event":"next","step":7}"#)
            #expect(byStep.status == 412 && byStep[member: "journey"]?[string: "id"] == "main")
            let tag = try #require(byStep["ETag"])
            #expect(try await client.event("next", on: Paths.main, fields: Self.ifMatch(tag)).screen == "page2")
        }
    }

    @Test("If-None-Match: * on PUT starts main only when it is not there")
    func onlyIfMissing() async throws {
        try await withWizard { _, client in
            let missing = [(name: "If-None-Match", value: "*")]
            let first = try await client.send("PUT", Paths.main, json: #"{"flow":"wizard"}"#, fields: missing)
            #expect(first.status == 201)
            #expect(first["Location"]?.hasSuffix("/journeys/main") == true)
            let second = try await client.send("PUT", Paths.main, json: #"{"flow":"wizard"}"#, fields: missing)
            #expect(second.status == 412)
            #expect(second["ETag"] == first["ETag"])
        }
    }

    @Test("a journey that has not moved is 304, until what its screen shows is written")
    func notModified() async throws {
        try await withWizard { _, client in
            let moved = try await client.event("sign_in", #"{"name":"Ada"}"#, on: Paths.main)
            let tag = [(name: "If-None-Match", value: try #require(moved["ETag"]))]
            for method in ["GET", "HEAD"] {
                let same = try await client.send(method, Paths.main, fields: tag)
                #expect(same.status == 304)
                #expect(same["ETag"] == moved["ETag"])
                #expect(same["Cache-Control"] == "no-store")
                // RFC 9110, section 8.6: that of the 200, if any.
                #expect(same["Content-Length"] == "\(moved.body.count)")
            }
            // What the screen does not show changes nothing.
            try await client.patch(Paths.quote, #"{"text":"x"}"#)
            #expect(try await client.get(Paths.main, fields: tag).status == 304)
            try await client.patch(Paths.profile, #"{"name":"Bea"}"#)
            let other = try await client.get(Paths.main, fields: tag)
            #expect(other.status == 200, "the step is the same, and what is shown is not")
            #expect(other["ETag"] != moved["ETag"])
            #expect(other[member: "screen"]?[member: "data"]?[member: "profile"]?[string: "name"] == "Bea")
            #expect(try await client.get(Paths.main, fields: tag).status == 200)
            #expect(try await client.get(Paths.main, fields: [("If-None-Match", "\"1\"")]).status == 200)
            #expect(try await client.get(Paths.main, fields: [("If-None-Match", "2")]).status == 400)
        }
    }
}
