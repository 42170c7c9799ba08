import CSQLite
import Sessions
import Synchronization

/// Sessions in an SQLite database in one file: they outlive the process.
///
/// What returns is on the disk, unless ``Durability`` says otherwise. Commits that wait together are written in one
/// transaction with one sync (``GroupCommit``); who waits is suspended, and holds no thread. Reading has threads of its own.
///
/// SQLite is asked for WAL mode with `synchronous = FULL`, which syncs the log before a commit returns
/// (<https://www.sqlite.org/pragma.html#pragma_synchronous>).
package final class SQLiteStore: SessionStore {
    private let commits: GroupCommit
    private let readers: ReaderPool
    private let damaged: DamageCount
    private let lock: FileLock
    private let report: @Sendable (String) -> Void
    private let isMoveReported = Atomic(false)
    /// As in the database when it was opened; then counted along.
    private let count: Atomic<Int>

    /// Opens the database, or makes it.
    ///
    /// - Parameters:
    ///   - path: of the file; `-wal` and `-shm` are put beside it. Its directory is made when it is not there.
    ///   - services: the names of all services, in the order of the catalogue.
    ///   - idleTimeout: in milliseconds; see `SessionSettings`.
    ///   - report: is told of damaged rows and other trouble, in sentences for the log.
    /// - Throws: ``StoreOpeningError``.
    package convenience init(
        path: String, services: [String], idleTimeout: Int64, durability: Durability = .commit,
        report: @escaping @Sendable (String) -> Void = { _ in }
    ) throws {
        try self.init(
            path: path, services: services, idleTimeout: idleTimeout, durability: durability, recent: RecentLimits(),
            report: report)
    }

    init(
        path: String, services: [String], idleTimeout: Int64, durability: Durability, recent limits: RecentLimits,
        report: @escaping @Sendable (String) -> Void
    ) throws {
        try StorePlace(path).makeDirectory()
        let lock = try FileLock(on: path)
        self.lock = lock
        self.report = report
        let damaged = DamageCount(report: report)
        self.damaged = damaged
        let names = ServiceNames(services)
        let recent = RecentIndex(limits)
        do {
            let connection = try SQLiteConnection(path, .write, under: lock)
            // Its transaction is synced, and with it the log that a process left which was killed.
            do {
                try SQLiteSchema.prepare(connection, path: path)
            } catch let error as SQLiteError where error.primaryCode == SQLITE_FULL {
                // Perhaps it is the log of a process that was killed which fills the disk.
                try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                try SQLiteSchema.prepare(connection, path: path)
            }
            count = Atomic(Int(try connection.number("SELECT value FROM facts WHERE name = 'sessions'") ?? 0))
            commits = try GroupCommit(
                lock: lock, durability: durability, report: report,
                open: { () throws(SQLiteError) in
                    // Another file in its place is not ours, and may be another server's.
                    guard !lock.hasMoved else {
                        // SQLITE_READONLY_DBMOVED
                        throw SQLiteError(code: SQLITE_READONLY | 4 << 8, doing: "opening \(path)")
                    }
                    let connection = try SQLiteConnection(path, .write, under: lock)
                    for setting in Self.writerSettings + durability.settings { try connection.execute(setting) }
                    if durability != .commit { connection.countLogPages() }
                    #if PLANTED_BUGS
                        if PlantedBug.skippedSync.isActive { try connection.execute("PRAGMA synchronous = OFF") }
                    #endif
                    let writer = try SessionWriter(
                        connection, names: names, idleTimeout: idleTimeout, recent: recent, report: damaged.note,
                        reportPage: damaged.note)
                    return (connection, writer)
                })
            readers = try ReaderPool(threads: Self.readerCount) { () throws(SQLiteError) in
                let connection = try SQLiteConnection(path, .read, under: lock)
                try connection.execute(Self.readerCache)
                return try SessionReader(
                    connection, names: names, recent: recent, report: damaged.note, reportPage: damaged.note)
            }
            try lock.holdIndex()
        } catch let error as SQLiteError {
            throw StoreOpeningError(error, path)
        }
        guard StoreThread.start(commits.run) else { throw StoreOpeningError.noThread }
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
    }

    package var sessionCount: Int { count.load(ordering: .relaxed) }
    package var trouble: String? { commits.trouble ?? troubleOfPlace }

    /// The file is not where it was: only who took it away knows what is meant.
    private var troubleOfPlace: String? {
        guard lock.hasMoved else { return nil }
        let sentence =
            "The database was moved, replaced or deleted while the server has it: what is written goes into the file that "
            + "was there, as long as the server runs."
        if !isMoveReported.exchange(true, ordering: .relaxed) { report(sentence) }
        return sentence
    }

    package var file: String? { lock.identity.text }
    package var damage: StoreDamage { StoreDamage(rows: damaged.rowCount, pages: damaged.pageCount) }

    static let writerSettings = [
        // Stays in the file; the answer is the mode that is in force.
        "PRAGMA journal_mode = WAL",
        // The policy may ask for less (``Durability``).
        "PRAGMA synchronous = FULL",
        // Pages of 4 KiB: the log is written back at about 16 MiB, and a new one takes its place.
        "PRAGMA wal_autocheckpoint = 4096",
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
        let isNew = try await write { writer throws(SQLiteError) in try writer.create(session) }
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
        let failure = try await write { writer throws(SQLiteError) in try writer.receive(arrival) }
        if let failure { throw failure }
        if arrival.replacedRevision == nil { count.wrappingAdd(1, ordering: .relaxed) }
    }

    package func touch(_ uses: [SessionUse]) async throws(StoreError) {
        try await write { writer throws(SQLiteError) in
            for use in uses { try writer.touch(use) }
        }
    }

    package func end(_ id: SessionID) async throws(StoreError) -> Bool {
        let wasThere = try await write { writer throws(SQLiteError) in try writer.end(id) }
        if wasThere { count.wrappingSubtract(1, ordering: .relaxed) }
        return wasThere
    }

    package func endExpired(_ query: ExpiryQuery) async throws(StoreError) -> ExpiredSessions {
        let expired = try await write { writer throws(SQLiteError) in
            let expired = try writer.endExpired(query)
            try writer.giveBackSurplus()
            writer.reader.noteDamagedPages()
            return expired
        }
        count.wrappingSubtract(expired.count, ordering: .relaxed)
        return expired
    }

    package func giveBackSpace(atMost pages: Int) async throws(StoreError) -> SpaceGivenBack? {
        let space = try await write { writer throws(SQLiteError) in try writer.giveBack(atMost: pages) }
        // The file itself ends sooner only when the log was written back to it.
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

    package func page(after id: SessionID?, limit: Int) async throws(StoreError) -> [StoredSession] {
        try await readers.read { reader throws(SQLiteError) in try reader.page(after: id, limit: limit) }
    }

    nonisolated(nonsending) private func write<Result: Sendable>(
        _ body: @escaping @Sendable (SessionWriter) throws(SQLiteError) -> Result
    ) async throws(StoreError) -> Result {
        let outcome = await withCheckedContinuation { continuation in commits.append(Write(body, continuation)) }
        return try outcome.get()
    }
}
