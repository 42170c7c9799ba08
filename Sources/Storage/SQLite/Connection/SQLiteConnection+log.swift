import CSQLite

// What SQLite does with its log by itself when it is asked to sync at each commit.
extension SQLiteConnection {
    /// Returns when all that was committed is on the disk.
    ///
    /// SQLite has no call for it, but lends the file of the log (SQLITE_FCNTL_JOURNAL_POINTER in
    /// <https://www.sqlite.org/c3ref/c_fcntl_begin_atomic_write.html>), whose method is what a commit would call.
    func syncLog() throws(SQLiteError) {
        var file: UnsafeMutablePointer<sqlite3_file>?
        let code = sqlite3_file_control(handle, nil, SQLITE_FCNTL_JOURNAL_POINTER, &file)
        guard code == SQLITE_OK, let file, let sync = file.pointee.pMethods?.pointee.xSync else {
            throw SQLiteError(code: code == SQLITE_OK ? SQLITE_IOERR : code, doing: "finding the log")
        }
        let result = sync(file, SQLITE_SYNC_NORMAL)
        guard result == SQLITE_OK else { throw SQLiteError(code: result, doing: "syncing the log") }
    }

    /// From now on ``logPages`` says how long the log is. Takes the place of SQLite's automatic checkpoints.
    func countLogPages() {
        sqlite3_wal_hook(
            handle,
            { connection, _, _, pages in
                guard let connection else { return SQLITE_OK }
                // Called within a commit of the connection, whose owner so is there.
                Unmanaged<SQLiteConnection>.fromOpaque(connection).takeUnretainedValue().logPages = Int(pages)
                return SQLITE_OK
            }, Unmanaged.passUnretained(self).toOpaque())
    }
}
