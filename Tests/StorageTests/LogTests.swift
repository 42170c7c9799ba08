import Glibc
import Sessions
import Storage
import Testing

@testable import SQLiteStorage

/// A copy of a store's files stands for the files of a killed process: nothing is written meanwhile.
@Suite("The log belongs to the database")
struct LogTests {
    /// A session that is in the database, and gets revisions that are only in the log.
    private final class Run {
        let file: SQLiteFile
        let id = SessionID(random: SystemRandom())
        private(set) var store: SQLiteStore
        private(set) var revision: UInt64 = 1
        let reports: AsyncStream<String>

        init() async throws {
            file = try SQLiteFile()
            let (reports, reported) = AsyncStream.makeStream(of: String.self)
            self.reports = reports
            store = try file.store()
            try await store.create(Samples.session(id))
            try await write(9)
            await store.close()
            store = try file.store(report: { reported.yield($0) })
        }

        func write(_ count: Int) async throws {
            for _ in 0..<count {
                revision += 1
                let record = Samples.record(id, revision: revision, [Samples.document(revision: revision)])
                try await store.commit(Samples.commit(record, over: revision - 1))
            }
        }

        /// Makes the log begin anew with the next write.
        func restartLog() async {
            await withCheckedContinuation { continuation in
                store.commits.append(
                    Write { writer throws(SQLiteError) in
                        writer.room.isCheckpointDue = true
                    } then: { (_: Result<Void, StoreError>) in
                        continuation.resume()
                    })
            }
        }

        var log: String { file.path + "-wal" }

        func image(database: [UInt8]? = nil, log: [UInt8]?) throws -> SQLiteFile {
            let image = try SQLiteFile()
            try Files.write(database ?? Files.read(file.path), to: image.path, at: 0, makes: true)
            if let log { try Files.write(log, to: image.path + "-wal", at: 0, makes: true) }
            return image
        }

        func image() throws -> SQLiteFile { try image(log: Files.read(log)) }
    }

    /// What a start on files says, and the session that it shows.
    private struct Found {
        let session: StoredSession?
        let reports: [String]

        init(_ file: SQLiteFile, _ id: SessionID) async throws {
            let reports = Reports()
            let store = try file.store(report: reports.add)
            session = try await store.load(id)
            await store.close()
            self.reports = reports.all
            for name in Files.names(in: file.folder) where name.contains(".damaged-") {
                unlink(file.folder + "/" + name)
            }
        }

        var revision: UInt64? { session?.record.revision }
        /// The next revision is above it.
        var highest: UInt64 { session?.record.highestRevision ?? 0 }
    }

    private static func expectSilence(_ file: SQLiteFile, _ run: Run, at revision: UInt64) async throws {
        let found = try await Found(file, run.id)
        #expect(found.reports == [] && found.revision == revision && found.highest == revision)
    }

    private static func expectLoss(_ file: SQLiteFile, _ run: Run, says part: String) async throws -> UInt64? {
        let found = try await Found(file, run.id)
        #expect(found.reports.count == 1 && found.reports[0].contains(part), "\(found.reports)")
        #expect(found.highest > run.revision + 1 << 19)
        // Once, and for good.
        let next = try await Found(file, run.id)
        #expect(next.reports == [] && next.revision == found.revision && next.highest == found.highest)
        return found.revision
    }

    // MARK: After a kill

    @Test("after a kill at any moment a start says nothing, and no revision is raised")
    func kill() async throws {
        let run = try await Run()
        try await Self.expectSilence(run.image(), run, at: 10)
        for number in 0..<24 {
            // Several slices, and restarts.
            try await run.write(number % 4 * 60 + 1)
            if number % 5 == 4 {
                await run.restartLog()
                try await Self.expectSilence(run.image(), run, at: run.revision)
                // A group without a change begins no round, so the database still says that it has everything.
                try await run.store.touch([])
                #expect(try LogMark(of: run.file.path)?.kind == .closed)
                try await run.write(number % 2)
            }
            try await Self.expectSilence(run.image(), run, at: run.revision)
        }
        await run.store.close()
        try await Self.expectSilence(run.file, run, at: run.revision)
    }

    @Test("an incomplete transaction at the end of the log, which nobody was told of, raises no revision")
    func torn() async throws {
        let run = try await Run()
        try await run.write(3)
        let database = try Files.read(run.file.path)
        try await run.write(1)
        var log = try Files.read(run.log)
        log[log.count - 100] ^= 1
        let image = try run.image(database: database, log: log)
        #expect(try LogInspection(of: image.path).finding == .torn)
        try await Self.expectSilence(image, run, at: run.revision - 1)
        // After a power cut the mark in the database may be behind.
        let cut = try run.image(database: database, log: log)
        let standing = LogStanding(nil, try LogInspection(of: cut.path))
        #expect(standing.hasLost(sinceBoot: false) && !standing.hasLost(sinceBoot: true))
        await run.store.close()
    }

    @Test("a log that is missing or empty is reported, and no revision is given twice", arguments: [true, false])
    func missing(isRemoved: Bool) async throws {
        let run = try await Run()
        try await run.write(20)
        for hasRestarted in [false, true] {
            if hasRestarted {
                await run.restartLog()
                // Everything is in the database: nothing is missing without the log.
                try await Self.expectSilence(run.image(log: isRemoved ? nil : []), run, at: run.revision)
                try await run.write(1)
            }
            let image = try run.image(log: isRemoved ? nil : [])
            #expect(throws: StoreOpeningError.self) { try StoreVacuum(image.path) }
            var findings: [String] = []
            _ = try StoreCheck.run(image.path) { findings.append($0) }
            #expect(findings.contains { $0.hasPrefix("The log of the database is missing or empty") }, "\(findings)")
            let shown = try await Self.expectLoss(image, run, says: "missing or empty")
            #expect(shown == (hasRestarted ? run.revision - 1 : 10))
        }
        await run.store.close()
    }

    @Test("a log that was cut anywhere is reported, whatever of it is in the database", arguments: [30, 400])
    func cut(writes: Int) async throws {
        let run = try await Run()
        for _ in 0..<writes {
            try await run.write(1)
            // On pages of their own, so that there is something to copy.
            let other = Samples.session(SessionID(random: SystemRandom()), [Samples.document(size: 480)])
            if writes > 100 { try await run.store.create(other) }
        }
        let log = try Files.read(run.log)
        let frames = (log.count - 32) / 4_120
        for left in [0, 1, frames / 2, 256, 257, frames - 1] where left < frames {
            for rest in [0, 3_000] {
                let image = try run.image(log: Array(log[..<(32 + left * 4_120 + rest)]))
                let shown = try await Self.expectLoss(image, run, says: "acknowledged writes")
                #expect(shown ?? 0 >= 10 && shown ?? .max <= run.revision)
                #expect(try StoreCheck.run(image.path) { _ in }.findings == 0)
            }
        }
        await run.store.close()
    }

    @Test("an older log of the same round is reported; an older database with a newer log is complete")
    func older() async throws {
        let run = try await Run()
        try await run.write(5)
        let (database, log) = (try Files.read(run.file.path), try Files.read(run.log))
        try await run.write(5)
        #expect(try await Self.expectLoss(run.image(log: log), run, says: "or is an older one") == 15)
        try await Self.expectSilence(run.image(database: database, log: Files.read(run.log)), run, at: 20)
        await run.store.close()
    }

    @Test("database and log that were copied apart, with a restart of the log in between, are refused")
    func apart() async throws {
        let run = try await Run()
        try await run.write(5)
        let (database, log) = (try Files.read(run.file.path), try Files.read(run.log))
        await run.restartLog()
        let closed = try Files.read(run.file.path)
        try await run.write(5)
        let later = try Files.read(run.log)
        // Copied at the moment at which the database had all of the log.
        try await Self.expectSilence(run.image(database: closed, log: later), run, at: 20)
        try await Self.expectSilence(run.image(database: closed, log: log), run, at: 15)
        await run.restartLog()
        try await run.write(5)
        for (database, log) in [
            (database, later), (database, try Files.read(run.log)), (closed, try Files.read(run.log)),
            (try Files.read(run.file.path), log), (try Files.read(run.file.path), later),
        ] {
            let image = try run.image(database: database, log: log)
            let refusal = StoreOpeningError.foreignLog(image.path)
            #expect(throws: refusal) { try image.store() }
            #expect(throws: refusal) { try StoreCheck.run(image.path) { _ in } }
            #expect(throws: refusal) { try StoreStatistics(image.path) }
            #expect(throws: refusal) { try StoreBackup(of: image.path, to: image.folder + "/copy", replaces: false) }
            #expect(throws: refusal) { try StoreVacuum(image.path) }
            // As the sentence says.
            unlink(image.path + "-wal")
            let found = try await Found(image, run.id)
            #expect(found.reports.isEmpty == (database == closed))
            #expect(database == closed || found.highest > run.revision + 1 << 19)
        }
        await run.store.close()
        // After an orderly end there is no log.
        #expect(throws: StoreOpeningError.self) { try run.image(log: log).store() }
    }

    @Test("a log beside a backup that does not belong to it is refused")
    func backup() async throws {
        let run = try await Run()
        try await run.write(5)
        let copy = try SQLiteFile()
        _ = try StoreBackup(of: run.file.path, to: copy.path, replaces: false)
        try Files.write(Files.read(run.log), to: copy.path + "-wal", at: 0, makes: true)
        #expect(throws: StoreOpeningError.foreignLog(copy.path)) { try copy.store() }
        unlink(copy.path + "-wal")
        let found = try await Found(copy, run.id)
        #expect(found.reports == [] && found.revision == 15 && found.highest > 1 << 20)
        await run.store.close()
    }

    @Test("a start that noticed a loss and was killed before it raised the revisions leaves that to the next one")
    func killedStart() async throws {
        let run = try await Run()
        try await run.write(20)
        let image = try run.image(log: nil)
        do {
            let lock = try FileLock(on: image.path)
            try SQLiteConnection(image.path, .write, under: lock).markOpening(lost: 7)
        }
        #expect(try await Self.expectLoss(image, run, says: "missing or empty") == 10)
        await run.store.close()
    }

    @Test("vacuum applies the log of a killed server, and leaves a database that a start takes as it is")
    func vacuum() async throws {
        let run = try await Run()
        try await run.write(20)
        let image = try run.image()
        _ = try StoreVacuum(image.path)
        try await Self.expectSilence(image, run, at: run.revision)
        await run.store.close()
    }

    // MARK: While a server runs

    enum Harm: CaseIterable, Sendable { case deleted, emptied, halved, replaced }

    private static func harm(_ path: String, _ harm: Harm) throws {
        switch harm {
        case .deleted: #expect(unlink(path) == 0)
        case .emptied: #expect(truncate(path, 0) == 0)
        case .halved: #expect(truncate(path, off_t(StoreFile.size(of: path) / 2)) == 0)
        case .replaced:
            try Files.write([1, 2, 3], to: path + ".other", at: 0, makes: true)
            #expect(rename(path + ".other", path) == 0)
        }
    }

    @Test(
        "when somebody harms the log of a running server, nothing more is acknowledged, and what was is not lost in silence",
        arguments: Harm.allCases)
    func running(_ harm: Harm) async throws {
        let run = try await Run()
        try await run.write(20)
        // Noticed by the first group, before it is written; only a name that leads elsewhere is looked up once a second.
        if harm != .replaced {
            try Self.harm(run.log, harm)
            await #expect(throws: StoreError.self) { try await run.write(1) }
            #expect(run.store.trouble?.hasPrefix("The log of the database was") == true)
            await #expect(throws: StoreError.self) { try await run.store.create(Samples.session()) }
        } else {
            try Self.harm(run.log, harm)
            var reports = run.reports.makeAsyncIterator()
            #expect(await reports.next() != nil)
            #expect(run.store.trouble?.hasPrefix("The log of the database was moved or replaced") == true)
            await #expect(throws: StoreError.self) { try await run.write(1) }
        }
        // A kill.
        let image = try run.image(log: harm == .deleted ? nil : Files.read(run.log))
        if harm == .deleted || harm == .replaced {
            try await Self.expectSilence(image, run, at: 30)
        } else {
            _ = try await Self.expectLoss(image, run, says: "acknowledged writes")
        }
        // An orderly end.
        await run.store.close()
        do {
            let found = try await Found(run.file, run.id)
            #expect(found.revision == 30 || (!found.reports.isEmpty && found.highest > 1 << 19), "\(found.reports)")
        } catch StoreError.damaged {
            // A part of the log may be copied by then.
            #expect(harm == .halved || harm == .emptied)
        }
    }

    @Test("a log that was deleted just before a kill is reported by the next start")
    func deletedUnnoticed() async throws {
        let run = try await Run()
        try await run.write(20)
        let image = try run.image(log: nil)
        #expect(try await Self.expectLoss(image, run, says: "missing or empty") == 10)
        await run.store.close()
    }

    @Test("harm to the log is reported once, without a request, and the server is not ready", arguments: [true, false])
    func idle(isDeleted: Bool) async throws {
        let file = try SQLiteFile()
        let (reports, reported) = AsyncStream.makeStream(of: String.self)
        let store = try file.store(report: { reported.yield($0) })
        let session = Samples.session()
        try await store.create(session)
        try Self.harm(file.path + "-wal", isDeleted ? .deleted : .replaced)
        var report = reports.makeAsyncIterator()
        let sentence = try #require(await report.next())
        #expect(sentence.contains("All that was acknowledged has been copied to the database"))
        #expect(store.trouble == sentence)
        await #expect(throws: StoreError.self) { try await store.create(Samples.session()) }
        // Reads go on.
        #expect(try await store.load(session.record.id) != nil)
        reported.finish()
        #expect(await report.next() == nil)
        await store.close()
    }

    // MARK: A new database

    @Test("an empty file is refused, before and after a run")
    func empty() async throws {
        let file = try SQLiteFile()
        try Files.write([], to: file.path, at: 0, makes: true)
        func isSaid(_ error: any Error) -> Bool { "\(error)".contains("it is empty, and a database never is") }
        #expect { try file.store() } throws: { isSaid($0) }
        #expect { try StoreCheck.run(file.path) { _ in } } throws: { isSaid($0) }
        unlink(file.path)
        await (try file.store()).close()
        #expect(truncate(file.path, 0) == 0)
        #expect { try file.store() } throws: { isSaid($0) }
        #expect(StoreFile.size(of: file.path) == 0)
    }

    @Test("a symbolic link to a database that does not exist yet stays, and leads to it")
    func link() async throws {
        let (file, other) = (try SQLiteFile(), try SQLiteFile())
        #expect(symlink(other.path, file.path) == 0)
        await (try file.store()).close()
        #expect(FileIdentity(file.path) == FileIdentity(other.path))
        var status = stat()
        #expect(lstat(file.path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK)
        #expect(try StoreCheck.run(other.path) { _ in }.findings == 0)
    }

    @Test("a draft that an interrupted first start has left is made anew, and gets its name when it is whole")
    func draft() async throws {
        let file = try SQLiteFile()
        for ending in [".new", ".new-journal", ".new-wal"] {
            try Files.write([UInt8](repeating: 7, count: 5_000), to: file.path + ending, at: 0, makes: true)
        }
        let lock = try FileLock.lock(file.path + ".new", of: file.path)
        #expect(throws: StoreOpeningError.inUse(file.path)) { try file.store() }
        #expect(access(file.path, F_OK) != 0)
        lock.release()
        let store = try file.store()
        try await store.create(Samples.session())
        await store.close()
        #expect(Files.names(in: file.folder).allSatisfy { !$0.contains(".new") })
        #expect(try StoreCheck.run(file.path) { _ in }.findings == 0)
    }
}

extension LogMark {
    fileprivate init?(of path: String) throws {
        let file = open(path, O_RDONLY)
        try #require(file >= 0)
        defer { close(file) }
        try self.init(of: file, path)
    }
}
