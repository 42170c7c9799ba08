import Configuration
import HTTPTestClient
import JSONDocument
import Support
import Testing

/// FLOWS, "Whose services".
@Suite("Services that coordinators own")
struct OwnedServiceTests {
    /// Owns a transfer, and starts a child that owns a note of its own.
    static let flows = [
        """
        {"id": "pay", "version": 1, "initial": "input", "owns": ["transfer", "note"], "states": {
           "input": {"data": ["transfer", "profile"], "on": {
             "enter": {"actions": [{"op": "add", "path": "/transfer/amount", "value": {"$from": "/event/amount"}}]},
             "jot": {"actions": [{"op": "add", "path": "/note/text", "value": "parent"}]},
             "more": {"target": "child"},
             "next": {"target": "sum", "guard": {"service": "transfer", "schema": {
               "required": ["amount"], "properties": {"amount": {"type": "integer"}}}}},
             "stop": {"target": "stopped"}}},
           "sum": {"data": ["transfer"], "on": {"send": {"target": "sent"}}},
           "child": {"type": "flow", "flow": "details", "on": {"done": {}}},
           "sent": {"type": "final", "output": {"amount": {"$from": "/transfer/amount"}}},
           "stopped": {"type": "final"}}}
        """,
        """
        {"id": "details", "version": 1, "initial": "form", "owns": ["note"], "states": {
           "form": {"data": ["transfer", "note", "profile"], "on": {
             "jot": {"actions": [{"op": "add", "path": "/note/text", "value": "child"}]},
             "double": {"actions": [{"op": "add", "path": "/transfer/amount", "value": 2}]},
             "close": {"target": "closed"}}},
           "closed": {"type": "final"}}}
        """,
        """
        {"id": "careful", "version": 1, "initial": "input", "concurrency": "first_write", "states": {
           "input": {"data": ["profile"], "on": {"next": {"target": "end"}}},
           "end": {"data": ["profile"], "on": {"over": {"target": "done"}}},
           "done": {"type": "final"}}}
        """,
        """
        {"id": "kept", "version": 1, "initial": "input", "owns": ["transfer"], "bound_to": "session", "states": {
           "input": {"data": ["transfer"], "on": {"again": {"target": "input", "nav": "replace"}}}}}
        """,
    ]

    static func services() throws -> [ServiceFile] {
        [
            try ServiceFile(
                name: "transfer", schema: ["properties": ["amount": ["type": ["integer", "null"], "minimum": 1]]],
                default: ["amount": nil]),
            try ServiceFile(name: "note", default: ["text": ""]),
        ]
    }

    private static func with(_ body: (RunningApplication, TestClient) async throws -> Void) async throws {
        try await withApplication(services: try services(), flows: flows + [TestFlows.wizard]) { app in
            try await body(app, try await app.newSession().client)
        }
    }

    private static func amount(_ answer: TestResponse) -> JSONDocument? {
        answer.shown("transfer")?[member: "amount"]
    }

    // MARK: - Whose services

    @Test("two journeys of one flow never share what the flow owns, and the session has its own")
    func apart() async throws {
        try await Self.with { _, client in
            let one = try await client.start("pay")
            let two = try await client.start("pay")
            try await client.event("enter", #"{"amount":100}"#, on: one)
            let other = try await client.event("enter", #"{"amount":99999}"#, on: two)
            #expect(Self.amount(other) == 99_999)
            #expect(Self.amount(try await client.get(one)) == 100)
            #expect(try await client.get(Paths.service("transfer"))[member: "amount"] == .null)
            let sent = try await client.event("next", on: one)
            #expect(Self.amount(sent) == 100)
            #expect(try await client.event("send", on: one)[member: "output"] == ["amount": 100])
            #expect(Self.amount(try await client.get(two)) == 99_999)
        }
    }

    // MARK: - From outside

    @Test("the list says of each service its owner: the session or the coordinator's flow, resolved from the topmost")
    func owners() async throws {
        try await Self.with { _, client in
            let journey = try await client.start("pay")
            func owners() async throws -> [String: String] {
                let items = try await client.get("\(journey)/services").items
                return Dictionary(
                    items.map { ($0[string: "name"] ?? "", $0[string: "owner"] ?? "") }, uniquingKeysWith: { $1 })
            }
            let before = try await owners()
            #expect(before["transfer"] == "pay" && before["note"] == "pay" && before["profile"] == "session")
            try await client.event("more", on: journey)
            let after = try await owners()
            #expect(after["transfer"] == "pay" && after["note"] == "details")
            #expect(try await client.get("\(Paths.journeys)/jrn_nobody/services").code == "journey_not_found")
        }
    }

    @Test("GET, PUT, PATCH, DELETE and DELETE of the state are those of a session's service, with ETags and conditions")
    func operations() async throws {
        try await Self.with { _, client in
            let journey = try await client.start("pay")
            let path = Paths.service("transfer", ofJourney: journey)
            let unwritten = try await client.get(path)
            #expect(unwritten["ETag"] == "\"0\"")
            #expect(try unwritten.json == ["amount": nil])
            let put = try await client.send("PUT", path, json: #"{"amount":5}"#, fields: [("If-Match", "\"0\"")])
            #expect(put.status == 200)
            let tag = try #require(put["ETag"])
            #expect(try await client.get(path, fields: [("If-None-Match", tag)]).status == 304)
            let stale = try await client.send("PUT", path, json: #"{"amount":6}"#, fields: [("If-Match", "\"0\"")])
            #expect(stale.status == 412)
            #expect(stale["ETag"] == tag)
            #expect(try await client.patch(path, #"{"amount":0}"#).pointers == ["/amount"])
            let patched = try await client.send(
                "PATCH", path, json: #"{"amount":6}"#, fields: [("Prefer", "return=minimal"), ("If-Match", tag)])
            #expect(patched.status == 204)
            #expect(Self.amount(try await client.get(journey)) == 6)
            #expect(try await client.get(Paths.service("transfer"))[member: "amount"] == .null)
            let cleared = try await client.send("DELETE", "\(path)/state")
            #expect(cleared.status == 204)
            #expect(cleared["ETag"] != "\"0\"")
            #expect(try await client.get(path).json == ["amount": nil])
            let removed = try await client.send("DELETE", path)
            #expect(removed["ETag"] == "\"0\"")
            #expect(try await client.get(Paths.service("nothing", ofJourney: journey)).code == "service_not_found")
            // What no coordinator owns is the session's.
            try await client.patch(Paths.service("profile", ofJourney: journey), #"{"name":"Ada"}"#)
            #expect(try await client.get(Paths.profile)[member: "name"]?.string == "Ada")
        }
    }

    @Test("an operator has the same on the admin listener")
    func admin() async throws {
        try await withApplication(services: try Self.services(), flows: Self.flows) { app in
            let (client, id, _) = try await app.newSession()
            let journey = try await client.start("pay")
            let name = try #require(try await client.get(journey)[member: "id"]?.string)
            let path = Paths.journey(name, of: id)
            #expect(try await app.admin().patch("\(path)/services/transfer", #"{"amount":3}"#).status == 200)
            #expect(Self.amount(try await client.get(journey)) == 3)
            #expect(try await app.admin().get("\(path)/services").items.contains { $0[string: "owner"] == "pay" })
        }
    }

    @Test("an operation of a transaction may name a journey: all or nothing")
    func transaction() async throws {
        try await Self.with { _, client in
            let journey = try await client.start("pay")
            let id = try #require(try await client.get(journey)[member: "id"]?.string)
            func commit(_ amount: Int, _ match: String = "\\\"0\\\"") async throws -> TestResponse {
                try await client.send(
                    "POST", Paths.transactions,
                    json: """
                        {"operations":[{"op":"put","service":"transfer","journey":"\(id)","value":{"amount":1}},
                         {"op":"patch","service":"transfer","journey":"\(id)","value":{"amount":\(amount)},
                          "if_match":"\(match)"},
                         {"op":"put","service":"transfer","value":{"amount":42}},
                         {"op":"patch","service":"profile","journey":"\(id)","value":{"name":"Ada"}}]}
                        """)
            }
            let wrong = try await commit(0)
            #expect(wrong.status == 400)
            #expect(wrong.pointers == ["/operations/1/value/amount"])
            #expect(try await client.get(Paths.profile)[member: "name"]?.string == "")
            let done = try await commit(9)
            #expect(done.status == 200, "\(done.text)")
            #expect(Self.amount(try await client.get(journey)) == 9)
            #expect(try await client.get(Paths.service("transfer"))[member: "amount"] == 42)
            #expect(try await client.get(Paths.profile)[member: "name"]?.string == "Ada")
            let tag = try await client.get(Paths.service("transfer", ofJourney: journey))["ETag"]
            #expect(done[member: "results"]?[1]?[string: "etag"] == tag)
            #expect(try await commit(9).status == 412, "the state has been written since")
            let nobody = try await client.send(
                "POST", Paths.transactions,
                json: #"{"operations":[{"op":"clear","service":"transfer","journey":"jrn_1"}]}"#)
            #expect(nobody.pointers == ["/operations/0/journey"])
        }
    }

    @Test("what time does to a journey is done before a transaction writes, which loses none of it")
    func transactionAfterTime() async throws {
        let flow = """
            {"id": "slow", "version": 1, "initial": "input", "owns": ["transfer"], "states": {
               "input": {"timeout": {"after": "30s", "target": "late",
                 "actions": [{"op": "add", "path": "/note/text", "value": "late"}]}, "on": {"go": {"target": "late"}}},
               "late": {"data": ["note"], "on": {"go": {"target": "input"}}}}}
            """
        let clock = SteeredClock()
        try await withSession(services: try Self.services(), flows: [flow], clock: clock) { client in
            let journey = try await client.start("slow")
            let id = try #require(try await client.get(journey)[member: "id"]?.string)
            clock.advance(.seconds(31))
            let done = try await client.send(
                "POST", Paths.transactions,
                json: """
                    {"operations":[{"op":"patch","service":"note","value":{"mine":true}},
                     {"op":"put","service":"transfer","journey":"\(id)","value":{"amount":1}}]}
                    """)
            #expect(done.status == 200, "\(done.text)")
            #expect(try await client.get(Paths.service("note")).json == ["text": "late", "mine": true])
        }
    }

    @Test("in a transaction, what is cleared or removed had to be valid before, as a service of the session")
    func transactionOrder() async throws {
        try await Self.with { _, client in
            let journey = try await client.start("pay")
            let id = journey.split(separator: "/").last ?? ""
            for place in ["", #""journey":"\#(id)","#] {
                let refused = try await client.send(
                    "POST", Paths.transactions,
                    json: """
                        {"operations":[{"op":"put","service":"transfer",\(place)"value":{"amount":0}},
                                       {"op":"clear","service":"transfer"\(place.isEmpty ? "" : ",")\(place.dropLast())}]}
                        """)
                #expect(refused.pointers == ["/operations/0/value/amount"], "\(refused.text)")
            }
        }
    }

    @Test("of a journey that is over only the session's services can be read, and nothing can be written")
    func over() async throws {
        try await Self.with { _, client in
            let journey = try await client.start("pay")
            try await client.event("stop", on: journey)
            let path = Paths.service("transfer", ofJourney: journey)
            #expect(try await client.get(path).status == 200)
            #expect(try await client.patch(path, #"{"amount":4242}"#).code == "journey_finished")
            let operation =
                #"{"op":"put","service":"transfer","journey":"\#(journey.split(separator: "/").last ?? "")","value":{}}"#
            let refused = try await client.send("POST", Paths.transactions, json: "{\"operations\":[\(operation)]}")
            #expect(refused.code == "journey_finished", "\(refused.text)")
            #expect(try await client.get(Paths.service("transfer"))[member: "amount"] == .null)
        }
    }

    // MARK: - What the person saw

    @Test("the ETag changes with the step and with every service on the screen, owned or the session's, and no other")
    func tag() async throws {
        try await Self.with { _, client in
            let journey = try await client.start("pay")
            var tags = [try #require(try await client.get(journey)["ETag"])]
            func isNew() async throws -> Bool {
                let tag = try #require(try await client.get(journey)["ETag"])
                defer { tags.append(tag) }
                return !tags.contains(tag)
            }
            try await client.patch(Paths.service("note", ofJourney: journey), #"{"text":"x"}"#)
            #expect(try await !isNew(), "the screen does not show it")
            try await client.patch(Paths.service("transfer"), #"{"amount":1}"#)
            #expect(try await !isNew(), "it is the session's")
            try await client.patch(Paths.service("transfer", ofJourney: journey), #"{"amount":1}"#)
            #expect(try await isNew(), "what can be done has changed with it")
            try await client.patch(Paths.profile, #"{"name":"Ada"}"#)
            #expect(try await isNew())
            try await client.event("enter", #"{"amount":3}"#, on: journey)
            #expect(try await isNew())
        }
    }

    @Test("If-Match on an event holds what the person saw: 412 where a shown document has changed since")
    func seen() async throws {
        try await Self.with { _, client in
            let journey = try await client.start("pay")
            try await client.event("enter", #"{"amount":100}"#, on: journey)
            let seen = try await client.event("next", on: journey)
            try await client.patch(Paths.service("transfer", ofJourney: journey), #"{"amount":99999}"#)
            let stale = try await client.event("send", on: journey, fields: ifMatch(seen))
            #expect(stale.status == 412)
            #expect(try await client.get(journey).screen == "sum")
            #expect(try await client.event("send", on: journey, fields: ifMatch(stale)).status == 200)
        }
    }

    @Test("step in the body of an event checks the step alone")
    func step() async throws {
        try await Self.with { _, client in
            let journey = try await client.start("pay")
            try await client.event("enter", #"{"amount":100}"#, on: journey)
            try await client.patch(Paths.service("transfer", ofJourney: journey), #"{"amount":5}"#)
            func next(_ step: String) async throws -> TestResponse {
                try await client.send("POST", "\(journey)/events", json: #"{"event":"next","step":\#(step)}"#)
            }
            #expect(try await next("1").status == 412)
            #expect(try await next("0").pointers == ["/step"])
            #expect(try await next("2").status == 200)
        }
    }

    @Test("a flow with concurrency first_write takes no event without one of the two: 428")
    func firstWrite() async throws {
        try await Self.with { _, client in
            let journey = try await client.start("careful")
            let refused = try await client.event("next", on: journey)
            #expect(refused.status == 428)
            #expect(refused.code == "precondition_required")
            let shown = try await client.get(journey)
            #expect(shown.screen == "input")
            #expect(try await client.event("next", on: journey, fields: ifMatch(shown)).status == 200)
            let over = try await client.send("POST", "\(journey)/events", json: #"{"event":"over","step":2}"#)
            #expect(over.status == 200)
            #expect(try await client.event("over", on: journey).status == 410)
        }
    }

    @Test("POST with resume answers 200 with the running journey of that flow, if there is one")
    func resume() async throws {
        try await Self.with { _, client in
            func resume(_ flag: String = "true") async throws -> TestResponse {
                try await client.send("POST", Paths.journeys, json: #"{"flow":"pay","resume":\#(flag)}"#)
            }
            let first = try await resume()
            #expect(first.status == 201)
            let path = try #require(first["Location"])
            try await client.event("enter", #"{"amount":4}"#, on: path)
            _ = try await client.start("kept")
            let again = try await resume()
            #expect(again.status == 200)
            #expect(again[member: "id"]?.string == first[member: "id"]?.string)
            #expect(Self.amount(again) == 4)
            #expect(again["ETag"] == (try await client.get(path)["ETag"]))
            #expect(try await resume("false").status == 201)
            #expect(try await resume("1").pointers == ["/resume"])
        }
    }
}
