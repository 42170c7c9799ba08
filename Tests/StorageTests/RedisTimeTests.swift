import RedisTestServer
import Synchronization
import Testing

@testable import RedisStorage
@testable import Sessions

/// Servers whose clock is wrong.
@Suite("Redis' time") struct RedisTimeTests {
    /// The machine's clocks, set wrong as a test says.
    private final class WrongClock: SessionClock {
        private let system = SystemClock()
        private let state: Mutex<(wall: Int64, steady: Int64)>

        /// - Parameter seconds: by how many both clocks are ahead.
        init(ahead seconds: Int64) { state = Mutex((seconds * 1_000, seconds * 1_000)) }

        func now() -> Int64 { system.now() + state.withLock(\.steady) }
        func wall(at steady: Int64) -> Int64 { steady - state.withLock { $0.steady - $0.wall } }
        func correct(to steady: Int64) { state.withLock { $0.steady = steady - system.now() } }
        func sleep(milliseconds: Int64) async throws { try await system.sleep(milliseconds: milliseconds) }

        /// As an operator or NTP sets it: steady time does not follow.
        func setWall(ahead seconds: Int64) { state.withLock { $0.wall = seconds * 1_000 } }
        var error: Int64 { state.withLock(\.steady) / 1_000 }
    }

    private let fixture: RedisFixture
    private let id = SessionID(random: SystemRandom())

    init() throws { fixture = try RedisFixture() }

    @Test("a server whose clock was never right refuses all, until it is", arguments: [2_400, -2_400] as [Int64])
    func wrongFromTheStart(seconds: Int64) async throws {
        let right = try fixture.store()
        try await right.create(Samples.session(id))
        let clock = WrongClock(ahead: seconds)
        let reports = Mutex<[String]>([])
        let store = try fixture.store(clock: clock, report: { text in reports.withLock { $0.append(text) } })
        for _ in 0..<3 {
            let error = await #expect(throws: StoreError.self) { try await store.load(id) }
            let text = String(describing: error)
            #expect(text.contains(seconds > 0 ? "s ahead of that of" : "s behind that of"), "\(text)")
        }
        // A second connection may have no better reason yet than that it is not there.
        #expect(store.trouble != nil)
        #expect(reports.withLock(\.self).map { $0.contains("Set both, by NTP") } == [true])
        clock.setWall(ahead: 0)
        _ = try await fixture.recovery(of: store)
        #expect(try await store.load(id) != nil && store.trouble == nil)
        // Sessions are judged by the right time from now on.
        #expect(abs(clock.error) <= 1)
        await store.close()
        await right.close()
    }

    @Test("a clock that is set wrong later makes the server not ready, and no session ends by it")
    func wrongLater() async throws {
        let clock = WrongClock(ahead: 0)
        let store = try fixture.store(clock: clock)
        let now = clock.now()
        let record = SessionRecord(
            id: id, token: TokenDigest(words: (1, 2, 3, 4)), createdAt: now, expiresAt: now + 3_600_000, revision: 1,
            services: [], details: SessionDetails())
        try await store.create(StoredSession(record: record, lastUsedAt: now))
        clock.setWall(ahead: 2_400)
        let start = ContinuousClock.now
        while store.trouble == nil { try #require(.now - start < .seconds(20)) }
        #expect(store.trouble?.contains("ahead of that of") == true)
        #expect(try await store.load(id) != nil && abs(clock.error) <= 1)
        let query = ExpiryQuery(
            now: now + 7_200_000, idleTimeout: 1_000, retention: 0, limit: 100
        ) { _ in false }
        #expect(try await store.endExpired(query).looked == 0)
        clock.setWall(ahead: 0)
        while store.trouble != nil { try #require(.now - start < .seconds(20)) }
        await store.close()
    }
}
