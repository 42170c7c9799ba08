import Glibc
import Sessions
import Testing

@testable import Storage

@Suite("Folding the log of recent writes", .timeLimit(.minutes(2)))
struct RecentFoldingTests {
    private let id = SessionID(random: SystemRandom())

    @Test("full tables are folded and emptied beside the load, and everything stays as it was acknowledged")
    func folding() async throws {
        let file = try SQLiteFile()
        let store = try RecentWrites.store(file, rows: 24)
        let ids = (0..<40).map { _ in SessionID(random: SystemRandom()) }
        for id in ids { try await RecentWrites.create(id, in: store) }
        let last: [SessionID: UInt64] = try await withThrowingTaskGroup(of: [SessionID: UInt64].self) { group in
            for part in 0..<4 {
                group.addTask {
                    var last: [SessionID: UInt64] = [:]
                    var kept: [SessionID: ServiceDocument] = [:]
                    for step in 0..<150 {
                        // Some are written all the time, others now and then.
                        let place = step.isMultiple(of: 3) ? step % 10 : step % 2
                        let id = ids[part * 10 + place]
                        let revision = last[id] ?? 1
                        if step % 29 == 28 {
                            let services = [kept[id] ?? RecentWrites.document(0, 1)]
                            try await store.commit(
                                SessionCommit(
                                    record: RecentWrites.record(id, revision + 1, services, user: "u"),
                                    replacedRevision: revision, changedServices: [1]))
                        } else {
                            try await store.commit(RecentWrites.write([0], of: id, from: revision))
                            kept[id] = RecentWrites.document(0, revision + 1)
                        }
                        last[id] = revision + 1
                        let loaded = try #require(try await store.load(id))
                        #expect(loaded.record.revision == revision + 1)
                        #expect(
                            RecentWrites.texts(loaded).first == kept[id].map {
                                String(decoding: $0.bytes, as: UTF8.self)
                            }
                                ?? "1")
                        if step % 10 == 9 {
                            for session in try await store.page(after: nil, limit: 50).sessions {
                                guard let known = last[session.record.id] else { continue }
                                #expect(session.record.revision == known)
                            }
                        }
                    }
                    return last
                }
            }
            return try await group.reduce(into: [:]) { $0.merge($1) { $1 } }
        }
        let rows = try #require(try RecentWrites.rows(file))
        #expect(rows > 0 && rows < 80, "two tables, and what a group may add")
        let copy = try RecentWrites.killed(file)
        await store.close()
        for place in [copy, file] {
            let next = try RecentWrites.store(place)
            for (id, revision) in last { #expect(try await next.load(id)?.record.revision == revision) }
            await next.close()
            #expect(try RecentWrites.rows(place) == 0)
            #expect(try StoreCheck.run(place.path) { Issue.record("\($0)") }.findings == 0)
        }
    }

    @Test("when there is nothing else to do all is folded, however much it is")
    func idle() async throws {
        let file = try SQLiteFile()
        let store = try SQLiteStore(
            path: file.path, services: ["profile", "quote"], idleTimeout: 1_800_000, durability: .commit,
            recent: RecentLimits(idleTime: .milliseconds(20)), report: { _ in })
        let ids = (0..<600).map { _ in SessionID(random: SystemRandom()) }
        await withTaskGroup(of: Void.self) { group in
            for id in ids {
                group.addTask {
                    try? await RecentWrites.create(id, in: store)
                    try? await store.commit(RecentWrites.write([1], of: id, from: 1))
                }
            }
        }
        while try RecentWrites.rows(file) != 0 { try await Task.sleep(for: .milliseconds(5)) }
        #expect(
            try SQLiteConnection(file.path, .read).number("SELECT count(*) FROM services WHERE revision = 2") == 600)
        await store.close()
    }

    @Test("a file of the version before gets the log, with all that it has")
    func migration() async throws {
        let file = try SQLiteFile()
        var store = try RecentWrites.store(file)
        try await RecentWrites.create(id, in: store)
        await store.close()
        try SQLiteConnection(file.path, .write).execute(
            "DROP TABLE recent_even; DROP TABLE recent_odd; PRAGMA user_version = 2")
        store = try RecentWrites.store(file)
        try await store.commit(RecentWrites.write([1], of: id, from: 1))
        #expect(RecentWrites.texts(try await store.load(id)) == ["1", "2"])
        await store.close()
    }

    @Test("rows of a service that is not declared any more go where they belong")
    func undeclared() async throws {
        let file = try SQLiteFile()
        let store = try RecentWrites.store(file)
        try await RecentWrites.create(id, in: store)
        try await store.commit(RecentWrites.write([0, 1], of: id, from: 1))
        let copy = try RecentWrites.killed(file)
        await store.close()
        do {
            let other = try copy.store(services: ["quote"])
            #expect(RecentWrites.texts(try await other.load(id)) == ["2"])
            await other.close()
        }
        let next = try RecentWrites.store(copy)
        #expect(RecentWrites.texts(try await next.load(id)) == ["2", "2"])
        await next.close()
    }
}
