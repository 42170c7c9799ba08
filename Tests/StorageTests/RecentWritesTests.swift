import Glibc
import Sessions
import Testing

@testable import Storage

@Suite("Reading and writing what is in the log of recent writes", .timeLimit(.minutes(2)))
struct RecentWritesTests {
    private let id = SessionID(random: SystemRandom())

    @Test("what was acknowledged is shown by every way to read, though it is only in the log")
    func reading() async throws {
        let file = try SQLiteFile()
        let store = try RecentWrites.store(file)
        let other = SessionID(random: SystemRandom())
        try await RecentWrites.create(id, in: store, user: "u")
        try await RecentWrites.create(other, in: store)
        try await store.commit(RecentWrites.write([1], of: id, from: 1))
        try await store.commit(RecentWrites.write([0, 1], of: id, from: 2))
        try await store.commit(RecentWrites.write([0], of: id, from: 3))
        #expect(try RecentWrites.rows(file) == 4)
        let loaded = try #require(try await store.load(id))
        #expect(loaded.record.revision == 4 && RecentWrites.texts(loaded) == ["4", "3"])
        #expect(loaded.record.services.map(\.revision) == [4, 3] && loaded.lastUsedAt == 11)
        #expect(try await store.sessions(ofUser: "u").map { RecentWrites.texts($0) } == [["4", "3"]])
        let page = try await store.page(after: nil, limit: 10).sessions
        #expect(page.map { $0.record.id } == [id, other].sorted { $0.key < $1.key })
        #expect(page.map { RecentWrites.texts($0) }.sorted { $0.count < $1.count } == [["1"], ["4", "3"]])
        await store.close()
        #expect(try RecentWrites.rows(file) == 0)
        #expect(try StoreCheck.run(file.path) { Issue.record("\($0)") }.services == 3)
    }

    @Test("what was acknowledged is there after a kill, and is where it belongs after closing")
    func kill() async throws {
        let file = try SQLiteFile()
        let store = try RecentWrites.store(file)
        try await RecentWrites.create(id, in: store)
        try await store.commit(RecentWrites.write([0, 1], of: id, from: 1))
        try await store.commit(RecentWrites.write([1], of: id, from: 2))
        let copy = try RecentWrites.killed(file)
        await store.close()
        let check = try StoreCheck.run(copy.path) { Issue.record("\($0)") }
        #expect(check.recentWrites == 3)
        let statistics = try StoreStatistics(copy.path)
        #expect(statistics.recentWrites == 3)
        #expect(statistics.services.map { "\($0.name) \($0.count) \($0.bytes)" } == ["profile 1 1", "quote 1 1"])
        let next = try RecentWrites.store(copy)
        #expect(RecentWrites.texts(try await next.load(id)) == ["2", "3"])
        await #expect(throws: StoreError.self) { try await next.commit(RecentWrites.write([0], of: id, from: 2)) }
        try await next.commit(RecentWrites.write([0], of: id, from: 3))
        #expect(RecentWrites.texts(try await next.load(id)) == ["4", "3"])
        await next.close()
        #expect(try RecentWrites.rows(copy) == 0)
        #expect(RecentWrites.texts(try await RecentWrites.store(copy).load(id)) == ["4", "3"])
    }

    @Test("a commit from another revision is refused, whether the newest is in the log or where it belongs")
    func conflict() async throws {
        let file = try SQLiteFile()
        let store = try RecentWrites.store(file)
        try await RecentWrites.create(id, in: store)
        func expectConflict(from revision: UInt64) async {
            do throws(StoreError) {
                try await store.commit(RecentWrites.write([0], of: id, from: revision))
                Issue.record("a commit from revision \(revision) was taken")
            } catch {
                if case .conflict = error {} else { Issue.record(error) }
            }
        }
        await expectConflict(from: 2)
        try await store.commit(RecentWrites.write([0], of: id, from: 1))
        await expectConflict(from: 1)
        await expectConflict(from: 3)
        // Does more than write services.
        try await store.commit(
            SessionCommit(
                record: RecentWrites.record(id, 3, [RecentWrites.document(0, 2)], user: "u"), replacedRevision: 2,
                changedServices: []))
        await expectConflict(from: 2)
        try await store.commit(RecentWrites.write([0], of: id, from: 3))
        let gone = SessionID(random: SystemRandom())
        await #expect(throws: StoreError.self) { try await store.commit(RecentWrites.write([0], of: gone, from: 1)) }
        #expect(try await store.load(gone) == nil)
        await store.close()
    }

    @Test("what does more than write services finds what was written before, and what is replayed is older than it")
    func otherChanges() async throws {
        let file = try SQLiteFile()
        let store = try RecentWrites.store(file)
        try await RecentWrites.create(id, in: store)
        try await store.commit(RecentWrites.write([0, 1], of: id, from: 1))
        // A new user; then a service less.
        try await store.commit(
            SessionCommit(
                record: RecentWrites.record(
                    id, 3, [RecentWrites.document(0, 2), RecentWrites.document(1, 2)], user: "u"), replacedRevision: 2,
                changedServices: []))
        #expect(RecentWrites.texts(try await store.load(id)) == ["2", "2"])
        try await store.commit(RecentWrites.write([1], of: id, from: 3))
        try await store.commit(
            SessionCommit(
                record: RecentWrites.record(id, 5, [RecentWrites.document(0, 2)], user: "u"), replacedRevision: 4,
                changedServices: [1], changesServicesOnly: true))
        #expect(RecentWrites.texts(try await store.load(id)) == ["2"])
        let copy = try RecentWrites.killed(file)
        await store.close()
        let next = try RecentWrites.store(copy)
        let loaded = try #require(try await next.load(id))
        #expect(RecentWrites.texts(loaded) == ["2"] && loaded.record.revision == 5 && loaded.record.userID == "u")
        await #expect(throws: StoreError.self) { try await next.commit(RecentWrites.write([0], of: id, from: 4)) }
        try await next.commit(RecentWrites.write([0], of: id, from: 5))
        #expect(RecentWrites.texts(try await next.load(id)) == ["6"])
        await next.close()
        #expect(try StoreCheck.run(copy.path) { Issue.record("\($0)") }.services == 1)
    }

    @Test("an end takes what is in the log along, and what is received under the same id has nothing of it")
    func ending() async throws {
        let file = try SQLiteFile()
        let store = try RecentWrites.store(file)
        try await RecentWrites.create(id, in: store)
        for revision in 1...5 { try await store.commit(RecentWrites.write([0, 1], of: id, from: UInt64(revision))) }
        #expect(try await store.end(id))
        #expect(try await store.load(id) == nil)
        await #expect(throws: StoreError.self) { try await store.commit(RecentWrites.write([0], of: id, from: 6)) }
        let ended = try RecentWrites.killed(file)
        let arrival = StoredSession(record: RecentWrites.record(id, 2, [RecentWrites.document(0, 2)]), lastUsedAt: 11)
        try await store.receive(SessionArrival(session: arrival, replacedRevision: nil))
        #expect(RecentWrites.texts(try await store.load(id)) == ["2"])
        try await store.commit(RecentWrites.write([0], of: id, from: 2))
        let received = try RecentWrites.killed(file)
        // In the place of one that is there.
        let second = StoredSession(record: RecentWrites.record(id, 4, [RecentWrites.document(1, 4)]), lastUsedAt: 11)
        try await store.receive(SessionArrival(session: second, replacedRevision: 3))
        #expect(RecentWrites.texts(try await store.load(id)) == ["4"])
        await store.close()
        #expect(try await RecentWrites.store(ended).load(id) == nil)
        #expect(RecentWrites.texts(try await RecentWrites.store(received).load(id)) == ["3"])
    }

    @Test("a session whose time is over is told of with what it had in the log")
    func expiry() async throws {
        let file = try SQLiteFile()
        let store = try RecentWrites.store(file)
        try await RecentWrites.create(id, in: store)
        try await store.commit(RecentWrites.write([1], of: id, from: 1))
        let query = ExpiryQuery(now: 200_000, idleTimeout: 1_800_000, retention: 0, limit: 10) { _ in false }
        let expired = try await store.endExpired(query)
        #expect(expired.count == 1)
        #expect(try await store.load(id) == nil)
        await store.close()
    }
}
