import RedisTestServer
import Sessions
import Testing

@testable import Storage

@Suite("Notes that servers keep for each other in Redis") struct RedisNoteTests {
    private let fixture: RedisFixture
    private let key = SHA256Digest(of: Array("a request".utf8))

    init() throws { fixture = try RedisFixture(try RedisTestServer()) }

    private static func note(_ mark: UInt8, _ text: String) -> [UInt8] {
        [UInt8](repeating: mark, count: SharedNoteMark.length) + text.utf8
    }

    private static func mark(_ mark: UInt8) -> [UInt8] { [UInt8](repeating: mark, count: SharedNoteMark.length) }

    /// What another server is told that asks.
    private func found(_ store: RedisStore) async throws -> String? {
        // In the order of its connection: after what was sent before.
        _ = try await store.standing(of: SessionID(high: 1, low: 1))
        let text = try fixture.ask("GET", .text(store.keys.note(key))).text
        return text.map { String($0.dropFirst(SharedNoteMark.length)) }
    }

    @Test("a note is found by others, replaced and dropped")
    func life() async throws {
        let (one, two) = (try fixture.store(), try fixture.store())
        #expect(try await one.note(Self.note(1, "begun"), of: key, for: 60_000) == nil)
        #expect(try await two.note(Self.note(2, "begun"), of: key, for: 60_000) == Self.note(1, "begun"))
        one.replace(key, with: Self.note(1, "done"), for: 50_000)
        #expect(try await found(one) == "done")
        #expect((1...50_000).contains(try fixture.ask("PTTL", .text(one.keys.note(key))).number ?? 0))
        one.drop(key, of: Self.mark(1))
        #expect(try await found(one) == nil)
        #expect(one.owed.count == 0)
    }

    @Test("a server whose note has run out changes nothing of the one that another has made since")
    func owner() async throws {
        let (one, two) = (try fixture.store(), try fixture.store())
        #expect(try await one.note(Self.note(1, "begun"), of: key, for: 1) == nil)
        while try fixture.ask("EXISTS", .text(one.keys.note(key))).number == 1 {}
        #expect(try await two.note(Self.note(2, "begun"), of: key, for: 60_000) == nil)
        one.replace(key, with: Self.note(1, "done"), for: 60_000)
        #expect(try await found(one) == "begun")
        one.drop(key, of: Self.mark(1))
        #expect(try await found(one) == "begun")
        two.drop(key, of: Self.mark(2))
        #expect(try await found(two) == nil)
        // Nobody has begun meanwhile, so what is done stays known.
        one.replace(key, with: Self.note(1, "done"), for: 60_000)
        #expect(try await found(one) == "done")
    }

    @Test("what is changed while Redis is away is changed when it is back", arguments: [false, true])
    func away(isDropped: Bool) async throws {
        let (one, two) = (try fixture.store(), try fixture.store())
        #expect(try await one.note(Self.note(1, "begun"), of: key, for: 60_000) == nil)
        fixture.server.kill()
        await #expect(throws: StoreError.self) { try await one.standing(of: SessionID(high: 1, low: 1)) }
        one.replace(key, with: Self.note(1, "done"), for: 60_000)
        if isDropped { one.drop(key, of: Self.mark(1)) }
        #expect(one.owed.count == 1)
        try fixture.server.start()
        _ = try await fixture.recovery(of: one)
        #expect(try await found(one) == (isDropped ? nil : "done"))
        #expect(one.owed.count == 0)
        _ = try await fixture.recovery(of: two)
    }

    @Test("what Redis refuses to change for a while is changed afterwards, on the same connection")
    func refused() async throws {
        let store = try fixture.store()
        #expect(try await store.note(Self.note(1, "begun"), of: key, for: 60_000) == nil)
        try fixture.ask("CONFIG", "SET", "min-replicas-to-write", "1")
        store.replace(key, with: Self.note(1, "done"), for: 60_000)
        #expect(try await found(store) == "begun")
        #expect(store.owed.count == 1)
        try fixture.ask("CONFIG", "SET", "min-replicas-to-write", "0")
        let end = ContinuousClock.now + .seconds(30)
        while store.owed.count > 0, .now < end { try await Task.sleep(for: .milliseconds(5)) }
        #expect(try await found(store) == "done")
    }

    @Test("when Redis is full, what was executed is noted all the same, and nothing new is begun")
    func full() async throws {
        let store = try fixture.store()
        #expect(try await store.note(Self.note(1, "begun"), of: key, for: 60_000) == nil)
        try fixture.ask("CONFIG", "SET", "maxmemory", "1")
        store.replace(key, with: Self.note(1, "done"), for: 60_000)
        #expect(try await found(store) == "done")
        let other = SHA256Digest(of: Array("another".utf8))
        await #expect(throws: SessionError.self) { try await store.note(Self.note(2, "begun"), of: other, for: 1) }
    }
}
