import Glibc
import Sessions
import Storage

/// Makes a new database of all that can be read of a damaged one, whose file is only read. No server may use it.
///
/// SQLite cannot read behind a damaged page, so the pages are read without it (``DatabasePages``, ``PageFinder``). A
/// row is copied when it is proven: a session by its own checksum, a large document by the one in its session's row,
/// any other row by those of its pages. Indexes and numbers are made anew. Nothing has to be decrypted.
package struct StoreRepair {
    /// What the new database has.
    package private(set) var sessions = 0
    package private(set) var services = 0
    package private(set) var documents = 0
    package private(set) var tasks = 0
    /// Pages of the damaged one with a flipped bit, which was set right.
    package private(set) var correctedPages = 0
    /// How many sentences say what is missing.
    package private(set) var missing = 0

    /// - Parameters:
    ///   - target: the new file. The store itself is never replaced.
    ///   - keys: name the keys that the new file needs, if the damaged one does not tell them any more.
    ///   - replaces: whether to replace an existing file.
    ///   - tell: gets what is missing, a sentence for each thing.
    /// - Throws: ``StoreOpeningError``, ``StoreDraftError``.
    package init(
        _ path: String, to target: String, keys: DocumentKeys? = nil, replaces: Bool = false,
        tell: @escaping (String) -> Void
    ) throws {
        let source = try DamagedStore(path)
        let draft = try StoreDraft(of: target, from: path, replaces: replaces)
        do {
            let connection = try SQLiteConnection(draft.path, .write)
            // After an interruption a repair begins anew: there is nothing to undo, and one sync at the end is enough.
            try connection.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -32768")
            try SQLiteSchema.prepare(connection, path: draft.path)
            try connection.execute("BEGIN")
            let rows = try RescuedRows(source.pages, to: connection, path, tell)
            try rows.copyAll()
            try complete(rows, connection, keys)
            try connection.execute("COMMIT")
            // The new file has no log, and none that is found beside it belongs to it.
            try connection.write(LogMark(.closed, .none))
            missing = rows.missing
        } catch let error as SQLiteError {
            throw StoreDraftError.failed(target, reason: error.description)
        }
        correctedPages = source.pages.corrected.count
        try draft.publish()
    }
}

/// A database whose pages can be read, and which no server uses meanwhile.
private struct DamagedStore {
    let pages: DatabasePages
    private let lock: FileLock

    init(_ path: String) throws {
        guard access(path, F_OK) == 0 else { throw StoreOpeningError.missing(path) }
        if let problem = StorePlace(path).problemOfKind { throw problem }
        lock = try FileLock(on: path, makesFile: false, isForReading: true)
        // Only the first transaction of a new file has a journal of that kind.
        guard StoreFile.size(of: path) > 0, StoreFile.size(of: path + "-journal") == 0 else {
            throw StoreOpeningError.unfinished(path)
        }
        pages = try DatabasePages(lock, of: path)
        guard pages.standing.verdict != .foreign else { throw StoreOpeningError.foreignLog(path) }
        guard let header = pages.header else { return }
        guard header.applicationID == SQLiteSchema.applicationID else { throw StoreOpeningError.foreign(path) }
        try SQLiteSchema.check(version: header.version, path, from: SQLiteSchema.firstWithRows)
    }
}

extension StoreRepair {
    /// What the numbers have to go with.
    private struct Found {
        var revision: UInt64 = 0
        var epoch: UInt64 = 0
        var isSealed = false
    }

    /// Completes the database with the rescued rows: looks at the documents, removes what belongs to no session, and
    /// makes the numbers anew.
    private mutating func complete(
        _ rows: RescuedRows, _ connection: SQLiteConnection, _ keys: DocumentKeys?
    ) throws(SQLiteError) {
        try connection.execute("CREATE TEMP TABLE owned (first INTEGER PRIMARY KEY, last INTEGER NOT NULL)")
        let found = try checkSessions(rows, connection)
        // Of sessions that are missing. What has ended was not copied.
        try connection.execute(
            """
            DELETE FROM documents WHERE NOT EXISTS (SELECT 1 FROM owned
                WHERE first = (SELECT max(first) FROM owned WHERE first <= documents.id) AND documents.id <= last);
            DROP TABLE owned;
            """)
        for table in rows.tables where table.columns.contains(where: { $0.name == "session" && $0.type == "INTEGER" }) {
            try connection.execute(
                "DELETE FROM \(table.name) WHERE NOT EXISTS (SELECT 1 FROM sessions WHERE key = \(table.name).session)")
        }
        tasks = Int(try connection.number("SELECT count(*) FROM tasks") ?? 0)
        try writeFacts(rows, connection, keys, found)
    }

    private mutating func checkSessions(
        _ rows: RescuedRows, _ connection: SQLiteConnection
    ) throws(SQLiteError) -> Found {
        var found = Found()
        let reader = try PieceReader(connection)
        let own = try connection.prepare("INSERT OR IGNORE INTO owned VALUES (?1, ?2)")
        // An id that is missing stays taken: a new document in its place would go with the old one.
        let fill = try connection.prepare("INSERT OR IGNORE INTO documents VALUES (?1, zeroblob(0))")
        let select = try connection.prepare("SELECT \(SessionRow.columns) FROM sessions ORDER BY key")
        while try select.step() {
            guard let row = SessionRow(select) else { continue }
            sessions += 1
            services += row.services.count
            found.revision = max(found.revision, row.revision, row.details.revisionFloor)
            found.epoch = max(found.epoch, row.epoch)
            found.isSealed = found.isSealed || row.isSealed
            for service in row.services {
                guard case .beside(let pieces) = service.content else { continue }
                try own.bind(1, pieces.ids.lowerBound)
                try own.bind(2, pieces.ids.upperBound)
                try own.run()
                guard try reader.bytes(of: service) == nil else {
                    documents += 1
                    continue
                }
                for id in pieces.ids {
                    try fill.bind(1, id)
                    try fill.run()
                }
                rows.report("\(row.id), service \(StoreCheck.visible(service.name)): the document cannot be read")
            }
        }
        return found
    }

    // MARK: Numbers

    private func writeFacts(
        _ rows: RescuedRows, _ connection: SQLiteConnection, _ keys: DocumentKeys?, _ found: Found
    ) throws(SQLiteError) {
        let isKnown = !rows.damaged.contains("facts")
        let counted = isKnown ? Int(rows.facts["sessions"] ?? 0) : 0
        if counted > sessions { rows.report("\(counted - sessions) of \(counted) sessions are missing") }
        let facts = StoreFacts()
        try facts.read(connection)
        for name in Self.kept { facts[name] = max(0, min(rows.facts[name.rawValue] ?? 0, Self.highest)) }
        facts[.sessions] = Int64(sessions)
        facts[.tasks] = Int64(tasks)
        // A start adds them up.
        facts[.bytesKnown] = 0
        facts[.flowsKnown] = rows.damaged.contains("flows") ? 0 : rows.facts[StoreFacts.Name.flowsKnown.rawValue] ?? 0
        // A start looks for tasks in the journeys, for the times of sessions, and for the places of journeys.
        facts[.tasksLost] = 1
        try connection.execute("DELETE FROM journeys; DELETE FROM places")
        facts[.placesLost] = 1
        // Later writes may be missing: a start raises the floor above the ceiling.
        facts[.restored] = 1
        let highest = min(Int64(clamping: found.revision), Self.highest)
        facts[.revisionCeiling] = max(facts[.revisionCeiling], highest)
        facts[.epoch] = max(facts[.epoch], Int64(clamping: found.epoch))
        if !isKnown {
            facts[.revisionCeiling] = highest + Self.raises * StoreFacts.stock
            facts[.running] = Self.longestUnknownUse
        }
        let write = try connection.prepare("INSERT OR REPLACE INTO facts VALUES (?1, ?2)")
        try facts.write(with: write)
        for (name, value) in rows.facts where name.hasPrefix("key:") {
            try write.bind(1, name)
            try write.bind(2, value)
            try write.run()
        }
        guard !isKnown, found.isSealed else { return }
        try UsedKeys.noteAll(of: keys, connection)
        guard keys == nil else { return }
        rows.report(
            "the names of its keys cannot be read: call this command with encryption_keys_file, so that the new file "
                + "names them")
    }

    /// What a copy keeps. Other numbers are about the run that has ended, or are counted anew.
    private static let kept: [StoreFacts.Name] = [
        .revisionCeiling, .revisionFloor, .arrivalFloor, .epoch, .running, .behind, .behindUntil,
    ]
    /// Leaves room for what is added to a revision.
    private static let highest: Int64 = 1 << 60
    /// Without the ceiling it is only known that each start after a loss has raised it, at most by twice the stock.
    private static let raises: Int64 = 1 << 10
    /// The most that `touch_interval` can be, in milliseconds, and the time until a use reaches the store.
    private static let longestUnknownUse: Int64 = 3_605_000
}
