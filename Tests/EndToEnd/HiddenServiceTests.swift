import Configuration
import JSONDocument
import Support
import Testing

/// A limit that flows compare with and clients never learn of, of each session and of the process.
@Suite("Document services that no client knows of")
struct HiddenServiceTests {
    private static let flow = """
        {"id": "buy", "version": 1, "initial": "cart",
         "states": {
           "cart": {
             "accepts": {"add": {"type": "object", "required": ["amount"], "properties": {"amount": {"type": "integer"}}}},
             "on": {
               "add": {"guard": {"compare": ["/event/amount", "<=", "/limit/most"]},
                       "actions": [{"op": "replace", "path": "/limit/most", "value": {"$subtract": ["/limit/most", "/event/amount"]}}]},
               "rest": {"target": "shown", "params": {"rest": {"$from": "/limit/most"}}},
               "large": {"guard": {"compare": ["/limit/most", ">", 1000]}, "target": "shown"},
               "wrong": {"actions": [{"set": "/limit/most", "value": {"$from": "/event/amount"}}]},
               "missing": {"actions": [{"op": "remove", "path": "/limit/none"}]},
               "priced": {"guard": {"compare": ["/prices/tea", "<", 3]}, "target": "shown"},
               "own": {"target": "child"}
             }},
           "shown": {"on": {"on": {"target": "cart", "nav": "pop_to"}}},
           "child": {"type": "flow", "flow": "own", "on": {"done": {}}}
         }}
        """
    private static let own = """
        {"id": "own", "version": 1, "initial": "a", "owns": ["limit"],
         "states": {"a": {"on": {"spend": {"actions": [{"set": "/limit/most", "value": 1}]}, "leave": {"target": "z"}}},
                    "z": {"type": "final"}}}
        """

    private static let wallet = #"""
        {"name": "wallet", "schema": {"type": "object"}, "default": {"left": 1},
         "commands": {
           "most": {"accepts": {"type": "integer"}, "actions": [
             {"set": "/wallet/left", "value": 0}, {"set": "/limit/most", "value": {"$from": "/event"}}]},
           "note": {"accepts": {"type": "string"}, "actions": [
             {"set": "/limit/note", "value": {"$concat": ["/event", "/event"]}}]}}}
        """#

    private static func withLimit(
        _ body: (_ client: TestClient, _ admin: TestClient, _ session: String, RunningApplication) async throws -> Void
    ) async throws {
        let limit = try ServiceFile(
            name: "limit", schema: ["required": ["most"], "properties": ["most": ["type": "integer", "minimum": 0]]],
            default: ["most": 100], access: .hidden)
        let prices = try ServiceFile(
            name: "prices", schema: ["properties": ["tea": ["type": "integer"]]], default: ["tea": 3], scope: .process,
            access: .hidden)
        try await withApplication(services: [limit, prices], flows: [flow, own]) { app in
            let (client, id, _) = try await app.newSession()
            try await body(client, app.admin(), id, app)
        }
    }

    @Test("every request for one is answered as that for a service that is not there")
    func unknown() async throws {
        try await Self.withLimit { client, _, _, _ in
            let journey = try await client.start("buy")
            for base in [Paths.services, "\(journey)/services"] {
                for (method, path, body) in [
                    ("GET", "", nil), ("HEAD", "", nil), ("PUT", "", #"{"most":1}"#), ("PATCH", "", #"{"most":1}"#),
                    ("DELETE", "", nil), ("DELETE", "/state", nil), ("POST", "/commands/add", "{}"),
                    ("OPTIONS", "", nil),
                    ("PUT", "", "{"),
                ] as [(String, String, String?)] {
                    for hidden in ["limit", "prices"] {
                        let one = try await client.send(method, "\(base)/\(hidden)\(path)", json: body)
                        let other = try await client.send(method, "\(base)/absent\(path)", json: body)
                        #expect(one.status == 404 && one.status == other.status, "\(method) \(base)\(path)")
                        #expect(one.code == other.code)
                        #expect(one["Allow"] == other["Allow"])
                        #expect(one["ETag"] == nil)
                        #expect(
                            one[member: "detail"]?.string
                                == other[member: "detail"]?.string?.replacing("absent", with: hidden))
                    }
                }
                #expect(
                    try await client.get(base).items.allSatisfy {
                        !["limit", "prices"].contains($0[string: "name"] ?? "")
                    })
            }
            let transaction = #"{"operations":[{"op":"put","service":"NAME","value":{"most":1}}]}"#
            for name in ["limit", "absent"] {
                let refused = try await client.send(
                    "POST", Paths.transactions, json: transaction.replacing("NAME", with: name))
                #expect(refused.status == 400 && refused.pointers == ["/operations/0/service"])
                #expect(refused.text.contains("there is no service of that name"))
            }
        }
    }

    @Test("flows read and write it, and what they refuse because of it does not say why")
    func flows() async throws {
        try await Self.withLimit { client, admin, id, _ in
            let journey = try await client.start("buy")
            let before = try await client.get(journey)
            #expect(try await client.event("add", #"{"amount":60}"#, on: journey).status == 200)
            let refused = try await client.event("add", #"{"amount":60}"#, on: journey)
            #expect(refused.status == 409 && refused.code == "guard_not_met")
            #expect(refused.pointers == ["/event/amount"])
            for (event, data, code) in [
                ("wrong", #"{"amount":-1}"#, "action_failed"), ("missing", nil, "action_failed"),
                ("large", nil, "guard_not_met"), ("priced", nil, "guard_not_met"),
            ] as [(String, String?, String)] {
                let answer = try await client.event(event, data, on: journey)
                #expect(answer.status == 409 && answer.code == code, "\(event): \(answer.text)")
                #expect(!answer.text.contains("limit") && !answer.text.contains("prices"), "\(answer.text)")
            }
            #expect(!refused.text.contains("limit"))
            let view = try await client.get(journey)
            #expect(!view.text.contains("/limit") && !view.text.contains("/prices"))
            #expect(before.text.contains("is refused by something that is not shown"))
            let shown = try await client.event("rest", on: journey)
            #expect(shown[member: "screen"]?[member: "params"] == ["rest": 40])
            #expect(try await admin.get(Paths.service("limit", of: id)).text == #"{"most":40}"#)
            // A back end is told why.
            let told = try await admin.send(
                "POST", "\(Paths.journey(view[member: "id"]?.string ?? "", of: id))/events", json: #"{"event":"on"}"#)
            #expect(told.status == 200)
            let wrong = try await admin.send(
                "POST", "\(Paths.journey(view[member: "id"]?.string ?? "", of: id))/events",
                json: #"{"event":"wrong","data":{"amount":-1}}"#)
            #expect(wrong.code == "invalid_state" && wrong.pointers == ["/limit/most"])
            // Removing all services leaves it.
            #expect(try await client.send("DELETE", Paths.services).status == 204)
            #expect(try await admin.get(Paths.service("limit", of: id)).text == #"{"most":40}"#)
        }
    }

    @Test("a command that writes one is refused without a word of it, alone and in a transaction; an operator is told")
    func commands() async throws {
        let limit = #"""
            {"name": "limit", "access": "hidden", "default": {"most": 100},
             "schema": {"required": ["most"], "properties": {
               "most": {"type": "integer", "minimum": 0}, "note": {"type": "string"}}}}
            """#
        try await withApplication(services: try await serviceFiles([Self.wallet, limit])) {
            $0.limits.documentBytes = 1_000
        } _: { app in
            let (client, id, _) = try await app.newSession()
            let long = #""\#(String(repeating: "x", count: 600))""#
            for (command, input, status) in [("most", "-1", 409), ("note", long, 413)] {
                let call = #"{"op":"call","service":"wallet","command":"\#(command)","value":\#(input)}"#
                for response in [
                    try await client.send("POST", "\(Paths.service("wallet"))/commands/\(command)", json: input),
                    try await client.send("POST", Paths.transactions, json: #"{"operations":[\#(call)]}"#),
                ] {
                    #expect(response.status == status, "\(response.text)")
                    #expect(!response.text.contains("limit") && !response.text.contains("at least"), "\(response.text)")
                    guard status == 409 else { continue }
                    #expect(response.code == "command_refused" && response[member: "reason"] == "action_failed")
                    #expect(response.pointers == [""])
                }
                let told = try await app.admin().send(
                    "POST", "\(Paths.service("wallet", of: id))/commands/\(command)", json: input)
                #expect(told.status == status && told.text.contains("limit"), "\(told.text)")
            }
            #expect(try await client.get(Paths.service("wallet"))[member: "left"] == 1)
        }
    }

    @Test("a write does not change what the client has seen, and the stream tells nothing of it")
    func watching() async throws {
        try await Self.withLimit { client, admin, id, _ in
            let journey = try await client.start("buy")
            let seen = try #require(try await client.get(journey)["ETag"])
            let stream = try await EventReader.open(client)
            #expect(try await admin.patch(Paths.service("limit", of: id), #"{"most":99}"#).status == 200)
            #expect(try await admin.send("PUT", "/v1/services/prices", json: #"{"tea":4}"#).status == 200)
            #expect(try await admin.send("DELETE", Paths.service("limit", of: id)).status == 204)
            #expect(try await client.get(journey)["ETag"] == seen)
            let patched = try await client.patch(Paths.profile, #"{"name":"Ada"}"#)
            let told = try #require(try await stream.next())
            #expect(told["service"] == "profile")
            #expect(told["etag"]?.string == patched["ETag"])
            // With what is shown in one commit, only that is told, and it has the resume point.
            let step = try await client.event("add", #"{"amount":1}"#, on: journey)
            let events = try await stream.next(2)
            #expect(events.map(\.name) == ["service.changed", "journey.moved"])
            #expect(events.map { $0["service"]?.string } == ["coordinator", nil])
            #expect(events.last?["etag"]?.string == step["ETag"])
            #expect(events.last?.id != nil)
            // Nothing of it is caught up with either.
            let again = try await EventReader.open(client, after: told.id)
            #expect(try await again.next(2).map(\.name) == ["service.changed", "journey.moved"])
            #expect(try await client.send("DELETE", Paths.current).status == 204)
            let rest = try await stream.rest()
            #expect(!rest.contains { ["limit", "prices"].contains($0["service"]?.string ?? "") })
            #expect(rest.last?.name == "session.ended")
        }
    }

    @Test("what a coordinator owns is hidden, too; the admin listener sees all, and waits for changes")
    func owned() async throws {
        try await Self.withLimit { client, admin, id, _ in
            let journey = try await client.start("buy")
            #expect(try await client.event("own", on: journey).status == 200)
            #expect(try await client.event("spend", on: journey).status == 200)
            #expect(try await client.get("\(journey)/services/limit").status == 404)
            let items = try await client.get("\(journey)/services").items
            #expect(!items.contains { $0[string: "name"] == "limit" })
            let path = Paths.service("limit", of: id)
            let tag = try #require(try await admin.get(path)["ETag"])
            async let waiting = admin.get(path, fields: [("If-None-Match", tag), ("Prefer", "wait=20")])
            #expect(try await admin.patch(path, #"{"most":7}"#).status == 200)
            #expect(try await waiting.text == #"{"most":7}"#)
            #expect(try await admin.get("/v1/sessions/\(id)/services").items.contains { $0[string: "name"] == "limit" })
            let kinds = try await admin.get("/v1/service-kinds").items
            #expect(kinds.first { $0[string: "name"] == "limit" }?[member: "hidden"] == true)
            #expect(kinds.first { $0[string: "name"] == "profile" }?[member: "hidden"] == false)
        }
    }

    @Test("the description names it on the admin listener alone, and types for clients do not have it")
    func descriptions() async throws {
        try await Self.withLimit { client, admin, _, _ in
            let open = try await client.get("/openapi.json").text
            #expect(
                !open.contains("\"Limit\"") && !open.contains("services/limit") && !open.contains("services/prices"))
            #expect(try await admin.get("/openapi.json").text.contains("services/limit"))
        }
        let file = #"{"name": "limit", "schema": {"type": "object"}, "default": {}, "access": "hidden"}"#
        try await withFolder(["services/limit.json": file, "flows/none.txt": ""]) { _, folder in
            for language in ["ts", "swift"] {
                let run = try await ProgramProcess.run([
                    "types", language, "--services", "\(folder)/services", "--flows", "\(folder)/flows",
                ])
                #expect(run.status == 0, "\(run.complaints)")
                #expect(!run.output.lowercased().contains("limit"))
            }
        }
    }
}
