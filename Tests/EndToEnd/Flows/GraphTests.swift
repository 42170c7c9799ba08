import HTTPTestClient
import JSONDocument
import Support
import Testing

@Suite("Graphs of flows")
struct GraphTests {
    private static let path = "/v1/flows/wizard/graph"

    @Test(
        "Accept chooses the form: Mermaid unless another is liked better",
        arguments: [
            (nil, "text/vnd.mermaid"), ("*/*", "text/vnd.mermaid"), ("text/*", "text/vnd.mermaid"),
            ("text/vnd.mermaid", "text/vnd.mermaid"), ("text/vnd.graphviz", "text/vnd.graphviz"),
            ("TEXT/VND.Graphviz", "text/vnd.graphviz"),
            ("text/vnd.mermaid;q=0.5, text/vnd.graphviz;q=0.501", "text/vnd.graphviz"),
            ("text/vnd.graphviz;q=1.000, text/vnd.mermaid", "text/vnd.mermaid"),
            ("text/*;q=0.3, text/vnd.mermaid;q=0", "text/vnd.graphviz"),
            ("text/html, */*;q=0.1", "text/vnd.mermaid"), ("image/png, text/vnd.graphviz", "text/vnd.graphviz"),
            ("nonsense", "text/vnd.mermaid"),
        ] as [(String?, String)])
    func negotiation(accept: String?, type: String) async throws {
        try await withApplication(flows: [TestFlows.wizard]) { app in
            let fields = accept.map { [(name: "Accept", value: $0)] } ?? []
            let graph = try await app.client().get(Self.path, fields: fields)
            #expect(graph.status == 200)
            #expect(graph["Content-Type"] == "\(type); charset=utf-8")
            #expect(graph["Vary"] == "Accept, Authorization, Session-Token, Cookie")
            #expect(graph.text.hasPrefix(type == "text/vnd.mermaid" ? "flowchart" : "digraph"))
            let head = try await app.client().send("HEAD", Self.path, fields: fields)
            #expect(head["Content-Length"] == "\(graph.body.count)")
            #expect(head["ETag"] == graph["ETag"])
        }
    }

    @Test(
        "what cannot be had is 406, with what can",
        arguments: ["image/png", "text/html", "text/vnd.mermaid;q=0", "application/*", "*/*;q=0"])
    func notAcceptable(accept: String) async throws {
        try await withApplication(flows: [TestFlows.wizard]) { app in
            let refused = try await app.client().get(Self.path, fields: [("Accept", accept)])
            #expect(refused.status == 406)
            #expect(refused.code == "not_acceptable")
            #expect(refused[member: "detail"]?.string?.contains("text/vnd.mermaid, text/vnd.graphviz") == true)
        }
    }

    @Test("SVG is drawn once for all who ask, or, without the tool for it, not offered")
    func drawing() async throws {
        try await withApplication(flows: [TestFlows.wizard]) { app in
            let client = app.client().with("Accept", "image/svg+xml")
            let answers = try await withThrowingTaskGroup(of: TestResponse.self) { group in
                for _ in 0..<8 { group.addTask { try await client.get(Self.path) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            let first = try #require(answers.first)
            #expect(answers.allSatisfy { $0.status == first.status && $0["ETag"] == first["ETag"] })
            if first.status == 406 {
                #expect(first[member: "detail"]?.string?.contains("image/svg+xml") == false)
                return
            }
            #expect(first.status == 200)
            #expect(first["Content-Type"] == "image/svg+xml")
            #expect(first["Content-Security-Policy"]?.contains("; sandbox;") == true)
            #expect(first.text.hasPrefix("<svg"), "no DOCTYPE, and not which version of what has drawn it")
            #expect(!first.text.contains("graphviz version"))
            #expect(first.text.contains("page1"))
            let same = try await client.get(
                Self.path, fields: [("If-None-Match", try #require(first["ETag"]))])
            #expect(same.status == 304)
        }
    }
}
