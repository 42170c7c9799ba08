import Configuration
import HTTPTestClient
import JSONDocument
import Sessions
import Support
import Testing

@Suite("Where one may be")
struct StandingRuleTests {
    /// A booking that only a signed-in user may see and confirm.
    private static let booking = """
        {"id": "booking", "version": 1, "initial": "search",
         "guards": {"signed_in": {"service": "user", "schema": {"properties": {"authenticated": {"const": true}}}}},
         "states": {
           "search": {"on": {"book": {"target": "confirm"}}},
           "confirm": {"data": ["profile"], "requires": ["signed_in"], "on": {"confirm": {"target": "booked"}}},
           "booked": {"type": "final"}}}
        """

    /// A back end says whether the user is signed in, without ending anything that belongs to them.
    private static func write(authenticated: Bool, _ session: String, _ app: RunningApplication) async throws {
        let written = try await app.admin().send(
            "PATCH", "/v1/sessions/\(session)/services/user", json: #"{"authenticated":\#(authenticated)}"#)
        #expect(written.status == 200)
    }

    /// How a client asks; `code` is that of the refusal when it may not see the booking any more.
    enum Look: CaseIterable {
        case get, list, link, event, eventOnWhatWasSeen

        func send(_ client: TestClient, _ path: String, knowing seen: TestResponse) async throws -> TestResponse {
            switch self {
            case .get: try await client.get(path, fields: [("If-None-Match", seen["ETag"] ?? "")])
            case .list: try await client.get(Paths.journeys)
            case .link: try await client.send("POST", "\(path)/navigation", json: #"{"to":"confirm"}"#)
            case .event: try await client.event("confirm", on: path)
            case .eventOnWhatWasSeen: try await client.event("confirm", on: path, fields: ifMatch(seen))
            }
        }

        var code: String? {
            switch self {
            case .get, .list: nil
            case .link: "unreachable"
            case .event: "event_not_accepted"
            case .eventOnWhatWasSeen: "precondition_failed"
            }
        }
    }

    @Test(
        "signed out, no request shows the booking or confirms it, and the stack is uncovered down to what may be seen",
        arguments: Look.allCases)
    func signedOut(look: Look) async throws {
        try await withApplication(flows: [Self.booking]) { app in
            let (client, session, _) = try await app.newSession()
            try await Self.write(authenticated: true, session, app)
            try await client.patch(Paths.profile, #"{"name":"4929 1842 3319 6688"}"#)
            let path = try await client.start("booking")
            let before = try await client.event("book", on: path)
            #expect(before.text.contains("4929 1842"))
            try await Self.write(authenticated: false, session, app)
            let answer = try await look.send(client, path, knowing: before)
            #expect(answer.code == look.code && !answer.text.contains("4929 1842"), "\(answer.text)")
            let after = try await client.get(path)
            #expect(after.stack == ["search"])
            #expect(try #require(after.step) == (before.step ?? 0) + 1, "the first look has committed it")
            #expect(try await client.get(path).text == after.text, "and only once")
        }
    }

    @Test("after a sign-out, nobody is shown the booking, and nobody can confirm it")
    func userRemoved() async throws {
        try await withApplication(flows: [Self.booking]) { app in
            let (_, session, _) = try await app.newSession()
            let client = app.client().with(token: try await app.signIn("ada", to: session))
            try await client.patch(Paths.profile, #"{"name":"4929 1842 3319 6688"}"#)
            let path = try await client.start("booking")
            #expect(try await client.event("book", on: path).screen == "confirm")
            #expect(try await app.admin().send("DELETE", "/v1/sessions/\(session)/user").status == 204)
            #expect(try await !client.get(path).text.contains("4929 1842"))
            #expect(try await client.event("confirm", on: path).status >= 400)
            #expect(try await !client.get(Paths.journeys).text.contains("4929 1842"))
        }
    }

    @Test("a journey's services are those after its standing rules")
    func closedServices() async throws {
        let flows = [
            """
            {"id": "shop", "version": 1, "initial": "open", "states": {
               "open": {"on": {"buy": {"target": "buying"}}},
               "buying": {"type": "flow", "flow": "card", "on": {"done": {}}}}}
            """,
            """
            {"id": "card", "version": 1, "initial": "enter", "owns": ["card"],
             "guards": {"signed_in": {"is": "/user/authenticated"}},
             "states": {"enter": {"data": ["card"], "requires": ["signed_in"], "on": {"end": {"target": "ended"}}},
                        "ended": {"type": "final"}}}
            """,
        ]
        let services = [try ServiceFile(name: "card", default: ["number": "none"])]
        for isWrite in [false, true] {
            try await withApplication(services: services, flows: flows) { app in
                let (client, session, _) = try await app.newSession()
                try await Self.write(authenticated: true, session, app)
                let journey = try await client.start("shop")
                try await client.event("buy", on: journey)
                let card = "\(journey)/services/card"
                #expect(try await client.patch(card, #"{"number":"4929"}"#).status == 200)
                try await Self.write(authenticated: false, session, app)
                if isWrite {
                    let id = journey.split(separator: "/").last ?? ""
                    let written = try await client.send(
                        "POST", Paths.transactions,
                        json: #"{"operations":[{"op":"patch","service":"card","journey":"\#(id)","value":{"x":1}}]}"#)
                    #expect(!written.text.contains("4929"), "\(written.text)")
                } else {
                    #expect(try await !client.get(card).text.contains("4929"))
                }
                #expect(try await client.get(journey).stack == ["open"])
            }
        }
    }
}
