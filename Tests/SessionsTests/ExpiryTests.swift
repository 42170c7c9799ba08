import JSONDocument
import Synchronization
import Testing

@testable import Sessions

@Suite struct ExpiryTests {
    @Test("a session that nobody uses expires, also before the sweeper comes by")
    func idle() async throws {
        let fixture = try SessionsFixture()
        let (session, token) = try await fixture.sessions.create()
        let spy = try ChangeSpy(session)
        fixture.clock.advance(1_800_000 - 1)
        #expect(try await fixture.isAuthenticated(token))
        fixture.clock.advance(1_800_000 - 1)
        #expect(try await fixture.isAuthenticated(token))
        fixture.clock.advance(1_800_000)
        #expect(try await !fixture.isAuthenticated(token))
        #expect(try await fixture.sessions.session(session.id) == nil)
        #expect(fixture.sessions.statistics.live == 1)
        await fixture.sessions.sweep()
        #expect(fixture.sessions.statistics.live == 0)
        #expect(try await fixture.store.load(session.id) == nil)
        #expect(spy.changes.last == .ended(.expired))
    }

    @Test("the absolute expiry never moves")
    func absolute() async throws {
        let fixture = try SessionsFixture()
        let (session, token) = try await fixture.sessions.create()
        let end = try session.summary().expiresAt
        for _ in 0..<47 {
            fixture.clock.advance(900_000)
            #expect(try await fixture.isAuthenticated(token))
            #expect(try session.summary().expiresAt == end)
        }
        #expect(try session.summary().idleExpiresAt == end)
        fixture.clock.advance(900_000)
        #expect(try await !fixture.isAuthenticated(token))
        await fixture.sessions.sweep()
        #expect(fixture.sessions.statistics.live == 0)
    }

    @Test("setting the wall clock expires nothing and keeps nothing alive", arguments: [-1, 1] as [Int64])
    func wallClockJumps(direction: Int64) async throws {
        let fixture = try SessionsFixture()
        let (session, token) = try await fixture.sessions.create()
        let before = try session.summary()
        let jump = direction * 86_400_000
        fixture.clock.jump(jump)
        fixture.clock.advance(1_799_999)
        await fixture.sessions.sweep()
        #expect(try await fixture.isAuthenticated(token))
        let after = try session.summary()
        // What is shown follows the wall clock.
        let shift = { (left: Timestamp, right: Timestamp) in right.millisecondsSince1970 - left.millisecondsSince1970 }
        #expect(shift(before.expiresAt, after.expiresAt) == jump)
        #expect(shift(before.idleExpiresAt, after.idleExpiresAt) == jump + 1_799_999)
        fixture.clock.jump(-jump)
        fixture.clock.advance(1_800_000)
        #expect(try await !fixture.isAuthenticated(token))
    }

    @Test("looking at a session as an admin is no use of it")
    func adminLooks() async throws {
        let fixture = try SessionsFixture()
        let session = try await fixture.session()
        fixture.clock.advance(1_000_000)
        _ = try await fixture.sessions.session(session.id)?.summary()
        fixture.clock.advance(800_000)
        #expect(try await fixture.sessions.session(session.id) == nil)
    }

    @Test("the store is told of a use at most once in each touch interval")
    func touches() async throws {
        let fixture = try SessionsFixture(store: StoreWrapper()) { $0.touchInterval = 10_000 }
        let (session, token) = try await fixture.sessions.create()
        let made = fixture.clock.now()
        for _ in 0..<9 {
            fixture.clock.advance(1_000)
            #expect(try await fixture.isAuthenticated(token))
        }
        try await fixture.sessions.saveUses()
        #expect(try await fixture.store.load(session.id)?.lastUsedAt == made)
        #expect(try session.summary().lastUsedAt.millisecondsSince1970 == made + 9_000)
        fixture.clock.advance(1_000)
        #expect(try await fixture.isAuthenticated(token))
        try await fixture.sessions.saveUses()
        #expect(try await fixture.store.load(session.id)?.lastUsedAt == made + 10_000)
    }

    @Test("a touch interval that is not set is a twentieth of the idle timeout, an hour at most")
    func touchInterval() {
        var settings = SessionSettings()
        #expect(settings.touchInterval == 90_000)
        settings.idleTimeout = 1_000
        #expect(settings.touchInterval == 50)
        settings.idleTimeout = 365 * 86_400_000
        #expect(settings.touchInterval == 3_600_000)
        settings.touchInterval = 7
        #expect(settings.touchInterval == 7)
    }

    private final class Told: Sendable {
        let uses = Mutex<[[SessionUse]]>([])
    }

    /// Sessions with a use of which the store is still to be told, and what it was asked when it was.
    private static func used(
        _ count: Int, refusing: @escaping @Sendable ([SessionUse]) -> Bool = { _ in false }
    ) async throws -> (fixture: SessionsFixture, ids: [SessionID], told: @Sendable () -> [[SessionUse]]) {
        let store = StoreWrapper()
        let fixture = try SessionsFixture(store: store) { $0.touchInterval = 60_000 }
        var made: [(id: SessionID, token: SessionToken)] = []
        for _ in 0..<count {
            let (session, token) = try await fixture.sessions.create()
            made.append((session.id, token))
        }
        fixture.clock.advance(60_000)
        for (_, token) in made { #expect(try await fixture.isAuthenticated(token)) }
        let told = Told()
        store.beforeTouch.withLock {
            $0 = { uses throws(StoreError) in
                told.uses.withLock { $0.append(uses) }
                if refusing(uses) { throw .unavailable("") }
            }
        }
        return (fixture, made.map(\.id), { told.uses.withLock { $0 } })
    }

    private static func saved(_ ids: [SessionID], _ fixture: SessionsFixture) async throws -> Int {
        var saved = 0
        for id in ids where try await fixture.store.load(id)?.lastUsedAt == fixture.clock.now() { saved += 1 }
        return saved
    }

    @Test("uses are told in batches, in the order of ids")
    func batchesOfUses() async throws {
        let whole = Sessions.useBatch
        let (fixture, ids, told) = try await Self.used(3 * whole - 1)
        try await fixture.sessions.saveUses()
        #expect(told().map(\.count) == [whole, whole, whole - 1])
        #expect(told().flatMap { $0 }.map(\.id) == ids.sorted())
        #expect(try await Self.saved(ids, fixture) == ids.count)
    }

    @Test("a store that refuses uses is soon asked no further, and told of all again")
    func refusedUses() async throws {
        let isAway = Mutex(true)
        let (fixture, ids, told) = try await Self.used(20 * Sessions.useBatch) { _ in isAway.withLock { $0 } }
        await #expect(throws: SessionError.self) { try await fixture.sessions.saveUses() }
        #expect(told().map(\.count) == Array(repeating: Sessions.useBatch, count: Sessions.mostRefusals))
        isAway.withLock { $0 = false }
        try await fixture.sessions.saveUses()
        #expect(try await Self.saved(ids, fixture) == ids.count)
    }

    @Test("what was used last is told when the sweeper is stopped, due or not")
    func usesAtTheEnd() async throws {
        let count = 2 * Sessions.useBatch + 1
        let (fixture, ids, told) = try await Self.used(count)
        try await fixture.sessions.saveUses()
        let asked = told().count
        fixture.clock.advance(1)
        for id in ids.dropFirst() {
            let session = try #require(try await fixture.sessions.session(id))
            _ = session.present(session.stored.record.token, now: fixture.clock.now(), isUse: true)
        }
        let sweeper = Task { await fixture.sessions.run() }
        sweeper.cancel()
        await sweeper.value
        #expect(told().dropFirst(asked).flatMap { $0 }.map(\.id) == ids.dropFirst().sorted())
        for id in ids {
            let session = try #require(try await fixture.sessions.session(id))
            #expect(try await fixture.store.load(id)?.lastUsedAt == session.stored.lastUsedAt)
        }
    }

    @Test("a time of use that is still to come is taken for now")
    func futureUse() async throws {
        let store = StoreWrapper()
        let clock = ManualClock()
        let (session, token) = try await SessionsFixture(store: store, clock: clock).sessions.create()
        try await store.touch([SessionUse(id: session.id, usedAt: clock.now() + 86_400_000)])
        let fixture = try SessionsFixture(store: store, clock: clock)
        #expect(try await fixture.sessions.page(limit: 1).sessions[0].lastUsedAt.millisecondsSince1970 == clock.now())
        #expect(try await fixture.isAuthenticated(token))
        clock.advance(1_800_000)
        #expect(try await !fixture.isAuthenticated(token))
    }

    @Test("a store that ends with the process is not told of uses: memory knows them")
    func untouched() async throws {
        let fixture = try SessionsFixture(store: MemoryStore())
        let (session, token) = try await fixture.sessions.create()
        let made = fixture.clock.now()
        fixture.clock.advance(60_000)
        #expect(try await fixture.isAuthenticated(token))
        try await fixture.sessions.saveUses()
        #expect(try await fixture.store.load(session.id)?.lastUsedAt == made)
        #expect(try session.summary().lastUsedAt.millisecondsSince1970 == made + 60_000)
    }

    @Test("sweeping goes on in batches and leaves alone what is in use")
    func batches() async throws {
        let fixture = try SessionsFixture()
        for _ in 0..<25 { _ = try await fixture.session() }
        let (_, token) = try await fixture.sessions.create()
        fixture.clock.advance(1_700_000)
        #expect(try await fixture.isAuthenticated(token))
        fixture.clock.advance(100_000)
        var sizes: [Int] = []
        repeat { sizes.append(await fixture.sessions.sweep(limit: 10)) } while sizes.last == 10
        #expect(sizes == [10, 10, 5])
        #expect(fixture.sessions.statistics.live == 1)
        #expect(try await fixture.isAuthenticated(token))
        fixture.clock.advance(1_800_000)
        #expect(await fixture.sessions.sweep() == 1)
    }

    @Test("the sweeper tries again when a store in which nothing is kept does not answer")
    func retries() async throws {
        let store = StoreWrapper(outlivesProcess: false)
        let fixture = try SessionsFixture(store: store)
        let (session, token) = try await fixture.sessions.create()
        fixture.clock.advance(1_800_000)
        store.endFailure.withLock { $0 = .unavailable("") }
        await fixture.sessions.sweep()
        #expect(try await !fixture.isAuthenticated(token))
        store.endFailure.withLock { $0 = nil }
        fixture.clock.advance(1_000)
        await fixture.sessions.sweep()
        #expect(try await store.load(session.id) == nil)
        #expect(fixture.sessions.statistics.live == 0)
    }

    @Test("making and ending sessions leaves nothing behind in the index")
    func staleEntries() async throws {
        let fixture = try SessionsFixture()
        for _ in 0..<50_000 {
            let session = try await fixture.session()
            try await fixture.sessions.end(session)
        }
        #expect(fixture.sessions.statistics.live == 0)
        // 65 in each of 256 shards are tolerated.
        #expect(fixture.sessions.registry.indexedCount <= 65 * 256)
    }

    @Test("the index gives entries in the order of their deadlines", arguments: UInt64(1)...5)
    func order(seed: UInt64) {
        let random = SeededRandom(seed: seed)
        var index = ExpiryIndex()
        var expected: [Int64] = []
        for number in 0..<500 {
            let deadline = Int64(random.below(200))
            // The id tells the deadline.
            index.insert(SessionID(high: UInt64(deadline), low: UInt64(number)), deadline: deadline)
            expected.append(deadline)
        }
        index.compact { $0.low % 3 != 0 }
        let kept = expected.enumerated().filter { $0.offset % 3 != 0 }.map(\.element).sorted()
        var given: [Int64] = []
        for now in stride(from: Int64(0), through: 203, by: 7) {
            while let id = index.popDue(now: now)?.id {
                // At the first time after its deadline.
                #expect(now - 7 < Int64(id.high) && Int64(id.high) <= now)
                given.append(Int64(id.high))
            }
        }
        #expect(given == kept, "seed \(seed)")
    }

    @Test("the loop sweeps until it is cancelled")
    func loop() async throws {
        let fixture = try SessionsFixture()
        let (session, _) = try await fixture.sessions.create()
        // Each sleep moves the manual clock, so that the session expires after 1,800 rounds.
        let loop = Task { await fixture.sessions.run() }
        while try await fixture.store.load(session.id) != nil { await Task.yield() }
        loop.cancel()
        await loop.value
    }
}
