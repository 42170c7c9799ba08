import HTTPTestClient
import JSONDocument
import Support
import Testing

@Suite("The funnel of a flow, on the admin listener")
struct FunnelTests {
    private static func transitions(_ funnel: TestResponse) -> [String] {
        (funnel[member: "transitions"]?.elements ?? []).map { item in
            let versions = item[member: "versions"].map { String(decoding: $0.serialized(), as: UTF8.self) } ?? ""
            let (from, to) = (item[string: "from"] ?? "", item[string: "to"] ?? "")
            return "\(from) \(to) \(item[member: "all"]?.int ?? -1) \(versions) \(item[member: "today"]?.int ?? -1)"
        }
    }

    private static func standing(_ funnel: TestResponse) -> [String: Int] {
        (funnel[member: "states"]?.elements ?? []).reduce(into: [:]) {
            $0[$1[string: "id"] ?? ""] = $1[member: "active"]?.int
        }
    }

    @Test("counts what journeys do, by version and of today, and shows where they stand now")
    func counts() async throws {
        // A quarter past ten in the evening, UTC.
        let clock = SteeredClock()
        try await withWizard(clock: clock) {
            $0.sessionIdleTimeout = .seconds(12 * 3_600)
        } _: { app, client in
            try await client.get(Paths.main)
            try await client.event("sign_in", #"{"name":"Ada"}"#, on: Paths.main)
            let other = try await client.start("wizard")
            let funnel = try await app.admin().get("/v1/flows/wizard/funnel")
            #expect(funnel[member: "flow"] == "wizard" && funnel[member: "versions"] == [1])
            #expect(funnel[member: "since"] == "2023-11-14T22:13:20.000Z")
            #expect(
                Self.transitions(funnel) == [
                    #"(start) start 2 {"1":2} 2"#, #"start page1 1 {"1":1} 1"#, "page1 page2 0 {} 0",
                    "page2 (finished) 0 {} 0",
                ])
            #expect(Self.standing(funnel) == ["start": 1, "page1": 1, "page2": 0])
            #expect(funnel[member: "states"]?.elements?.first?[string: "type"] == "screen")
            clock.advance(.seconds(2 * 3_600))
            try await client.event("next", on: Paths.main)
            try await client.event("cancel", on: other)
            let next = try await app.admin().get("/v1/flows/wizard/funnel?version=1")
            // Another day, on which the events of the flow were taken, and where time has ended a journey.
            #expect(
                Self.transitions(next).allSatisfy { !$0.hasPrefix("start page1") || $0 == #"start page1 1 {"1":1} 0"# })
            #expect(Self.transitions(next).contains { $0.hasSuffix(#"(expired) 1 {"1":1} 1"#) })
            #expect(next[member: "states"]?.elements?.allSatisfy { $0[member: "active"] == 0 } == true)
        }
    }

    @Test("is 404 for a flow or a version that is not loaded, and 400 for a version that is none")
    func refused() async throws {
        try await withWizard { app, _ in
            let admin = app.admin()
            for path in ["/v1/flows/nothing/funnel", "/v1/flows/wizard/funnel?version=2"] {
                #expect(try await admin.get(path).code == "flow_not_found", "\(path)")
            }
            for query in ["version=0", "version=x", "version=1&version=1", "day=1"] {
                #expect(try await admin.get("/v1/flows/wizard/funnel?\(query)").status == 400, "\(query)")
            }
            #expect(try await app.client().get("/v1/flows/wizard/funnel").status == 404)
            let list = try await admin.get("/v1/flows?limit=2")
            #expect(list.items.map { $0[string: "id"] } == ["note", "order"] && list[member: "next"] != nil)
        }
    }
}
