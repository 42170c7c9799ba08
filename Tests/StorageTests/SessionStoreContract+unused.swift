import Sessions
import Testing

// What a store finds when places are wanted.
extension SessionStoreContract {
    @Test("sessions that were never used are named when somebody wants their places", arguments: stores)
    func unused(_ candidate: Candidate) async throws {
        let (store, owner) = try await candidate.make()
        defer { withExtendedLifetime(owner) {} }
        var ids: [SessionID] = []
        // Created, last used, and of another lifetime.
        for (createdAt, usedAt, lifetime) in [
            (1_000, 1_000, 500_000), (1_000, 1_001, 500_000), (1_001, 1_001, 500_000), (1_000, 1_000, 400_000),
            (900, 900, 500_000), (900, 900, 500_000),
        ] as [(Int64, Int64, Int64)] {
            let id = SessionID(random: SystemRandom())
            ids.append(id)
            let record = SessionRecord(
                id: id, token: TokenDigest(words: (1, 2, 3, 4)), createdAt: createdAt, expiresAt: createdAt + lifetime,
                revision: 1, services: [], details: SessionDetails())
            try await store.create(StoredSession(record: record, lastUsedAt: usedAt))
        }
        let written = try #require(try await store.load(ids[4])).record
        let next = SessionRecord(
            id: ids[4], token: written.token, createdAt: 900, expiresAt: 500_900, revision: 2, services: [],
            details: SessionDetails())
        try await store.commit(Self.commit(next, replacing: 1))
        let inUse = ids[5]
        var query = ExpiryQuery(
            now: 6_000, idleTimeout: 100_000, retention: 0, limit: 10, isInUse: { $0 == inUse })
        #expect(try await store.endExpired(query).unused.isEmpty)
        query.unused = .init(age: 5_000, lifetime: 500_000)
        // Another server may have been shown the token of a session that it has not written yet.
        #expect(try await store.endExpired(query).unused == (store.isShared ? [] : [ids[0]]))
        try await Self.expectCount(store, 6)
    }
}
