import Sessions
import Testing

@testable import SQLiteStorage

@Suite("Documents in rows and beside rows")
struct DocumentTests {
    private let id = SessionID(random: SystemRandom())

    @Test(
        "a document of any size is read as it was written, also after it grows, shrinks, stays the same or goes",
        arguments: [[60, 511, 512, 513, 664, 665, 4_056, 4_057, 4_058, 70_000, 600, 0, 3_000, 3_000, 1_328, 60]])
    func sizes(_ sizes: [Int]) async throws {
        let file = try SQLiteFile()
        let store = try file.store()
        try await store.create(Samples.session(id))
        var revision: UInt64 = 1
        for size in sizes {
            revision += 1
            // The other service is large and does not change.
            let services = [
                Samples.document(0, size: size, revision: revision, letter: "a"),
                Samples.document(1, size: 2_000, revision: 2, letter: "b"),
            ]
            try await store.commit(Samples.commit(Samples.record(id, revision: revision, services), over: revision - 1))
            let loaded = try #require(try await store.load(id)).record.services
            #expect(loaded.map(\.bytes) == services.map(\.bytes), "\(size)")
            #expect(loaded.map(\.revision) == [revision, 2])
        }
        try await store.commit(Samples.commit(Samples.record(id, revision: revision + 1), over: revision))
        let connection = try SQLiteConnection(file.path, .read)
        #expect(try connection.number("SELECT count(*) FROM documents") == 0)
        await store.close()
        #expect(try StoreCheck.run(file.path) { _ in }.findings == 0)
    }

    @Test("a small write to a session does not rewrite its large documents")
    func smallWrite() async throws {
        let file = try SQLiteFile()
        let store = try file.store()
        let large = Samples.document(1, size: 200_000)
        try await store.create(Samples.session(id, [Samples.document(0), large]))
        let before = StoreFile.size(of: file.path + "-wal")
        for revision in UInt64(2)..<22 {
            let services = [Samples.document(0, revision: revision), large]
            try await store.commit(Samples.commit(Samples.record(id, revision: revision, services), over: revision - 1))
        }
        // A page for each commit, and one more for the first commit, which raises the ceiling.
        #expect(StoreFile.size(of: file.path + "-wal") - before < 23 * 4_200)
        await store.close()
    }

    @Test("a commit that fails does not change large documents; the end of a session removes them")
    func rollback() async throws {
        let file = try SQLiteFile()
        let store = try file.store()
        try await store.create(Samples.session(id, [Samples.document(0, size: 5_000, letter: "a")]))
        let other = Samples.record(id, revision: 9, [Samples.document(0, size: 5_000, revision: 9, letter: "b")])
        await #expect(throws: StoreError.self) { try await store.commit(Samples.commit(other, over: 8)) }
        #expect(try await store.load(id)?.record.services.first?.bytes.first == UInt8(ascii: "a"))
        await #expect(throws: StoreError.self) {
            try await store.create(Samples.session(id, [Samples.document(0, size: 3_000)]))
        }
        let connection = try SQLiteConnection(file.path, .read)
        #expect(try connection.number("SELECT count(*) FROM documents") == 1)
        #expect(try await store.end(id))
        #expect(try connection.number("SELECT count(*) FROM documents") == 0)
        await store.close()
    }

    @Test("a page of sessions counts damaged documents as skipped, and says which they are")
    func damaged() async throws {
        let file = try SQLiteFile()
        let made = try file.store()
        try await made.create(Samples.session(id, [Samples.document(0), Samples.document(1, size: 5_000)]))
        await made.close()
        try SQLiteConnection(file.path, .write).execute("UPDATE documents SET piece = zeroblob(5000)")
        let store = try file.store()
        let page = try await store.page(after: nil, limit: 10)
        #expect(page.sessions.map { $0.record.services.map(\.isDamaged) } == [[false, true]])
        #expect(page.skipped == 1)
        await store.close()
    }

    @Test(
        "a document of 1 to 4 KB takes at most one and a half times its size in the file, session included",
        arguments: [1_000, 1_060, 1_350, 2_060, 2_700, 3_300, 4_060])
    func room(_ size: Int) async throws {
        let file = try SQLiteFile()
        let store = try file.store()
        let count = 2_000
        var sessions: [StoredSession] = []
        for number in 0..<count {
            // In the order of their ids, as a server creates them.
            let id = SessionID(high: UInt64(1_700_000_000_000 + number) << 16, low: UInt64.random(in: 0 ... .max))
            sessions.append(Samples.session(id, usedAt: 1_700_000_000_000))
        }
        for session in sessions { try await store.create(session) }
        for session in sessions {
            let record = Samples.record(session.record.id, revision: 2, [Samples.document(0, size: size, revision: 2)])
            try await store.commit(Samples.commit(record, over: 1))
        }
        await store.close()
        let each = try file.pages * 4_096 / count
        #expect(Double(each) / Double(size) <= 1.5, "\(each) bytes for \(size)")
    }
}
