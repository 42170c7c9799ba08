import HTTPTestClient
import JSONDocument
import Support
import Testing

@Suite("Links, answers and params over HTTP")
struct LinkTests {
    /// The shortest way home deletes the account, and the one to the input wipes the confirmation.
    private static let account = """
        {"id": "account", "version": 1, "initial": "door", "states": {
           "door": {"on": {
             "delete_account": {"target": "home", "actions": [{"remove": "profile"}]},
             "wipe": {"target": "input", "nav": "set_root"},
             "hall": {"target": "hall"}}},
           "hall": {"on": {"home": {"target": "home"}}},
           "home": {"data": ["profile"], "on": {"leave": {"target": "hall"}}},
           "input": {"on": {"again": {"target": "home", "nav": "pop_to"}}}}}
        """

    private static func withFlow(_ flow: String, _ body: (TestClient) async throws -> Void) async throws {
        try await withApplication(flows: [flow]) { app in try await body(try await app.newSession().client) }
    }

    @Test("a link does no damage: \"at\": \"home\" takes the way that deletes nothing")
    func at() async throws {
        try await Self.withFlow(Self.account) { client in
            try await client.patch(Paths.profile, #"{"name":"Ada"}"#)
            let home = try await client.send("POST", Paths.journeys, json: #"{"flow":"account","at":"home"}"#)
            #expect(home.stack == ["door", "hall", "home"])
            #expect(try await client.get(Paths.profile)[member: "name"] == "Ada")
        }
    }

    @Test("a link that would have to do damage is refused and says so: 409 unreachable")
    func refused() async throws {
        try await Self.withFlow(Self.account) { client in
            let path = try await client.start("account")
            let refused = try await client.send("POST", "\(path)/navigation", json: #"{"to":"input"}"#)
            #expect(refused.code == "unreachable" && refused.text.contains("a link changes nothing"))
            #expect(try await client.get(path).stack == ["door"])
        }
    }

    @Test("pop_to a screen that is not below pushes it")
    func popTo() async throws {
        try await Self.withFlow(Self.account) { client in
            let path = try await client.start("account")
            #expect(try await client.event("wipe", on: path).stack == ["input"])
            #expect(try await client.event("again", on: path).stack == ["input", "home"])
            #expect(try await client.event("back", on: path).stack == ["input"])
        }
    }

    private static func question(_ name: String, next: String) -> String {
        #"""
        "\#(name)": {"answers": ["/profile/attributes/\#(name)"],
           "accepts": {"submit": {"type": "object", "required": ["value"]}},
           "on": {"submit": {"target": "summary", "nav": "resume", "actions": [
                    {"op": "add", "path": "/profile/attributes/\#(name)", "value": {"$from": "/event/value"}}]},
                  "next": {"target": "\#(next)",
                           "guard": {"service": "profile", "schema": {"properties": {"attributes": {"required": ["\#(name)"]}}}}}}}
        """#
    }

    private static let form = """
        {"id": "form", "version": 1, "initial": "age",
         "invalidates": {"/profile/attributes/age": ["/profile/attributes/school"]},
         "states": {
           \(question("age", next: "town")), \(question("town", next: "school")), \(question("school", next: "summary")),
           "summary": {"on": {"change": {"target": "age"}, "change_town": {"target": "town"}, "send": {"target": "sent"}}},
           "sent": {"type": "final"}}}
        """

    @Test("a change link comes back to the summary after one screen, or asks exactly what became open again")
    func change() async throws {
        try await Self.withFlow(Self.form) { client in
            let path = try await client.start("form")
            for (value, screen) in [("1", "town"), ("2", "school"), ("3", "summary")] {
                #expect(try await client.event("submit", #"{"value":\#(value)}"#, on: path).screen == screen)
            }
            try await client.event("change_town", on: path)
            let back = try await client.event("submit", #"{"value":7}"#, on: path)
            #expect(back.stack == ["age", "town", "school", "summary"])
            try await client.event("change", on: path)
            let open = try await client.event("submit", #"{"value":8}"#, on: path)
            #expect(open.stack == ["age", "town", "school"])
            #expect(
                try await client.get(Paths.profile)[member: "attributes"] == ["age": 8, "town": 7],
                "what depends on the age is set back in the same step")
            #expect(try await client.event("submit", #"{"value":9}"#, on: path).screen == "summary")
        }
    }

    @Test("a link passes screens whose answers are there, and stops at the first that is not")
    func answered() async throws {
        try await Self.withFlow(Self.form) { client in
            let path = try await client.start("form")
            try await client.patch(Paths.profile, #"{"attributes":{"age":1,"town":2}}"#)
            let school = try await client.send("POST", "\(path)/navigation", json: #"{"to":"school"}"#)
            #expect(school.stack == ["age", "town", "school"])
            let summary = try await client.send("POST", "\(path)/navigation", json: #"{"to":"summary"}"#)
            #expect(summary.code == "unreachable")
            try await client.patch(Paths.profile, #"{"attributes":{"school":3}}"#)
            let at = try await client.send("POST", Paths.journeys, json: #"{"flow":"form","at":"summary"}"#)
            #expect(at.stack == ["age", "town", "school", "summary"])
        }
    }

    @Test("three products on one stack are three frames of one screen, and back shows the one before")
    func params() async throws {
        let shop = """
            {"id": "shop", "version": 1, "initial": "list",
             "on": {"look": {"target": "product", "params": {"id": {"$from": "/event/id"}}}},
             "states": {"list": {}, "product": {"title": "A product"}}}
            """
        try await Self.withFlow(shop) { client in
            let path = try await client.start("shop")
            #expect(try await client.get(path)[member: "screen"]?[member: "params"] == nil)
            for id in 1...3 {
                let shown = try await client.event("look", #"{"id":\#(id)}"#, on: path)
                #expect(shown[member: "screen"]?[member: "params"] == ["id": JSONDocument(id)])
            }
            #expect(try await client.get(path).stack == ["list", "product", "product", "product"])
            let back = try await client.event("back", on: path)
            #expect(back[member: "screen"]?[member: "params"] == ["id": 2])
            #expect(try await client.event("look", on: path).status == 409, "without the value there is no screen")
        }
    }
}
