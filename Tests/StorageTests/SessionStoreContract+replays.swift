import Testing

@testable import Sessions

/// Responses to requests with an idempotency key. Now is 100.
extension SessionStoreContract {
    /// A store may count the time itself, so it is longer than any test takes.
    static let replaysEnd: Int64 = 90_000_000

    static func digest(_ text: String) -> ShortDigest { ShortDigest(SHA256Digest(of: Array(text.utf8))) }

    static func replay(_ key: String, _ response: String = "response", endsAt: Int64 = replaysEnd) -> Replay {
        Replay(
            id: digest(key), fingerprint: digest("request of \(key)"), endsAt: endsAt, response: Array(response.utf8))
    }

    private static func record(_ id: SessionID, revision: UInt64, knowing replays: [Replay]) -> SessionRecord {
        SessionRecord(
            id: id, token: TokenDigest(words: (1, 2, 3, id.low)), createdAt: 10, expiresAt: 1_000, revision: revision,
            services: [], details: .none,
            replays: (replays.map(\.entry), replays.reduce(0) { $0 + $1.entry.size }))
    }

    private static func commit(
        _ id: SessionID, revision: UInt64, adding new: Replay, to others: [Replay] = [], removing gone: [Replay] = []
    ) -> SessionCommit {
        var commit = SessionCommit(
            record: record(id, revision: revision, knowing: others + [new]), replacedRevision: revision - 1,
            changedServices: [], changesServicesOnly: true)
        commit.replays = ReplayChange(added: new, removed: gone.map(\.entry))
        commit.growth = new.entry.size - gone.reduce(0) { $0 + $1.entry.size }
        return commit
    }

    private static func text(_ id: ShortDigest, of session: SessionID, in store: any SessionStore) async throws
        -> String?
    {
        try await store.replays.response(id, of: session).map { String(decoding: $0, as: UTF8.self) }
    }

    @Test("a response comes with a commit of its session, which knows it when it is loaded", arguments: stores)
    func replays(_ candidate: Candidate) async throws {
        let store = try await make(candidate)
        let (one, two) = (Self.replay("one", "1"), Self.replay("two", "2"))
        try await store.create(StoredSession(record: Self.record(id), lastUsedAt: 11))
        try await store.commit(Self.commit(id, revision: 2, adding: one))
        try await store.commit(Self.commit(id, revision: 3, adding: two, to: [one]))
        let loaded = try #require(try await store.load(id)?.record)
        #expect(Set(loaded.replays.map(\.id)) == [one.entry.id, two.entry.id])
        #expect(loaded.replays.allSatisfy { $0 == one.entry || $0 == two.entry })
        #expect(loaded.replayBytes == one.entry.size + two.entry.size)
        #expect(try await Self.text(one.entry.id, of: id, in: store) == "1")
        #expect(try await Self.text(two.entry.id, of: id, in: store) == "2")
        #expect(try await store.replays.response(Self.digest("three"), of: id) == nil)
        let other = SessionID(random: SystemRandom())
        #expect(try await store.replays.response(one.entry.id, of: other) == nil)
    }

    @Test("a commit that removes a response, and one that takes its id again, leave what they say", arguments: stores)
    func removedReplays(_ candidate: Candidate) async throws {
        let store = try await make(candidate)
        let (one, two) = (Self.replay("one"), Self.replay("two"))
        let again = Self.replay("two", "again", endsAt: Self.replaysEnd + 50)
        try await store.create(StoredSession(record: Self.record(id), lastUsedAt: 11))
        try await store.commit(Self.commit(id, revision: 2, adding: one))
        try await store.commit(Self.commit(id, revision: 3, adding: two, removing: [one]))
        #expect(try await store.load(id)?.record.replays == [two.entry])
        #expect(try await store.replays.response(one.entry.id, of: id) == nil)
        try await store.commit(Self.commit(id, revision: 4, adding: again, removing: [two]))
        #expect(try await store.load(id)?.record.replays == [again.entry])
        #expect(try await Self.text(two.entry.id, of: id, in: store) == "again")
    }

    @Test("a commit that is refused leaves no response", arguments: stores)
    func refusedReplay(_ candidate: Candidate) async throws {
        let store = try await make(candidate)
        try await store.create(StoredSession(record: Self.record(id), lastUsedAt: 11))
        try await store.commit(Self.commit(Self.record(id, revision: 2), replacing: 1))
        let late = Self.replay("late")
        let id = id
        await expect(.conflict) { () async throws(StoreError) in
            try await store.commit(Self.commit(id, revision: 2, adding: late))
        }
        #expect(try await store.load(id)?.record.replays.isEmpty == true)
        #expect(try await store.replays.response(late.entry.id, of: id) == nil)
    }

    @Test("the responses of a session go with it, and with the state that an import replaces", arguments: stores)
    func replaysEnd(_ candidate: Candidate) async throws {
        let store = try await make(candidate)
        let replay = Self.replay("one")
        try await store.create(StoredSession(record: Self.record(id), lastUsedAt: 11))
        try await store.commit(Self.commit(id, revision: 2, adding: replay))
        try await store.receive(
            SessionArrival(
                session: StoredSession(record: Self.record(id, revision: 3), lastUsedAt: 12), replacedRevision: 2))
        #expect(try await store.replays.response(replay.entry.id, of: id) == nil)
        try await store.commit(Self.commit(id, revision: 4, adding: replay))
        #expect(try await store.end(id))
        #expect(try await store.replays.response(replay.entry.id, of: id) == nil)
    }

    private func create(
        _ session: SessionID, _ key: String, in store: any SessionStore, now: Int64 = 100, atMost limit: Int = .max
    ) async throws -> LoneReplay? {
        let replay = Self.replay(key, "of \(session)")
        let stored = StoredSession(record: Self.record(session, revision: 1, knowing: [replay]), lastUsedAt: 11)
        return try await withUnsafeThrowingContinuation { waiting in
            store.replays.create(stored, once: OnceCreated(replay: replay, now: now, mostLone: limit)) {
                waiting.resume(with: $0.mapError { $0 as any Error })
            }
        }
    }

    @Test("a session is made once for a key, and keeps the response", arguments: stores)
    func createdOnce(_ candidate: Candidate) async throws {
        let store = try await make(candidate)
        let other = SessionID(random: SystemRandom())
        #expect(try await create(id, "key", in: store) == nil)
        let found = try #require(try await create(other, "key", in: store))
        #expect(found.content == .session(id) && found.fingerprint == Self.digest("request of key"))
        #expect(try await store.load(other) == nil)
        #expect(try await store.load(id)?.record.replays == [Self.replay("key", "of \(id)").entry])
        #expect(try await Self.text(Self.digest("key"), of: id, in: store) == "of \(id)")
        #expect(try await create(other, "another key", in: store) == nil)
        #expect(try await store.load(other) != nil)
    }

    @Test("of many at once with one key, one makes a session", arguments: stores)
    func createdAtOnce(_ candidate: Candidate) async throws {
        let store = try await make(candidate)
        let outcomes = try await withThrowingTaskGroup(of: (SessionID, LoneReplay?).self) { group in
            for _ in 0..<20 {
                group.addTask {
                    let id = SessionID(random: SystemRandom())
                    return (id, try await create(id, "key", in: store))
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        let made = outcomes.filter { $0.1 == nil }.map(\.0)
        #expect(made.count == 1)
        for outcome in outcomes {
            if let found = outcome.1 { #expect(found.content == .session(made[0])) }
        }
        #expect(store.sessionCount == 1)
    }

    @Test("a session that has ended since is not made a second time", arguments: stores)
    func createdAndEnded(_ candidate: Candidate) async throws {
        let store = try await make(candidate)
        #expect(try await create(id, "key", in: store) == nil)
        #expect(try await store.end(id))
        let found = try await create(SessionID(random: SystemRandom()), "key", in: store)
        #expect(found?.content == .session(id))
    }

    @Test("of a key without a session the first response is kept, the oldest keys go", arguments: stores)
    func loneReplays(_ candidate: Candidate) async throws {
        let store = try await make(candidate)
        func lone(_ key: String, _ response: String) -> LoneReplay {
            LoneReplay(
                id: Self.digest(key), fingerprint: Self.digest("request"), endsAt: Self.replaysEnd,
                content: .response(Array(response.utf8)))
        }
        #expect(try await store.replays.keep(lone("a", "1"), now: 100, atMost: 3) == nil)
        #expect(try await store.replays.keep(lone("a", "2"), now: 100, atMost: 3) == lone("a", "1"))
        #expect(try await store.replays.loneReplay(Self.digest("a"), now: 100) == lone("a", "1"))
        #expect(try await store.replays.loneReplay(Self.digest("a"), now: Self.replaysEnd) == nil)
        #expect(try await store.replays.loneReplay(Self.digest("b"), now: 100) == nil)
        for key in ["b", "c", "d"] { #expect(try await store.replays.keep(lone(key, "1"), now: 100, atMost: 3) == nil) }
        // A store may do that later.
        for _ in 0..<1_000 where try await store.replays.loneReplay(Self.digest("a"), now: 100) != nil {}
        #expect(try await store.replays.loneReplay(Self.digest("a"), now: 100) == nil)
        #expect(try await store.replays.loneReplay(Self.digest("d"), now: 100) == lone("d", "1"))
    }

    @Test("a long response without a session counts as many keys as it has KiB", arguments: stores)
    func longLoneReplays(_ candidate: Candidate) async throws {
        let store = try await make(candidate)
        func keep(_ key: String, bytes: Int = 10) async throws {
            let lone = LoneReplay(
                id: Self.digest(key), fingerprint: Self.digest("request"), endsAt: Self.replaysEnd,
                content: .response([UInt8](repeating: 1, count: bytes)))
            #expect(try await store.replays.keep(lone, now: 100, atMost: 10) == nil)
        }
        func isKept(_ key: String) async throws -> Bool {
            try await store.replays.loneReplay(Self.digest(key), now: 100) != nil
        }
        func expectGone(_ key: String) async throws {
            // A store may do that later.
            for _ in 0..<1_000 where try await isKept(key) {}
            #expect(try await !isKept(key))
        }
        try await keep("first")
        try await keep("long", bytes: 8 << 10)
        #expect(try await isKept("first"))
        try await keep("next")
        try await expectGone("first")
        #expect(try await isKept("long"))
        for key in 0..<9 { try await keep("\(key)") }
        try await expectGone("long")
        #expect(try await isKept("next"))
        // The newest stays in any case.
        try await keep("longest", bytes: 64 << 10)
        try await expectGone("8")
        #expect(try await isKept("longest"))
    }
}
