import CSQLite

/// A prepared statement: parameters are bound from 1, columns read from 0, as SQLite counts them.
final class SQLiteStatement {
    private let handle: OpaquePointer
    private let connection: SQLiteConnection

    init(_ handle: OpaquePointer, of connection: SQLiteConnection) {
        self.handle = handle
        self.connection = connection
    }

    deinit { sqlite3_finalize(handle) }

    /// Goes to the next row; false when there is none.
    func step() throws(SQLiteError) -> Bool {
        switch sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let code:
            let error = connection.error(code, doing: String(cString: sqlite3_sql(handle)))
            sqlite3_reset(handle)
            throw error
        }
    }

    /// Runs a statement that returns no rows, and resets it.
    func run() throws(SQLiteError) {
        _ = try step()
        reset()
    }

    /// Ends the run under way. Parameters keep their values until they are bound again.
    func reset() { sqlite3_reset(handle) }

    // MARK: Parameters

    func bind(_ place: Int32, _ number: Int64) throws(SQLiteError) {
        try check(sqlite3_bind_int64(handle, place, number))
    }

    /// Binds a number, or NULL for nil.
    func bind(_ place: Int32, number: Int64?) throws(SQLiteError) {
        if let number { try bind(place, number) } else { try check(sqlite3_bind_null(handle, place)) }
    }

    /// Binds a key, or a number below every key for nil.
    func bind(_ place: Int32, key: Int64?) throws(SQLiteError) {
        if let key { try bind(place, key) } else { try check(sqlite3_bind_double(handle, place, -1e19)) }
    }

    /// SQLite copies the bytes.
    func bind(_ place: Int32, blob bytes: [UInt8]) throws(SQLiteError) {
        try check(sqlite3_bind_blob64(handle, place, bytes, UInt64(bytes.count), Self.transient))
    }

    /// Binds a text, or NULL for nil.
    func bind(_ place: Int32, _ text: String?) throws(SQLiteError) {
        guard let text else { return try check(sqlite3_bind_null(handle, place)) }
        try check(
            sqlite3_bind_text64(handle, place, text, UInt64(text.utf8.count), Self.transient, UInt8(SQLITE_UTF8)))
    }

    private func check(_ code: Int32) throws(SQLiteError) {
        guard code == SQLITE_OK else { throw connection.error(code, doing: "binding a parameter") }
    }

    /// SQLITE_TRANSIENT, a macro that Swift does not see: SQLite copies what it gets.
    private static let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

    // MARK: Columns

    func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }

    func int64(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

    /// The bytes of a blob or a text, until the next step or reset.
    func bytes(_ column: Int32) -> UnsafeRawBufferPointer {
        let start = sqlite3_column_blob(handle, column)
        return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column)))
    }

    /// Bytes that are not UTF-8 are repaired.
    func text(_ column: Int32) -> String { String(decoding: bytes(column), as: UTF8.self) }
}
