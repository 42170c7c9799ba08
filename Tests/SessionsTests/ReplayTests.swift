import JSONDocument
import Testing

@testable import Sessions

@Suite("Units of work that are executed once for all copies of a request")
struct ReplayTests {
    private static func digest(_ text: String) -> ShortDigest { ShortDigest(SHA256Digest(of: Array(text.utf8))) }

    private static func replay(_ key: String, bytes: Int = 10, endsAt: Int64 = .max) -> Replay {
        Replay(
            id: digest(key), fingerprint: digest("request"), endsAt: endsAt,
            response: [UInt8](repeating: 1, count: bytes))
    }

    private static func once<Value>(_ key: String, bytes: Int = 10, endsAt: Int64 = .max) -> Once<Value> {
        Once(id: digest(key)) { _ in replay(key, bytes: bytes, endsAt: endsAt) }
    }

    /// Adds one to a counter.
    private static func count(_ session: Session, _ once: Once<Int>) async throws -> Int {
        let service = try session.environment.definitions.catalog.service(named: "counter")
        return try await session.transact(once: once) { pending in
            let count = try JSONDocument(parsing: pending.outcome(of: service).bytes)[member: "count"]?.int ?? 0
            pending.write(service, Array(#"{"count":\#(count + 1)}"#.utf8))
            return count + 1
        }
    }

    @Test("the second unit with an id does nothing, and says what is kept")
    func second() async throws {
        let fixture = try SessionsFixture()
        let session = try await fixture.session()
        #expect(try await Self.count(session, Self.once("a")) == 1)
        await #expect {
            _ = try await Self.count(session, Self.once("a"))
        } throws: { error in
            guard case .session(let same, let entry) = (error as? ExecutedBefore)?.place else { return false }
            return same === session && entry == Self.replay("a").entry
        }
        #expect(try await Self.count(session, Self.once("b")) == 2)
        #expect(session.replay(of: Self.digest("a")) == Self.replay("a").entry)
        #expect(session.replay(of: Self.digest("c")) == nil)
        #expect(try await session.response(Self.digest("a")) == Self.replay("a").response)
    }

    @Test("a unit that throws keeps nothing, and its id stays free")
    func failure() async throws {
        struct Refusal: Error {}
        let session = try await SessionsFixture().session()
        await #expect(throws: Refusal.self) {
            try await session.transact(once: Self.once("a")) { _ -> Int in throw Refusal() }
        }
        #expect(session.replay(of: Self.digest("a")) == nil)
        #expect(try await Self.count(session, Self.once("a")) == 1)
    }

    @Test("of two processes at once one executes it, and the other finds what that has left")
    func processes() async throws {
        let hub = SharedStore()
        let (one, two) = (try SessionsFixture(store: hub.door()), try SessionsFixture(store: hub.door()))
        let (session, token) = try await one.sessions.create()
        let there = try await two.sessions.authenticate(token.presented)
        for key in ["a", "b", "c", "d"] {
            let outcomes = await withTaskGroup(of: Bool.self) { group in
                for session in [session, there, session, there] {
                    group.addTask { (try? await Self.count(session, Self.once(key))) != nil }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(outcomes.count { $0 } == 1, "key \(key)")
        }
        let latest = try await one.sessions.authenticate(token.presented)
        #expect(try one.get("counter", latest).document == ["count": 4])
    }

    @Test("what has ended is forgotten by the next keyed commit, and its id is free before that")
    func ended() async throws {
        let clock = ManualClock(isStill: true)
        let session = try await SessionsFixture(clock: clock).session()
        let end = clock.now() + 1_000
        _ = try await Self.count(session, Self.once("a", endsAt: end))
        clock.advance(999)
        #expect(session.replay(of: Self.digest("a")) != nil)
        clock.advance(1)
        #expect(session.replay(of: Self.digest("a")) == nil)
        _ = try await Self.count(session, Self.once("b"))
        #expect(session.replays.map(\.id) == [Self.digest("b")])
        #expect(try await session.response(Self.digest("a")) == nil)
        #expect(try await Self.count(session, Self.once("a")) == 3)
    }

    @Test("a session keeps so many responses, and so many bytes of them; the oldest go first")
    func bounds() async throws {
        let session = try await SessionsFixture().session()
        func known() -> [ReplayEntry] { session.replays }
        for number in 0..<ReplayLimits.entries + 3 { _ = try await Self.count(session, Self.once("\(number)")) }
        #expect(known().map(\.id) == (3..<ReplayLimits.entries + 3).map { Self.digest("\($0)") })
        #expect(try await session.response(Self.digest("2")) == nil)
        #expect(try await session.response(Self.digest("3")) != nil)
        for number in 0..<5 { _ = try await Self.count(session, Self.once("large \(number)", bytes: 64 << 10)) }
        let total = known().reduce(0) { $0 + $1.size }
        #expect(total <= ReplayLimits.bytes && total == session.state.withLock { $0.record.replayBytes })
        #expect(known().map(\.id) == (2..<5).map { Self.digest("large \($0)") })
    }

    @Test("the bytes of responses count among those of all sessions, until the session ends")
    func counted() async throws {
        let store = MemoryStore(mostBytes: 10_000)
        let fixture = try SessionsFixture(store: store)
        let session = try await fixture.session()
        let before = try #require(store.documentBytes?.stored)
        _ = try await Self.count(session, Self.once("a", bytes: 4_000))
        _ = try await Self.count(session, Self.once("b", bytes: 4_000))
        #expect(try #require(store.documentBytes?.stored) >= before + 8_000)
        await #expect(throws: SessionError.self) { try await Self.count(session, Self.once("c", bytes: 4_000)) }
        try await fixture.sessions.end(session)
        #expect(store.documentBytes?.stored == before)
    }

    @Test("a key without a session that was free again is kept by its new place, not removed by its former one")
    func freeAgain() {
        var shelf = ReplayShelf()
        func keep(_ key: String, now: Int64) {
            let lone = LoneReplay(
                id: Self.digest(key), fingerprint: Self.digest("request"), endsAt: now + 100, content: .response([]))
            #expect(shelf.keep(lone, now: now, atMost: 6) == nil)
        }
        for key in ["a", "b", "c", "d", "e", "f"] { keep(key, now: 0) }
        for key in ["f", "g", "h", "i", "j", "k"] { keep(key, now: 200) }
        #expect(shelf.loneReplay(Self.digest("f"), now: 200) != nil)
        keep("l", now: 200)
        #expect(shelf.loneReplay(Self.digest("f"), now: 200) == nil)
    }
}
