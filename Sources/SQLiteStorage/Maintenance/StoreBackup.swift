import CPageChecksums
import CSQLite

/// A copy of a database in one state of it, made while a server may go on writing.
///
/// SQLite's backup copies pages unchanged, damaged ones included, with little work for each. `VACUUM INTO` rewrites the
/// rows: a smaller file for more work, in which everything that a damaged page hides is gone for good. Both read in one
/// transaction, which delays no commit; but the log cannot restart until the copy is done.
package struct StoreBackup {
    package let pages: Int
    package let bytes: Int

    /// - Parameter replaces: whether to replace an existing file. The store itself is never replaced.
    /// - Throws: ``StoreOpeningError``, ``StoreDraftError``.
    package init(of path: String, to target: String, replaces: Bool) throws {
        let source = try StoreFile(path, from: SQLiteSchema.firstWithRows)
        let draft = try StoreDraft(of: target, from: path, replaces: replaces)
        do throws(SQLiteError) {
            let copy = try SQLiteConnection(draft.path, .write)
            // After an interruption the copy begins anew: there is nothing to undo, and one sync at the end is enough.
            try copy.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
            if try source.connection.hasPageChecksums { cpagechecksums_expect(copy.handle) }
            pages = try Self.copy(source.connection, to: copy)
            // A server that starts on this copy has lost all writes since.
            try copy.execute("INSERT OR REPLACE INTO facts VALUES ('restored', 1), ('bytes_known', 0)")
            // A copy has no log, and none that is found beside it belongs to it.
            try copy.write(LogMark(.closed, .none))
        } catch {
            throw StoreDraftError.failed(target, reason: error.description)
        }
        // They got new checksums when they were written.
        for page in source.connection.takeDamagedPages() { try draft.markDamaged(page) }
        bytes = StoreFile.size(of: draft.path)
        try draft.publish()
    }

    /// Copies all pages in one step, which is one transaction of the source.
    private static func copy(
        _ source: SQLiteConnection, to copy: SQLiteConnection
    ) throws(SQLiteError) -> Int {
        guard let backup = sqlite3_backup_init(copy.handle, "main", source.handle, "main") else {
            throw copy.error(sqlite3_errcode(copy.handle), doing: "beginning a copy")
        }
        let code = sqlite3_backup_step(backup, -1)
        let pages = Int(sqlite3_backup_pagecount(backup))
        let end = sqlite3_backup_finish(backup)
        guard code == SQLITE_DONE, end == SQLITE_OK else {
            throw copy.error(code == SQLITE_DONE ? end : code, doing: "copying the pages")
        }
        return pages
    }
}
