import Configuration
import JSONDocument
import Support
import Testing

@Suite("Document services that clients only read")
struct ReadOnlyServiceTests {
    private static let flow = """
        {"id": "buy", "version": 1, "initial": "cart", "states": {
           "cart": {"data": ["order"], "on": {
             "pay": {"actions": [{"op": "replace", "path": "/order/paid", "value": true}]},
             "reset": {"actions": [{"clear": "order"}]}, "drop": {"actions": [{"remove": "order"}]}}}}}
        """

    private static func withOrder(_ body: (TestClient, _ admin: TestClient, _ session: String) async throws -> Void)
        async throws
    {
        let order = try ServiceFile(
            name: "order", schema: ["required": ["paid"], "properties": ["paid": ["type": "boolean"]]],
            default: ["paid": false], access: .readOnly)
        try await withApplication(services: [order], flows: [Self.flow]) { app in
            let (client, id, _) = try await app.newSession()
            try await body(client, app.admin(), id)
        }
    }

    private static let path = Paths.service("order")

    @Test("the client gets 405 for every write, by itself and in a transaction, and nothing happens")
    func client() async throws {
        try await Self.withOrder { client, _, _ in
            for (method, path, body) in [
                ("PUT", Self.path, #"{"paid":true}"#), ("PATCH", Self.path, #"{"paid":true}"#),
                ("DELETE", Self.path, nil), ("DELETE", "\(Self.path)/state", nil),
                // Whatever the body is.
                ("PUT", Self.path, "{"), ("PATCH", Self.path, nil),
            ] as [(String, String, String?)] {
                let refused = try await client.send(method, path, json: body)
                #expect(refused.status == 405)
                #expect(refused["Allow"] == (path == Self.path ? "GET, HEAD, OPTIONS" : "OPTIONS"))
                #expect(refused.code == "method_not_allowed")
            }
            let operations = #"{"operations":[{"op":"put","service":"order","value":{"paid":true}}]}"#
            let refused = try await client.send("POST", Paths.transactions, json: operations)
            #expect(refused.status == 400)
            #expect(refused.pointers == ["/operations/0/service"])
            let order = try await client.get(Self.path)
            #expect(order.status == 200)
            #expect(order.text == #"{"paid":false}"#)
            #expect(order["ETag"] == "\"0\"")
        }
    }

    @Test("flows write, clear and remove it; the client sees that, and removing all services leaves it")
    func flows() async throws {
        try await Self.withOrder { client, _, _ in
            let journey = try await client.start("buy")
            #expect(try await client.event("pay", on: journey).status == 200)
            #expect(try await client.get(Self.path).text == #"{"paid":true}"#)
            #expect(try await client.send("DELETE", Paths.services).status == 204)
            #expect(try await client.get(Self.path).text == #"{"paid":true}"#)
            #expect(try await client.event("reset", on: journey).status == 200)
            #expect(try await client.get(Self.path).text == #"{"paid":false}"#)
            #expect(try await client.event("drop", on: journey).status == 200)
            #expect(try await client.get(Self.path)["ETag"] == "\"0\"")
        }
    }

    @Test("the admin listener writes and removes it, and says that it is read-only")
    func admin() async throws {
        try await Self.withOrder { client, admin, session in
            let path = Paths.service("order", of: session)
            #expect(try await admin.patch(path, #"{"paid":true}"#).status == 200)
            #expect(try await client.get(Self.path).text == #"{"paid":true}"#)
            #expect(try await admin.send("DELETE", path).status == 204)
            #expect(try await client.get(Self.path)["ETag"] == "\"0\"")
            let kinds = try await admin.get("/v1/service-kinds").items
            #expect(kinds.first { $0[string: "name"] == "order" }?[member: "read_only"] == true)
        }
    }
}
