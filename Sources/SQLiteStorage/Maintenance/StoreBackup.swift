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
        try self.init(of: source.connection, to: draft)
        try draft.publish()
    }

    /// Fills a draft, which the caller publishes.
    ///
    /// - Parameter afterSlice: is called after some megabytes each; what it throws ends the copy.
    init(
        of source: SQLiteConnection, to draft: StoreDraft,
        afterSlice: () throws(StoreDraftError) -> Void = { () throws(StoreDraftError) in }
    ) throws(StoreDraftError) {
        do {
            let copy = try SQLiteConnection(draft.path, .write)
            // After an interruption the copy begins anew: there is nothing to undo, and one sync at the end is enough.
            try copy.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
            // One transaction for all slices.
            try source.execute("BEGIN")
            defer { try? source.execute("ROLLBACK") }
            if try source.hasPageChecksums { cpagechecksums_expect(copy.handle) }
            pages = try Self.copy(source, to: copy, afterSlice)
            // A server that starts on this copy has lost all writes since.
            try copy.execute("INSERT OR REPLACE INTO facts VALUES ('restored', 1), ('bytes_known', 0)")
            // A copy has no log, and none that is found beside it belongs to it.
            try copy.write(LogMark(.closed, .none))
        } catch let error as StoreDraftError {
            throw error
        } catch {
            throw .failed(draft.target, reason: "\(error)")
        }
        // They got new checksums when they were written.
        for page in source.takeDamagedPages() { try draft.markDamaged(page) }
        bytes = StoreFile.size(of: draft.path)
    }

    private static func copy(
        _ source: SQLiteConnection, to copy: SQLiteConnection, _ afterSlice: () throws(StoreDraftError) -> Void
    ) throws -> Int {
        guard let backup = sqlite3_backup_init(copy.handle, "main", source.handle, "main") else {
            throw copy.error(sqlite3_errcode(copy.handle), doing: "beginning a copy")
        }
        do {
            var code: Int32
            repeat {
                code = sqlite3_backup_step(backup, Self.slicePages)
                if code == SQLITE_OK { try afterSlice() }
            } while code == SQLITE_OK
            guard code == SQLITE_DONE else { throw copy.error(code, doing: "copying the pages") }
        } catch {
            sqlite3_backup_finish(backup)
            throw error
        }
        let pages = Int(sqlite3_backup_pagecount(backup))
        let end = sqlite3_backup_finish(backup)
        guard end == SQLITE_OK else { throw copy.error(end, doing: "copying the pages") }
        return pages
    }

    /// 4 MiB.
    private static let slicePages: Int32 = 1_024
}
