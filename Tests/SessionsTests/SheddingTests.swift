import JSONDocument
import Testing

@testable import Sessions

@Suite("Places for new sessions")
struct SheddingTests {
    private func isOver(_ session: Session) -> Bool { session.state.withLock(\.isEnded) }

    @Test("are first those of sessions that were never used, the oldest first", arguments: [false, true])
    func unused(outlives: Bool) async throws {
        let fixture = try SessionsFixture(store: outlives ? StoreWrapper() : MemoryStore()) { $0.maxSessions = 8 }
        var made: [(Session, SessionToken)] = []
        for _ in 0..<8 {
            made.append(try await fixture.sessions.create())
            fixture.clock.advance(1_000)
        }
        // Used, written, and with a user: these stay.
        #expect(try await fixture.isAuthenticated(made[0].1))
        try await fixture.perform(.mergePatch(["name": "Ada"]), on: "profile", made[1].0)
        let token = try await fixture.sessions.attachUser("ada", to: made[2].0)
        _ = try await fixture.session()
        #expect(try await !fixture.isAuthenticated(made[3].1))
        #expect(fixture.sessions.registry.total == 8 && fixture.sessions.statistics.shed == 1)
        // The next is not five seconds old.
        await #expect(throws: SessionError.tooManySessions) { try await fixture.session() }
        fixture.clock.advance(10_000)
        for _ in 0..<5 { _ = try await fixture.session() }
        await #expect(throws: SessionError.tooManySessions) { try await fixture.session() }
        for (_, token) in made[3...] { #expect(try await !fixture.isAuthenticated(token)) }
        for token in [made[0].1, made[1].1, token] { #expect(try await fixture.isAuthenticated(token)) }
        #expect(fixture.sessions.registry.total == 8 && fixture.sessions.statistics.shed == 6)
    }

    @Test("are then those of sessions without a user that nobody has used for five minutes, the longest idle first")
    func idle() async throws {
        let fixture = try SessionsFixture(store: StoreWrapper()) { $0.maxSessions = 6 }
        var made: [(session: Session, token: SessionToken)] = []
        for number in 0..<6 {
            made.append(try await fixture.sessions.create())
            if number == 2 { made[2].token = try await fixture.sessions.attachUser("ada", to: made[2].session) }
            fixture.clock.advance(1_000)
        }
        for number in [1, 0, 2, 4, 3] {
            #expect(try await fixture.isAuthenticated(made[number].token))
            fixture.clock.advance(1_000)
        }
        let watch = try made[4].session.watch(token: nil)
        // Number 5 was never used; five minutes are over for number 1 alone.
        fixture.clock.advance(Shedding.idleAge - 5_000)
        var ended: [Int] = []
        for _ in 0..<4 {
            guard let new = try? await fixture.sessions.create() else { break }
            _ = try await fixture.sessions.attachUser("grace", to: new.0)
            for (number, (session, _)) in made.enumerated() where !ended.contains(number) {
                if isOver(session) { ended.append(number) }
            }
            fixture.clock.advance(100)
        }
        #expect(ended == [5, 1])
        fixture.clock.advance(10_000)
        for expected in [0, 3] {
            _ = try await fixture.session()
            #expect(isOver(made[expected].session))
        }
        // Number 2 has a user, and somebody watches number 4.
        fixture.clock.advance(100)
        await #expect(throws: SessionError.tooManySessions) { try await fixture.session() }
        #expect(try await fixture.isAuthenticated(made[2].token))
        #expect(try await fixture.isAuthenticated(made[4].token))
        watch.leave()
    }

    @Test("are at last those of sessions without a user whose work waits, never of those with one", arguments: 0..<2)
    func working(store: Int) async throws {
        let fixture = try DueTests.fixture(DueTests.stores[store]()) { $0.maxSessions = 4 }
        var made: [Session] = []
        for number in 0..<4 {
            let session = try await fixture.session()
            _ = try await session.send(number == 3 ? "wait" : "work", toJourney: "main")
            if number == 0 { _ = try await fixture.sessions.attachUser("ada", to: session) }
            made.append(session)
            fixture.clock.advance(1_000)
        }
        await #expect(throws: SessionError.tooManySessions) { try await fixture.session() }
        fixture.clock.advance(Shedding.idleAge)
        var ended: [Set<Int>] = []
        for _ in 0..<3 {
            let new = try await fixture.session()
            _ = try await fixture.sessions.attachUser("grace", to: new)
            ended.append(Set(made.indices.filter { isOver(made[$0]) }))
            fixture.clock.advance(100)
        }
        #expect(ended[0] == [3] && ended[1].isSubset(of: [1, 2, 3]) && ended[2] == [1, 2, 3])
        await #expect(throws: SessionError.tooManySessions) { try await fixture.session() }
        #expect(try await fixture.sessions.tasks(limit: 9).map(\.id.session) == [made[0].id])
    }

    @Test("of those with work, the age decides nothing: a flood ends as often as its number says")
    func order() {
        let shedding = Shedding(now: 1_000_000_000)
        func candidate(_ low: UInt64, usedAt: Int64, keptUntil: Int64) -> Shedding.Candidate? {
            shedding.candidate(
                SessionID(high: UInt64(usedAt), low: low), lastUsedAt: usedAt, isUsed: true, keptUntil: keptUntil,
                hasUser: false)
        }
        let all = [
            candidate(3, usedAt: 1, keptUntil: .max), candidate(1, usedAt: 2, keptUntil: .max),
            candidate(2, usedAt: 3, keptUntil: .max), candidate(9, usedAt: 5, keptUntil: shedding.now),
            candidate(9, usedAt: 4, keptUntil: .min),
        ].compactMap(\.self)
        #expect(all.sorted().map(\.lastUsedAt) == [4, 5, 2, 3, 1])
        #expect(all.map(\.isWorking) == [true, true, true, false, false])
        #expect(candidate(1, usedAt: shedding.now - Shedding.idleAge + 1, keptUntil: .max) == nil)
    }

    @Test("whoever uses a session again keeps it, although it was found to be idle")
    func usedAgain() async throws {
        let fixture = try SessionsFixture { $0.maxSessions = 3 }
        var tokens: [SessionToken] = []
        for _ in 0..<3 {
            tokens.append(try await fixture.sessions.create().1)
            #expect(try await fixture.isAuthenticated(tokens[tokens.count - 1]))
        }
        fixture.clock.advance(Shedding.idleAge)
        _ = try await fixture.session()
        var alive: [SessionToken] = []
        for token in tokens where try await fixture.isAuthenticated(token) { alive.append(token) }
        #expect(alive.count == 2)
        fixture.clock.advance(100)
        await #expect(throws: SessionError.tooManySessions) { try await fixture.session() }
        for token in alive { #expect(try await fixture.isAuthenticated(token)) }
    }

    @Test("a search looks at a part of the sessions, and the next ones at the others")
    func parts() async throws {
        let count = 40_000
        let fixture = try SessionsFixture { $0.maxSessions = count }
        for number in 1..<count {
            _ = try await fixture.sessions.attachUser("\(number)", to: try await fixture.session())
        }
        let (last, _) = try await fixture.sessions.create()
        fixture.clock.advance(10_000)
        for _ in 0..<3 where !isOver(last) {
            _ = try? await fixture.session()
            fixture.clock.advance(100)
        }
        #expect(isOver(last))
    }

    @Test("sixty thousand that nobody uses do not lock out the next client")
    func masses() async throws {
        let count = 60_000
        let fixture = try SessionsFixture { $0.maxSessions = count }
        for _ in 0..<count { _ = try await fixture.session() }
        fixture.clock.advance(5_001)
        for _ in 0..<100 { _ = try await fixture.session() }
        #expect(fixture.sessions.registry.total == count && fixture.sessions.statistics.shed == 100)
    }

    @Test("are not taken when the store cannot end a session")
    func broken() async throws {
        let store = StoreWrapper()
        let fixture = try SessionsFixture(store: store) { $0.maxSessions = 1 }
        let (_, token) = try await fixture.sessions.create()
        fixture.clock.advance(10_000)
        store.endFailure.withLock { $0 = .unavailable("no disk") }
        await #expect(throws: SessionError.self) { try await fixture.session() }
        #expect(try await fixture.isAuthenticated(token))
        #expect(fixture.sessions.registry.total == 1 && fixture.sessions.statistics.shed == 0)
    }

    @Test("are not taken from a session whose token was shown, even if that was no use of it")
    func shown() async throws {
        let fixture = try SessionsFixture { $0.maxSessions = 1 }
        let (session, token) = try await fixture.sessions.create()
        let verdict = session.present(token.digest, now: fixture.clock.now(), isUse: false)
        guard case .accepted = verdict else {
            Issue.record("\(verdict)")
            return
        }
        fixture.clock.advance(10_000)
        await #expect(throws: SessionError.tooManySessions) { try await fixture.session() }
        // As if it had been shown after the session was chosen.
        let (shedding, settings) = (Shedding(now: fixture.clock.now()), fixture.sessions.settings)
        let isEnded = try await fixture.sessions.end(session, .expired) { $0.candidate(shedding, settings) != nil }
        #expect(!isEnded)
        #expect(try await fixture.isAuthenticated(token))
    }

    @Test("of a user are limited: the oldest session ends")
    func endOldest() async throws {
        let fixture = try SessionsFixture { $0.maxSessionsOfUser = 2 }
        var made: [(session: Session, token: SessionToken)] = []
        for user in ["ada", "grace", "ada", "ada", "ada"] {
            let session = try await fixture.session()
            fixture.clock.advance(1_000)
            made.append((session, try await fixture.sessions.attachUser(user, to: session)))
        }
        // The same user again, in a session that counts already.
        made[4].token = try await fixture.sessions.attachUser("ada", to: made[4].session)
        var alive: [Bool] = []
        for (_, token) in made { alive.append(try await fixture.isAuthenticated(token)) }
        #expect(alive == [false, true, false, true, true])
    }

    @Test("of a user are limited: the sign-in that is longest ago counts, not the session's creation")
    func endOldestSignIn() async throws {
        let fixture = try SessionsFixture { $0.maxSessionsOfUser = 1 }
        let (early, late) = (try await fixture.session(), try await fixture.session())
        _ = try await fixture.sessions.attachUser("ada", to: late)
        fixture.clock.advance(1_000)
        let token = try await fixture.sessions.attachUser("ada", to: early)
        #expect(try await fixture.isAuthenticated(token))
        #expect(try await fixture.sessions.sessions(ofUser: "ada").map(\.id) == [early.id])
        fixture.clock.advance(1_000)
        _ = try await fixture.sessions.attachUser("ada", to: try await fixture.session())
        #expect(try await !fixture.isAuthenticated(token))
    }

    @Test("of a user are limited: a store that cannot end a session does not keep the new token from the caller")
    func endOldestFails() async throws {
        let store = StoreWrapper()
        let fixture = try SessionsFixture(store: store) { $0.maxSessionsOfUser = 1 }
        _ = try await fixture.sessions.attachUser("ada", to: try await fixture.session())
        store.endFailure.withLock { $0 = .unavailable("no disk") }
        let token = try await fixture.sessions.attachUser("ada", to: try await fixture.session())
        #expect(try await fixture.isAuthenticated(token))
    }

    @Test("of a user are limited: a further session gets no user, and goes on without one")
    func refuse() async throws {
        let fixture = try SessionsFixture {
            $0.maxSessionsOfUser = 2
            $0.endsOldestOfUser = false
        }
        var made: [Session] = []
        for _ in 0..<3 { made.append(try await fixture.session()) }
        for session in made[..<2] { _ = try await fixture.sessions.attachUser("ada", to: session) }
        await #expect(throws: SessionError.tooManySessionsOfUser(limit: 2)) {
            try await fixture.sessions.attachUser("ada", to: made[2])
        }
        #expect(try made[2].summary().userID == nil)
        _ = try await fixture.sessions.attachUser("ada", to: made[1])
        _ = try await fixture.sessions.attachUser("grace", to: made[2])
        try await fixture.sessions.end(made[0])
        _ = try await fixture.sessions.attachUser("ada", to: made[2])
        #expect(fixture.sessions.userTurns.isEmpty)
    }

    @Test("of a user are never more than may be, however many sign in at once", arguments: [true, false])
    func atOnce(endsOldest: Bool) async throws {
        let fixture = try SessionsFixture {
            $0.maxSessionsOfUser = 3
            $0.endsOldestOfUser = endsOldest
        }
        let sessions = fixture.sessions
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<20 {
                group.addTask {
                    guard let (session, _) = try? await sessions.create() else { return }
                    _ = try? await sessions.attachUser("ada", to: session)
                }
            }
        }
        #expect(try await sessions.sessions(ofUser: "ada").count == 3)
    }

    @Test("a session has so many bytes in all its services; it may shrink and not grow")
    func bytes() async throws {
        let fixture = try SessionsFixture { $0.maxSessionSize = 400 }
        let session = try await fixture.session()
        func text(_ count: Int) -> JSONDocument { ["a": JSONDocument(String(repeating: "x", count: count))] }
        try await fixture.perform(.put(text(180)), on: "mail", session)
        try await fixture.perform(.put(text(180)), on: "cart", session)
        await #expect(throws: SessionError.sessionTooLarge(limit: 400)) {
            try await fixture.perform(.put(text(205)), on: "mail", session)
        }
        #expect(try fixture.get("mail", session).document == text(180))
        try await fixture.perform(.put(text(100)), on: "mail", session)
        try await fixture.perform(.put(text(250)), on: "cart", session)
    }
}
