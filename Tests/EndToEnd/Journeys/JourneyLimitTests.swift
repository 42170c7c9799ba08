import JSONDocument
import Support
import Testing

@Suite("As many journeys as there may be")
struct JourneyLimitTests {
    private static func withFull(_ body: (TestClient, [String]) async throws -> Void) async throws {
        try await withApplication(flows: [TestFlows.wizard, TestFlows.order]) {
            $0.mainFlow = "wizard"
            $0.journeys.max = 2
        } _: { app in
            let client = try await app.newSession().client
            try await body(client, [try await client.start("wizard"), try await client.start("wizard")])
        }
    }

    @Test("what is wrong with a request is said first: 404, 400, and only then 409")
    func order() async throws {
        try await Self.withFull { client, journeys in
            for (body, status, code) in [
                (#"{"flow":"ordre"}"#, 404, "flow_not_found"), (#"{"flow":"order"}"#, 400, "invalid_input"),
                (#"{"flow":"wizard","at":"page7"}"#, 400, "invalid_input"),
                (#"{"flow":"wizard"}"#, 409, "too_many_journeys"),
            ] {
                let refused = try await client.send("POST", Paths.journeys, json: body)
                #expect(refused.status == status)
                #expect(refused.code == code)
            }
            try await client.event("cancel", on: journeys[0])
            #expect(try await client.send("POST", Paths.journeys, json: #"{"flow":"ordre"}"#).status == 404)
            #expect(try await client.get(journeys[0]).status == 200, "what was refused has pushed nothing out")
            #expect(try await client.send("POST", Paths.journeys, json: #"{"flow":"wizard"}"#).status == 201)
            #expect(try await client.get(journeys[0]).status == 404)
        }
    }

    @Test("main always has a place", arguments: ["GET", "PUT"])
    func main(method: String) async throws {
        try await Self.withFull { client, _ in
            let main = try await client.send(method, Paths.main)
            #expect(main.status == (method == "GET" ? 200 : 201))
            #expect(main.screen == "start")
            #expect(try await client.get(Paths.journeys).items.count == 3)
            let refused = try await client.send("POST", Paths.journeys, json: #"{"flow":"wizard"}"#)
            #expect(refused.code == "too_many_journeys")
        }
    }
}
