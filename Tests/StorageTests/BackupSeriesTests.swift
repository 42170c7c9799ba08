import Glibc
import Sessions
import Storage
import Synchronization
import Testing

@testable import SQLiteStorage

@Suite("Backups that a server makes")
struct BackupSeriesTests {
    private static let now: Int64 = 1_796_000_000

    /// A store with some sessions, and a series of its backups beside it.
    private static func withStore(
        keys: DocumentKeys? = nil, damage: Bool = false,
        _ body: (SQLiteStore, BackupSeries, SQLiteFile) throws -> Void
    ) async throws {
        let file = try SQLiteFile()
        defer { for name in Files.names(in: file.folder) { unlink("\(file.folder)/\(name)") } }
        var store = try file.store(keys: keys)
        for _ in 0..<80 {
            let documents = [Samples.document(0, size: 60), Samples.document(1, size: 60_000)]
            try await store.create(Samples.session(SessionID(random: SystemRandom()), documents))
        }
        if damage {
            await store.close()
            let last = off_t(try file.pages) * off_t(SQLiteSchema.pageSize) - 2_000
            try Files.flip(file.path, at: last)
            store = try file.store(keys: keys)
        }
        try body(store, BackupSeries(in: file.folder, of: file.path, keep: 2, keys: keys), file)
        await store.close()
    }

    private static func add(_ series: BackupSeries, _ store: SQLiteStore, after seconds: Int64 = 0) throws
        -> BackupSeries.Backup
    {
        try series.add(store, now: now + seconds, isEnded: { false }, copied: {})
    }

    @Test("has the newest ones, whose time is not later than now")
    func newest() async throws {
        try await Self.withStore { store, series, file in
            #expect(series.newest(now: Self.now) == nil)
            for seconds in [0, 1, 2, 3] as [Int64] {
                let backup = try Self.add(series, store, after: seconds)
                #expect(backup.damage == nil && backup.obstacle == nil && backup.sessions == 80)
            }
            #expect(series.newest(now: Self.now + 10) == Self.now + 3)
            #expect(series.newest(now: Self.now + 2) == Self.now + 2)
            // A clock that was set back: what is of later is not counted, and stays.
            _ = try Self.add(series, store, after: -10)
            let names = Files.names(in: file.folder).filter { $0.hasSuffix("Z.db") }.sorted()
            #expect(names == ([-10, 2, 3] as [Int64]).map { "sessions-\(BackupSeries.text(of: Self.now + $0)).db" })
            #expect(throws: StoreDraftError.self) { try Self.add(series, store, after: 3) }
        }
    }

    @Test("a copy in which the check finds damage does not count and takes no other's place")
    func damage() async throws {
        try await Self.withStore(damage: true) { store, series, file in
            for seconds in [0, 1, 2] as [Int64] {
                let backup = try Self.add(series, store, after: seconds)
                #expect(backup.file == "\(file.folder)/sessions-damaged.db")
                #expect(backup.damage != nil)
            }
            #expect(series.newest(now: Self.now + 10) == nil)
            #expect(Files.names(in: file.folder).filter { $0.hasPrefix("sessions-") } == ["sessions-damaged.db"])
            #expect(try StoreCheck.run("\(file.folder)/sessions-damaged.db", isCopy: true) { _ in }.findings > 0)
        }
    }

    @Test("a copy that is ended, or that meets an obstacle, leaves nothing")
    func ended() async throws {
        try await Self.withStore { store, series, file in
            let copied = Atomic(false)
            for last in [1, 2] {
                let asked = Atomic(0)
                #expect(throws: StoreDraftError.self) {
                    try series.add(
                        store, now: Self.now, isEnded: { asked.add(1, ordering: .relaxed).newValue == last },
                        copied: { copied.store(true, ordering: .relaxed) })
                }
                // Before the store is read, and after a slice, of which it has more than one.
                #expect(!copied.load(ordering: .relaxed) && asked.load(ordering: .relaxed) == last)
            }
            #expect(Files.names(in: file.folder).filter { $0.hasPrefix("sessions-") } == [])
            let nowhere = BackupSeries(in: "\(file.folder)/none", of: file.path, keep: 1, keys: nil)
            #expect(throws: BackupError.system("\(file.folder)/none", ENOENT)) { try Self.add(nowhere, store) }
            #expect(throws: BackupError.inUse(file.folder)) {
                _ = try Self.add(series, store)
                _ = try Self.add(BackupSeries(in: file.folder, of: file.path, keep: 1, keys: nil), store, after: 1)
            }
        }
    }
}
