import CSQLite
import Glibc

/// A copy of a database as it was at one moment, made while a server may go on writing.
///
/// SQLite's backup copies the pages as they are, those that are damaged included, with little work for each. `VACUUM
/// INTO` writes the rows anew: a smaller file for more work, in which what a damaged page hides is gone for good.
/// Both read in one transaction, which hinders no commit; but the log cannot begin anew before the copy is done.
package struct StoreBackup {
    package let pages: Int
    package let bytes: Int

    /// - Parameter replaces: whether a file that is there may be replaced. The store itself never is.
    /// - Throws: ``StoreOpeningError``, ``StoreBackupError``.
    package init(of path: String, to target: String, replaces: Bool) throws {
        try self.init(of: path, to: target, replaces: replaces, pagesAtOnce: 1_024) {}
    }

    /// - Parameter afterStep: what happens while the copy is being made, in tests.
    init(
        of path: String, to target: String, replaces: Bool, pagesAtOnce: Int32, afterStep: () -> Void
    ) throws {
        let source = try StoreFile(path, isCurrent: false)
        try Self.checkTarget(target, of: path, replaces: replaces)
        let draft = try Draft(of: target)
        do throws(SQLiteError) {
            // The transaction begins with the first read; one that a step begins would end with the step.
            try source.connection.execute("BEGIN; SELECT 1 FROM sqlite_schema")
            let copy = try SQLiteConnection(draft.path, .write)
            // Whoever is interrupted begins anew: nothing to undo, and one sync at the end.
            try copy.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
            if try source.connection.hasSeals {
                try copy.expectSeals(pageSize: Int(try source.connection.number("PRAGMA page_size") ?? 0))
            }
            pages = try Self.copy(source.connection, to: copy, pagesAtOnce, afterStep)
            try? source.connection.execute("ROLLBACK")
            // A server that is given this copy has lost what was written since.
            if source.version == SQLiteSchema.version {
                try copy.execute("INSERT OR REPLACE INTO facts VALUES ('restored', 1)")
            }
        } catch {
            throw StoreBackupError.failed(target, reason: error.description)
        }
        bytes = StoreFile.size(of: draft.path)
        try draft.publish(replaces: replaces)
    }

    /// The transaction that the source is in keeps all of it in one state, however many steps there are.
    private static func copy(
        _ source: SQLiteConnection, to copy: SQLiteConnection, _ pagesAtOnce: Int32,
        _ afterStep: () -> Void
    ) throws(SQLiteError) -> Int {
        guard let backup = sqlite3_backup_init(copy.handle, "main", source.handle, "main") else {
            throw copy.error(sqlite3_errcode(copy.handle), doing: "beginning a copy")
        }
        var code = SQLITE_OK
        while code == SQLITE_OK {
            code = sqlite3_backup_step(backup, pagesAtOnce)
            afterStep()
        }
        let pages = Int(sqlite3_backup_pagecount(backup))
        let end = sqlite3_backup_finish(backup)
        guard code == SQLITE_DONE, end == SQLITE_OK else {
            throw copy.error(code == SQLITE_DONE ? end : code, doing: "copying the pages")
        }
        return pages
    }

    private static func checkTarget(_ target: String, of path: String, replaces: Bool) throws(StoreBackupError) {
        var there = stat()
        if stat(target, &there) == 0 {
            var own = stat()
            guard stat(path, &own) == 0, own.st_ino != there.st_ino || own.st_dev != there.st_dev else {
                throw .itself(target)
            }
            guard there.st_mode & S_IFMT == S_IFREG else { throw .noFile(target) }
            guard replaces else { throw .exists(target) }
        }
        // What belongs to the store, whether it is there or not.
        for ending in ["-wal", "-shm"] where Self.isSameName(target, path + ending) { throw .itself(target) }
        // SQLite would take it for the log of the copy. An empty one is left where a copy was looked at.
        var log = stat()
        guard stat(target + "-wal", &log) != 0 || log.st_size == 0 else { throw .hasLog(target) }
    }

    /// Whether both name one place, by whatever way.
    private static func isSameName(_ name: String, _ other: String) -> Bool {
        func parts(_ path: String) -> (folder: String, name: Substring) {
            let slash = path.lastIndex(of: "/")
            let folder = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
            return (folder, slash.map { path[path.index(after: $0)...] } ?? path[...])
        }
        let (one, two) = (parts(name), parts(other))
        var (first, second) = (stat(), stat())
        guard stat(one.folder, &first) == 0, stat(two.folder, &second) == 0 else { return name == other }
        return one.name == two.name && first.st_ino == second.st_ino && first.st_dev == second.st_dev
    }

    /// The copy under another name, as long as it is not whole. What is left of one that was interrupted is used again.
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

        /// The copy is on the disk before it has its name, and has its name on the disk before anybody is told.
        func publish(replaces: Bool) throws(StoreBackupError) {
            guard fsync(descriptor) == 0 else { throw .failed(target, reason: Self.reason(path)) }
            if replaces {
                for ending in ["-wal", "-shm"] { unlink(target + ending) }
                guard rename(path, target) == 0 else { throw .failed(target, reason: Self.reason(target)) }
            } else {
                // Unlike a rename this does not replace what has come meanwhile.
                guard link(path, target) == 0 else {
                    throw errno == EEXIST ? .exists(target) : .failed(target, reason: Self.reason(target))
                }
                unlink(path)
            }
            let slash = target.lastIndex(of: "/")
            let folder = slash.map { $0 == target.startIndex ? "/" : String(target[..<$0]) } ?? "."
            let directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            defer { close(directory) }
            guard directory >= 0, fsync(directory) == 0 else { throw .failed(target, reason: Self.reason(folder)) }
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
        case .exists(let target): "\(target) is there already: name another file, or say --force."
        case .itself(let target): "\(target) is the store itself: name another file."
        case .noFile(let target): "\(target) is no file: name one."
        case .hasLog(let target):
            "\(target)-wal is there, so that \(target) is in use or was not closed: name another file."
        case .failed(let target, let reason): "\(target) could not be written: \(reason)."
        }
    }
}
