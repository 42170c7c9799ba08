import Configuration
import HTTPTestClient
import JSONDocument
import Support
import Testing

/// The service that ships: prices come from the catalogue, and nobody can forge the total.
@Suite("The shipped basket", .timeLimit(.minutes(1)))
struct BasketTests {
    private static let basket = Paths.service("basket")
    private static let catalogue = "/v1/services/catalogue"
    private static let address = """
        {"name":"Ada Lovelace","street":"12 St James's Square","postcode":"SW1Y 4JH","city":"London","country":"GB"}
        """

    private static func withBasket(_ body: @Sendable (RunningApplication, TestClient) async throws -> Void) async throws
    {
        try await withApplication(services: try ShippedFiles.services(), flows: try ShippedFiles.flows()) { app in
            try await body(app, try await app.newSession().client)
        }
    }

    private static func call(
        _ command: String, _ input: String, _ client: TestClient, on service: String = basket
    ) async throws -> TestResponse {
        try await client.send("POST", "\(service)/commands/\(command)", json: input)
    }

    @Test("a line has the name and the price of the catalogue; the same article again is the same line")
    func add() async throws {
        try await Self.withBasket { _, client in
            let added = try await Self.call("add", #"{"sku":"TEA","quantity":2}"#, client)
            #expect(added.status == 200 && added["ETag"] == "\"2\"")
            #expect(try added.json == ["output": ["total": 900]])
            _ = try await Self.call("add", #"{"sku":"CUP"}"#, client)
            #expect(try await Self.call("add", #"{"sku":"TEA"}"#, client).json == ["output": ["total": 2250]])
            let expected: JSONDocument = [
                "items": [
                    ["sku": "CUP", "name": "Cup", "price": 900, "quantity": 1],
                    ["sku": "TEA", "name": "Tea, 100 g", "price": 450, "quantity": 3],
                ], "total": 2250,
            ]
            #expect(try await client.get(Self.basket).json == expected)
            #expect(try await Self.call("remove", #"{"sku":"TEA"}"#, client).json == ["output": ["total": 900]])
            #expect(try await client.get(Self.basket)[member: "items"]?.count == 1)
        }
    }

    @Test(
        "what cannot be ordered is refused with words, a reason and a place, and changes nothing",
        arguments: [
            ("add", #"{"sku":"GOLD"}"#, "sold", "/sku", "We do not sell that."),
            ("add", #"{"sku":"TEA","quantity":99}"#, "room", "/quantity", "You can order at most 99 of each."),
            ("remove", #"{"sku":"CUP"}"#, "chosen", "/sku", "That is not in the basket."),
        ])
    func refusal(command: String, input: String, reason: String, pointer: String, words: String) async throws {
        try await Self.withBasket { _, client in
            _ = try await Self.call("add", #"{"sku":"TEA"}"#, client)
            let before = try await client.get(Self.basket)
            let refused = try await Self.call(command, input, client)
            #expect(refused.status == 409 && refused.code == "command_refused")
            #expect(refused[member: "reason"]?.string == reason)
            #expect(refused[member: "detail"]?.string == words)
            #expect(
                refused[member: "errors"]
                    == [["pointer": JSONDocument(pointer), "detail": JSONDocument(words)]])
            let after = try await client.get(Self.basket)
            #expect(after.text == before.text && after["ETag"] == before["ETag"])
        }
    }

    @Test("neither a price nor a total comes from a client")
    func forging() async throws {
        try await Self.withBasket { app, client in
            let forged = #"{"items":[],"total":0}"#
            for (method, path) in [
                ("PATCH", Self.basket), ("PUT", Self.basket), ("DELETE", Self.basket),
                ("DELETE", "\(Self.basket)/state"),
                ("PATCH", Paths.service("catalogue")),
            ] {
                let json = method == "DELETE" ? nil : forged
                #expect(try await client.send(method, path, json: json).status == 405, "\(method) \(path)")
            }
            let priced = try await Self.call("add", #"{"sku":"TEA","price":1}"#, client)
            #expect(priced.status == 400 && priced.code == "invalid_input")
            #expect(priced[member: "errors"]?.elements?.first?[member: "pointer"] == "/price")
            // A back end sets prices; what was in a basket before keeps its own.
            _ = try await Self.call("add", #"{"sku":"TEA"}"#, client)
            let prices = #"{"items":[{"sku":"TEA","name":"Tea","price":1000}]}"#
            #expect(try await app.admin().send("PUT", Self.catalogue, json: prices).status == 200)
            #expect(try await client.get(Self.basket)[member: "total"] == 450)
            #expect(try await Self.call("add", #"{"sku":"TEA"}"#, client).json == ["output": ["total": 2000]])
        }
    }

    @Test(
        "a basket from before lines had prices can be used again, and emptied",
        arguments: [
            (
                "add", #"{"sku":"TEA"}"#,
                #"{"items":[{"name":"Tea, 100 g","price":450,"quantity":3,"sku":"TEA"}],"total":1350}"#
            ),
            ("remove", #"{"sku":"TEA"}"#, #"{"items":[],"total":0}"#),
            ("empty", "{}", #"{"items":[],"total":0}"#),
        ])
    func older(command: String, input: String, result: String) async throws {
        let old = try ServiceFile(name: "basket", schema: true, default: .emptyObject)
        let state = #"{"items":[{"sku":"TEA","quantity":2},{"sku":"CUP","quantity":1}],"coupon":null}"#
        try await withFolder([:]) { _, folder in
            let store = Configuration.Store.sqlite("\(folder)/sessions.db")
            let token = try await withApplication(services: [old]) {
                $0.store = store
            } _: { app in
                let session = try await app.newSession()
                #expect(try await session.client.send("PUT", Self.basket, json: state).status == 200)
                return session.token
            }
            try await withApplication(services: try ShippedFiles.services(), flows: try ShippedFiles.flows()) {
                $0.store = store
            } _: { app in
                let client = app.client().with(token: token)
                let start = try await client.start("checkout")
                let empty = try await client.send(
                    "POST", "\(start)/events", json: #"{"event":"submit","data":\#(Self.address)}"#)
                #expect(empty.status == 409 && empty.text.contains("Your basket is empty."))
                let called = try await Self.call(command, input, client)
                #expect(called.status == (command == "empty" ? 204 : 200), "\(called.text)")
                #expect(try await client.get(Self.basket).text == result)
            }
        }
    }

    @Test("a full basket takes more of what is in it, and nothing else")
    func full() async throws {
        try await Self.withBasket { app, client in
            let items = (0...100).map { #"{"sku":"S\#($0)","name":"Thing","price":1}"# }.joined(separator: ",")
            let admin = app.admin()
            #expect(try await admin.send("PUT", Self.catalogue, json: #"{"items":[\#(items)]}"#).status == 200)
            for number in 0..<100 { _ = try await Self.call("add", #"{"sku":"S\#(number)"}"#, client) }
            let refused = try await Self.call("add", #"{"sku":"S100"}"#, client)
            #expect(refused.status == 409 && refused[member: "reason"] == "space")
            #expect(refused[member: "detail"] == "Your basket is full.")
            #expect(try await Self.call("add", #"{"sku":"S7"}"#, client).json == ["output": ["total": 101]])
        }
    }

    @Test("checkout refuses an empty basket, takes what is in it into the order, and leaves it empty")
    func checkout() async throws {
        try await Self.withBasket { _, client in
            let journey = try await client.start("checkout")
            let events = "\(journey)/events"
            let empty = try await client.send("POST", events, json: #"{"event":"submit","data":\#(Self.address)}"#)
            #expect(empty.status == 409 && empty.code == "guard_not_met")
            #expect(
                empty[member: "errors"] == [["pointer": "/basket/items", "detail": "Your basket is empty."]])
            let gold = try await client.send("POST", events, json: #"{"event":"add","data":{"sku":"GOLD"}}"#)
            #expect(gold.status == 409 && gold.code == "guard_not_met")
            #expect(gold[member: "errors"] == [["pointer": "/event/sku", "detail": "We do not sell that."]])
            _ = try await Self.call("add", #"{"sku":"POT"}"#, client, on: "\(journey)/services/basket")
            _ = try await client.send("POST", events, json: #"{"event":"add","data":{"sku":"CUP","quantity":2}}"#)
            let submitted = try await client.send("POST", events, json: #"{"event":"submit","data":\#(Self.address)}"#)
            #expect(submitted.screen == "delivery")
            // Emptied meanwhile, it leads back.
            for sku in ["POT", "CUP"] { _ = try await Self.call("remove", #"{"sku":"\#(sku)"}"#, client) }
            #expect(try await client.get(journey).screen == "address")
            _ = try await Self.call("add", #"{"sku":"TEA"}"#, client)
            _ = try await client.send("POST", events, json: #"{"event":"next"}"#)
            for (event, data) in [
                ("choose", #"{"method":"pickup"}"#), ("submit", #"{"email":"ada@example.org"}"#),
                ("agree", #"{"agreed":true}"#),
            ] {
                _ = try await client.send("POST", events, json: #"{"event":"\#(event)","data":\#(data)}"#)
            }
            // The screen of a client that sends what it shows is older than the basket.
            let old = try await client.send(
                "POST", events, json: #"{"event":"pay","data":{"method":"card","total":900}}"#)
            #expect(old.status == 409 && old.code == "guard_not_met")
            #expect(old.text.contains("Your basket has changed. Please look at it again."))
            let paid = try await client.send("POST", events, json: #"{"event":"pay","data":{"method":"card"}}"#)
            #expect(paid.screen == "done")
            let order = try await client.get("\(journey)/services/order")
            #expect(order[member: "total"] == 450 && order[member: "items"]?.count == 1)
            #expect(try await client.get(Self.basket).json == ["items": [], "total": 0])
        }
    }
}
