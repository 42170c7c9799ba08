import Testing

@testable import Sessions

/// Sessions whose time is over while they are in the store alone.
@Suite struct StoredExpiryTests {
    @Test("they are ended, observers are told, and there is room for others")
    func cold() async throws {
        let store = StoreWrapper()
        let house = try House(store: store) {
            $0.maxResidentSessions = 2
            $0.maxSessions = 5
        }
        var ids: [SessionID] = []
        for _ in 0..<5 {
            let session = try await house.session()
            try await house.perform(.put(["count": 1]), on: "counter", session)
            try await house.perform(.put([:]), on: "notes", session, if: WriteCondition(onlyIfNew: true))
            ids.append(session.id)
        }
        #expect(house.sessions.statistics.live == 2)
        await #expect(throws: SessionError.tooManySessions) { try await house.session() }
        await house.sessions.sweepStore()
        #expect(store.sessionCount == 5)
        house.clock.advance(1_800_000)
        await house.sessions.sweep()
        #expect(store.sessionCount == 3)
        #expect(await house.sessions.sweepStore(limit: 2))
        #expect(await !house.sessions.sweepStore(limit: 2))
        #expect(store.sessionCount == 0)
        #expect(house.sessions.statistics.ended == 5)
        #expect(house.sessions.registry.total == 0)
        for id in ids {
            #expect(
                house.ear.changes(of: id).suffix(3) == [
                    .serviceRemoved(name: "notes"), .serviceRemoved(name: "counter"), .ended(.expired),
                ])
        }
        for _ in 0..<5 { _ = try await house.session() }
        await #expect(throws: SessionError.tooManySessions) { try await house.session() }
    }

    @Test("those that were stored before the process began count against the limit")
    func counted() async throws {
        let store = StoreWrapper()
        let former = try House(store: store)
        for _ in 0..<3 { _ = try await former.session() }
        let house = try House(store: store) { $0.maxSessions = 4 }
        #expect(house.sessions.statistics.live == 0)
        let session = try await house.session()
        await #expect(throws: SessionError.tooManySessions) { try await house.session() }
        try await house.sessions.end(session)
        _ = try await house.session()
        #expect(store.loadCount.load(ordering: .relaxed) == 0)
    }

    @Test("one that is used in memory is left alone, however old it looks in the store")
    func inUse() async throws {
        let store = StoreWrapper()
        let house = try House(store: store) { $0.touchInterval = 3_600_000 }
        let (session, token) = try await house.sessions.create()
        house.clock.advance(1_000_000)
        #expect(try await house.isAuthenticated(token))
        house.clock.advance(1_000_000)
        await house.sessions.sweepStore()
        #expect(try await house.isAuthenticated(token))
        #expect(try await store.load(session.id) != nil)
    }

    @Test("the loop ends them")
    func loop() async throws {
        let store = StoreWrapper()
        let id = try await House(store: store).session().id
        let house = try House(store: store)
        let loop = Task { await house.sessions.run() }
        while store.sessionCount > 0 { await Task.yield() }
        loop.cancel()
        await loop.value
        #expect(house.ear.changes(of: id) == [.ended(.expired)])
    }
}
