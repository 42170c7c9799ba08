import JSONDocument
import Testing

@testable import Sessions

@Suite struct UserTests {
    private let fixture: SessionsFixture

    init() throws { fixture = try SessionsFixture() }

    @Test("attaching a user shows it, kills the old tokens at once and gives a fresh one")
    func attach() async throws {
        let (session, oldest) = try await fixture.sessions.create()
        let old = try await fixture.sessions.rotate(session)
        let fresh = try await fixture.sessions.attachUser("ada", claims: ["role": "admin"], to: session)
        #expect(
            try fixture.get("user", session).document == [
                "id": "ada", "authenticated": true, "claims": ["role": "admin"],
            ])
        #expect(try session.summary().userID == "ada")
        for token in [oldest, old] { #expect(try await !fixture.isAuthenticated(token)) }
        #expect(try await fixture.isAuthenticated(fresh))
        // No sign of theft, just dead: the session goes on.
        fixture.clock.advance(60_000)
        for token in [oldest, old] { #expect(try await !fixture.isAuthenticated(token)) }
        #expect(try await fixture.isAuthenticated(fresh))
        await #expect(throws: SessionError.readOnly(service: "user")) {
            try await session.update { try $0.resolve(UserService.self).state.id = "bob" }
        }
        let user = try session.state(of: UserService.self)
        #expect(user.id == "ada" && user.authenticated)
    }

    @Test("signing out removes what is bound to the user, and leaves the rest")
    func detach() async throws {
        let session = try await fixture.session()
        try await fixture.perform(.mergePatch(["name": "Ada"]), on: "profile", session)
        let token = try await fixture.sessions.attachUser("ada", to: session)
        try await fixture.perform(.put(["inbox": 1]), on: "mail", session)
        try await fixture.sessions.detachUser(from: session)
        #expect(try fixture.status("mail", session)?.isLive == false)
        #expect(try fixture.get("user", session).document[member: "authenticated"] == false)
        #expect(try session.state(of: ProfileService.self).name == "Ada")
        #expect(try session.summary().userID == nil)
        #expect(try await fixture.sessions.sessions(ofUser: "ada").isEmpty)
        #expect(try await fixture.isAuthenticated(token))
    }

    @Test("another user does not find what was bound to the one before")
    func exchange() async throws {
        let session = try await fixture.session()
        _ = try await fixture.sessions.attachUser("ada", to: session)
        try await fixture.perform(.put(["inbox": 1]), on: "mail", session)
        _ = try await fixture.sessions.attachUser("ada", claims: ["again": true], to: session)
        #expect(try fixture.get("mail", session).document == ["inbox": 1])
        _ = try await fixture.sessions.attachUser("bob", to: session)
        #expect(try fixture.get("mail", session).document == .emptyObject)
        #expect(try await fixture.sessions.sessions(ofUser: "ada").isEmpty)
        #expect(try await fixture.sessions.sessions(ofUser: "bob").count == 1)
    }

    @Test("a user's sessions are listed and ended, but for the caller's")
    func sessionsOfUser() async throws {
        var sessions: [Session] = []
        for _ in 0..<4 {
            let session = try await fixture.session()
            _ = try await fixture.sessions.attachUser("ada", to: session)
            sessions.append(session)
        }
        _ = try await fixture.session()
        let listed = try await fixture.sessions.sessions(ofUser: "ada")
        #expect(listed.map(\.id) == sessions.map(\.id).sorted())
        #expect(try await fixture.sessions.endSessions(ofUser: "ada", except: sessions[2].id) == 3)
        #expect(try await fixture.sessions.sessions(ofUser: "ada").map(\.id) == [sessions[2].id])
        #expect(try await fixture.sessions.endSessions(ofUser: "ada") == 1)
        #expect(fixture.sessions.statistics.live == 1)
    }

    @Test("ids that look the same and differ in a byte are two users")
    func lookalikes() async throws {
        let composed = try await fixture.session()
        let decomposed = try await fixture.session()
        _ = try await fixture.sessions.attachUser("caf\u{e9}", to: composed)
        _ = try await fixture.sessions.attachUser("cafe\u{301}", to: decomposed)
        #expect(try await fixture.sessions.sessions(ofUser: "caf\u{e9}").map(\.id) == [composed.id])
        #expect(try await fixture.sessions.endSessions(ofUser: "cafe\u{301}") == 1)
        #expect(try await fixture.sessions.session(composed.id) != nil)
    }

    @Test("a client that removes all services does not sign out")
    func removeAll() async throws {
        let session = try await fixture.session()
        _ = try await fixture.sessions.attachUser("ada", to: session)
        try await fixture.perform(.put(["inbox": 1]), on: "mail", session)
        try await session.removeAllServices()
        #expect(try fixture.status("mail", session)?.isLive == false)
        #expect(try session.state(of: UserService.self).id == "ada")
        try await session.removeAllServices(by: .admin)
        #expect(try session.state(of: UserService.self).id == nil)
    }

    @Test("user ids and claims have their limits")
    func limits() async throws {
        let (session, token) = try await fixture.sessions.create()
        for (id, claims) in [("", [:]), (String(repeating: "x", count: 257), [:]), ("ada", 7)]
            as [(String, JSONDocument)]
        {
            let error = await #expect(throws: SessionError.self) {
                try await fixture.sessions.attachUser(id, claims: claims, to: session)
            }
            guard case .invalid(let errors) = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
            #expect(errors.map(\.pointer) == [claims == 7 ? "/claims" : "/user_id"])
        }
        #expect(try await fixture.isAuthenticated(token))
    }
}
