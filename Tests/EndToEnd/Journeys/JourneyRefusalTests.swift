import JSONDocument
import Support
import Testing

@Suite("Refused steps of journeys")
struct JourneyRefusalTests {
    @Test("an event that nothing waits for: 409 with those that would be accepted")
    func notAccepted() async throws {
        try await withWizard { _, client in
            let refused = try await client.event("next", on: Paths.main)
            #expect(refused.status == 409)
            #expect(refused.code == "event_not_accepted")
            let accepted = refused[member: "accepted"]?.elements?.compactMap(\.string)
            #expect(Set(accepted ?? []) == ["sign_in", "cancel"], "skip is known here, and not possible now")
            let back = try await client.event("back", on: Paths.main)
            #expect(back.code == "event_not_accepted", "there is nothing below")
            #expect(try await client.get(Paths.main).step == 1)
        }
    }

    @Test("input that the flow does not take: 400 with pointers below /input; a flow that is not there: 404")
    func wrongInput() async throws {
        try await withWizard { _, client in
            for (body, pointers) in [
                (#"{"flow":"order","input":{"amount":0}}"#, ["/input/amount"]),
                (#"{"flow":"wizard","input":{"step":2}}"#, ["/input"]),
                (#"{"flow":"order"}"#, ["/input/amount"]), (#"{"flow":"order","input":7}"#, ["/input"]),
            ] {
                let refused = try await client.send("POST", Paths.journeys, json: body)
                #expect(refused.status == 400)
                #expect(refused.pointers == pointers)
                #expect(try await client.send("PUT", Paths.main, json: body).pointers == pointers)
            }
            for body in [#"{"flow":"ordre"}"#, #"{"flow":"order","version":7,"input":{"amount":1}}"#] {
                let missing = try await client.send("POST", Paths.journeys, json: body)
                #expect(missing.status == 404)
                #expect(missing.code == "flow_not_found")
            }
            #expect(try await client.get(Paths.journeys).items.map { $0[string: "flow"] }.contains("order") == false)
        }
    }

    @Test(
        "bodies that are none of ours are 400 at the place, or 415",
        arguments: [
            ("", "{}", "/flow"), ("", #"{"flow":1}"#, "/flow"), ("", #"{"flow":""}"#, "/flow"),
            ("", #"{"flow":"wizard","inptu":{}}"#, "/inptu"), ("", #"{"flow":"wizard","version":0}"#, "/version"),
            ("", #"{"flow":"wizard","at":1}"#, "/at"), ("", "[]", ""), ("", "{", ""), ("", "", ""),
            ("/main/events", "{}", "/event"), ("/main/events", #"{"event":null}"#, "/event"),
            ("/main/events", #"{"event":"next","dta":1}"#, "/dta"), ("/main/events", "", ""),
            ("/main/navigation", "{}", "/to"), ("/main/navigation", #"{"to":["page1"]}"#, "/to"),
            ("/main/navigation", #"{"to":"page1","from":"start"}"#, "/from"),
        ])
    func badBodies(path: String, body: String, pointer: String) async throws {
        try await withWizard { _, client in
            let refused = try await client.send("POST", Paths.journeys + path, json: body)
            #expect(refused.status == 400)
            #expect(refused.pointers == [pointer])
            guard !body.isEmpty else { return }
            let untyped = try await client.send(
                "POST", Paths.journeys + path, json: body, fields: [("Content-Type", "text/plain")])
            #expect(untyped.status == 415)
        }
    }
}
