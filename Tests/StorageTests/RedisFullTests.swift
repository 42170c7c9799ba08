import RedisTestServer
import Sessions
import Testing

@testable import Storage

@Suite("A Redis without memory") struct RedisFullTests {
    private let fixture: RedisFixture
    private let id = SessionID(random: SystemRandom())

    init() throws { fixture = try RedisFixture(try RedisTestServer()) }

    @Test("refuses writes; what frees memory or needs little is done")
    func full() async throws {
        let store = try fixture.store()
        let task = StoredTask(
            id: TaskID(session: id, journey: "main", number: 2), name: "check", attempts: 2, createdAt: 1,
            endsAt: 1_000, due: 1)
        try await store.create(Samples.session(id))
        var begin = Samples.commit(Samples.record(id, revision: 2, [Samples.document(revision: 2)]), over: 1)
        begin.tasks = [.begun(task)]
        try await store.commit(begin)
        try fixture.ask("CONFIG", "SET", "maxmemory", "1")
        let next = Samples.record(id, revision: 3, [Samples.document(revision: 3)])
        await #expect(throws: StoreError.self) { try await store.commit(Samples.commit(next, over: 2)) }
        #expect(try await store.load(id)?.record.revision == 2)
        try await store.touch([SessionUse(id: id, usedAt: 500)])
        #expect(try await store.standing(of: id) == SessionStanding(revision: 2, lastUsedAt: 500))
        #expect(try await store.end(id))
        #expect(try await store.load(id) == nil)
        #expect(try fixture.ask("GET", .text(store.keys.floor)).text == "3")
    }

    @Test("ends sessions that have expired")
    func expiry() async throws {
        let store = try fixture.store()
        try await store.create(Samples.session(id, usedAt: 11))
        try fixture.ask("CONFIG", "SET", "maxmemory", "1")
        let query = ExpiryQuery(now: 10_000, idleTimeout: 1_000, retention: 100, limit: 10) { _ in false }
        #expect(try await store.endExpired(query).count == 1)
        #expect(try await store.load(id) == nil)
    }
}
