import CPageSeals
import CSQLite

/// A connection to a database file, which closes with its owner.
///
/// Used by one thread at a time: it is opened without SQLite's own mutexes.
final class SQLiteConnection {
    enum Access {
        /// Makes the file if there is none.
        case write
        case read
    }

    let handle: OpaquePointer
    /// SQLite's answer to being set up, once for the process; it would do without.
    private static let configured = csqlite_forgo_memory_statistics()
    /// How long the log was after the last commit; see ``countLogPages()``.
    var logPages = 0
    /// Its file has to be closed after the connection, and so goes after it: see ``LockedFile``.
    let lock: FileLock?

    /// - Parameter lock: what this process has on the file, if it does.
    /// - Throws: ``SQLiteError`` when the file cannot be opened. Whether it is a database is seen at its first use.
    init(_ path: String, _ access: Access, under lock: FileLock? = nil) throws(SQLiteError) {
        _ = Self.configured
        self.lock = lock
        var handle: OpaquePointer?
        let mode = access == .write ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY
        let code = sqlite3_open_v2(
            path, &handle, mode | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, cpageseals_file_system())
        guard code == SQLITE_OK, let handle else {
            let error = SQLiteError(code: code, doing: "opening \(path)", handle: handle)
            // sqlite3_open(3): also a connection that could not be opened has to be closed.
            sqlite3_close_v2(handle)
            throw error
        }
        self.handle = handle
        sqlite3_busy_timeout(handle, Self.patience)
    }

    /// In milliseconds. Readers never wait in WAL mode; the writer waits for other programs alone, which should only read.
    static let patience: Int32 = 2_000

    /// Of the database; nil for one without a file.
    var path: String? { sqlite3_db_filename(handle, "main").map { String(cString: $0) } }

    // Statements hold a reference to the connection, so that none is left by now.
    deinit { sqlite3_close_v2(handle) }

    /// Runs statements that give nothing.
    func execute(_ sql: String) throws(SQLiteError) {
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw SQLiteError(code: code, doing: sql, handle: handle) }
    }

    /// The first column of a statement's first row, as a number; nil when there is no row.
    func number(_ sql: String) throws(SQLiteError) -> Int64? {
        let statement = try prepare(sql)
        return try statement.step() ? statement.int64(0) : nil
    }

    /// The first column of a statement's first row, as text; nil when there is no row.
    func text(_ sql: String) throws(SQLiteError) -> String? {
        let statement = try prepare(sql)
        return try statement.step() ? statement.text(0) : nil
    }

    /// A statement to be run many times.
    func prepare(_ sql: String) throws(SQLiteError) -> SQLiteStatement {
        var statement: OpaquePointer?
        let code = sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
        guard code == SQLITE_OK, let statement else { throw SQLiteError(code: code, doing: sql, handle: handle) }
        return SQLiteStatement(statement, of: self)
    }

    /// How many rows the last statement changed.
    var changes: Int { Int(sqlite3_changes64(handle)) }

    /// Whether a transaction is open: some errors end it by themselves.
    var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    func error(_ code: Int32, doing: String) -> SQLiteError {
        SQLiteError(code: code, doing: doing, handle: handle)
    }
}
