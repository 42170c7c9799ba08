import JSONDocument
import Support
import Testing

@Suite("Going back with data")
struct BackTests {
    private static let flow = """
        {"id": "claim", "version": 1, "initial": "home", "owns": [],
         "states": {
           "home": {"on": {"write": {"target": "form"}}},
           "form": {
             "accepts": {"back": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string", "maxLength": 9}}}},
             "on": {
               "back": {"actions": [{"set": "/profile/name", "value": {"$from": "/event/name"}}]},
               "send": {"target": "sent"}}},
           "sent": {"back": false, "on": {"again": {"target": "home", "nav": "set_root"}}}}}
        """

    private static func withForm(
        _ body: (_ client: TestClient, _ journey: String, _ admin: TestClient, _ ofAdmin: String) async throws -> Void
    ) async throws {
        try await withApplication(flows: [flow]) { app in
            let (client, session, _) = try await app.newSession()
            let journey = try await client.start("claim")
            #expect(try await client.event("write", on: journey).status == 200)
            let id = try #require(try await client.get(journey)[member: "id"]?.string)
            try await body(client, journey, app.admin(), Paths.journey(id, of: session))
        }
    }

    private static func name(_ client: TestClient) async throws -> String? {
        try await client.get(Paths.profile)[member: "name"]?.string
    }

    @Test("keeps what is sent, once for all copies of a request, and needs nothing")
    func kept() async throws {
        try await Self.withForm { client, journey, _, _ in
            let key = [("Idempotency-Key", "one")]
            let back = try await client.event("back", #"{"name":"Ada"}"#, on: journey, fields: key)
            #expect(back.status == 200 && back.screen == "home")
            #expect(try await Self.name(client) == "Ada")
            #expect(try await client.event("write", on: journey).status == 200)
            let again = try await client.event("back", #"{"name":"Ada"}"#, on: journey, fields: key)
            #expect(again["Idempotency-Replayed"] == "true" && again.text == back.text)
            #expect(try await client.get(journey).screen == "form")
            #expect(try await client.event("back", on: journey).screen == "home")
            #expect(try await Self.name(client) == "Ada")
        }
    }

    @Test("data that does not fit is 400 with pointers, nothing has happened, and a screen without back stays one")
    func refused() async throws {
        try await Self.withForm { client, journey, _, _ in
            for (data, pointer) in [("{}", "/data/name"), (#"{"name":7}"#, "/data/name"), ("null", "/data")] {
                let refused = try await client.event("back", data, on: journey)
                #expect(refused.status == 400 && refused.code == "invalid_input", "\(data)")
                #expect(refused.pointers == [pointer])
            }
            #expect(try await client.get(journey).screen == "form")
            #expect(try await client.event("send", on: journey).status == 200)
            let closed = try await client.event("back", #"{"name":"Ada"}"#, on: journey)
            #expect(closed.status == 409 && closed.code == "event_not_accepted")
            #expect(try await Self.name(client) == "")
        }
    }

    @Test("the view lists it with its schema, and the description says that data may be left out")
    func described() async throws {
        try await Self.withForm { client, journey, admin, ofAdmin in
            let view = try await client.get("\(journey)?include=schema")
            let event = view[member: "events"]?.elements?.last
            #expect(event?[string: "name"] == "back")
            #expect(event?.value(at: JSONPointer(["schema", "required"])) == ["name"])
            let description = try await client.get("/openapi.json")
            let back = try #require(description[member: "components"]?[member: "schemas"]?[member: "BackEvent"])
            #expect(back[member: "required"] == ["event"])
            #expect(back.value(at: JSONPointer(["properties", "data", "anyOf"]))?.count == 2)
            // A back end goes back in the same way.
            let done = try await admin.send(
                "POST", "\(ofAdmin)/events", json: #"{"event":"back","data":{"name":"Bob"}}"#)
            #expect(done.status == 200 && done.screen == "home")
            #expect(try await Self.name(client) == "Bob")
        }
    }
}
