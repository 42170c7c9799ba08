import CSQLite
import Glibc
import Sessions
import Synchronization
import Threads

/// Sessions in an SQLite database in one file: they outlive the process.
///
/// What returns is on the disk, unless ``Durability`` says otherwise. Commits that wait together are written in one
/// transaction with one sync (``GroupCommit``); a caller that waits is suspended, and holds no thread. Reading has threads
/// of its own.
package final class SQLiteStore: FileStore {
    private let commits: GroupCommit
    private let readers: ReaderPool
    private let writeback: Writeback
    private let damaged: DamageCount
    private let lock: FileLock
    /// As in the database when it was opened; then counted along.
    private let count: Atomic<Int>
    /// The last key that was looked at for sessions whose time is over.
    private let lastLook = Mutex<Int64?>(nil)

    /// Opens the database, or makes it.
    ///
    /// - Parameters:
    ///   - path: of the file; `-wal` and `-shm` are put beside it. Its directory is made when it is not there.
    ///   - services: the names of all services, in the order of the catalogue.
    ///   - touchInterval: by how many milliseconds it may be behind the uses of sessions; see `SessionSettings`.
    ///   - progress: is told how the copying of an older version's tables goes on.
    ///   - report: is told of damaged rows and other trouble, in sentences for the log.
    /// - Throws: ``StoreOpeningError``.
    package init(
        path: String, services: [String], touchInterval: Int64 = 0, durability: Durability = .commit,
        progress: (String) -> Void = { _ in }, report: @escaping @Sendable (String) -> Void = { _ in }
    ) throws {
        try StorePlace(path).makeDirectory()
        let lock = try FileLock(on: path)
        self.lock = lock
        let damaged = DamageCount(report: report)
        self.damaged = damaged
        let names = ServiceNames(services)
        let facts = StoreFacts()
        let log = LogInspection(of: path).finding
        let copy = if case .damaged = log { LogInspection.keepCopy(of: path + "-wal") } else { nil as String? }
        do {
            let first = try Self.opened(path, under: lock)
            let writer = try SessionWriter(first, names: names, facts: facts, damage: damaged)
            try OlderTables.copy(with: writer, names: names, damage: damaged, progress: progress)
            let mayBeTorn = facts[.running] > 0 && facts[.answersFirst] == 1
            facts.beginRun(
                isLogSuspect: log != .sound, touchInterval: touchInterval, answersFirst: durability != .commit)
            do {
                try first.transaction { try writer.prepareCommit() }
                facts.noteCommit()
            } catch let error as SQLiteError where error.primaryCode == SQLITE_FULL {
                // It is written with the first commit that there is room for.
            }
            if case .damaged(let frame) = log, !mayBeTorn {
                report(
                    "The log of the database is damaged at frame \(frame): writes that were acknowledged are lost. "
                        + (copy.map { "A copy of it is \($0). " } ?? "No copy of it could be made. ")
                        + "Entity tags go on above all that can have been given.")
            } else if let copy {
                // Where answers come before the sync, a power cut tears more than the last transaction.
                unlink(copy)
            }
            count = Atomic(Int(facts[.sessions]))
            let recovery = Recovery(facts)
            let writeback = try Writeback(of: lock)
            self.writeback = writeback
            commits = try GroupCommit(
                lock: lock, durability: durability, report: report,
                open: { () throws(SQLiteError) in
                    // Another file in its place is not ours, and may be another server's.
                    guard !lock.hasMoved else {
                        // SQLITE_READONLY_DBMOVED
                        throw SQLiteError(code: SQLITE_READONLY | 4 << 8, doing: "opening \(path)")
                    }
                    let connection = try SQLiteConnection(path, .write, under: lock)
                    for setting in Self.writerSettings + [durability.setting] { try connection.execute(setting) }
                    #if PLANTED_BUGS
                        if PlantedBug.skippedSync.isActive { try connection.execute("PRAGMA synchronous = OFF") }
                    #endif
                    let writer = try SessionWriter(connection, names: names, facts: facts, damage: damaged)
                    let reader = try SQLiteConnection(path, .read, under: lock)
                    return (writer, try Checkpoints(connection, reader: reader, writeback: writeback))
                })
            readers = try ReaderPool(threads: Self.readerCount) { () throws(SQLiteError) in
                let connection = try SQLiteConnection(path, .read, under: lock)
                try connection.execute(Self.readerCache)
                return try SessionReader(connection, names: names, recovery: recovery, damage: damaged)
            }
            try lock.holdIndex()
            // Until now: the last connection to close would copy the whole log.
            withExtendedLifetime(first) {}
        } catch let error as SQLiteError {
            throw StoreOpeningError(error, path)
        }
        guard DetachedThread.start("store writer", commits.run) else { throw StoreOpeningError.noThread }
    }

    /// The database as this program wants it. On a full disk there may be no room for SQLite's index of the log, but for
    /// what the database has to spare.
    private static func opened(_ path: String, under lock: FileLock) throws -> SQLiteConnection {
        func open() throws -> SQLiteConnection {
            let connection = try SQLiteConnection(path, .write, under: lock)
            // Tables that are made before there is a log need none.
            try SQLiteSchema.prepare(connection, path: path)
            for setting in writerSettings { try connection.execute(setting) }
            // For the copying of older tables.
            try connection.execute("PRAGMA wal_autocheckpoint = 1000; PRAGMA synchronous = FULL")
            return connection
        }
        do {
            return try open()
        } catch is SQLiteError {
            FileRoom.giveUpSpare(of: lock.descriptor)
            return try open()
        }
    }

    deinit {
        commits.close()
        readers.close()
    }

    /// What tests have go wrong.
    var writing: GroupCommit { commits }

    /// Transactions so far: fewer than commits where these waited together.
    package var groups: Int { commits.groups }

    /// Returns when everything that was asked before is done and the file is closed. What comes later is refused.
    package func close() async {
        readers.close()
        commits.close()
        await commits.waitForEnd()
        writeback.close()
    }

    package var sessionCount: Int { count.load(ordering: .relaxed) }
    package var trouble: String? { commits.trouble }
    package var file: String { lock.identity.text }
    package var damage: StoreDamage { damaged.damage }

    static let writerSettings = [
        // Stays in the file.
        "PRAGMA journal_mode = WAL",
        "PRAGMA journal_size_limit = 67108864",
        // In KiB. Room for the inner pages of tens of millions of sessions, and for those that are written now.
        "PRAGMA cache_size = -32768",
    ]
    /// In KiB, of each reader: the inner pages again.
    private static let readerCache = "PRAGMA cache_size = -8192"
    /// A read takes tens of microseconds when the file is in the page cache; a few help when it is not.
    private static let readerCount = 2

    // MARK: SessionStore

    package func create(_ session: StoredSession) async throws(StoreError) {
        let isNew = try await write { writer throws(SQLiteError) in
            try writer.room.isLow ? nil : writer.create(session)
        }
        guard let isNew else { throw .diskIsFull }
        guard isNew else { throw .conflict }
        count.wrappingAdd(1, ordering: .relaxed)
    }

    package func load(_ id: SessionID) async throws(StoreError) -> StoredSession? {
        try await readers.read { reader throws(SQLiteError) in try reader.session(id) }
    }

    package func commit(_ commit: SessionCommit, then done: @escaping @Sendable (StoreError?) -> Void) {
        commits.append(CommitJob(commit, then: done))
    }

    package func receive(_ arrival: SessionArrival) async throws(StoreError) {
        let failure = try await write { writer throws(SQLiteError) in
            try writer.room.isLow ? .diskIsFull : writer.receive(arrival)
        }
        if let failure { throw failure }
        if arrival.replacedRevision == nil { count.wrappingAdd(1, ordering: .relaxed) }
    }

    package func touch(_ uses: [SessionUse]) async throws(StoreError) {
        let isDone = try await write { writer throws(SQLiteError) in
            guard !writer.room.isLow else { return false }
            for use in uses { try writer.touch(use) }
            return true
        }
        guard isDone else { throw .diskIsFull }
    }

    package func end(_ id: SessionID) async throws(StoreError) -> Bool {
        let wasThere = try await write { writer throws(SQLiteError) in try writer.end(id) }
        if wasThere { count.wrappingSubtract(1, ordering: .relaxed) }
        return wasThere
    }

    /// Looks at the next rows, in the order of their keys and round and round.
    package func endExpired(_ query: ExpiryQuery) async throws(StoreError) -> ExpiredSessions {
        let start = lastLook.withLock(\.self)
        let overdue = try await readers.read { reader throws(SQLiteError) in try reader.overdue(query, after: start) }
        lastLook.withLock { $0 = overdue.last }
        let ended = try await write { writer throws(SQLiteError) in
            var ended = 0
            for (key, usedAt) in overdue.sessions where try writer.endOverdue(key: key, usedAt: usedAt) { ended += 1 }
            try writer.giveBackSurplus()
            return ended
        }
        count.wrappingSubtract(ended, ordering: .relaxed)
        return ExpiredSessions(count: ended, looked: overdue.looked)
    }

    package func giveBackSpace(atMost pages: Int) async throws(StoreError) -> SpaceGivenBack {
        let space = try await write { writer throws(SQLiteError) in try writer.giveBack(atMost: pages) }
        // The file itself ends sooner only when the log was copied to it.
        if space.left == 0 { commits.checkpointSoon() }
        return space
    }

    package func usedFlows() async throws(StoreError) -> [UsedFlow]? {
        try await readers.read { reader throws(SQLiteError) in try reader.usedFlows() }
    }

    package func replaceUsedFlows(_ flows: [UsedFlow]) async throws(StoreError) {
        try await write { writer throws(SQLiteError) in try writer.replaceUsedFlows(flows) }
    }

    package func sessions(ofUser userID: String) async throws(StoreError) -> [StoredSession] {
        try await readers.read { reader throws(SQLiteError) in try reader.sessions(ofUser: userID) }
    }

    package func page(after id: SessionID?, limit: Int) async throws(StoreError) -> SessionPage {
        try await readers.read { reader throws(SQLiteError) in try reader.page(after: id, limit: limit) }
    }

    nonisolated(nonsending) private func write<Result: Sendable>(
        _ body: @escaping @Sendable (SessionWriter) throws(SQLiteError) -> Result
    ) async throws(StoreError) -> Result {
        let outcome = await withCheckedContinuation { continuation in commits.append(Write(body, continuation)) }
        return try outcome.get()
    }
}

extension StoreError {
    static let diskIsFull = StoreError.full("The disk is full.")
}
