import JSONDocument
import Sessions
import Testing

@Suite struct TokenTests {
    private let fixture: SessionsFixture

    init() throws { fixture = try SessionsFixture() }

    @Test("a token opens its session and no other")
    func opens() async throws {
        let (first, token) = try await fixture.sessions.create()
        let (second, other) = try await fixture.sessions.create()
        #expect(try await fixture.sessions.authenticate(token.presented) === first)
        #expect(try await fixture.sessions.authenticate(other.presented) === second)
    }

    @Test("no token, an unknown one and one with a wrong secret are refused alike")
    func refused() async throws {
        let (_, token) = try await fixture.sessions.create()
        let other = try SessionsFixture()
        let (_, foreign) = try await other.sessions.create()
        // The id of the one, the secret of the other.
        let forged = String(token.text.prefix(25)) + String(foreign.text.suffix(42))
        for presented in [nil, foreign.presented, PresentedToken(forged)] {
            await #expect(throws: SessionError.unauthenticated) {
                try await fixture.sessions.authenticate(presented)
            }
        }
        #expect(try await fixture.isAuthenticated(token))
    }

    @Test("after a rotation both tokens work for the grace, and the old one ends the session after it")
    func rotation() async throws {
        let (session, old) = try await fixture.sessions.create()
        let spy = try ChangeSpy(session)
        try await fixture.perform(.put(["count": 1]), on: "counter", session)
        let fresh = try await fixture.sessions.rotate(session)
        fixture.clock.advance(29_999)
        #expect(try await fixture.isAuthenticated(old))
        #expect(try await fixture.isAuthenticated(fresh))
        fixture.clock.advance(1)
        #expect(try await fixture.isAuthenticated(fresh))
        #expect(try await !fixture.isAuthenticated(old))
        #expect(try await !fixture.isAuthenticated(fresh))
        #expect(try await fixture.store.load(session.id) == nil)
        #expect(spy.changes.suffix(2) == [.serviceRemoved(name: "counter"), .ended(.tokenReused)])
        #expect(fixture.sessions.statistics.live == 0)
    }

    @Test("a request that was under way when somebody signed in gets no fresh token")
    func rotationAfterSignIn() async throws {
        let (session, planted) = try await fixture.sessions.create()
        #expect(try await fixture.sessions.authenticate(planted.presented) === session)
        let good = try await fixture.sessions.attachUser("ada", to: session)
        await #expect(throws: SessionError.unauthenticated) {
            try await fixture.sessions.rotate(session, presenting: planted.presented)
        }
        #expect(try await fixture.isAuthenticated(good))
        let fresh = try await fixture.sessions.rotate(session, presenting: good.presented)
        // Two tabs, or a double click: a second token for the same one would replace the first one.
        await #expect(throws: SessionError.tokenReplaced) {
            try await fixture.sessions.rotate(session, presenting: good.presented)
        }
        #expect(try await fixture.isAuthenticated(good))
        fixture.clock.advance(60_000)
        #expect(try await fixture.isAuthenticated(fresh))
    }

    @Test("the last 16 retired tokens are recognised, older ones are unknown, and refused")
    func retired() async throws {
        for (age, endsSession) in [(16, true), (17, false)] {
            let (session, oldest) = try await fixture.sessions.create()
            var fresh = oldest
            for _ in 0..<age {
                fixture.clock.advance(60_000)
                fresh = try await fixture.sessions.rotate(session)
            }
            fixture.clock.advance(60_000)
            #expect(try await !fixture.isAuthenticated(oldest))
            #expect(try await fixture.isAuthenticated(fresh) == !endsSession)
        }
    }

    @Test(
        "whoever rotates quickly does not make the server forget the token before: its use ends the session",
        arguments: [0, 100, 29_999] as [Int64])
    func notForgotten(pause: Int64) async throws {
        let (session, _) = try await fixture.sessions.create()
        fixture.clock.advance(60_000)
        let owners = try await fixture.sessions.rotate(session)
        fixture.clock.advance(60_000)
        var thiefs = owners
        for _ in 0..<(pause == 0 ? 200 : min(200, 900_000 / pause)) {
            thiefs = try await fixture.sessions.rotate(session, presenting: thiefs.presented)
            fixture.clock.advance(pause)
        }
        fixture.clock.advance(60_000)
        #expect(try await fixture.isAuthenticated(thiefs))
        #expect(try await !fixture.isAuthenticated(owners))
        #expect(try await !fixture.isAuthenticated(thiefs))
    }

    @Test("a token that was in use for a minute is remembered for seven minutes of rotations, however they are spread")
    func bound() async throws {
        for pause in [1, 1_000, 10_000, 29_000, 30_000, 31_000, 60_000] as [Int64] {
            let (session, oldest) = try await fixture.sessions.create()
            fixture.clock.advance(60_000)
            var fresh = try await fixture.sessions.rotate(session)
            for _ in 0..<min(1_000, 420_000 / pause) {
                fixture.clock.advance(pause)
                fresh = try await fixture.sessions.rotate(session)
            }
            fixture.clock.advance(60_000)
            #expect(try await fixture.isAuthenticated(fresh))
            #expect(try await !fixture.isAuthenticated(oldest))
            #expect(try await !fixture.isAuthenticated(fresh), "\(pause)")
        }
    }

    @Test("an ended session's token is dead for good, its services are gone, newest first")
    func end() async throws {
        let (session, token) = try await fixture.sessions.create()
        let spy = try ChangeSpy(session)
        for name in ["profile", "quote"] { _ = try fixture.get(name, session) }
        try await fixture.perform(.put(["count": 1]), on: "counter", session)
        #expect(try await fixture.sessions.end(session))
        #expect(try await !fixture.isAuthenticated(token))
        #expect(try await !fixture.sessions.end(session))
        #expect(throws: SessionError.ended) { try session.summary() }
        await #expect(throws: SessionError.ended) {
            try await fixture.perform(.put(["count": 1]), on: "counter", session)
        }
        #expect(
            spy.changes.suffix(4) == [
                .serviceRemoved(name: "counter"), .serviceRemoved(name: "quote"), .serviceRemoved(name: "profile"),
                .ended(.requested),
            ])
        #expect(fixture.sessions.statistics.services.allSatisfy { $0.live == 0 })
        #expect(try await fixture.sessions.session(session.id) == nil)
    }

    @Test("when the store cannot be told, the session has not ended")
    func endFails() async throws {
        let store = StoreWrapper()
        let fixture = try SessionsFixture(store: store)
        let (session, token) = try await fixture.sessions.create()
        _ = try fixture.get("profile", session)
        store.endFailure.withLock { $0 = .unavailable("x") }
        await #expect(throws: SessionError.storeUnavailable(reason: "x")) { try await fixture.sessions.end(session) }
        #expect(try await fixture.isAuthenticated(token))
        #expect(fixture.sessions.statistics.services.first { $0.name == "profile" }?.live == 1)
    }

    @Test("parallel updates cannot bring an ended session back")
    func endAgainstUpdates() async throws {
        for _ in 0..<50 {
            let (session, token) = try await fixture.sessions.create()
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<8 {
                    group.addTask {
                        _ = try? await fixture.perform(.put(["count": .init(number)]), on: "counter", session)
                    }
                }
                group.addTask { _ = try? await fixture.sessions.end(session) }
            }
            #expect(try await !fixture.isAuthenticated(token))
            #expect(try await fixture.store.load(session.id) == nil)
        }
        #expect(fixture.sessions.statistics.live == 0)
        #expect(fixture.sessions.statistics.services.allSatisfy { $0.live == 0 })
    }

    @Test("a session that is not in memory comes back from the store, once")
    func loading() async throws {
        let store = StoreWrapper()
        let (session, token) = try await SessionsFixture(store: store).sessions.create()
        let fixture = try SessionsFixture(store: store)
        let found = try await withThrowingTaskGroup(of: Session.self) { group in
            for _ in 0..<20 { group.addTask { try await fixture.sessions.authenticate(token.presented) } }
            return try await group.reduce(into: Set<ObjectIdentifier>()) { $0.insert(ObjectIdentifier($1)) }
        }
        #expect(found.count == 1)
        #expect(fixture.sessions.statistics.live == 1)
        #expect(try await fixture.sessions.session(session.id) != nil)
    }

    @Test("a session that ends while it is loaded does not come back")
    func endWhileLoading() async throws {
        let store = StoreWrapper()
        let token = try await SessionsFixture(store: store).sessions.create().1
        defer { store.letGo() }
        let fixture = try SessionsFixture(store: store) { $0.expiredRetention = 0 }
        store.afterLoad.withLock {
            $0 = {
                // Its time is over just now, and the sweeper is quick.
                fixture.clock.advance(1_800_000)
                await fixture.sessions.sweepStore()
            }
        }
        #expect(try await !fixture.isAuthenticated(token))
        #expect(fixture.sessions.statistics.live == 0)
    }

    @Test("there are no more sessions than may be, and an ended one makes room")
    func tooMany() async throws {
        let fixture = try SessionsFixture { $0.maxSessions = 2 }
        let first = try await fixture.session()
        _ = try await fixture.session()
        await #expect(throws: SessionError.tooManySessions) { try await fixture.session() }
        try await fixture.sessions.end(first)
        _ = try await fixture.session()
    }
}
