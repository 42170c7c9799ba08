import HTTPTestClient
import JSONDocument
import Support
import Testing

@Suite("Walking main")
struct MainWalk {
    @Test("a guest is shown in, signed in by the back end, and brought home; signed out, they stand at the door again")
    func signedInAndOut() async throws {
        try await withShippedFlows { app, _ in
            let (guest, session, _) = try await app.newSession()
            let door = Walk(at: Paths.main, by: guest)
            let welcome = try await door.look()
            #expect(welcome.screen == "welcome")
            #expect(welcome.coordinators == ["main", "sign-in"])
            try await door.send("look_around", to: "tour")
            let identify = try await door.send("sign_in", to: "identify")
            #expect(identify.stack == ["welcome", "identify"])
            #expect(identify.why(not: "continue") == ["/user/authenticated"])
            try await door.refused("continue", code: "guard_not_met", at: ["/user/authenticated"])

            let token = try await app.signIn("ada", to: session)
            #expect(try await door.look().status == 401, "signing in changes the token")
            let home = Walk(at: Paths.main, by: app.client().with(token: token))
            let signedIn = try await home.look()
            #expect(signedIn.screen == "identify", "nothing moves by itself")
            #expect(signedIn.why(not: "continue") == nil)
            let arrived = try await home.send("continue", to: "home")
            #expect(arrived.coordinators == ["main", "home"])
            #expect(arrived.stack == ["home"], "sign-in has left, with all its screens")
            #expect(arrived.shown("user")?[string: "id"] == "ada")

            #expect(try await app.admin().send("DELETE", "/v1/sessions/\(session)/user").status == 204)
            let again = try await home.look()
            #expect(again.screen == "welcome", "no client has to say so")
            #expect(again.coordinators == ["main", "sign-in"])
            #expect(again.stack == ["welcome"])
        }
    }

    @Test("signed out in the middle of something: what is still open goes, the draft as well")
    func signedOutInTheMiddle() async throws {
        try await withShippedFlows { app, _ in
            let (_, session, _) = try await app.newSession()
            let client = app.client().with(token: try await app.signIn("ada", to: session))
            let walk = Walk(at: Paths.main, by: client)
            try await walk.look()
            try await walk.send("edit_quote", to: "show")
            try await walk.send("edit", to: "edit")
            #expect(try await app.admin().send("DELETE", "/v1/sessions/\(session)/user").status == 204)
            let refused = try await client.event("save", on: walk.path)
            #expect(refused.code == "event_not_accepted", "the event comes too late: \(refused.text)")
            let door = try await walk.look()
            #expect(door.stack == ["welcome"])
            #expect(door.coordinators == ["main", "sign-in"])
            #expect(try await client.listing(of: "quote-draft")?[string: "status"] == "registered")
        }
    }

    @Test("a deep link does not lead past the door")
    func deepLink() async throws {
        try await withShippedFlows { _, client in
            let walk = Walk(at: Paths.main, by: client)
            #expect(try await walk.look().screen == "welcome")
            let refused = try await client.send("POST", "\(walk.path)/navigation", json: #"{"to":"home"}"#)
            #expect(refused.code == "unreachable")
            #expect(try await walk.look().screen == "welcome")
            try await walk.navigate(to: "identify", by: ["identify"])
        }
    }
}
