import RedisTestServer
import Testing

@testable import RedisStorage
@testable import Sessions

@Suite("A Redis without memory") struct RedisFullTests {
    private let fixture: RedisFixture
    private let id = SessionID(random: SystemRandom())

    init() throws { fixture = try RedisFixture(try RedisTestServer()) }

    @Test(
        "is full, as one whose disk is; others may be well soon",
        arguments: [
            ("OOM command not allowed when used memory > 'maxmemory'.", true),
            ("MISCONF Errors writing to the AOF file: No space left on device", true),
            ("MISCONF Errors writing to the AOF file: Input/output error", false), ("NOREPLICAS Not enough", false),
        ])
    func errors(text: String, isFull: Bool) {
        if case .full = StoreError(redis: text) { #expect(isFull) } else { #expect(!isFull) }
    }

    @Test("refuses writes; what frees memory or needs little is done")
    func full() async throws {
        let store = try fixture.store()
        let task = StoredTask(
            id: TaskID(session: id, journey: "main", number: 2), name: "check", attempts: 2, createdAt: 1,
            due: 1)
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
        let claims = try await store.claimTasks(TaskClaim(name: "check", limit: 1, now: 10, end: 20))
        #expect(claims.tasks.map(\.id) == [task.id])
        try await store.replaceUsedFlows([UsedFlow(flow: "main", version: 1, states: "a")])
        #expect(try await store.end(id))
        #expect(try await store.load(id) == nil)
        #expect(try fixture.ask("GET", .text(store.keys.floor)).text == "3")
    }

    @Test("that has room again when a session is stored, but had none for its entries, is given these again")
    func entries() async throws {
        let store = try fixture.store()
        _ = try await fixture.recovery(of: store)
        let stores = RedisScript("return {1}", needsRoom: false)
        try fixture.ask("SCRIPT", "LOAD", .text(stores.text))
        try fixture.ask("CONFIG", "SET", "maxmemory", "1")
        let content = RedisCommit.Content(
            record: Samples.record(id, details: SessionDetails(userID: "ada")), replaced: nil, tasks: [], flows: [])
        let failure = await withUnsafeContinuation { waiting in
            RedisCommit(content, stores, RedisRequest.Arguments(), in: store) { waiting.resume(returning: $0) }.send()
        }
        #expect(failure == nil)
        for list in [store.keys.sessions(with: id), store.keys.user("ada")] {
            #expect(try fixture.ask("ZRANGE", .text(list), "0", "-1").list.map(\.text) == ["\(id)"])
        }
    }

    @Test("keeps a session in its lists that came back while its former end was being finished")
    func back() async throws {
        let store = try fixture.store()
        try await store.create(Samples.session(id, details: SessionDetails(userID: "ada")))
        try fixture.ask("CONFIG", "SET", "maxmemory", "1")
        store.unindex(id)
        store.unindex(id, user: "ada")
        // The first reply comes when it is known that the session exists, the second one when its entries are back.
        for _ in 0..<2 { _ = try await store.ask(RedisRequest("PING")) }
        for list in [store.keys.sessions(with: id), store.keys.user("ada")] {
            #expect(try fixture.ask("ZRANGE", .text(list), "0", "-1").list.map(\.text) == ["\(id)"])
        }
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
