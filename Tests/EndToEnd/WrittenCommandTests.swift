import Configuration
import HTTPTestClient
import JSONDocument
import Support
import Testing

/// A tally that its file lets count up to three, and rates of the process.
@Suite("Commands of document services", .timeLimit(.minutes(1)))
struct WrittenCommandTests {
    private static let tally = #"""
        {"name": "tally", "access": "read_only", "default": {"count": 0, "by": null},
         "schema": {"type": "object", "required": ["count", "by"], "additionalProperties": false,
           "properties": {"count": {"type": "integer", "maximum": 4}, "by": {"type": ["string", "null"]}}},
         "guards": {"open": {
           "compare": ["/tally/count", "<", 3], "say": {"de": "Das reicht.", "en": "That is enough."}}},
         "commands": {
           "count": {
             "accepts": {"type": "object", "required": ["by"], "additionalProperties": false, "properties": {
               "by": {"type": "integer", "minimum": 1, "x-say": "Count upwards."}, "list": {"type": "array"}}},
             "rules": [{"guard": {"compare": ["/event/by", "<=", 10]}, "at": "/by", "say": {"de": "Höchstens zehn.", "en": "At most ten at once."}}],
             "guard": "open",
             "actions": [
               {"op": "replace", "path": "/tally/count", "value": {"$add": ["/tally/count", "/event/by"]}},
               {"op": "replace", "path": "/tally/by", "value": {"$from": "/user/id"}},
               {"op": "add", "path": "/profile/attributes/counted", "value": {"$from": "/now"}}],
             "output": {"count": {"$from": "/tally/count"}}},
           "reset": {"actions": [{"clear": "tally"}]},
           "drop": {"actions": [{"remove": "tally"}]},
           "look": {"output": {"$from": "/tally/count"}},
           "late": {"actions": [
             {"op": "replace", "path": "/profile/name", "value": "Eve"},
             {"op": "test", "path": "/tally/count", "value": 2}]},
           "keep": {
             "accepts": true,
             "actions": [{"merge": "/profile", "value": {"attributes": {"kept": {"$from": "/event"}}}}]},
           "work": {
             "accepts": {"type": "array", "items": {"type": "integer"}},
             "output": {"$sum": {"of": "/event", "each": {"$sum": {"of": "/event"}}}}},
           "convert": {
             "accepts": {"type": "integer"},
             "guard": {"compare": ["/event", "<", "/rates/most"], "say": "Too much for today."},
             "output": {"$multiply": ["/event", "/rates/euro"]}}}}
        """#
    private static let rates = #"""
        {"name": "rates", "scope": "process", "default": {"euro": 2, "most": 10},
         "schema": {"type": "object", "required": ["euro", "most"], "properties": {
           "euro": {"type": "number", "minimum": 0}, "most": {"type": "integer"}}},
         "commands": {"raise": {
           "accepts": {"type": "object", "required": ["by"], "properties": {"by": {"type": "number"}}},
           "guard": {"compare": ["/event/by", "<", 1], "say": "Not that much."},
           "actions": [{"op": "replace", "path": "/rates/euro", "value": {"$add": ["/rates/euro", "/event/by"]}}],
           "output": {"$from": "/rates/euro"}}}}
        """#
    private static let flows = [
        #"""
        {"id": "form", "version": 1, "initial": "a", "owns": ["tally"], "states": {
           "a": {"data": ["tally", "profile"], "on": {"end": {"target": "z"}, "count": {"actions": [
             {"call": "tally/count", "with": {"by": {"$from": "/event/by"}}},
             {"op": "replace", "path": "/profile/name",
              "value": {"$concat": ["counted ", {"$from": "/result/count"}]}}]}}},
           "z": {"type": "final"}}}
        """#,
        #"""
        {"id": "often", "version": 1, "initial": "a", "states": {"a": {"on": {"go": {"actions": [
           {"call": "tally/work", "with": {"$from": "/event"}},
           {"call": "tally/work", "with": {"$from": "/event"}}]}}}}}
        """#,
    ]

    private static let path = Paths.service("tally")
    private static let raise = "/v1/services/rates/commands/raise"

    private static func withTally(_ body: @Sendable (RunningApplication, TestClient, String) async throws -> Void)
        async throws
    {
        try await withApplication(services: try await serviceFiles([tally, rates]), flows: flows) { app in
            let (client, id, _) = try await app.newSession()
            try await body(app, client, id)
        }
    }

    private static func call(
        _ command: String, _ input: String?, _ client: TestClient, on service: String = path,
        fields: [(String, String)] = []
    ) async throws -> TestResponse {
        try await client.send("POST", "\(service)/commands/\(command)", json: input, fields: fields)
    }

    private static func call(
        _ command: String, _ client: TestClient, on service: String = path, fields: [(String, String)] = []
    ) async throws -> TestResponse { try await call(command, nil, client, on: service, fields: fields) }

    private static func errors(_ response: TestResponse) -> [[String]] {
        (response[member: "errors"]?.elements ?? []).map {
            [$0[string: "pointer"] ?? "", $0[string: "detail"] ?? ""]
        }
    }

    @Test("a command changes several services in one commit, and answers as one in Swift does")
    func answers() async throws {
        try await Self.withTally { _, client, _ in
            let counted = try await Self.call("count", #"{"by":2}"#, client)
            #expect(counted.status == 200 && counted["ETag"] == "\"2\"")
            #expect(try counted.json == ["output": ["count": 2]])
            #expect(try await client.revision() == 2)
            let profile = try await client.get(Paths.profile)
            #expect(isTimestamp(profile[member: "attributes"]?[string: "counted"]) && profile["ETag"] == "\"2\"")
            let minimal = try await Self.call("look", client, fields: [("Prefer", "return=minimal")])
            #expect(minimal.status == 204 && minimal["Preference-Applied"] == "return=minimal")
            // Which changes nothing, and needs no body.
            #expect(try await Self.call("look", "{}", client).json == ["output": 2])
            #expect(try await client.revision() == 2)
            let reset = try await Self.call("reset", client)
            #expect(reset.status == 204 && reset["ETag"] == "\"3\"")
            #expect(try await client.get(Self.path).json == ["count": 0, "by": nil])
            #expect(try await Self.call("drop", client).status == 204)
            #expect(try await client.listing(of: "tally")?[member: "status"] == "registered")
            let listing = try await client.listing(of: "tally")
            #expect(
                listing?[member: "commands"] == ["convert", "count", "drop", "keep", "late", "look", "reset", "work"])
        }
    }

    @Test("schema and rules are one answer, in the author's words")
    func invalid() async throws {
        try await Self.withTally { _, client, _ in
            let both = try await Self.call("count", #"{"by":11,"more":1}"#, client)
            #expect(both.status == 400 && both.code == "invalid_input")
            #expect(
                Self.errors(both).map { $0[0] } == ["/more", "/by"] && Self.errors(both)[1][1] == "Höchstens zehn."
            )
            #expect(Self.errors(try await Self.call("count", #"{"by":0}"#, client)) == [["/by", "Count upwards."]])
            #expect(try await Self.call("look", "[1]", client).code == "invalid_input")
            #expect(try await Self.call("count", client).status == 400)
            let unknown = try await Self.call("cuont", #"{"by":1}"#, client)
            #expect(unknown.status == 404 && unknown.code == "command_not_found")
            #expect(unknown.text.contains("Did you mean 'count'?"))
            #expect(try await client.revision() == 1)
        }
    }

    @Test("a refusal has a reason, the guard's words and its place, and nothing has changed")
    func refusal() async throws {
        try await Self.withTally { _, client, _ in
            _ = try await Self.call("count", #"{"by":3}"#, client)
            func check(_ response: TestResponse, _ reason: String, _ place: String, _ words: String?) {
                #expect(response.status == 409 && response.code == "command_refused", "\(response.text)")
                #expect(response[member: "reason"]?.string == reason)
                #expect(response[member: "errors"]?.elements?.first?[string: "pointer"] == place)
                if let words { #expect(response[member: "detail"]?.string == words) }
            }
            check(try await Self.call("count", #"{"by":1}"#, client), "open", "/tally/count", "Das reicht.")
            check(try await Self.call("convert", "11", client), "guard_not_met", "", "Too much for today.")
            check(try await Self.call("late", client), "action_failed", "/tally/count", nil)
            #expect(try await client.get(Paths.profile)[member: "name"] == "")
            #expect(try await client.revision() == 2)
            // What a command makes is no mistake of its input.
            _ = try await Self.call("reset", client)
            check(try await Self.call("count", #"{"by":5}"#, client), "action_failed", "/tally/count", nil)
            let stale = try await Self.call("reset", client, fields: [("If-Match", "\"1\"")])
            #expect(stale.status == 412)
            #expect(try await client.revision() == 3)
        }
    }

    @Test("a refusal is in the client's language, from the listener and from a flow")
    func languages() async throws {
        try await Self.withTally { _, client, _ in
            _ = try await Self.call("count", #"{"by":3}"#, client)
            let german = client.with("Accept-Language", "de")
            let refused = try await Self.call("count", #"{"by":1}"#, german)
            #expect(refused[member: "detail"] == "Das reicht." && refused["Content-Language"] == "de")
            #expect(Self.errors(refused) == [["/tally/count", "Das reicht."]])
            let journey = try await client.start("form")
            let count = #"{"event":"count","data":{"by":3}}"#
            #expect(try await client.send("POST", "\(journey)/events", json: count).status == 200)
            let step = try await german.send("POST", "\(journey)/events", json: count)
            #expect(Self.errors(step) == [["/tally/count", "Das reicht."]])
            let many = try await german.send(
                "POST", "\(journey)/events", json: #"{"event":"count","data":{"by":11}}"#)
            #expect(Self.errors(many) == [["/event/by", "Höchstens zehn."]] && many["Content-Language"] == "de")
            for (by, place, words) in [
                (11, "/operations/1/value/by", "Höchstens zehn."), (1, "/tally/count", "Das reicht."),
            ] {
                let body =
                    #"{"operations":[{"op":"put","service":"profile","value":{"name":"Ada","email":null,"locale":null,"attributes":{}}},{"op":"call","service":"tally","command":"count","value":{"by":\#(by)}}]}"#
                let all = try await german.send("POST", "/v1/sessions/current/transactions", json: body)
                #expect(Self.errors(all) == [[place, words]] && all["Content-Language"] == "de")
                let english = try await client.with("Accept-Language", "en").send(
                    "POST", "/v1/sessions/current/transactions", json: body)
                #expect(english["Content-Language"] == "en" && Self.errors(english).first?[1] != words)
            }
        }
    }

    @Test("nothing is kept that is nested too deeply to be read again")
    func nesting() async throws {
        try await Self.withTally { _, client, _ in
            func keep(_ depth: Int) async throws -> TestResponse {
                try await Self.call(
                    "keep", String(repeating: "[", count: depth) + String(repeating: "]", count: depth), client)
            }
            #expect(try await keep(62).status == 204)
            let refused = try await keep(63)
            #expect(refused.status == 409 && refused[member: "reason"] == "action_failed", "\(refused.text)")
            #expect(try await client.get(Paths.profile).status == 200)
            #expect(try await client.patch(Paths.profile, #"{"name":"Ada"}"#).status == 200)
        }
    }

    @Test("a transaction calls commands, which see what it has done so far; a refusal undoes all of it")
    func transaction() async throws {
        try await Self.withTally { _, client, _ in
            func transact(_ by: Int) async throws -> TestResponse {
                try await client.send(
                    "POST", Paths.transactions,
                    json: #"""
                        {"operations":[{"op":"patch","service":"profile","value":{"name":"Ada"}},
                          {"op":"call","service":"tally","command":"count","value":{"by":1}},
                          {"op":"call","service":"tally","command":"count","value":{"by":\#(by)}}]}
                        """#)
            }
            let done = try await transact(2)
            #expect(done.status == 200, "\(done.text)")
            #expect(done[member: "results"]?.elements?.last?[member: "output"] == ["count": 3])
            #expect(try await client.get(Paths.profile)[member: "name"] == "Ada")
            let revision = try await client.revision()
            let refused = try await transact(1)
            #expect(refused.status == 409 && refused[member: "reason"] == "open")
            // What it is about is not a part of the request.
            #expect(Self.errors(refused) == [["/tally/count", "Das reicht."]])
            _ = try await Self.call("reset", client)
            #expect(Self.errors(try await transact(11)).first?[0] == "/operations/2/value/by")
            #expect(try await client.revision() == (revision ?? 0) + 1)
        }
    }

    @Test("a flow calls it for the coordinator that owns the service; a refusal refuses the step")
    func flow() async throws {
        try await Self.withTally { _, client, _ in
            let journey = try await client.start("form")
            func send(_ by: Int) async throws -> TestResponse {
                try await client.send("POST", "\(journey)/events", json: #"{"event":"count","data":{"by":\#(by)}}"#)
            }
            let counted = try await send(2)
            let data = counted[member: "screen"]?[member: "data"]
            #expect(data?[member: "tally"]?[member: "count"] == 2)
            #expect(data?[member: "profile"]?[member: "name"] == "counted 2")
            #expect(try await client.get(Self.path)[member: "count"] == 0)
            let own = "\(journey)/services/tally"
            let called = try await Self.call("count", #"{"by":1}"#, client, on: own)
            #expect(try called.json == ["output": ["count": 3]] && called["ETag"] != nil)
            #expect(try await client.get(own)[member: "count"] == 3)
            let refused = try await send(1)
            #expect(refused.status == 409 && refused.code == "guard_not_met")
            #expect(Self.errors(refused) == [["/tally/count", "Das reicht."]])
            let wrong = try await send(11)
            #expect(Self.errors(wrong) == [["/event/by", "Höchstens zehn."]])
            // A change of what a journey shows is seen in its tag, and clearing is for what is owned.
            #expect(try await Self.call("reset", client, on: own).status == 204)
            #expect(try await client.get(own)[member: "count"] == 0)
            #expect(try await Self.call("drop", client, on: own).status == 204)
            _ = try await client.send("POST", "\(journey)/events", json: #"{"event":"end"}"#)
            #expect(try await Self.call("count", #"{"by":1}"#, client, on: own).status == 410)
        }
    }

    @Test("lists make no more work than a step may do, several calls of one step together")
    func work() async throws {
        try await Self.withTally { _, client, _ in
            let list = { (count: Int) in "[" + (1...count).map(String.init).joined(separator: ",") + "]" }
            #expect(try await Self.call("work", list(100), client).json == ["output": 505_000])
            let much = try await Self.call("work", list(1000), client)
            #expect(much.status == 409 && much[member: "reason"] == "action_failed")
            #expect(much.text.contains("takes more work than one step may do"))
            // Those of a transaction, too.
            func transact(_ count: Int) async throws -> TestResponse {
                let call = #"{"op":"call","service":"tally","command":"work","value":\#(list(count))}"#
                return try await client.send(
                    "POST", Paths.transactions, json: #"{"operations":[\#(call),\#(call)]}"#)
            }
            #expect(try await transact(80).status == 200)
            let together = try await transact(100)
            #expect(together.status == 409 && together.text.contains("takes more work than one step may do"))
            let journey = try await client.start("often")
            func send(_ count: Int) async throws -> TestResponse {
                try await client.send("POST", "\(journey)/events", json: #"{"event":"go","data":\#(list(count))}"#)
            }
            // Each alone is within the bound.
            #expect(try await send(80).status == 200)
            let refused = try await send(100)
            #expect(refused.status == 409 && refused.text.contains("takes more work than one step may do"))
        }
    }

    @Test("a command of the process is for the admin listener, and sessions see what it did")
    func process() async throws {
        try await Self.withTally { app, client, id in
            let admin = app.admin()
            #expect(try await Self.call("convert", "3", client).json == ["output": 6])
            let raised = try await admin.send("POST", Self.raise, json: #"{"by":0.5}"#)
            #expect(raised.status == 200 && raised[member: "output"] == 2.5 && raised["ETag"] != nil)
            #expect(try await Self.call("convert", "3", client).json == ["output": 7.5])
            let refused = try await admin.send("POST", Self.raise, json: #"{"by":1}"#)
            #expect(refused.status == 409 && refused[member: "detail"] == "Not that much.")
            #expect(refused[member: "errors"]?.elements?.first?[member: "pointer"] == "/by")
            for response in [
                try await Self.call("raise", #"{"by":0.1}"#, client, on: Paths.service("rates")),
                try await Self.call("raise", #"{"by":0.1}"#, admin, on: Paths.service("rates", of: id)),
            ] { #expect(response.status == 405) }
            #expect(try await client.listing(of: "rates")?[member: "commands"] == [])
            #expect(try await admin.send("POST", "/v1/services/tally/commands/look").status == 404)
        }
    }

    @Test("both listeners describe the commands that can be called there, with their own schemas")
    func description() async throws {
        try await Self.withTally { app, client, _ in
            for (document, isAdmin) in [
                (try await client.get("/openapi.json").json, false),
                (try await app.admin().get("/openapi.json").json, true),
            ] {
                let paths = document[member: "paths"]?.members?.map(\.name) ?? []
                #expect(paths.contains(Self.raise) == isAdmin)
                #expect(!paths.contains { $0.hasSuffix("/services/rates/commands/raise") && $0.contains("{session}") })
                let count = "/v1/sessions/{session}/services/tally/commands/count"
                #expect(paths.contains(count))
                let call = document[member: "paths"]?[member: count]?[member: "post"]
                #expect(call?[member: "operationId"] == "callTallyCount")
                let schemas = document[member: "components"]?[member: "schemas"]
                #expect(schemas?[member: "TallyCountInput"]?[member: "required"] == ["by"])
                let output = schemas?[member: "TallyCountOutput"]?[member: "properties"]?[member: "output"]
                #expect(output?[member: "properties"]?[member: "count"]?[member: "type"] == "integer")
                #expect((schemas?[member: "RatesRaiseInput"] != nil) == isAdmin)
            }
        }
    }

    @Test("a copy of a request with an Idempotency-Key is not executed again")
    func repeated() async throws {
        try await Self.withTally { _, client, _ in
            let key = [("Idempotency-Key", "\"8e03978e-40d5-43dd-bc93-6894a57f9324\"")]
            for isCopy in [false, true] {
                let response = try await Self.call("count", #"{"by":1}"#, client, fields: key)
                #expect(try response.json == ["output": ["count": 1]])
                #expect((response["Idempotency-Replayed"] == "true") == isCopy)
            }
            #expect(try await client.get(Self.path)[member: "count"] == 1)
        }
    }
}
