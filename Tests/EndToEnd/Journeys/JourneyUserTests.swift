import HTTPTestClient
import JSONDocument
import Support
import Testing

/// FLOWS, "Users".
@Suite("Whose a journey is")
struct JourneyUserTests {
    private static func with(
        _ body: (RunningApplication, _ client: TestClient, _ session: String) async throws -> Void
    ) async throws {
        try await withApplication(
            services: try OwnedServiceTests.services(), flows: OwnedServiceTests.flows + [TestFlows.wizard]
        ) { app in
            let (client, id, _) = try await app.newSession()
            try await body(app, client, id)
        }
    }

    private static func signOut(_ app: RunningApplication, _ session: String) async throws {
        #expect(try await app.admin().send("DELETE", "/v1/sessions/\(session)/user").status == 204)
    }

    @Test("at sign-out a journey that its user has moved is abandoned and forgotten, outputs included")
    func signedOut() async throws {
        try await Self.with { app, guest, session in
            let client = app.client().with(token: try await app.signIn("ada", to: session))
            let running = try await client.start("pay")
            let finished = try await client.start("pay")
            try await client.event("enter", #"{"amount":3}"#, on: finished)
            try await client.event("next", on: finished)
            #expect(try await client.event("send", on: finished)[member: "output"] == ["amount": 3])
            try await Self.signOut(app, session)
            #expect(try await client.get(Paths.journeys).items.isEmpty)
            #expect(try await client.event("enter", #"{"amount":1}"#, on: running).code == "journey_not_found")
            #expect(try await client.get(finished).code == "journey_not_found")
        }
    }

    @Test("when somebody else signs in, the journeys of the one before are gone; the same user keeps them")
    func someoneElse() async throws {
        try await Self.with { app, guest, session in
            var client = app.client().with(token: try await app.signIn("ada", to: session))
            let journey = try await client.start("pay")
            client = app.client().with(token: try await app.signIn("ada", to: session))
            #expect(try await client.get(journey).status == 200)
            client = app.client().with(token: try await app.signIn("bob", to: session))
            #expect(try await client.get(journey).code == "journey_not_found")
            let mine = try await client.start("pay")
            try await app.admin().patch("/v1/sessions/\(session)/services/user", #"{"id":"cid"}"#)
            #expect(try await client.get(mine).code == "journey_not_found", "an admin has written who it is")
        }
    }

    @Test("a journey that only a guest has moved goes on through signing in, and is the user's after the next step")
    func guest() async throws {
        try await Self.with { app, guest, session in
            let moved = try await guest.start("pay")
            let rested = try await guest.start("pay")
            let client = app.client().with(token: try await app.signIn("ada", to: session))
            #expect(try await client.event("enter", #"{"amount":3}"#, on: moved).status == 200)
            try await Self.signOut(app, session)
            #expect(try await client.get(moved).code == "journey_not_found")
            #expect(try await client.get(rested).status == 200, "no user has moved it")
        }
    }

    @Test("what a user has written into a guest's journey is not the next user's")
    func written() async throws {
        try await Self.with { app, guest, session in
            let journey = try await guest.start("pay")
            let client = app.client().with(token: try await app.signIn("ada", to: session))
            #expect(try await client.patch("\(journey)/services/note", #"{"text":"ada's"}"#).status == 200)
            try await Self.signOut(app, session)
            let bob = app.client().with(token: try await app.signIn("bob", to: session))
            #expect(try await bob.get(journey).code == "journey_not_found")
        }
    }

    @Test("what a journey has told one user is shown neither to the next one nor to a guest")
    func messages() async throws {
        let greeting = #"""
            {"id": "greet", "version": 1, "initial": "a", "bound_to": "session",
             "states": {"a": {"on": {"go": {"target": "a", "say": "Hi {/user/id}"}, "end": {"target": "z"}}},
               "z": {"type": "final"}}}
            """#
        try await withApplication(flows: [greeting]) { app in
            let (guest, session, _) = try await app.newSession()
            let journey = try await guest.start("greet")
            func greeted(_ client: TestClient, _ name: String) async throws -> String {
                let told = try await client.event("go", on: journey)
                #expect(told[member: "message"]?.string == "Hi \(name)")
                return try #require(told["ETag"])
            }
            func isForgotten(_ client: TestClient, _ tag: String) async throws -> Bool {
                let view = try await client.get(journey, fields: [("If-None-Match", tag)])
                return view.status == 200 && view[member: "message"]?.isNull == true
            }
            var tag = try await greeted(guest, "")
            var client = app.client().with(token: try await app.signIn("ada", to: session))
            #expect(try await isForgotten(client, tag))
            tag = try await greeted(client, "ada")
            client = app.client().with(token: try await app.signIn("ada", to: session))
            #expect(try await client.get(journey)[member: "message"] == "Hi ada", "it is the same user")
            client = app.client().with(token: try await app.signIn("bob", to: session))
            #expect(try await isForgotten(client, tag))
            tag = try await greeted(client, "bob")
            try await Self.signOut(app, session)
            #expect(try await isForgotten(client, tag))
            client = app.client().with(token: try await app.signIn("ada", to: session))
            tag = try await greeted(client, "ada")
            try await app.admin().patch("/v1/sessions/\(session)/services/user", #"{"id":"cid"}"#)
            #expect(try await isForgotten(client, tag))
        }
    }

    @Test("an Idempotency-Key of one user replays nothing for the next one, nor for a guest")
    func replay() async throws {
        try await Self.with { app, guest, session in
            let client = app.client().with(token: try await app.signIn("ada", to: session))
            let journey = try await client.start("pay")
            let fields = [("Idempotency-Key", #""k1""#)]
            let first = try await client.event("enter", #"{"amount":3}"#, on: journey, fields: fields)
            #expect(first.status == 200)
            let again = try await client.event("enter", #"{"amount":3}"#, on: journey, fields: fields)
            #expect(again["Idempotency-Replayed"] == "true")
            func isReplayed(_ client: TestClient) async throws -> Bool {
                let other = try await client.event("enter", #"{"amount":3}"#, on: journey, fields: fields)
                #expect(other.code == "journey_not_found", "\(other.text)")
                return other["Idempotency-Replayed"] != nil
            }
            let bob = app.client().with(token: try await app.signIn("bob", to: session))
            #expect(try await !isReplayed(bob))
            try await Self.signOut(app, session)
            #expect(try await !isReplayed(bob), "a guest by now")
        }
    }

    @Test("time moves a journey for nobody: a guest's stays a guest's")
    func time() async throws {
        let slides = """
            {"id": "slides", "version": 1, "initial": "one", "states": {
               "one": {"timeout": {"after": "1m", "target": "two"}, "on": {"next": {"target": "two"}}},
               "two": {"on": {"back_to_one": {"target": "one"}}}}}
            """
        let clock = SteeredClock()
        try await withApplication(flows: [slides], clock: clock) { app in
            let (guest, session, _) = try await app.newSession()
            let journey = try await guest.start("slides")
            let client = app.client().with(token: try await app.signIn("ada", to: session))
            clock.advance(.seconds(60))
            #expect(try await client.get(journey).screen == "two")
            try await Self.signOut(app, session)
            #expect(try await client.get(journey).screen == "two")
        }
    }

    @Test("bound_to session at the top of the journey's flow keeps it")
    func bound() async throws {
        try await Self.with { app, guest, session in
            let client = app.client().with(token: try await app.signIn("ada", to: session))
            let kept = try await client.start("kept")
            try await client.patch(Paths.service("transfer", ofJourney: kept), #"{"amount":3}"#)
            try await Self.signOut(app, session)
            #expect(try await client.get(kept).shown("transfer") == ["amount": 3])
        }
    }
}
