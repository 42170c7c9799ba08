import CSQLite
import Glibc

/// A copy of a database in one state of it, made while a server may go on writing.
///
/// SQLite's backup copies pages unchanged, damaged ones included, with little work for each. `VACUUM INTO` rewrites the
/// rows: a smaller file for more work, in which everything that a damaged page hides is gone for good. Both read in one
/// transaction, which delays no commit; but the log cannot restart until the copy is done.
package struct StoreBackup {
    package let pages: Int
    package let bytes: Int

    /// - Parameter replaces: whether to replace an existing file. The store itself is never replaced.
    /// - Throws: ``StoreOpeningError``, ``StoreBackupError``.
    package init(of path: String, to target: String, replaces: Bool) throws {
        let source = try StoreFile(path, isCurrent: false)
        try Self.checkTarget(target, of: path, replaces: replaces)
        let draft = try Draft(of: target)
        do throws(SQLiteError) {
            let copy = try SQLiteConnection(draft.path, .write)
            // After an interruption the copy begins anew: there is nothing to undo, and one sync at the end is enough.
            try copy.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
            if try source.connection.hasPageChecksums {
                copy.expectPageChecksums(pageSize: Int(try source.connection.number("PRAGMA page_size") ?? 0))
            }
            pages = try Self.copy(source.connection, to: copy)
            // A server that starts on this copy has lost all writes since.
            if source.version == SQLiteSchema.version {
                try copy.execute("INSERT OR REPLACE INTO facts VALUES ('restored', 1), ('bytes_known', 0)")
                // A copy has no log, and none that is found beside it belongs to it.
                try copy.write(LogMark(.closed, .none))
            }
        } catch {
            throw StoreBackupError.failed(target, reason: error.description)
        }
        bytes = StoreFile.size(of: draft.path)
        try draft.publish(replaces: replaces)
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

    private static func checkTarget(_ target: String, of path: String, replaces: Bool) throws(StoreBackupError) {
        var existing = stat()
        if stat(target, &existing) == 0 {
            guard FileIdentity(target) != FileIdentity(path) else { throw .itself(target) }
            guard existing.st_mode & S_IFMT == S_IFREG else { throw .noFile(target) }
            guard replaces else { throw .exists(target) }
        }
        // The store's other files, whether they exist or not.
        for ending in ["-wal", "-shm"] where Self.isSameName(target, path + ending) { throw .itself(target) }
        // SQLite would take it for the log of the copy. To read a copy leaves an empty log beside it.
        guard StoreFile.size(of: target + "-wal") == 0 else { throw .hasLog(target) }
    }

    /// Whether both names mean one entry of one directory.
    private static func isSameName(_ name: String, _ other: String) -> Bool {
        name.split(separator: "/").last == other.split(separator: "/").last
            && FileIdentity(StorePlace.directory(of: name)) == FileIdentity(StorePlace.directory(of: other))
    }

    /// The copy under another name, until it is whole. A backup uses the file that an interrupted one has left.
    private final class Draft {
        let path: String
        private let target: String
        private let descriptor: Int32

        init(of target: String) throws(StoreBackupError) {
            self.target = target
            path = target + ".partial"
            descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
            guard descriptor >= 0 else { throw .failed(target, reason: Self.reason(path)) }
            // SQLite's locks are of another kind and do not see this one.
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
                close(descriptor)
                throw .failed(target, reason: "another backup is writing \(path)")
            }
            guard ftruncate(descriptor, 0) == 0 else { throw .failed(target, reason: Self.reason(path)) }
        }

        deinit { close(descriptor) }

        /// Syncs the copy before it gets its name, and its name before the caller learns of it.
        func publish(replaces: Bool) throws(StoreBackupError) {
            guard fsync(descriptor) == 0 else { throw .failed(target, reason: Self.reason(path)) }
            if replaces {
                for ending in ["-wal", "-shm"] { unlink(target + ending) }
                guard rename(path, target) == 0 else { throw .failed(target, reason: Self.reason(target)) }
            } else {
                // Unlike a rename, a link never replaces a file that has appeared meanwhile.
                guard link(path, target) == 0 else {
                    throw errno == EEXIST ? .exists(target) : .failed(target, reason: Self.reason(target))
                }
                unlink(path)
            }
            let directory = StorePlace.directory(of: target)
            guard StorePlace.sync(directory) else { throw .failed(target, reason: Self.reason(directory)) }
        }

        private static func reason(_ path: String) -> String { "\(path): \(String(cString: strerror(errno)))" }
    }
}

/// Why there is no copy, in a sentence that says what to do.
package enum StoreBackupError: Error, CustomStringConvertible, Equatable {
    case exists(String)
    case itself(String)
    case noFile(String)
    case hasLog(String)
    case failed(String, reason: String)

    package var description: String {
        switch self {
        case .exists(let target): "\(target) already exists: name another file, or pass --force."
        case .itself(let target): "\(target) is the store itself: name another file."
        case .noFile(let target): "\(target) is not an ordinary file: name one."
        case .hasLog(let target):
            "\(target)-wal exists, so \(target) is in use or was not closed: name another file."
        case .failed(let target, let reason): "\(target) could not be written: \(reason)."
        }
    }
}
