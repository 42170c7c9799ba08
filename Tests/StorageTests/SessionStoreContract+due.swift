import Testing

@testable import Sessions

// What every store does with the times of sessions. The times are far apart: a store that servers share does not hand a
// session out twice within some seconds.
extension SessionStoreContract {
    private func record(_ id: SessionID, revision: UInt64 = 1, _ times: SessionTimes, user: String? = nil)
        -> SessionRecord
    {
        Self.record(id, revision: revision, user: user).with(times)
    }

    private func commit(_ times: SessionTimes, _ revision: UInt64, changes: Bool = true) -> SessionCommit {
        var commit = Self.commit(record(id, revision: revision, times), replacing: revision - 1)
        commit.changesTimes = changes
        commit.changesServicesOnly = !changes
        return commit
    }

    @Test("the times of a session are loaded as they were created, committed and imported", arguments: stores)
    func times(_ candidate: Candidate) async throws {
        let store = try await make(candidate)
        let first = SessionTimes(dueAt: 50_000, keptUntil: 60_000)
        try await store.create(StoredSession(record: record(id, first, user: "ada"), lastUsedAt: 11))
        #expect(try await store.load(id)?.record.times == first)
        #expect(try await store.sessions(ofUser: "ada").map(\.record.times) == [first])
        #expect(try await store.page(after: nil, limit: 10).sessions.map(\.record.times) == [first])
        let second = SessionTimes(dueAt: 70_000)
        try await store.commit(commit(second, 2))
        #expect(try await store.load(id)?.record.times == second)
        try await store.commit(commit(.none, 3))
        #expect(try await store.load(id)?.record.times == SessionTimes.none)
        let arrived = StoredSession(record: record(id, revision: 9, first), lastUsedAt: 20)
        try await store.receive(SessionArrival(session: arrived, replacedRevision: 3))
        #expect(try await store.load(id)?.record.times == first)
        #expect(try await store.dueSessions(now: 50_000, limit: 10) == [DueSession(id: id, dueAt: 50_000)])
    }

    @Test("sessions are handed out when they are due, the earliest first, as many as asked for", arguments: stores)
    func due(_ candidate: Candidate) async throws {
        let store = try await make(candidate)
        let ids = (0..<8).map { _ in SessionID(random: SystemRandom()) }
        for (number, id) in ids.enumerated() {
            let times = number == 7 ? SessionTimes.none : SessionTimes(dueAt: 100_000 - Int64(number) * 10_000)
            try await store.create(StoredSession(record: record(id, times), lastUsedAt: 11))
        }
        #expect(try await store.dueSessions(now: 39_999, limit: 10).isEmpty)
        #expect(try await store.dueSessions(now: 40_000, limit: 10).map(\.id) == [ids[6]])
        #expect(try await store.dueSessions(now: 60_000, limit: 2).map(\.id).count == 2)
        let all = try await store.dueSessions(now: 110_000, limit: 10)
        #expect(Set(all.map(\.id)) == Set(ids.prefix(7)))
        #expect(all.first { $0.id == ids[0] } == DueSession(id: ids[0], dueAt: 100_000))
    }

    @Test("a due time comes and goes with commits, and no commit that was refused moves it", arguments: stores)
    func dueOfCommits(_ candidate: Candidate) async throws {
        let store = try await make(candidate)
        try await store.create(StoredSession(record: Self.record(id), lastUsedAt: 11))
        try await store.commit(commit(SessionTimes(dueAt: 20_000), 2))
        // Of a session in memory that does not know the time, since it changes nothing of journeys.
        try await store.commit(commit(.none, 3, changes: false))
        #expect(try await store.dueSessions(now: 19_999, limit: 10).isEmpty)
        #expect(try await store.dueSessions(now: 20_000, limit: 10) == [DueSession(id: id, dueAt: 20_000)])
        try? await store.commit(commit(SessionTimes(dueAt: 90_000), 9))
        #expect(try await store.dueSessions(now: 30_000, limit: 10) == [DueSession(id: id, dueAt: 20_000)])
        try await store.commit(commit(SessionTimes(dueAt: 60_000), 4))
        #expect(try await store.dueSessions(now: 40_000, limit: 10).isEmpty)
        #expect(try await store.dueSessions(now: 60_000, limit: 10) == [DueSession(id: id, dueAt: 60_000)])
        try await store.commit(commit(SessionTimes(dueAt: 70_000), 5))
        try await store.commit(commit(.none, 6))
        #expect(try await store.dueSessions(now: 80_000, limit: 10).isEmpty)
    }

    @Test("a session that is put off comes again at that time, unless a commit was faster", arguments: stores)
    func putOff(_ candidate: Candidate) async throws {
        let store = try await make(candidate)
        try await store.create(StoredSession(record: record(id, SessionTimes(dueAt: 10_000)), lastUsedAt: 11))
        let due = try #require(try await store.dueSessions(now: 10_000, limit: 1).first)
        try await store.putOff(due, to: 50_000)
        #expect(try await store.dueSessions(now: 49_999, limit: 1).isEmpty)
        let again = try await store.dueSessions(now: 50_000, limit: 1)
        #expect(again == [DueSession(id: id, dueAt: 50_000)])
        try await store.commit(commit(SessionTimes(dueAt: 70_000), 2))
        try await store.putOff(again[0], to: 200_000)
        let last = try await store.dueSessions(now: 80_000, limit: 1)
        #expect(last == [DueSession(id: id, dueAt: 70_000)])
        try await store.putOff(last[0], to: .max)
        #expect(try await store.dueSessions(now: 1_000_000, limit: 1).isEmpty)
        // Of a session that is not there.
        try await store.putOff(DueSession(id: SessionID(random: SystemRandom()), dueAt: 1), to: 2)
    }

    @Test("a session that has ended is due no more, however it ended", arguments: stores)
    func dueEnd(_ candidate: Candidate) async throws {
        let store = try await make(candidate)
        let others = (0..<2).map { _ in SessionID(random: SystemRandom()) }
        for id in others {
            try await store.create(StoredSession(record: record(id, SessionTimes(dueAt: 5_000)), lastUsedAt: 11))
        }
        #expect(try await store.end(others[0]))
        _ = try await store.endExpired(
            ExpiryQuery(now: 2_000, idleTimeout: 100_000, retention: 0, limit: 10, isInUse: { _ in false }))
        #expect(try await store.dueSessions(now: 50_000, limit: 10).isEmpty)
    }

    @Test("an expired session is not ended before what is due was done", arguments: stores)
    func dueBeforeEnd(_ candidate: Candidate) async throws {
        let store = try await make(candidate)
        try await store.create(StoredSession(record: record(id, SessionTimes(dueAt: 1_000)), lastUsedAt: 11))
        let query = ExpiryQuery(now: 60_000, idleTimeout: 1_000, retention: 0, limit: 10, isInUse: { _ in false })
        #expect(try await store.endExpired(query).count == 0)
        try await store.commit(commit(.none, 2))
        #expect(try await store.endExpired(query).count == 1)
    }

    @Test("an expired session stays as long as its work, is counted, and ends for no other", arguments: stores)
    func kept(_ candidate: Candidate) async throws {
        let store = try await make(candidate)
        // It would have expired at 1,000.
        let times = SessionTimes(dueAt: 60_000, keptUntil: 50_000)
        try await store.create(StoredSession(record: record(id, times), lastUsedAt: 11))
        func query(_ now: Int64) -> ExpiryQuery {
            var query = ExpiryQuery(now: now, idleTimeout: 100_000, retention: 100, limit: 10, isInUse: { _ in false })
            query.sheddingLifetime = 990
            return query
        }
        let during = try await store.endExpired(query(49_999))
        #expect(during.count == 0 && during.candidates.isEmpty && during.kept == 1)
        #expect(try await store.endExpired(query(50_099)).count == 0)
        let after = try await store.endExpired(query(50_100))
        #expect(after.count == 1 && after.kept == 0)
        #expect(try await store.load(id) == nil)
    }
}
