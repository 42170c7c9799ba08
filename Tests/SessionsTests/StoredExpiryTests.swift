import Testing

@testable import Sessions

/// Sessions whose time is over in a store that outlives the process: they are refused at once, and deleted later.
@Suite struct StoredExpiryTests {
    private static let idle: Int64 = 1_800_000
    private static let hour: Int64 = 3_600_000

    @Test("they leave memory, watchers are told, and their places are given back when the store has deleted them")
    func retained() async throws {
        let store = StoreWrapper()
        let fixture = try SessionsFixture(store: store) {
            $0.maxResidentBytes = 2 * Session.footprint + 100
            $0.maxSessions = 100
        }
        var made: [(id: SessionID, token: SessionToken)] = []
        for _ in 0..<5 {
            let (session, token) = try await fixture.sessions.create()
            try await fixture.perform(.put(["count": 1]), on: "counter", session)
            try await fixture.perform(.put([:]), on: "notes", session, if: WriteCondition(ifNoneMatch: .any))
            made.append((session.id, token))
        }
        #expect(fixture.sessions.statistics.live == 2)
        fixture.clock.advance(Self.idle)
        var spies: [SessionID: ChangeSpy] = [:]
        for (id, _) in made {
            if let session = fixture.sessions.registry[id] { spies[id] = try ChangeSpy(session) }
        }
        #expect(spies.count == 2)
        await fixture.sessions.sweep()
        await fixture.sessions.sweepStore()
        #expect(fixture.sessions.statistics.live == 0 && fixture.sessions.statistics.stored == 5)
        #expect(fixture.sessions.statistics.services.allSatisfy { $0.live == 0 })
        #expect(fixture.sessions.registry.total == 5 && fixture.sessions.statistics.ended == 0)
        for (id, token) in made {
            #expect(try await !fixture.isAuthenticated(token))
            #expect(try await fixture.sessions.session(id) == nil)
            guard let spy = spies[id] else { continue }
            #expect(
                spy.changes == [.serviceRemoved(name: "notes"), .serviceRemoved(name: "counter"), .ended(.expired)])
        }
        #expect(fixture.sessions.statistics.live == 0)
        #expect(try await fixture.sessions.page(limit: 10, isActive: false).sessions.count == 5)
        #expect(try await fixture.sessions.page(limit: 10, isActive: true).sessions.isEmpty)
        fixture.clock.advance(Self.hour - 1)
        await fixture.sessions.sweepStore()
        #expect(store.sessionCount == 5)
        fixture.clock.advance(1)
        #expect(await fixture.sessions.sweepStore(limit: 2).count == 2)
        #expect(await fixture.sessions.sweepStore(limit: 2).count == 2)
        #expect(await fixture.sessions.sweepStore(limit: 2).count == 1)
        #expect(store.sessionCount == 0)
        #expect(fixture.sessions.statistics.ended == 5 && fixture.sessions.registry.total == 0)
    }

    @Test("a use that the store was not told of keeps one from being deleted, also when it has left memory")
    func unsavedUse() async throws {
        let store = StoreWrapper()
        let fixture = try SessionsFixture(store: store) {
            $0.touchInterval = Self.hour
            $0.expiredRetention = 0
        }
        let (session, token) = try await fixture.sessions.create()
        fixture.clock.advance(Self.idle - 1)
        #expect(try await fixture.isAuthenticated(token))
        let used = fixture.clock.now()
        fixture.clock.advance(Self.idle)
        await fixture.sessions.sweep()
        await fixture.sessions.sweepStore()
        #expect(fixture.sessions.statistics.live == 0 && store.sessionCount == 1)
        try await fixture.sessions.saveUses()
        #expect(try await store.load(session.id)?.lastUsedAt == used)
        await fixture.sessions.sweepStore()
        #expect(store.sessionCount == 0)
    }

    @Test("a start with a clock that is ahead loses nothing, and absolute ends hold when it is right again")
    func wrongClock() async throws {
        let store = StoreWrapper()
        let clock = ManualClock()
        let (session, token) = try await SessionsFixture(store: store, clock: clock).sessions.create()
        let start: Int64 = 1_700_000_000_000 + 7 * 86_400_000
        let ahead = ManualClock(until: start + Self.hour - 2_000)
        ahead.advance(7 * 86_400_000)
        let wrong = try SessionsFixture(store: store, clock: ahead)
        #expect(try await !wrong.isAuthenticated(token))
        let sweeper = Task { await wrong.sessions.run() }
        while ahead.now() < start + Self.hour - 5_000 { await Task.yield() }
        sweeper.cancel()
        await sweeper.value
        #expect(try await store.load(session.id) != nil)
        let right = try SessionsFixture(store: store, clock: clock)
        #expect(try await right.isAuthenticated(token))
        #expect(try await right.sessions.session(session.id)?.summary().expiresAt == session.summary().expiresAt)
    }

    @Test("nothing is deleted before the process has run for as long")
    func atStart() async throws {
        let store = StoreWrapper()
        let clock = ManualClock()
        _ = try await SessionsFixture(store: store, clock: clock).session()
        clock.advance(10 * 86_400_000)
        let fixture = try SessionsFixture(store: store, clock: clock)
        await fixture.sessions.sweepStore()
        clock.advance(Self.hour - 1)
        await fixture.sessions.sweepStore()
        #expect(store.sessionCount == 1)
        clock.advance(1)
        await fixture.sessions.sweepStore()
        #expect(store.sessionCount == 0)
    }

    @Test("when three quarters of the places are taken, what has expired goes at once")
    func crowded() async throws {
        let store = StoreWrapper()
        let fixture = try SessionsFixture(store: store) { $0.maxSessions = 8 }
        for _ in 0..<5 { _ = try await fixture.session() }
        fixture.clock.advance(Self.idle)
        await fixture.sessions.sweep()
        await fixture.sessions.sweepStore()
        #expect(store.sessionCount == 5)
        let last = try await fixture.session()
        await fixture.sessions.sweepStore()
        #expect(store.sessionCount == 1)
        #expect(try await store.load(last.id) != nil)
        for _ in 0..<7 { _ = try await fixture.session() }
        await #expect(throws: SessionError.tooManySessions) { try await fixture.session() }
    }

    @Test("one that ends just when it expires is counted once, and its place given back once")
    func endAtExpiry() async throws {
        let store = StoreWrapper()
        let fixture = try SessionsFixture(store: store)
        let session = try await fixture.session()
        let spy = try ChangeSpy(session)
        defer { store.letGo() }
        store.beforeEnd.withLock {
            $0 = {
                fixture.clock.advance(Self.idle)
                await fixture.sessions.sweep()
            }
        }
        #expect(try await fixture.sessions.end(session))
        #expect(fixture.sessions.statistics.ended == 1 && fixture.sessions.registry.total == 0)
        #expect(spy.changes == [.ended(.expired)])
        #expect(store.sessionCount == 0 && fixture.sessions.statistics.live == 0)
    }

    @Test("those that were stored before the process began count against the limit")
    func counted() async throws {
        let store = StoreWrapper()
        let former = try SessionsFixture(store: store)
        for _ in 0..<3 { _ = try await former.session() }
        let fixture = try SessionsFixture(store: store) { $0.maxSessions = 4 }
        #expect(fixture.sessions.statistics.live == 0)
        let session = try await fixture.session()
        await #expect(throws: SessionError.tooManySessions) { try await fixture.session() }
        try await fixture.sessions.end(session)
        _ = try await fixture.session()
        #expect(store.loadCount.load(ordering: .relaxed) == 0)
    }

    @Test("one that is used in memory is left alone, however old it looks in the store")
    func inUse() async throws {
        let store = StoreWrapper()
        let fixture = try SessionsFixture(store: store) {
            $0.touchInterval = Self.hour
            $0.expiredRetention = 0
        }
        let (session, token) = try await fixture.sessions.create()
        fixture.clock.advance(1_000_000)
        #expect(try await fixture.isAuthenticated(token))
        fixture.clock.advance(1_000_000)
        await fixture.sessions.sweepStore()
        #expect(try await fixture.isAuthenticated(token))
        #expect(try await store.load(session.id) != nil)
    }

    @Test("the loop deletes them, many in a second when many have expired")
    func loop() async throws {
        let store = StoreWrapper()
        let former = try SessionsFixture(store: store)
        for _ in 0..<3_000 { _ = try await former.session() }
        let fixture = try SessionsFixture(store: store)
        let begin = fixture.clock.now()
        // The clock goes on while the loop sleeps, so that it is read where the last one ends.
        let (ends, ended) = AsyncStream.makeStream(of: Int64.self)
        store.afterExpiry.withLock {
            $0 = { [clock = fixture.clock] in if store.sessionCount == 0 { ended.yield(clock.now()) } }
        }
        defer { store.afterExpiry.withLock { $0 = nil } }
        let loop = Task { await fixture.sessions.run() }
        var iterator = ends.makeAsyncIterator()
        let end = try #require(await iterator.next())
        loop.cancel()
        await loop.value
        #expect(end - begin < Self.idle + Self.hour + 3_000)
        #expect(fixture.sessions.statistics.ended == 3_000 && fixture.sessions.registry.total == 0)
    }

    @Test("an import of one that is still to be deleted is as if there were none", arguments: [true, false])
    func receiving(isResident: Bool) async throws {
        let store = StoreWrapper()
        let fixture = try SessionsFixture(store: store) { $0.maxSessions = 1 }
        let (session, token) = try await fixture.furnished("a")
        let lines = try await exported(fixture.sessions)
        // It was used here, and expires; there it was used later.
        fixture.clock.advance(1_000)
        let later = try ArchiveRefusalTests.changed(
            lines[1], ["used_at": .init(fixture.sessions.environment.timestamp(fixture.clock.now()).description)])
        fixture.clock.advance(Self.idle - 1_000)
        if !isResident { await fixture.sessions.sweep() }
        #expect(store.sessionCount == 1 && (fixture.sessions.statistics.live == 1) == isResident)
        for conflict in SessionImport.Conflict.allCases {
            let trial = try await imported([lines[0], later], into: fixture.sessions, conflict, isTrial: true)
            #expect(trial.imported == 1 && trial.replaced == 0)
        }
        let report = try await imported([lines[0], later], into: fixture.sessions)
        #expect(report.imported == 1 && report.replaced == 0 && report.skipped == 0)
        #expect(try await fixture.isAuthenticated(token))
        #expect(fixture.sessions.statistics.ended == 1 && fixture.sessions.registry.total == 1)
        let back = try #require(try await fixture.sessions.session(session.id))
        #expect(try fixture.get("counter", back).document == ["count": 3])
    }
}
