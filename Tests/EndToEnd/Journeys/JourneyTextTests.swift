import HTTPTestClient
import JSONDocument
import Support
import Testing

@Suite("Values, labels, messages and choices in journeys")
struct JourneyTextTests {
    private static let order = #"""
        {"id": "order", "version": 1, "initial": "choose",
         "on": {"leave": {"target": "left", "say": {"en": "Goodbye, {/profile/name}", "de": "Tschüss, {/profile/name}"}}},
         "labels": {"leave": {"en": "Leave", "de": "Gehen"}, "order": {"en": "Order", "de": "Bestellen"}},
         "states": {
           "choose": {"title": {"en": "Hello {/profile/name}", "de": "Hallo {/profile/name}"},
             "accepts": {"order": {"type": "object", "required": ["dish"], "x-order": ["dish", "count"],
               "properties": {"count": {"type": "integer", "title": {"en": "How many, {/profile/name}?", "de": "Wie viele, {/profile/name}?"}},
                 "dish": {"x-options": {"of": "/profile/attributes/dishes", "value": "/item/id", "title": "/item/name"},
                          "x-say": {"en": "There is no {/event/dish}.", "de": "Es gibt kein {/event/dish}."}}}}},
             "on": {"order": {"target": "served", "say": {"en": "One {/event/dish}", "de": "Einmal {/event/dish}"}}}},
           "served": {"on": {"again": {"target": "choose", "nav": "pop_to"}}},
           "left": {"type": "final"}}}
        """#

    private static func withOrder(
        _ body: (_ client: TestClient, _ journey: String) async throws -> Void
    ) async throws {
        try await withSession(flows: [order]) { client in
            try await patch(client, #"{"name": "Ada", "attributes": {"dishes": [{"id": "soup", "name": "Soup"}]}}"#)
            let started = try await client.send("POST", "/v1/sessions/current/journeys", json: #"{"flow": "order"}"#)
            try await body(client, try #require(started["Location"]))
        }
    }

    private static func patch(_ client: TestClient, _ profile: String) async throws {
        #expect(try await client.send("PATCH", Paths.profile, json: profile).status == 200)
    }

    private static func send(
        _ client: TestClient, _ journey: String, _ event: String, _ fields: [(name: String, value: String)] = []
    ) async throws -> TestResponse {
        try await client.send("POST", "\(journey)/events", json: event, fields: fields)
    }

    private static let german = [(name: "Accept-Language", value: "de")]

    @Test("a title shows a value of a service that the screen does not, in each language, and its ETag changes with it")
    func titles() async throws {
        try await Self.withOrder { client, journey in
            for (fields, hello, label) in [([], "Hello", "Leave"), (Self.german, "Hallo", "Gehen")] {
                try await Self.patch(client, #"{"name": "Ada"}"#)
                let view = try await client.get(journey, fields: fields)
                #expect(view[member: "screen"]?[member: "title"]?.string == "\(hello) Ada")
                #expect(view[member: "events"]?[1]?[member: "label"]?.string == label)
                let tag = try #require(view["ETag"])
                let known = fields + [(name: "If-None-Match", value: tag)]
                #expect(try await client.get(journey, fields: known).status == 304)
                try await Self.patch(client, #"{"name": "Bob"}"#)
                let changed = try await client.get(journey, fields: known)
                #expect(changed.status == 200)
                #expect(changed[member: "screen"]?[member: "title"]?.string == "\(hello) Bob")
                // The person has seen something else.
                let late = try await Self.send(
                    client, journey, #"{"event": "order", "data": {"dish": "soup"}}"#,
                    [(name: "If-Match", value: tag)])
                #expect(late.status == 412)
            }
        }
    }

    @Test("a client that waits for a change of a journey gets one in its title")
    func waiting() async throws {
        try await Self.withOrder { client, journey in
            let tag = try #require(try await client.get(journey)["ETag"])
            async let waited = client.get(
                journey, fields: [(name: "If-None-Match", value: tag), (name: "Prefer", value: "wait=30")])
            try await Self.patch(client, #"{"name": "Bob"}"#)
            let response = try await waited
            #expect(response.status == 200 && response[member: "screen"]?[member: "title"] == "Hello Bob")
        }
    }

    @Test("a message is shown until the next step, to every client and in its language, also to a copy of the request")
    func messages() async throws {
        try await Self.withOrder { client, journey in
            #expect(try await client.get(journey)[member: "message"]?.isNull == true)
            let key = [(name: "Idempotency-Key", value: "one")]
            let order = #"{"event": "order", "data": {"dish": "soup"}}"#
            for _ in 0..<2 {
                #expect(try await Self.send(client, journey, order, key)[member: "message"] == "One soup")
            }
            try await Self.patch(client, #"{"name": "Bob"}"#)
            #expect(try await client.get(journey)[member: "message"] == "One soup")
            let german = try await client.get(journey, fields: Self.german)
            #expect(german[member: "message"] == "Einmal soup" && german["Content-Language"] == "de")
            #expect(try await Self.send(client, journey, #"{"event": "order"}"#).status == 409)
            #expect(try await client.get(journey)[member: "message"] == "One soup")
            let again = try await Self.send(client, journey, #"{"event": "again"}"#)
            #expect(again[member: "message"]?.isNull == true)
            let left = try await Self.send(client, journey, #"{"event": "leave"}"#, Self.german)
            #expect(left[member: "status"] == "finished" && left[member: "message"] == "Tschüss, Bob")
            #expect(try await client.get(journey)[member: "message"] == "Goodbye, Bob")
        }
    }

    @Test("on the screen of a child in one language, what its parent says is in the client's language")
    func parents() async throws {
        let parent = #"""
            {"id": "parent", "version": 1, "initial": "start",
             "guards": {"free": {"has": "/profile/locale", "say": {"en": "Not yet", "de": "Noch nicht"}}},
             "on": {"stop": {"guard": "free", "target": "end"}}, "labels": {"stop": {"en": "Stop", "de": "Halt"}},
             "states": {"start": {"on": {"go": {"target": "child", "say": {"en": "Here we go", "de": "Los geht es"}}}},
               "child": {"type": "flow", "flow": "child"}, "end": {"type": "final"}}}
            """#
        let child = #"{"id": "child", "version": 1, "initial": "a", "states": {"a": {"on": {"on": {"target": "a"}}}}}"#
        try await withSession(flows: [parent, child]) { client in
            let started = try await client.send("POST", "/v1/sessions/current/journeys", json: #"{"flow": "parent"}"#)
            let journey = try #require(started["Location"])
            let english = try await Self.send(client, journey, #"{"event": "go"}"#)
            #expect(english[member: "message"] == "Here we go" && english["Content-Language"] == "en")
            let german = try await client.get(journey, fields: Self.german)
            #expect(german[member: "message"] == "Los geht es" && german["Content-Language"] == "de")
            let stop = german[member: "events"]?[1]
            #expect(stop?[member: "label"] == "Halt" && stop?[member: "why"]?[0]?[member: "detail"] == "Noch nicht")
            #expect(german["ETag"] != english["ETag"])
            let refused = try await Self.send(client, journey, #"{"event": "stop"}"#, Self.german)
            #expect(refused.status == 409)
            #expect(try refused.json[member: "errors"]?[0]?[member: "detail"] == "Noch nicht")
        }
    }

    @Test("texts with one wording are translated each for itself, and what people have written is not translated")
    func wordings() async throws {
        let flow = #"""
            {"id": "order", "version": 1, "initial": "a", "states": {
               "a": {"title": {"en": "Order", "de": "Bestellung"}, "labels": {"order": {"en": "Order", "de": "Bestellen"}},
                 "on": {"order": {"target": "b", "say": {"en": "Order", "de": "Bestellt"}}}},
               "b": {"title": "{/profile/name}", "on": {"on": {"target": "a"}}}}}
            """#
        try await withSession(flows: [flow]) { client in
            try await Self.patch(client, #"{"name": "Order"}"#)
            let german = client.with("Accept-Language", "de")
            let started = try await german.send("POST", "/v1/sessions/current/journeys", json: #"{"flow": "order"}"#)
            #expect(started[member: "screen"]?[member: "title"] == "Bestellung")
            #expect(started[member: "events"]?[0]?[member: "label"] == "Bestellen")
            let moved = try await Self.send(german, try #require(started["Location"]), #"{"event": "order"}"#)
            #expect(moved[member: "screen"]?[member: "title"] == "Order" && moved[member: "message"] == "Bestellt")
        }
    }

    @Test("choices come from the data and are checked against it, and the ETag changes with them")
    func choices() async throws {
        try await Self.withOrder { client, journey in
            func schema(_ fields: [(name: String, value: String)]) async throws -> (TestResponse, JSONDocument?) {
                let view = try await client.get("\(journey)?include=schema", fields: fields)
                return (view, view[member: "events"]?[0]?[member: "schema"])
            }
            let (view, form) = try await schema(Self.german)
            #expect(form?[member: "x-order"] == ["dish", "count"])
            let dish = form?[member: "properties"]?[member: "dish"]
            #expect(dish?[member: "enum"] == ["soup"])
            #expect(dish?[member: "x-options"] == [["value": "soup", "title": "Soup"]])
            #expect(form?[member: "properties"]?[member: "count"]?[member: "title"] == "Wie viele, Ada?")
            #expect(view[member: "events"]?[0]?[member: "label"] == "Bestellen")
            let refused = try await Self.send(
                client, journey, #"{"event": "order", "data": {"dish": "cake"}}"#, Self.german)
            #expect(refused.status == 400 && refused.code == "invalid_input")
            let error = try #require(try refused.json[member: "errors"]?[0])
            #expect(error[member: "pointer"] == "/data/dish" && error[member: "detail"] == "Es gibt kein cake.")
            let known = [(name: "If-None-Match", value: try #require(view["ETag"]))] + Self.german
            #expect(try await schema(known).0.status == 304)
            try await Self.patch(client, #"{"attributes": {"dishes": [{"id": "cake"}]}}"#)
            #expect(
                try await schema(known).1?[member: "properties"]?[member: "dish"]?[member: "x-options"] == [
                    ["value": "cake", "title": "cake"]
                ])
            let taken = try await Self.send(client, journey, #"{"event": "order", "data": {"dish": "cake"}}"#)
            #expect(taken.status == 200 && taken[member: "message"] == "One cake")
        }
    }

    @Test("without a list nothing can be chosen: 400, and the form is empty")
    func nothing() async throws {
        try await Self.withOrder { client, journey in
            try await Self.patch(client, #"{"attributes": {"dishes": null}}"#)
            let view = try await client.get("\(journey)?include=schema")
            let form = view[member: "events"]?[0]?[member: "schema"]
            let dish = form?[member: "properties"]?[member: "dish"]
            #expect(dish?[member: "enum"] == nil && dish?[member: "x-options"] == [])
            let refused = try await Self.send(client, journey, #"{"event": "order", "data": {"dish": "soup"}}"#)
            #expect(refused.status == 400)
        }
    }
}
