import CPageChecksums
import Glibc
import Storage

/// The place of a database: whether a database can be there, and the making of its directory.
package struct StorePlace {
    private let path: String
    private let keys: DocumentKeys?

    package init(_ path: String, keys: DocumentKeys? = nil) {
        self.path = path
        self.keys = keys
    }

    /// The first obstacle to using the place, found without making or changing anything; nil when there is none.
    package var problem: StoreOpeningError? {
        problemOfDirectory ?? problemOfFile ?? problemOfLog ?? problemOfSize ?? problemOfContent
    }

    /// A start makes a new database under another name, so an empty file is what is left of one.
    var problemOfSize: StoreOpeningError? {
        var status = stat()
        guard stat(path, &status) == 0, status.st_size == 0 else { return nil }
        return unusable(
            "it is empty, and a database never is: restore a backup; or remove it to begin anew, if it never held "
                + "anything")
    }

    /// A log without its database: SQLite would delete the log.
    var problemOfLog: StoreOpeningError? {
        var (database, log) = (stat(), stat())
        // A log of 32 bytes is a header without writes.
        guard stat(FileLock.realPath(of: path) + "-wal", &log) == 0, log.st_size > 32,
            stat(path, &database) != 0 || database.st_size == 0
        else { return nil }
        return unusable(
            "the database is missing or empty, and \(path)-wal beside it has writes that belong to it: put the database "
                + "back; or move both away to begin anew, or to restore a backup")
    }

    /// Makes the directory if it does not exist, for this user alone: it will hold people's data.
    func makeDirectory() throws(StoreOpeningError) {
        if let problem = problemOfDirectory ?? problemOfFile { throw problem }
        guard mkdir(directory, 0o700) != 0 else {
            // The directory has to survive a power cut, like the files in it. Without that the store works as well.
            _ = Self.sync(Self.directory(of: directory))
            return
        }
        let code = errno
        guard code == EEXIST else { throw unusable("\(directory) cannot be made (\(Self.text(code))): \(Self.advice)") }
    }

    // MARK: Obstacles

    private var problemOfDirectory: StoreOpeningError? {
        switch Self.kind(of: directory) {
        case S_IFDIR: return problemOfWriting(to: directory)
        case .some: return unusable("\(directory) is not a directory: name another file")
        case nil where errno == ENOENT:
            let parent = Self.directory(of: directory)
            guard Self.kind(of: parent) == S_IFDIR else {
                return unusable("neither \(directory) nor \(parent) exists: make it, or name another file")
            }
            return problemOfWriting(to: parent)
        case nil:
            let code = errno
            return unusable("\(directory): \(Self.text(code)): \(Self.advice)")
        }
    }

    private var problemOfFile: StoreOpeningError? {
        if let problemOfKind { return problemOfKind }
        return Self.kind(of: path).flatMap { _ in problemOfWriting(to: path) }
    }

    /// A file that cannot be a database. It has to be checked before anything opens the file: to open a pipe waits, and
    /// to open a device may change something.
    var problemOfKind: StoreOpeningError? {
        switch Self.kind(of: path) {
        case S_IFREG: nil
        case S_IFDIR: unusable("it is a directory: \(adviceInDirectory)")
        case .some: unusable("it is not an ordinary file: name another one")
        case nil: path.last == "/" ? unusable("this is the name of a directory: \(adviceInDirectory)") : nil
        }
    }

    private var adviceInDirectory: String {
        let stem = path[...(path.lastIndex { $0 != "/" } ?? path.startIndex)]
        return "name a file in it, such as \(stem == "/" ? "" : stem)/concierge.db"
    }

    /// A database of another program or version, or one whose keys are not there. A start asks SQLite, which also reads
    /// the log.
    private var problemOfContent: StoreOpeningError? {
        guard access(path, F_OK) == 0 else { return nil }
        do {
            let connection = try SQLiteConnection(path, .fileOnly)
            if try SQLiteSchema.isThere(in: connection, path, from: SQLiteSchema.firstWithRows) {
                try UsedKeys.check(connection, path, against: keys)
            }
            return nil
        } catch let error as SQLiteError {
            return StoreOpeningError(error, path)
        } catch {
            return error as? StoreOpeningError
        }
    }

    private func problemOfWriting(to place: String) -> StoreOpeningError? {
        guard access(place, place == path ? R_OK | W_OK : W_OK | X_OK) != 0 else { return nil }
        return switch errno {
        case EROFS: unusable("\(place) is on a read-only file system: \(Self.advice)")
        default: unusable("user \(getuid()) may not write to \(place): give it the right to, or name another file")
        }
    }

    // MARK: Parts

    private var directory: String { Self.directory(of: path) }

    /// The directory of a file or directory; `.` for a name alone.
    static func directory(of path: String) -> String {
        let name = path.last == "/" ? path.dropLast() : path[...]
        guard let slash = name.lastIndex(of: "/") else { return "." }
        return slash == name.startIndex ? "/" : String(name[..<slash])
    }

    /// Nil when `errno` says why.
    private static func kind(of path: String) -> mode_t? {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & S_IFMT : nil
    }

    /// Writes the names in a directory to the disk; false when that fails.
    static func sync(_ directory: String) -> Bool {
        let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return fsync(descriptor) == 0
    }

    private func unusable(_ reason: String) -> StoreOpeningError { .unusable(path, reason: reason) }

    static let advice = "make it writable, or name another file"
    private static func text(_ code: Int32) -> String { String(cString: strerror(code)) }
}

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
