import Testing

@testable import Sessions

// What a store finds when places are wanted.
extension SessionStoreContract {
    @Test("sessions that nobody misses are named when somebody wants their places", arguments: stores)
    func shedding(_ candidate: Candidate) async throws {
        let store = try await make(candidate)
        var ids: [SessionID] = []
        // Created, last used, lifetime, and whether it has a user.
        for (createdAt, usedAt, lifetime, hasUser) in [
            (1_000, 1_000, 500_000, false), (1_000, 1_001, 500_000, false), (1_001, 1_001, 500_000, false),
            (1_000, 1_000, 400_000, false), (900, 900, 500_000, false), (900, 900, 500_000, false),
            (900, 900, 500_000, true), (900, 1_002, 500_000, false),
        ] as [(Int64, Int64, Int64, Bool)] {
            let id = SessionID(random: SystemRandom())
            ids.append(id)
            let record = SessionRecord(
                id: id, token: TokenDigest(words: (1, 2, 3, 4)), createdAt: createdAt, expiresAt: createdAt + lifetime,
                revision: 1, services: [], details: SessionDetails(userID: hasUser ? "ada" : nil))
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
        #expect(try await store.endExpired(query).candidates.isEmpty)
        query.sheddingLifetime = 500_000
        // Another server may have been shown the token of a session that it has not written yet.
        #expect(try await store.endExpired(query).candidates.map(\.id) == (store.isShared ? [] : [ids[0]]))
        // Five minutes later.
        query = ExpiryQuery(
            now: 301_001, idleTimeout: 400_000, retention: 0, limit: 10, isInUse: { $0 == inUse })
        query.sheddingLifetime = 500_000
        let named = try await store.endExpired(query).candidates.sorted().map(\.id)
        // First those that were never used, then the longest idle; the second of two that were used alike is either.
        if store.isShared {
            #expect(named.first == ids[4] && Set(named[1...2]) == [ids[0], ids[3]])
            #expect(Set(named[3...]) == [ids[1], ids[2]])
        } else {
            #expect(named == [ids[0], ids[2], ids[4], ids[3], ids[1]])
        }
        try await Self.expectCount(store, 8)
    }
}
