import CPageChecksums
import CSQLite
import Sessions
import Storage

/// A connection to a database file, which closes with its owner.
///
/// One thread at a time may use it: it is opened without SQLite's own mutexes.
final class SQLiteConnection {
    enum Access {
        /// Reads and writes, and makes the file if there is none.
        case write
        case read
        /// Reads the database file alone: without its log, without locks, and without making a file beside it.
        case fileOnly
    }

    let handle: OpaquePointer
    /// The result of SQLite's configuration, which happens once in a process. SQLite works without it.
    private static let configured = csqlite_forgo_memory_statistics()
    /// The length of the log after the last commit, in pages; see ``markCommit()``.
    var logPages = 0
    /// The lock's file has to be closed after the connection, so the connection keeps the lock; see ``LockedFile``.
    let lock: FileLock?

    /// - Parameter lock: this process's lock on the file, if it holds one.
    /// - Throws: ``SQLiteError`` when the file cannot be opened. Its first use shows whether it is a database.
    init(_ path: String, _ access: Access, under lock: FileLock? = nil) throws(SQLiteError) {
        _ = Self.configured
        self.lock = lock
        let (name, mode) =
            switch access {
            case .write: (path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)
            case .read: (path, SQLITE_OPEN_READONLY)
            case .fileOnly: (Self.immutableURI(of: path), SQLITE_OPEN_READONLY | SQLITE_OPEN_URI)
            }
        var handle: OpaquePointer?
        let code = sqlite3_open_v2(
            name, &handle, mode | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, cpagechecksums_file_system())
        guard code == SQLITE_OK, let handle else {
            let error = SQLiteError(code: code, doing: "opening \(path)", handle: handle)
            // sqlite3_open(3): a connection that could not be opened has to be closed as well.
            sqlite3_close_v2(handle)
            throw error
        }
        self.handle = handle
        sqlite3_busy_timeout(handle, Self.busyTimeout)
        // A page that is written gets a new checksum, which would hide its damage.
        if access == .write { refuseDamagedPages() }
    }

    // Each statement holds a reference to its connection, so no statement is left by now.
    deinit { sqlite3_close_v2(handle) }

    /// In milliseconds. In WAL mode readers never wait, and the writer waits only for other programs, which should only
    /// read.
    static let busyTimeout: Int32 = 2_000

    /// <https://www.sqlite.org/uri.html>
    private static func immutableURI(of path: String) -> String {
        let escaped = path.utf8.map { byte in
            byte < 128 && !"%?#".utf8.contains(byte)
                ? String(UnicodeScalar(byte)) : "%" + String(byte, radix: 16)
        }
        return "file:\(path.hasPrefix("/") ? "//" : "")\(escaped.joined())?immutable=1"
    }

    /// The path of the database; nil for a database without a file.
    var path: String? { sqlite3_db_filename(handle, "main").map { String(cString: $0) } }

    /// Runs statements that return nothing.
    func execute(_ sql: String) throws(SQLiteError) {
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw error(code, doing: sql) }
    }

    /// Runs `body` in a transaction that takes the write lock at once.
    func transaction(_ body: () throws(SQLiteError) -> Void) throws(SQLiteError) {
        try execute("BEGIN IMMEDIATE")
        do throws(SQLiteError) {
            try body()
            try execute("COMMIT")
        } catch {
            // Some errors have ended the transaction already.
            if sqlite3_get_autocommit(handle) == 0 { try? execute("ROLLBACK") }
            throw error
        }
    }

    /// The first column of a statement's first row, as a number; nil when there is no row.
    func number(_ sql: String) throws(SQLiteError) -> Int64? {
        let statement = try prepare(sql)
        return try statement.step() ? statement.int64(0) : nil
    }

    /// Whether free pages can be given back in steps.
    var isIncremental: Bool {
        get throws(SQLiteError) { try number("PRAGMA auto_vacuum") == SQLiteSchema.incrementalVacuum }
    }

    var freePages: Int {
        get throws(SQLiteError) { Int(try number("PRAGMA freelist_count") ?? 0) }
    }

    /// A statement for many runs.
    func prepare(_ sql: String) throws(SQLiteError) -> SQLiteStatement {
        var statement: OpaquePointer?
        let code = sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
        guard code == SQLITE_OK, let statement else { throw error(code, doing: sql) }
        return SQLiteStatement(statement, of: self)
    }

    /// How many rows the last statement changed.
    var changes: Int { Int(sqlite3_changes64(handle)) }

    func error(_ code: Int32, doing: String) -> SQLiteError { SQLiteError(code: code, doing: doing, handle: handle) }

    // MARK: The log

    /// Returns when every commit is on the disk.
    ///
    /// SQLite has no call for this, but lends the log's file (SQLITE_FCNTL_JOURNAL_POINTER in
    /// <https://www.sqlite.org/c3ref/c_fcntl_begin_atomic_write.html>), whose `xSync` is what a commit would call.
    func syncLog() throws(SQLiteError) {
        var file: UnsafeMutablePointer<sqlite3_file>?
        let code = sqlite3_file_control(handle, nil, SQLITE_FCNTL_JOURNAL_POINTER, &file)
        guard code == SQLITE_OK, let file, let sync = file.pointee.pMethods?.pointee.xSync else {
            throw SQLiteError(code: code == SQLITE_OK ? SQLITE_IOERR : code, doing: "finding the log")
        }
        let result = sync(file, SQLITE_SYNC_NORMAL)
        guard result == SQLITE_OK else { throw SQLiteError(code: result, doing: "syncing the log") }
    }

    // MARK: Page checksums (see CPageChecksums.h)

    /// Whether the pages of the file have checksums. A file that was made without them has none until it is rewritten.
    var hasPageChecksums: Bool {
        get throws(SQLiteError) {
            // Reads page 1, which says so.
            _ = try number("PRAGMA schema_version")
            return cpagechecksums_has(handle)
        }
    }

    /// An empty database gets checksums from now on, any other database when VACUUM rewrites it.
    func reservePageChecksums() throws(SQLiteError) {
        let code = cpagechecksums_reserve(handle)
        // SQLITE_READONLY: the database keeps the pages that it has.
        guard code == SQLITE_OK || code == SQLITE_READONLY else { throw error(code, doing: "reserving bytes of pages") }
    }

    /// Whether a page that fails its checksum is an error from now on. Otherwise the rows on it are shown that match
    /// their own checksums.
    func refuseDamagedPages(_ refuses: Bool = true) { cpagechecksums_refuse_damaged(handle, refuses) }

    /// Reads every page from the file that is needed from now on, and none from memory.
    func forgetPages() { sqlite3_db_release_memory(handle) }

    /// Whether a page is one of those that only say where others are used.
    func isPointerMap(_ page: UInt32) -> Bool { cpagechecksums_is_pointer_map(handle, page) }

    /// The pages that failed their checksums since the last call.
    func takeDamagedPages() -> [UInt32] {
        var pages: [UInt32] = []
        while case let page = cpagechecksums_take_damaged(handle), page != 0 { pages.append(page) }
        return pages
    }
}

/// An error of SQLite: <https://www.sqlite.org/rescode.html>.
struct SQLiteError: Error, CustomStringConvertible {
    /// The extended result code, `SQLITE_IOERR_FSYNC` rather than `SQLITE_IOERR`.
    let code: Int32
    /// SQLite's own sentence, and what was being done.
    let description: String

    init(code: Int32, doing: String, handle: OpaquePointer? = nil) {
        self.code = code
        let sentence = handle.map { String(cString: sqlite3_errmsg($0)) } ?? String(cString: sqlite3_errstr(code))
        description = "\(doing): \(sentence) (SQLite code \(code))"
    }

    init(code: Int32, sentence: String) {
        self.code = code
        description = sentence
    }

    /// SQLITE_READONLY_DBMOVED, a macro that Swift does not see.
    static func moved(doing: String) -> SQLiteError { SQLiteError(code: SQLITE_READONLY | 4 << 8, doing: doing) }

    /// The result code without its details.
    var primaryCode: Int32 { code & 0xFF }

    /// Whether the content of the file is wrong. That it cannot be read is another thing.
    var isDamage: Bool {
        // SQLITE_IOERR_CORRUPTFS, a macro that Swift does not see: a damaged page that is refused
        // (``SQLiteConnection/refuseDamagedPages(_:)``), where SQLite does not turn it into SQLITE_CORRUPT.
        primaryCode == SQLITE_CORRUPT || code == SQLITE_IOERR | 33 << 8
    }

    static func damage(doing: String) -> SQLiteError { SQLiteError(code: SQLITE_CORRUPT, doing: doing) }

    /// The error as the store's caller sees it.
    var storeError: StoreError {
        if isDamage { return .damaged(description) }
        return primaryCode == SQLITE_FULL ? .full(description) : .unavailable(description)
    }
}

extension StoreOpeningError {
    /// Translates SQLite's error for a file that it was to open.
    init(_ error: SQLiteError, _ path: String) {
        self =
            switch error.primaryCode {
            // Another program has it: a server would hold the lock.
            case SQLITE_BUSY, SQLITE_LOCKED: .inUse(path)
            case SQLITE_NOTADB: .unusable(path, reason: "it is not an SQLite database: name another file")
            case SQLITE_FULL: .unusable(path, reason: "its disk is full: make room, or name another file")
            case SQLITE_CANTOPEN, SQLITE_READONLY, SQLITE_PERM:
                .unusable(path, reason: "\(error): \(StorePlace.advice)")
            default: .unusable(path, reason: error.description)
            }
    }
}

extension Durability {
    /// The setting of the connection that writes (<https://www.sqlite.org/pragma.html#pragma_synchronous>).
    var setting: String {
        switch self {
        // A commit syncs the log before it returns.
        case .commit: "PRAGMA synchronous = FULL"
        // A checkpoint still syncs the log before it writes to the database, and the database before the log restarts.
        // So a power cut takes the last commits, never the database.
        case .interval, .none: "PRAGMA synchronous = NORMAL"
        }
    }
}
