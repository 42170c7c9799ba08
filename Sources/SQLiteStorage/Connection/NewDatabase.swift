import CPageChecksums
import Glibc
import Storage

/// Makes a database under another name, and renames it when it is whole and on the disk. So a start that is killed
/// leaves no file, and an empty file is never a database that was just being made.
enum NewDatabase {
    /// Does nothing when the file exists.
    ///
    /// - Throws: ``StoreOpeningError``.
    static func make(_ path: String) throws(StoreOpeningError) {
        guard try isMissing(path) else { return }
        let target = try target(of: path)
        let draft = target + ".new"
        // Another start may be making it. SQLite would make a file that everybody may read.
        let lock = try FileLock.lock(draft, of: path, flags: O_CREAT)
        guard try isMissing(path) else {
            // It did, and this is an empty file that was made just now.
            if FileIdentity(draft) == lock.identity { unlink(draft) }
            return
        }
        do {
            // What a start has left that was killed.
            for ending in ["-journal", "-wal", "-shm"] { unlink(draft + ending) }
            guard ftruncate(lock.descriptor, 0) == 0 else { throw refused(draft, path) }
            try fill(draft, path)
            guard fsync(lock.descriptor) == 0 else { throw refused(draft, path) }
            errno = cpagechecksums_rename_new(draft, target)
            guard errno == 0 else { throw refused(draft, path) }
            _ = StorePlace.sync(StorePlace.directory(of: target))
        } catch {
            unlink(draft)
            if let error = error as? StoreOpeningError { throw error }
            if let error = error as? SQLiteError { throw StoreOpeningError(error, path) }
            throw .unusable(path, reason: "\(error)")
        }
    }

    /// A look that fails in another way says nothing.
    private static func isMissing(_ path: String) throws(StoreOpeningError) -> Bool {
        if access(path, F_OK) == 0 { return false }
        guard errno == ENOENT else { throw refused(path, path) }
        return true
    }

    /// Follows symbolic links, which stay as they are.
    private static func target(of path: String) throws(StoreOpeningError) -> String {
        var place = path
        // As many as Linux follows.
        for _ in 0..<40 {
            var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
            let count = readlink(place, &bytes, bytes.count)
            guard count > 0 else { return place }
            let link = String(decoding: bytes[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
            place = link.hasPrefix("/") ? link : StorePlace.directory(of: place) + "/" + link
        }
        throw .unusable(path, reason: "\(String(cString: strerror(ELOOP))): \(StorePlace.advice)")
    }

    private static func fill(_ draft: String, _ path: String) throws {
        let connection = try SQLiteConnection(draft, .write)
        // One sync at the end is enough.
        try connection.execute("PRAGMA synchronous = OFF")
        try SQLiteSchema.prepare(connection, path: path)
        // Written to the file's header. The connection removes the empty log when it closes.
        try connection.execute("PRAGMA journal_mode = WAL")
    }

    private static func refused(_ draft: String, _ path: String) -> StoreOpeningError {
        .unusable(path, reason: "\(draft): \(String(cString: strerror(errno))): \(StorePlace.advice)")
    }
}
