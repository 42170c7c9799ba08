import Glibc
import Storage
import Testing

@testable import SQLiteStorage
@testable import Sessions

/// A copy of a store's files stands for the files of a killed process.
@Suite("After a crash")
struct RecoveryTests {
    private let id = SessionID(random: SystemRandom())

    /// Copies the current files of a store to another folder.
    private static func image(of file: SQLiteFile) throws -> SQLiteFile {
        let copy = try SQLiteFile()
        for ending in ["", "-wal"] { try Files.copy(file.path + ending, to: copy.path + ending) }
        return copy
    }

    /// Makes a store with a session of this many revisions, and closes it after `body` has copied its files.
    private func written(
        _ revisions: UInt64, durability: Durability = .commit, _ body: (SQLiteFile) async throws -> Void
    ) async throws {
        let file = try SQLiteFile()
        let store = try file.store(touchInterval: 90_000, durability: durability)
        try await store.create(Samples.session(id, usedAt: 1_000))
        for revision in 2...revisions {
            let record = Samples.record(id, revision: revision, [Samples.document(revision: revision)])
            try await store.commit(Samples.commit(record, over: revision - 1))
        }
        try await body(file)
        await store.close()
    }

    @Test("nothing is lost, and uses count as late as they may have been")
    func killed() async throws {
        try await written(5) { file in
            let store = try Self.image(of: file).store()
            let session = try #require(try await store.load(id))
            #expect(session.record.revision == 5 && session.record.highestRevision == 5)
            #expect(session.lastUsedAt == 96_000)
            await store.close()
        }
    }

    @Test("no session counts as unused, because its use may be lost; after an orderly end it does")
    func unused() async throws {
        let file = try SQLiteFile()
        let killed = try file.store(touchInterval: 90_000)
        try await killed.create(Samples.session(id, usedAt: 10))
        var query = ExpiryQuery(now: 90_000, idleTimeout: 1 << 40, retention: 0, limit: 10, isInUse: { _ in false })
        query.sheddingLifetime = 99_990
        let image = try Self.image(of: file)
        let afterCrash = try image.store()
        #expect(try await afterCrash.endExpired(query).candidates.isEmpty)
        await afterCrash.close()
        await killed.close()
        let next = try file.store()
        #expect(try await next.endExpired(query).candidates.map(\.id) == [id])
        await next.close()
    }

    @Test("a use that the store never heard of counts up to the moment of the next start, to the millisecond")
    func lastMoment() async throws {
        func now() -> Int64 {
            var time = timespec()
            clock_gettime(CLOCK_REALTIME, &time)
            return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
        }
        let file = try SQLiteFile()
        let killed = try file.store(touchInterval: 90_000)
        try await killed.create(Samples.session(id, usedAt: now() - 60_000))
        // Rounding to seconds would go unnoticed in the first milliseconds of a second.
        for _ in 0..<3 {
            let before = now()
            let store = try Self.image(of: file).store()
            let lastUse = try #require(try await store.load(id)).lastUsedAt
            #expect(lastUse >= before && lastUse <= now() + 1)
            await store.close()
        }
        await killed.close()
    }

    @Test("after an orderly end uses are as they were written")
    func orderly() async throws {
        let file = try SQLiteFile()
        var store = try file.store(touchInterval: 90_000)
        try await store.create(Samples.session(id, usedAt: 1_000))
        await store.close()
        store = try file.store(touchInterval: 90_000)
        #expect(try await store.load(id)?.lastUsedAt == 1_000)
        await store.close()
    }

    @Test(
        "when responses come before the sync, no revision is given twice after a power cut, and writes go on",
        arguments: [Durability.interval(.seconds(60)), .none])
    func powerCut(_ policy: Durability) async throws {
        try await written(40, durability: policy) { file in
            let image = try Self.image(of: file)
            // The copy has only the synced part of the log: the ceiling.
            let store = try image.store(durability: policy)
            let session = try #require(try await store.load(id))
            let floor = session.record.highestRevision
            #expect(floor > 1 << 20)
            let record = Samples.record(
                id, revision: floor + 1, [Samples.document(revision: floor + 1)], details: session.record.details)
            try await store.commit(Samples.commit(record, over: session.record.revision))
            #expect(try await store.load(id)?.record.highestRevision == floor + 1)
            // The floor does not concern a later session.
            let other = Samples.session()
            try await store.create(other)
            #expect(try await store.load(other.record.id)?.record.highestRevision == 1)
            await store.close()
            // An orderly end does not raise the floor.
            let next = try image.store(durability: policy)
            #expect(try await next.load(id)?.record.highestRevision == floor + 1)
            await next.close()
        }
    }

    @Test("the ceiling is on the disk before a revision above the last one is shown", arguments: [false, true])
    func ceiling(isWritten: Bool) async throws {
        let file = try SQLiteFile()
        let store = try file.store(durability: .none)
        try await store.create(Samples.session(id, revision: 1 << 21))
        let record = Samples.record(id, revision: 1 << 22)
        if isWritten { try await store.commit(Samples.commit(record, over: 1 << 21)) }
        let connection = try SQLiteConnection(file.path, .read)
        let ceiling = try #require(
            try connection.number("SELECT value FROM facts WHERE name = 'revision_ceiling'"))
        #expect(ceiling == (isWritten ? 1 << 22 : 1 << 21) + 1 << 20)
        await store.close()
    }

    @Test("damage in the middle of a log is reported, the log kept and the floor raised; a torn end is not reported")
    func damagedLog() async throws {
        try await written(40) { file in
            let log = file.path + "-wal"
            let frames = (StoreFile.size(of: log) - 32) / 4_120
            try #require(frames > 30)
            #expect(try LogInspection(of: file.path).finding == .sound)
            let torn = try Self.image(of: file)
            try Files.flip(torn.path + "-wal", at: 32 + (frames - 1) * 4_120 + 2_000)
            #expect(try LogInspection(of: torn.path).finding == .torn)
            for frame in [0, frames / 2, frames - 4] {
                let image = try Self.image(of: file)
                try Files.flip(image.path + "-wal", at: 32 + frame * 4_120 + 2_000)
                #expect(try LogInspection(of: image.path).finding == .damaged(frame: frame))
                let reports = Reports()
                let store = try image.store(report: reports.add)
                #expect(reports.all.count == 1)
                #expect(reports.all.first?.contains("damaged at frame \(frame)") == true, "\(reports.all)")
                if frame > frames / 4 {
                    let session = try #require(try await store.load(id))
                    #expect(session.record.revision < 40 && session.record.highestRevision > 1 << 20)
                }
                await store.close()
                let copies = Files.names(in: image.folder).filter { $0.contains("-wal.damaged-") }
                #expect(copies.count == 1)
                for copy in copies {
                    #expect(StoreFile.size(of: image.folder + "/" + copy) == StoreFile.size(of: log))
                    unlink(image.folder + "/" + copy)
                }
            }
            // With a damaged header SQLite takes the log for empty.
            for place in [0, 3, 9, 17, 25] {
                let image = try Self.image(of: file)
                try Files.flip(image.path + "-wal", at: place)
                #expect(try LogInspection(of: image.path).finding == .damaged(frame: 0), "byte \(place)")
            }
        }
    }

    @Test("a restored backup continues above all revisions that were given since")
    func restored() async throws {
        let file = try SQLiteFile()
        var store = try file.store()
        try await store.create(Samples.session(id, revision: 7))
        _ = try StoreBackup(of: file.path, to: file.folder + "/copy", replaces: false)
        await store.close()
        #expect(rename(file.folder + "/copy", file.path) == 0)
        store = try file.store()
        #expect(try await store.load(id)?.record.highestRevision ?? 0 > 1 << 20)
        await store.close()
        store = try file.store()
        #expect(try await store.load(id)?.record.highestRevision ?? 0 < 1 << 22)
        await store.close()
    }

    @Test("a missing or empty database beside a log with writes is refused, and no file is made or removed")
    func lostDatabase() async throws {
        try await written(3) { file in
            for isEmpty in [false, true] {
                let image = try Self.image(of: file)
                if isEmpty { #expect(truncate(image.path, 0) == 0) } else { unlink(image.path) }
                let size = StoreFile.size(of: image.path + "-wal")
                #expect {
                    try image.store()
                } throws: {
                    "\($0)".contains("beside it has writes that belong to it")
                }
                #expect(StorePlace(image.path).problem != nil)
                #expect(StoreFile.size(of: image.path + "-wal") == size && size > 32)
                #expect((access(image.path, F_OK) == 0) == isEmpty)
            }
        }
    }
}
