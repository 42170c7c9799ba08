import HTTPTestClient
import JSONDocument
import Support
import Testing

@Suite("Flows")
struct FlowEndpointTests {
    private static func flow(version: Int) -> String {
        #"{"id":"tour","version":\#(version),"description":"A tour","initial":"a","states":{"a":{"on":{"end":{"#
            + #""target":"z"}}},"z":{"type":"final"}}}"#
    }

    private static let texts = [flow(version: 1), flow(version: 3), TestFlows.order]

    @Test("the list has each flow once, with the version that new journeys get; nobody needs a token")
    func list() async throws {
        try await withApplication(flows: Self.texts) { app in
            let list = try await app.client().get("/v1/flows")
            #expect(list.status == 200)
            #expect(
                list.items == [
                    ["id": "order", "version": 2, "versions": [2], "description": nil],
                    ["id": "tour", "version": 3, "versions": [1, 3], "description": "A tour"],
                ])
        }
        try await withApplication { app in
            let empty = try await app.client().get("/v1/flows")
            #expect(empty.items.isEmpty)
        }
    }

    @Test("without a token names, titles, screens and events are shown, and no guards, actions and services")
    func outlines() async throws {
        let flow = #"""
            {"id":"tour","version":1,"initial":"a","on":{"quit":{"target":"z"}},
             "guards":{"named":{"has":"/profile/email"}},
             "states":{"a":{"screen":"Start","title":"Hello {/profile/name} {{","data":["profile"],"on":{
                "end":{"guard":"named","target":"z","actions":[{"clear":"quote"}]}}},"z":{"type":"final"}}}
            """#
        func screens(_ title: String) -> JSONDocument {
            [["id": "a", "name": "Start", "title": JSONDocument(title), "events": ["end", "quit"]]]
        }
        try await withApplication(flows: [flow]) { app in
            let (guest, client) = (app.client(), try await app.newSession().client)
            for path in ["/v1/flows/tour", "/v1/flows/tour/versions/1"] {
                let shown = try await guest.get(path)
                #expect(shown[member: "screens"] == screens("Hello … {"))
                #expect(shown["Vary"] == "Authorization, Session-Token, Cookie")
                for hidden in ["named", "profile", "quote", "definition", "input"] {
                    #expect(!shown.text.contains(hidden), "\(hidden)")
                }
                let whole = try await client.get(path)
                #expect(whole[member: "definition"] == (try JSONDocument(parsing: flow)))
                #expect(
                    whole[member: "screens"] == screens("Hello {/profile/name} {{") && whole["ETag"] != shown["ETag"])
                let other = try await app.client().with(token: "cg_nothing").get(path)
                #expect(other.text == shown.text)
            }
            let outline = try await guest.get("/v1/flows/tour/graph")
            #expect(outline.status == 200)
            for hidden in ["named", "profile", "▤", "✎"] { #expect(!outline.text.contains(hidden), "\(hidden)") }
            let graph = try await client.get("/v1/flows/tour/graph")
            for mark in ["named", "▤ profile", "✎"] { #expect(graph.text.contains(mark), "\(mark)") }
        }
        try await withApplication(flows: [flow], setting: \.flowsPublic, to: .definitions) { app in
            let whole = try await app.client().get("/v1/flows/tour")
            #expect(whole[member: "definition"] != nil)
            let graph = try await app.client().get("/v1/flows/tour/graph")
            #expect(graph.text.contains("named"))
        }
    }

    @Test("a flow is shown with its definition and what it wants as input, in any version that is loaded")
    func show() async throws {
        try await withSession(flows: Self.texts) { client in
            let order = try await client.get("/v1/flows/order")
            #expect(order.status == 200)
            let definition = try JSONDocument(parsing: TestFlows.order)
            #expect(order[member: "definition"] == definition)
            #expect(order[member: "input"]?[member: "required"] == ["amount"])
            let newest = try await client.get("/v1/flows/tour")
            #expect(newest[member: "version"] == 3)
            #expect(newest[member: "versions"] == [1, 3])
            #expect(newest[member: "input"] == .null)
            #expect(try await client.get("/v1/flows/tour/versions/3").text == newest.text)
            #expect(try await client.get("/v1/flows/tour/versions/1")[member: "version"] == 1)
        }
    }

    @Test(
        "what is not there is 404",
        arguments: [
            "/v1/flows/nothing", "/v1/flows/nothing/graph", "/v1/flows/tour/versions/2", "/v1/flows/tour/versions/01",
            "/v1/flows/tour/versions/one", "/v1/flows/tour/versions/99999999999999999999",
            "/v1/flows/tour/versions/2/graph",
        ])
    func missing(path: String) async throws {
        try await withApplication(flows: Self.texts) { app in
            let missing = try await app.client().get(path)
            #expect(missing.status == 404)
            #expect(missing.code == "flow_not_found")
        }
    }

    @Test("each has an ETag of its own, and 304 for who has it; HEAD, OPTIONS and 405 as everywhere")
    func conditions() async throws {
        try await withApplication(flows: Self.texts) { app in
            let client = app.client()
            var tags: Set<String> = []
            for path in ["/v1/flows", "/v1/flows/tour", "/v1/flows/tour/versions/1", "/v1/flows/tour/graph"] {
                let tag = try #require(try await client.get(path)["ETag"])
                tags.insert(tag)
                #expect(try await client.send("HEAD", path)["ETag"] == tag)
                for known in [tag, "W/\(tag)", "\"x\", \(tag)", "*"] {
                    let same = try await client.get(path, fields: [("If-None-Match", known)])
                    #expect(same.status == 304)
                    #expect(same["ETag"] == tag)
                }
                #expect(try await client.get(path, fields: [("If-None-Match", "\"x\"")]).status == 200)
                #expect(try await client.get(path, fields: [("If-None-Match", "x")]).status == 400)
                #expect(try await client.send("OPTIONS", path)["Allow"] == "GET, HEAD, OPTIONS")
                #expect(try await client.send("POST", path, json: "{}").status == 405)
            }
            #expect(tags.count == 4)
        }
    }

    @Test("with flows_public false a session's token is needed")
    func notPublic() async throws {
        try await withApplication(flows: Self.texts, setting: \.flowsPublic, to: false) { app in
            let client = try await app.newSession().client
            for path in ["/v1/flows", "/v1/flows/tour", "/v1/flows/tour/versions/1", "/v1/flows/tour/graph"] {
                #expect(try await app.client().get(path).status == 401)
                #expect(try await client.get(path).status == 200)
            }
        }
    }
}
