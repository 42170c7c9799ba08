import CPageChecksums
import Glibc
import HTTPTestClient
import Synchronization
import Testing

@testable import SQLiteStorage
@testable import Sessions

@Suite("Room in the file")
struct SpaceTests {
    /// SQLite's default page size.
    private static let page = 4_096

    private final class End: Sendable {
        let isReached = Atomic<Bool>(false)
    }

    private static func create(_ count: Int, in store: SQLiteStore, at now: Int64) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<count {
                group.addTask {
                    let document = ServiceDocument(
                        service: 0, birth: 0, revision: 1, createdAt: now, updatedAt: now,
                        bytes: [UInt8](repeating: UInt8(ascii: " "), count: 3_000))
                    let record = SessionRecord(
                        id: SessionID(random: SystemRandom()), token: TokenDigest(words: (1, 2, 3, 4)), createdAt: now,
                        expiresAt: now + 60_000, revision: 1, services: [document], details: .none)
                    try await store.create(StoredSession(record: record, lastUsedAt: now))
                }
            }
            try await group.waitForAll()
        }
    }

    /// Works as the sweeper does every second: batch after batch, until it has looked at everything.
    private static func sweep(_ store: SQLiteStore, at now: Int64) async throws {
        let query = ExpiryQuery(now: now, idleTimeout: 60_000, retention: 0, limit: 128) { _ in false }
        while try await store.endExpired(query).looked == 128 {}
    }

    private static func size(_ path: String) -> Int {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : 0
    }

    @Test("many rounds of sessions that expire take no more room than one; readers do not make the log grow")
    func cycles() async throws {
        let file = try SQLiteFile()
        let store = try file.store()
        let end = End()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<2 {
                group.addTask {
                    while !end.isReached.load(ordering: .relaxed) { _ = try await store.page(after: nil, limit: 100) }
                }
            }
            let reader = try SQLiteConnection(file.path, .read)
            var peaks: [Int64] = []
            var now: Int64 = 1_700_000_000_000
            for _ in 0..<8 {
                try await Self.create(800, in: store, at: now)
                peaks.append(try #require(try reader.number("PRAGMA page_count")))
                now += 120_000
                // The sessions expire, and for some seconds nothing else happens.
                for _ in 0..<10 { try await Self.sweep(store, at: now) }
                #expect(store.sessionCount == 0)
                let left = try #require(try reader.number("PRAGMA page_count"))
                #expect(left < 400, "pages of an empty store")
            }
            let peak = try #require(peaks.max())
            #expect(peaks[0] > 600 && peak * 10 <= peaks[0] * 12, "\(peaks)")
            // The writes are several times that.
            let log = Self.size(file.path + "-wal") / Self.page
            #expect(isSanitized || log < 3 * 4_096, "\(log) pages")
            end.isReached.store(true, ordering: .relaxed)
            try await group.waitForAll()
        }
        await store.close()
        #expect(Self.size(file.path) / Self.page < 400)
    }

    @Test("a caller can give back all free pages in steps; then the file is smaller")
    func all() async throws {
        let file = try SQLiteFile()
        let store = try file.store()
        try await Self.create(200, in: store, at: 1_000)
        try await Self.sweep(store, at: 120_000)
        var given = 0
        while true {
            let space = try await store.giveBackSpace(atMost: 20)
            #expect(space.isPossible && space.given <= 20)
            given += space.given
            if space.left == 0 { break }
        }
        #expect(given > 120)
        // Waits for the last step and its copy of the log.
        try await store.touch([])
        #expect(Self.size(file.path) / Self.page < 50 + Int(CPAGECHECKSUMS_SPARE) / Self.page)
        await store.close()
    }

    @Test("a file without auto_vacuum keeps its pages, says so, and accepts sessions")
    func earlier() async throws {
        let file = try SQLiteFile()
        let connection = try SQLiteConnection(file.path, .write)
        try connection.execute(SQLiteFile.plainTables)
        let store = try file.store()
        try await Self.create(400, in: store, at: 1_000)
        try await Self.sweep(store, at: 120_000)
        let space = try await store.giveBackSpace(atMost: 20)
        #expect(!space.isPossible && space.given == 0 && space.left > 250)
        try await Self.create(10, in: store, at: 130_000)
        #expect(store.sessionCount == 10)
        await store.close()
    }
}
