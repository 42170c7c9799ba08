import HTTPTestClient
import JSONDocument
import Support
import Testing

@Suite("Commands over HTTP", .timeLimit(.minutes(1)))
struct CommandTests {
    private static func path(_ command: String, of service: String = Paths.service("cart")) -> String {
        "\(service)/commands/\(command)"
    }
    private static let add = path("add")
    private static let tea = #"{"id":"tea","count":2}"#
    private static let form = """
        {"id": "form", "version": 1, "initial": "a", "owns": ["cart"], "states": {
           "a": {"data": ["cart"], "on": {"end": {"target": "z"}}}, "z": {"type": "final"}}}
        """

    private static func withShop(_ body: @Sendable (RunningApplication, TestClient, String) async throws -> Void)
        async throws
    {
        try await withApplication(adding: Shop.services, flows: [form]) { app in
            let (client, id, _) = try await app.newSession()
            try await body(app, client, id)
        }
    }

    @Test("a command gives its output and the service's tag; without an output or by preference no body")
    func answers() async throws {
        try await Self.withShop { _, client, _ in
            let added = try await client.send("POST", Self.add, json: Self.tea)
            #expect(added.status == 200)
            #expect(try added.json == ["output": 6])
            #expect(added["ETag"] == "\"2\"")
            let shown = try await client.get(Paths.service("cart"))
            #expect(shown["ETag"] == "\"2\"" && shown[member: "total"] == 6)
            let minimal = try await client.send(
                "POST", Self.add, json: Self.tea, fields: [("Prefer", "return=minimal")])
            #expect(minimal.status == 204 && minimal["ETag"] == "\"3\"")
            #expect(minimal["Preference-Applied"] == "return=minimal")
            for body in [nil, "{}"] {
                let emptied = try await client.send("POST", Self.path("empty"), json: body)
                #expect(emptied.status == 204 && emptied["ETag"] != nil)
            }
            // The document itself is not for clients.
            #expect(try await client.patch(Paths.service("cart"), #"{"total":0}"#).status == 405)
            let paid = try await client.send("POST", Self.path("pay"))
            #expect(paid.status == 409 && paid[member: "reason"] == "empty_cart")
            _ = try await client.send("POST", Self.add, json: Self.tea)
            #expect(try await client.send("POST", Self.path("pay")).json == ["output": "paid 6"])
            #expect(try await client.get(Paths.service("cart"))[member: "receipt"] == "paid 6")
        }
    }

    @Test("a refusal has its code, its text and its place, and nothing has changed")
    func refusal() async throws {
        try await Self.withShop { _, client, _ in
            let refused = try await client.send("POST", Self.add, json: #"{"id":"gold","count":1}"#)
            #expect(refused.status == 409)
            #expect(refused[member: "code"] == "command_refused")
            #expect(refused[member: "reason"] == "unknown_item")
            #expect(refused[member: "detail"] == "There is no gold.")
            #expect(refused[member: "errors"] == [["pointer": "/id", "detail": "There is no gold."]])
            #expect(try await client.revision() == 1)
        }
    }

    @Test("mistakes have their problems")
    func mistakes() async throws {
        try await Self.withShop { _, client, _ in
            func check(
                _ response: TestResponse, _ status: Int, _ code: JSONDocument,
                _ sourceLocation: SourceLocation = #_sourceLocation
            ) {
                #expect(response.status == status, sourceLocation: sourceLocation)
                #expect(response[member: "code"] == code, sourceLocation: sourceLocation)
            }
            let invalid = try await client.send("POST", Self.add, json: #"{"id":"tea","count":0}"#)
            check(invalid, 400, "invalid_input")
            #expect(invalid[member: "errors"]?.elements?.first?[member: "pointer"] == "/count")
            check(try await client.send("POST", Self.add), 400, "invalid_json")
            check(try await client.send("POST", Self.path("empty"), json: "[1]"), 400, "invalid_input")
            let unknown = try await client.send("POST", Self.path("ad"), json: Self.tea)
            check(unknown, 404, "command_not_found")
            #expect(unknown[member: "detail"]?.string?.contains("Did you mean 'add'?") == true)
            check(try await client.send("POST", Self.path("x", of: Paths.profile)), 404, "command_not_found")
            check(try await client.send("POST", Self.path("x", of: Paths.service("no"))), 404, "service_not_found")
            check(try await client.send("GET", Self.add), 405, "method_not_allowed")
            for command in ["empty", "pay"] {
                let failed = try await client.send("POST", Self.path(command), fields: [("If-Match", "\"9\"")])
                check(failed, 412, "precondition_failed")
                #expect(failed["ETag"] == "\"0\"")
            }
            check(try await client.send("POST", Self.path("fail")), 500, "internal_error")
            let large = try await client.send("POST", Self.add, json: #"{"id":"tea","count":500}"#)
            check(large, 400, "invalid_state")
            #expect(try await client.revision() == 1)
        }
    }

    @Test("a copy of a request with its key gets the first response, and is not executed", arguments: ["add", "pay"])
    func keys(command: String) async throws {
        try await Self.withShop { app, client, _ in
            _ = try await client.send("POST", Self.add, json: Self.tea)
            let key = [(name: "Idempotency-Key", value: "\"8e03978e-40d5-43dd-bc93-6894a57f9324\"")]
            let body = command == "add" ? Self.tea : nil
            let first = try await client.send("POST", Self.path(command), json: body, fields: key)
            let again = try await client.send("POST", Self.path(command), json: body, fields: key)
            #expect(first.status == 200 && first.body == again.body && first["ETag"] == again["ETag"])
            #expect(again["Idempotency-Replayed"] == "true" && first["Idempotency-Replayed"] == nil)
            #expect(try await client.revision() == 3 + (command == "pay" ? 1 : 0))
            let other = try await client.send("POST", Self.path("empty"), fields: key)
            #expect(other.status == 422)
        }
    }

    @Test("back ends call commands of any session, with a key, too")
    func admin() async throws {
        try await Self.withShop { app, _, id in
            let path = Self.path("add", of: Paths.service("cart", of: id))
            let key = [(name: "Idempotency-Key", value: "\"8e03978e-40d5-43dd-bc93-6894a57f9324\"")]
            for isReplay in [false, true] {
                let added = try await app.admin().send("POST", path, json: Self.tea, fields: key)
                #expect(try added.json == ["output": 6])
                #expect(added["Idempotency-Replayed"] == (isReplay ? "true" : nil))
            }
        }
    }

    @Test("in a journey the service is the one that its coordinators own")
    func journey() async throws {
        try await Self.withShop { app, client, id in
            let started = try await client.send("POST", Paths.journeys, json: #"{"flow":"form"}"#)
            let journey = Paths.journey(try #require(started[member: "id"]?.string))
            let owned = Paths.service("cart", ofJourney: journey)
            let added = try await client.send("POST", Self.path("add", of: owned), json: Self.tea)
            #expect(try added.json == ["output": 6])
            #expect(try await client.get(owned)[member: "total"] == 6)
            #expect(try await client.get(owned)["ETag"] == added["ETag"])
            #expect(try await client.get(Paths.service("cart"))[member: "total"] == 0)
            let missing = Self.path("empty", of: Paths.service("cart", ofJourney: Paths.journey("jrn_0")))
            #expect(try await client.send("POST", missing)[member: "code"] == "journey_not_found")
        }
    }

    @Test("a transaction calls commands between writes")
    func transaction() async throws {
        try await Self.withShop { _, client, _ in
            func commit(_ operations: String) async throws -> TestResponse {
                try await client.send("POST", Paths.transactions, json: #"{"operations":[\#(operations)]}"#)
            }
            let add = #"{"op":"call","service":"cart","command":"add","value":\#(Self.tea)}"#
            let order = #"{"op":"call","service":"cart","command":"order"}"#
            let done = try await commit(#"\#(add),{"op":"patch","service":"orders","value":{"count":7}},\#(order)"#)
            #expect(
                try done.json == [
                    "results": [
                        ["service": "cart", "etag": "\"2\"", "output": 6], ["service": "orders", "etag": "\"2\""],
                        ["service": "cart", "etag": "\"2\"", "output": 8],
                    ]
                ])
            let refused = try await commit("\(add),\(order),\(order)")
            #expect(refused.status == 409 && refused[member: "reason"] == "empty_cart")
            #expect(refused[member: "errors"]?.elements?.first?[member: "pointer"] == "/operations/2/value")
            let invalid = try await commit(add.replacing("2}", with: "0}"))
            #expect(invalid[member: "code"] == "invalid_input")
            #expect(invalid[member: "errors"]?.elements?.first?[member: "pointer"] == "/operations/0/value/count")
            let wrong = try await commit(
                #"""
                {"op":"call","service":"cart"},{"op":"call","service":"cart","command":"ad"},
                {"op":"call","service":"cart","command":"pay"},{"op":"clear","service":"cart","command":"add"}
                """#)
            #expect(wrong.status == 400)
            let places = wrong[member: "errors"]?.elements?.map { $0[member: "pointer"]?.string }
            #expect(places == (0..<4).map { "/operations/\($0)/command" })
            let late = try await commit(#"{"op":"call","service":"cart","command":"empty","if_match":"9"}"#)
            #expect(late.status == 412)
            #expect(try await client.revision() == 2)
        }
    }

    @Test("the list of services has the commands of each, and their scope")
    func list() async throws {
        try await Self.withShop { _, client, _ in
            let cart = try await client.listing(of: "cart")
            #expect(cart?[member: "commands"]?.elements?.compactMap(\.string) == Cart.commandNames)
            #expect(cart?[member: "scope"] == "session")
            #expect(try await client.listing(of: "profile")?[member: "commands"] == [])
        }
    }

    @Test("a command that takes long is in the log, with its name")
    func slow() async throws {
        let log = try LogFile()
        try await withSession(adding: Shop.services, log: log) { (client) async throws in
            #expect(try await client.send("POST", Self.path("think")).status == 204)
        }
        let line = try #require(try log.documents().first { $0[member: "event"] == "slow_command" })
        #expect(line[member: "service"] == "cart" && line[member: "command"] == "think")
        #expect(line[member: "cpu_ms"]?.int.map { $0 >= 100 } == true)
    }
}

@Suite("Hooks over HTTP", .timeLimit(.minutes(1)))
struct HookTests {
    private static let visit = Paths.service("visit")

    @Test("a GET shows what the hook has made, a sign-out and an end do their part, and the log says what fails")
    func life() async throws {
        let log = try LogFile()
        try await withApplication(adding: Visits.services, log: log) { app in
            let (client, id, _) = try await app.newSession()
            let admin = app.admin()
            let first = try await client.get(Self.visit)
            #expect(first.status == 200 && first["ETag"] == "\"2\"")
            #expect(try first.json == ["number": 1, "note": "new ", "log": []])
            #expect(try await client.get(Self.visit, fields: [("If-None-Match", "\"2\"")]).status == 304)
            let user = "/v1/sessions/\(id)/user"
            let visit = Paths.service("visit", of: id)
            for user in [user, user] {
                #expect(try await admin.send("PUT", user, json: #"{"user_id":"ada"}"#).status == 200)
                #expect(try await admin.send("DELETE", user).status == 204)
                #expect(try await admin.get(visit)[member: "log"] == ["signed out"])
                #expect(try await admin.send("POST", "\(visit)/commands/fail", json: #""signedOut""#).status == 204)
            }
            #expect(try await admin.send("DELETE", "/v1/sessions/\(id)").status == 204)
            let (other, _, _) = try await app.newSession()
            let ends = try await other.send("POST", "\(Self.visit)/commands/ends")
            #expect(try ends.json == ["output": ["visit 1 new "]])
        }
        let line = try #require(try log.documents().first { $0[member: "event"] == "hook_failed" })
        #expect(line[member: "service"] == "visit" && line[member: "hook"] == "signedOut")
    }
}
