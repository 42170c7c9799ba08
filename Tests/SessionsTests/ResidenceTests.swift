import JSONDocument
import Synchronization
import Testing

@testable import Sessions

/// Sessions that leave memory and come back from the store.
@Suite struct ResidenceTests {
    /// Makes a session and lets go of it.
    private static func make(_ fixture: SessionsFixture) async throws -> (id: SessionID, token: SessionToken) {
        let (session, token) = try await fixture.sessions.create()
        return (session.id, token)
    }

    private static func isResident(_ id: SessionID, _ fixture: SessionsFixture) -> Bool {
        fixture.sessions.registry[id] != nil
    }

    /// Makes sessions until that one has left: the thread that did its last work may hold it a moment longer.
    private static func makeOthers(until id: SessionID, hasLeft fixture: SessionsFixture) async throws {
        let end = ContinuousClock.now + .seconds(60)
        repeat { _ = try await make(fixture) } while isResident(id, fixture) && .now < end
        #expect(!isResident(id, fixture))
    }

    @Test("as many stay as may, those that were used last")
    func order() async throws {
        let fixture = try SessionsFixture(store: StoreWrapper()) { $0.maxResidentBytes = 10 * Session.footprint }
        var made: [(id: SessionID, token: SessionToken)] = []
        for _ in 0..<10 {
            made.append(try await Self.make(fixture))
            fixture.clock.advance(1_000)
        }
        #expect(fixture.sessions.statistics.live == 10)
        for number in 0..<3 {
            #expect(try await fixture.isAuthenticated(made[number].token))
            fixture.clock.advance(1_000)
        }
        for _ in 0..<5 {
            made.append(try await Self.make(fixture))
            fixture.clock.advance(1_000)
            #expect(fixture.sessions.statistics.live == 10)
        }
        let gone = made.indices.filter { !Self.isResident(made[$0].id, fixture) }
        #expect(gone == Array(3...7))
        #expect(fixture.sessions.registry.indexedCount == 10)
        // They are all there nevertheless, and whoever comes back sends another one away.
        #expect(try await fixture.sessions.page(limit: 100).sessions.count == 15)
        #expect(try await fixture.isAuthenticated(made[3].token))
        #expect(Self.isResident(made[3].id, fixture) && !Self.isResident(made[8].id, fixture))
        #expect(fixture.sessions.statistics.live == 10)
    }

    @Test("with a store that ends with the process all stay")
    func memory() async throws {
        let fixture = try SessionsFixture(store: MemoryStore()) { $0.maxResidentBytes = 2 * Session.footprint }
        for _ in 0..<20 { _ = try await Self.make(fixture) }
        #expect(fixture.sessions.statistics.live == 20)
    }

    @Test("many sessions are kept to the limit, spread over shards as they are")
    func shards() async throws {
        let fixture = try SessionsFixture(store: StoreWrapper()) { $0.maxResidentBytes = 1_000 * Session.footprint }
        #expect(fixture.sessions.registry.shards.count == 8)
        for _ in 0..<5_000 { _ = try await Self.make(fixture) }
        #expect(fixture.sessions.statistics.live == 1_000)
    }

    @Test("a session that somebody holds stays, and can leave when nobody does")
    func held() async throws {
        let fixture = try SessionsFixture(store: StoreWrapper()) { $0.maxResidentBytes = 3 * Session.footprint + 100 }
        func stay() async throws -> SessionID {
            let session = try await fixture.session()
            for _ in 0..<20 { _ = try await Self.make(fixture) }
            #expect(fixture.sessions.registry[session.id] === session)
            try await fixture.perform(.put(["count": 1]), on: "counter", session)
            #expect(fixture.sessions.statistics.live == 3)
            return session.id
        }
        let id = try await stay()
        // It was the first that came, and was not used since.
        fixture.clock.advance(1_000)
        try await Self.makeOthers(until: id, hasLeft: fixture)
        let back = try #require(try await fixture.sessions.session(id))
        #expect(try fixture.get("counter", back).document == ["count": 1])
    }

    @Test("one that is to end stays until the store knows")
    func ended() async throws {
        let store = StoreWrapper()
        let fixture = try SessionsFixture(store: store) { $0.maxResidentBytes = 3 * Session.footprint }
        let (id, token) = try await Self.make(fixture)
        fixture.sessions.registry[id]?.hold()
        for _ in 0..<20 { _ = try await Self.make(fixture) }
        #expect(Self.isResident(id, fixture))
        await #expect(throws: SessionError.self) { try await fixture.isAuthenticated(token) }
    }

    @Test("whoever works with a session sees what was written last, while others come and go")
    func readYourWrites() async throws {
        let fixture = try SessionsFixture(store: StoreWrapper()) { $0.maxResidentBytes = 4 * Session.footprint }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    let token = try await Self.make(fixture).token
                    for count in 1...60 {
                        let expected: JSONDocument = ["count": .init(count)]
                        do {
                            let session = try await fixture.sessions.authenticate(token.presented)
                            await Task.yield()
                            try await fixture.perform(.put(expected), on: "counter", session)
                        }
                        await Task.yield()
                        let again = try await fixture.sessions.authenticate(token.presented)
                        #expect(try fixture.get("counter", again).document == expected)
                    }
                }
            }
            group.addTask {
                for _ in 0..<300 {
                    _ = try await Self.make(fixture)
                    await Task.yield()
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("nothing that was written is lost by leaving and coming back", arguments: UInt64(1)...6)
    func property(seed: UInt64) async throws {
        let random = SeededRandom(seed: seed)
        let limit = 2 + random.below(6)
        let fixture = try SessionsFixture(store: StoreWrapper()) { $0.maxResidentBytes = limit * Session.footprint }
        var model: [(id: SessionID, token: SessionToken, count: Int?)] = []
        for step in 0..<600 {
            fixture.clock.advance(Int64(random.below(2_000)))
            let place = model.isEmpty ? 0 : random.below(model.count)
            switch model.isEmpty ? 0 : random.below(10) {
            case 0...1 where model.count < 40:
                let (id, token) = try await Self.make(fixture)
                model.append((id, token, nil))
            case 2:
                let session = try await fixture.sessions.authenticate(model[place].token.presented)
                try await fixture.perform(.remove, on: "counter", session)
                model[place].count = nil
            case 3 where model.count > 5:
                let session = try await fixture.sessions.authenticate(model[place].token.presented)
                try await fixture.sessions.end(session)
                let token = model.remove(at: place).token
                #expect(try await !fixture.isAuthenticated(token))
            case 4...6:
                let session = try await fixture.sessions.authenticate(model[place].token.presented)
                try await fixture.perform(.put(["count": .init(step)]), on: "counter", session)
                model[place].count = step
            default:
                let session = try await fixture.sessions.authenticate(model[place].token.presented)
                let shown = try fixture.get("counter", session)
                #expect(shown.document == ["count": .init(model[place].count ?? 0)], "seed \(seed), step \(step)")
            }
            if random.below(20) == 0 { try await fixture.sessions.saveUses() }
            try Self.check(fixture, model.map { ($0.id, $0.count) }, limit: limit)
        }
        #expect(fixture.sessions.registry.total == model.count)
    }

    private static func check(_ fixture: SessionsFixture, _ model: [(id: SessionID, count: Int?)], limit: Int) throws {
        let resident = model.filter { isResident($0.id, fixture) }
        #expect(resident.count == fixture.sessions.statistics.live)
        #expect(resident.count <= limit)
        // Those that were only read are live, too, as long as they stay.
        let live = try resident.count { known in
            try fixture.status("counter", #require(fixture.sessions.registry[known.id]))?.isLive == true
        }
        #expect(fixture.sessions.statistics.services.first { $0.name == "counter" }?.live == live)
        #expect(resident.allSatisfy { $0.count == nil || live > 0 })
    }

    @Test("as many bytes stay as may, whether they came with a write, a load or an import")
    func bytes() async throws {
        let store = StoreWrapper()
        let (each, most) = (10_021 + Session.footprint, 30_100 + 3 * Session.footprint)
        let fixture = try SessionsFixture(store: store) { $0.maxResidentBytes = most }
        let text = JSONDocument(String(repeating: "x", count: 10_000))
        func write() async throws -> SessionID {
            let session = try await fixture.session()
            fixture.clock.advance(1_000)
            try await fixture.perform(.put(["count": 1, "text": text]), on: "counter", session)
            return session.id
        }
        func resident(_ ids: [SessionID]) -> [SessionID] { ids.filter { Self.isResident($0, fixture) } }
        var ids: [SessionID] = []
        for _ in 0..<20 { ids.append(try await write()) }
        // Those that were used last, apart from one that a thread may still have held.
        let end = ContinuousClock.now + .seconds(60)
        while fixture.sessions.statistics.residentBytes > most, .now < end { ids.append(try await write()) }
        let sum = fixture.sessions.statistics.residentBytes
        #expect(sum == resident(ids).count * each && sum > 10_000)
        #expect(Self.isResident(ids[ids.count - 1], fixture) && !Self.isResident(ids[0], fixture))
        // They come back from the store, and others leave for them.
        for id in ids {
            let session = try #require(try await fixture.sessions.session(id))
            #expect(try fixture.get("counter", session).document == ["count": 1, "text": text])
            #expect(fixture.sessions.statistics.residentBytes <= 2 * most)
        }
        // What becomes smaller or ends is not counted any more.
        let last = try #require(try await fixture.sessions.session(ids[0]))
        let before = fixture.sessions.statistics.residentBytes
        try await fixture.perform(.put(["count": 1]), on: "counter", last)
        #expect(fixture.sessions.statistics.residentBytes == before - 10_010)
        for id in ids { _ = try await fixture.sessions.end(try #require(try await fixture.sessions.session(id))) }
        #expect(fixture.sessions.statistics.residentBytes == 0)
    }

    @Test(
        "services are counted as long as their sessions stay, and again when they are back, and journeys all the time")
    func counters() async throws {
        let fixture = try SessionsFixture(store: StoreWrapper(), flows: [Flows.wizard]) {
            $0.maxResidentBytes = 2 * Session.footprint
        }
        func begin() async throws -> SessionID {
            let session = try await fixture.session()
            _ = try await session.startJourney(flow: "wizard")
            try await fixture.perform(.put(["count": 1]), on: "counter", session)
            return session.id
        }
        func counter() -> Int? { fixture.sessions.statistics.services.first { $0.name == "counter" }?.live }
        let id = try await begin()
        #expect(try await fixture.runningJourneys() == 1 && counter() == 1)
        #expect(fixture.sessions.environment.remembered.count == 1)
        fixture.clock.advance(1_000)
        try await Self.makeOthers(until: id, hasLeft: fixture)
        #expect(try await fixture.runningJourneys() == 1 && counter() == 0)
        #expect(fixture.sessions.environment.remembered.count == 0)
        let session = try #require(try await fixture.sessions.session(id))
        #expect(try await fixture.runningJourneys() == 1 && counter() == 1)
        #expect(try await session.journeys().count == 1)
    }

    @Test("a use of a session that has left is not forgotten, also when the store did not take it at first")
    func uses() async throws {
        let store = StoreWrapper()
        let fixture = try SessionsFixture(store: store) {
            $0.maxResidentBytes = Session.footprint
            $0.touchInterval = 3_600_000
            $0.expiredRetention = 0
        }
        let (id, token) = try await Self.make(fixture)
        fixture.clock.advance(1_000_000)
        #expect(try await fixture.isAuthenticated(token))
        let used = fixture.clock.now()
        try await Self.makeOthers(until: id, hasLeft: fixture)
        store.beforeTouch.withLock { $0 = { _ throws(StoreError) in throw .unavailable("") } }
        await #expect(throws: SessionError.self) { try await fixture.sessions.saveUses() }
        fixture.clock.advance(1_000_000)
        // By what the store knows it would be over.
        #expect(try await store.load(id)?.lastUsedAt != used)
        #expect(try await fixture.sessions.page(limit: 10, isActive: true).sessions.contains { $0.id == id })
        await fixture.sessions.sweepStore()
        #expect(try await fixture.isAuthenticated(token))
        _ = try await Self.make(fixture)
        store.beforeTouch.withLock { $0 = nil }
        try await fixture.sessions.saveUses()
        #expect(try await store.load(id)?.lastUsedAt == used + 1_000_000)
    }

    @Test("the first use of a session that was loaded is told to the store, too")
    func useAfterLoading() async throws {
        let store = StoreWrapper()
        let clock = ManualClock()
        let (id, token) = try await Self.make(SessionsFixture(store: store, clock: clock))
        clock.advance(100_000)
        let fixture = try SessionsFixture(store: store, clock: clock)
        #expect(try await fixture.isAuthenticated(token))
        try await fixture.sessions.saveUses()
        #expect(try await store.load(id)?.lastUsedAt == clock.now())
    }
}
