import CSQLite

/// Keeps all others from writing to a database while it exists.
final class WriteBlock {
    struct Failure: Error { let code: Int32 }

    private var handle: OpaquePointer?

    init(_ path: String) throws {
        var code = sqlite3_open(path, &handle)
        if code == SQLITE_OK { code = sqlite3_busy_timeout(handle, 10_000) }
        if code == SQLITE_OK { code = sqlite3_exec(handle, "BEGIN IMMEDIATE", nil, nil, nil) }
        guard code == SQLITE_OK else {
            sqlite3_close(handle)
            throw Failure(code: code)
        }
    }

    /// Ends the transaction, which has changed nothing.
    deinit { sqlite3_close(handle) }
}
