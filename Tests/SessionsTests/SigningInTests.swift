import JSONDocument
import Navigation
import Testing

@testable import Sessions

@Suite("Signing in from a flow: sessions and tokens")
struct SigningInTests {
    static let flow = #"""
        { "id": "enter", "version": 1, "initial": "name",
          "states": {
            "name": {"on": {"submit": {"target": "checking"}}},
            "checking": {"type": "task", "task": "check",
              "on": {"done.ok": {"target": "home"}, "done.more": {"target": "checking"}, "done": {"target": "home"}}},
            "home": {"on": {"submit": {"target": "checking"}}} } }
        """#
    static let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    static let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"

    @Test("the verifier of RFC 7636, appendix B, has its challenge, and no other text has")
    func vector() throws {
        let challenge = try #require(CodeChallenge(Self.challenge))
        #expect(CodeChallenge(ofVerifier: Self.verifier) == challenge)
        #expect(CodeChallenge(bytes: challenge.digest.bytes) == challenge)
        // The last digit has two bits that nothing is in: each of them set would be the same bytes to a careless decoder.
        for last in ["N", "O", "P"] { #expect(CodeChallenge(Self.challenge.dropLast() + last) == nil) }
        for text in ["", "\(Self.challenge)A", String(Self.challenge.dropLast()), "é" + Self.challenge.dropFirst(2)] {
            #expect(CodeChallenge(text) == nil)
        }
        for text in ["", String(Self.verifier.dropLast()), Self.verifier + " ", String(repeating: "a", count: 129)] {
            #expect(CodeChallenge(ofVerifier: text) == nil)
        }
        #expect(CodeChallenge(ofVerifier: String(repeating: "~", count: 128)) != nil)
    }

    /// A session whose journey waits for the task that an event with a challenge has led to.
    private static func waiting(
        _ fixture: SessionsFixture, challenge: String? = challenge, mode: SessionMode = .bearer
    ) async throws -> (session: Session, token: SessionToken, task: TaskID) {
        let (session, token) = try await fixture.sessions.create(mode: mode)
        let journey = try await session.startJourney(flow: "enter").journey
        try await submit(to: journey, of: session, challenge)
        return (session, token, try await task(of: session, fixture))
    }

    private static func task(of session: Session, _ fixture: SessionsFixture) async throws -> TaskID {
        try #require(try await fixture.sessions.tasks(limit: 10).first { $0.id.session == session.id }?.id)
    }

    private static func submit(to journey: String, of session: Session, _ challenge: String?) async throws {
        _ = try await withCheckedThrowingContinuation { waiting in
            session.send("submit", toJourney: journey, challenge: challenge) { waiting.resume(with: $0) }
        }
    }

    private static func proof(_ verifier: String) throws -> ExchangeProof {
        .verifier(try #require(CodeChallenge(ofVerifier: verifier)))
    }

    @Test("the exchange is kept with the session, and over a move to another installation")
    func moved() async throws {
        let from = try SessionsFixture(flows: [Self.flow])
        let to = try SessionsFixture(clock: from.clock, flows: [Self.flow])
        // One session still waits for its task, the other for its client.
        let (early, earlyToken, task) = try await Self.waiting(from)
        let (late, token, other) = try await Self.waiting(from)
        _ = try await from.sessions.endTask(other, outcome: "ok", signingIn: UserClaims(userID: "ada"))
        let report = try await imported(try await exported(from.sessions), into: to.sessions)
        #expect(report.imported == 2 && report.errors.isEmpty)
        let there = try await to.sessions.session(ofEnded: token.presented, try Self.proof(Self.verifier))
        #expect(there.id == late.id)
        let fresh = try await to.sessions.exchange(token.presented, try Self.proof(Self.verifier), of: there)
        #expect(try await to.isAuthenticated(fresh))
        #expect(try await to.isAuthenticated(earlyToken))
        _ = try await to.sessions.endTask(task, outcome: "ok", signingIn: UserClaims(userID: "bob"))
        let second = try await to.sessions.session(ofEnded: earlyToken.presented, try Self.proof(Self.verifier))
        #expect(second.id == early.id && second.identity.userID == "bob")
    }

    @Test("an exchange is a use; a session that is over, or held, is exchanged for nobody")
    func over() async throws {
        let fixture = try SessionsFixture(flows: [Self.flow]) { $0.rotationGrace = 3_600_000 }
        let (session, token, task) = try await Self.waiting(fixture)
        _ = try await fixture.sessions.endTask(task, outcome: "ok", signingIn: UserClaims(userID: "ada"))
        fixture.clock.advance(29 * 60_000)
        let fresh = try await fixture.sessions.exchange(token.presented, try Self.proof(Self.verifier), of: session)
        fixture.clock.advance(29 * 60_000)
        #expect(try await fixture.isAuthenticated(fresh), "the exchange was a use")
        let (held, heldToken, heldTask) = try await Self.waiting(fixture)
        _ = try await fixture.sessions.endTask(heldTask, outcome: "ok", signingIn: UserClaims(userID: "ada"))
        held.hold()
        await #expect(throws: SessionError.unauthenticated) {
            try await fixture.sessions.session(ofEnded: heldToken.presented, try Self.proof(Self.verifier))
        }
        let (idle, idleToken, idleTask) = try await Self.waiting(fixture)
        _ = try await fixture.sessions.endTask(idleTask, outcome: "ok", signingIn: UserClaims(userID: "ada"))
        fixture.clock.advance(30 * 60_000)
        await #expect(throws: SessionError.unauthenticated) {
            try await fixture.sessions.session(ofEnded: idleToken.presented, try Self.proof(Self.verifier))
        }
        _ = idle
    }

    @Test("the user's limit of sessions is that of any sign-in: the result is kept, and held when the lease ends")
    func limit() async throws {
        let fixture = try SessionsFixture(clock: ManualClock(isStill: true), flows: [Self.flow]) {
            ($0.maxSessionsOfUser, $0.endsOldestOfUser) = (1, false)
        }
        _ = try await fixture.sessions.attachUser("ada", to: try await fixture.session())
        let (session, token, task) = try await Self.waiting(fixture)
        _ = try await fixture.sessions.claimTasks(named: "check", max: 1, lease: 60_000, wait: 0)
        await #expect(throws: SessionError.tooManySessionsOfUser(limit: 1)) {
            try await fixture.sessions.endTask(task, outcome: "ok", signingIn: UserClaims(userID: "ada"))
        }
        #expect(session.identity.userID == nil)
        #expect(try await fixture.isAuthenticated(token))
        fixture.clock.advance(60_000)
        await fixture.sessions.sweepTasks()
        #expect(try await fixture.sessions.claimTasks(named: "check", max: 1, lease: 60_000, wait: 0).isEmpty)
        guard case .held = try await fixture.sessions.retryTask(task) else { throw NotHeld() }
        // Once there is room, what is kept signs in.
        _ = try await fixture.sessions.endSessions(ofUser: "ada")
        let signedIn = try await fixture.sessions.retryTask(task)
        #expect(signedIn.user?.session.userID == "ada" && signedIn.user?.token == nil)
    }

    private struct NotHeld: Error {}

    @Test("a result that the session has no room for is held, and signs in once there is room")
    func tooLarge() async throws {
        let fill = Self.flow.replacing(
            #""done.ok": {"target": "home"}"#,
            with: #"""
                "done.ok": {"target": "home", "actions": [
                  {"op": "add", "path": "/profile/attributes/text", "value": {"$from": "/output"}}]}
                """#)
        let fixture = try SessionsFixture(flows: [fill]) { $0.maxSessionSize = 6_000 }
        let (session, token, task) = try await Self.waiting(fixture)
        try await fixture.perform(
            .mergePatch(["attributes": ["text": JSONDocument(String(repeating: "x", count: 4_000))]]),
            on: "temporary-profile", session)
        var report = TaskReport(outcome: "ok", output: JSONDocument(String(repeating: "y", count: 3_000)))
        report.signIn = ["user_id": "ada"]
        guard case .held = try await fixture.sessions.endTask(task, by: report) else { throw NotHeld() }
        #expect(try await fixture.isAuthenticated(token))
        #expect(try await fixture.sessions.tasks(limit: 9).map(\.isKept) == [true])
        try await fixture.perform(.remove, on: "temporary-profile", session)
        #expect(try await fixture.sessions.retryTask(task).user?.session.userID == "ada")
        #expect(try fixture.get("profile", session).document[member: "attributes"]?[string: "text"]?.count == 3_000)
    }

    @Test("an event that came without the cookie proves nothing to a browser, and one with it nothing to a bearer")
    func cookies() async throws {
        let texts: [(challenge: String?, isByCookie: Bool)] = [
            (nil, false), (nil, true), (Self.challenge, false), (Self.challenge, true),
        ]
        for (challenge, isByCookie) in texts {
            let fixture = try SessionsFixture(flows: [Self.flow])
            let sent = SignInProof.text(challenge: challenge, isByCookie: isByCookie)
            let (session, token, task) = try await Self.waiting(fixture, challenge: sent, mode: .cookie)
            let end = try await fixture.sessions.endTask(task, outcome: "ok", signingIn: UserClaims(userID: "ada"))
            #expect((end.user?.token == nil) == (challenge != nil || isByCookie))
            func finds(_ proof: ExchangeProof?) async -> Bool {
                (try? await fixture.sessions.session(ofEnded: token.presented, proof))?.id == session.id
            }
            #expect(await finds(.cookie) == isByCookie)
            #expect(await finds(try Self.proof(Self.verifier)) == (challenge != nil))
            #expect(await !finds(nil))
        }
    }

    @Test("the next step of the task's journey is the new user's, and a task that is over signs nobody in")
    func ofUser() async throws {
        let fixture = try SessionsFixture(flows: [Self.flow])
        let (session, _, task) = try await Self.waiting(fixture)
        _ = try await fixture.sessions.endTask(task, outcome: "more", signingIn: UserClaims(userID: "ada"))
        // The task behind it has the same challenge.
        let next = try await Self.task(of: session, fixture)
        #expect(next != task)
        let again = try await fixture.sessions.endTask(next, outcome: "ok", signingIn: UserClaims(userID: "bob"))
        #expect(again.user?.session.userID == "bob" && again.user?.token == nil)
        for over in [task, next] {
            await #expect(throws: TaskError.over) {
                try await fixture.sessions.endTask(over, outcome: "ok", signingIn: UserClaims(userID: "eve"))
            }
        }
        #expect(session.identity.userID == "bob")
        try await fixture.sessions.detachUser(from: session)
        #expect(try await session.journeys().isEmpty, "it was the user's")
    }

    @Test("rotating drops an exchange whose time is over")
    func dropped() async throws {
        let fixture = try SessionsFixture(flows: [Self.flow])
        let (session, token, task) = try await Self.waiting(fixture)
        _ = try await fixture.sessions.endTask(task, outcome: "ok", signingIn: UserClaims(userID: "ada"))
        _ = try await fixture.sessions.exchange(token.presented, try Self.proof(Self.verifier), of: session)
        fixture.clock.advance(30_000)
        _ = try await fixture.sessions.rotate(session)
        #expect(try await fixture.store.load(session.id)?.record.details.exchange == nil)
    }
}

extension TaskEnd {
    /// What became of the sign-in.
    fileprivate var user: SignedIn? { if case .signedIn(let user) = self { user } else { nil } }
}

extension Sessions {
    fileprivate func endTask(_ id: TaskID, outcome: String, signingIn user: UserClaims) async throws -> TaskEnd {
        var report = TaskReport(outcome: outcome)
        report.signIn = ["user_id": JSONDocument(user.userID), "claims": user.claims]
        return try await endTask(id, by: report)
    }
}
