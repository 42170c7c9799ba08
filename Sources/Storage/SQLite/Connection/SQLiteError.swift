import CSQLite
import Sessions

/// What SQLite would not do: <https://www.sqlite.org/rescode.html>.
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

    /// The result code without its details.
    var primaryCode: Int32 { code & 0xFF }

    /// What it means to who asked the store.
    var storeError: StoreError {
        primaryCode == SQLITE_FULL ? .full(description) : .unavailable(description)
    }
}
