import Glibc
import Synchronization

#if PLANTED_BUGS
    import Sessions
#endif

/// Keeps a second server away from a database. SQLite's own locks would let two in, and each would take the other's writes
/// for conflicts.
///
/// Two files are locked. The database, so that no name of it leads to another lock. And `-shm`, the index of its log,
/// which SQLite finds by name: when the database is moved away while a server has it, or another one is put in its place,
/// the next server would open the log of the one that was there as its own.
final class FileLock: Sendable {
    private let path: String
    private let database: LockedFile
    /// Nil as long as there is none.
    private let index: Mutex<LockedFile?>

    /// - Parameter makesFile: whether to make an empty file when there is none. SQLite would, too, for everybody to read.
    /// - Throws: ``StoreOpeningError``.
    init(on path: String, makesFile: Bool = true) throws(StoreOpeningError) {
        self.path = path
        var status = stat()
        // Each name would have a log of its own, and a start under one would miss what is in that of another.
        if stat(path, &status) == 0, status.st_nlink > 1 {
            throw .unusable(
                path,
                reason: "it has \(status.st_nlink) names (hard links), by which others could open it: leave it one")
        }
        // First, so that no file is made beside the index of somebody else.
        index = Mutex(try Self.index(of: path))
        if let problem = StorePlace(path).problemOfLog { throw problem }
        database = try Self.lock(path, of: path, flags: makesFile ? O_CREAT : 0)
    }

    /// Locks the index that SQLite uses from now on, which it makes when it is first needed.
    ///
    /// - Throws: ``StoreOpeningError``.
    func holdIndex() throws(StoreOpeningError) {
        try index.withLock { index throws(StoreOpeningError) in
            guard index == nil || index?.identity != FileIdentity(Self.indexPath(of: path)) else { return }
            index = try Self.index(of: path)
        }
    }

    /// Has the whole log copied to the database again, after a sync of the database that failed.
    ///
    /// The kernel has forgotten what it could not write, and slices before may have copied that. SQLite holds those pages
    /// for copied: it counts them in the index (`nBackfill` in <https://www.sqlite.org/walformat.html>). Not while another
    /// connection copies. Readers are not disturbed: each page that is copied again is as it is there already.
    func forgetCopies() {
        #if PLANTED_BUGS
            if PlantedBug.copiesKept.isActive { return }
        #endif
        index.withLock { index in
            guard let index else { return }
            var none: UInt32 = 0
            pwrite(index.descriptor, &none, MemoryLayout.size(ofValue: none), 96)
        }
    }

    /// Lets others in.
    func release() {
        index.withLock { $0?.release() }
        database.release()
    }

    /// Whether the path leads to another file by now, or to none.
    var hasMoved: Bool { FileIdentity(path) != database.identity }

    /// Whether the file has no name any more: whatever is written to it is gone when the server ends.
    var isDeleted: Bool {
        var status = stat()
        return fstat(database.descriptor, &status) == 0 && status.st_nlink == 0
    }

    /// Of the database. Not to be closed.
    var descriptor: Int32 { database.descriptor }

    /// Tells the database from any other on this machine.
    var identity: FileIdentity { database.identity }

    private static func index(of path: String) throws(StoreOpeningError) -> LockedFile? {
        let index = indexPath(of: path)
        guard access(index, F_OK) == 0 else { return nil }
        return try lock(index, of: path)
    }

    /// Beside the file itself, by whatever link it was named.
    private static func indexPath(of path: String) -> String {
        let real = realpath(path, nil)
        defer { free(real) }
        return (real.map { String(cString: $0) } ?? path) + "-shm"
    }

    private static func lock(
        _ file: String, of path: String, flags: Int32 = 0
    ) throws(StoreOpeningError) -> LockedFile {
        do {
            return try LockedFile(file, flags: flags)
        } catch {
            switch error {
            case .isLocked: throw .inUse(path)
            case .system(let code):
                let place = file == path ? "" : "\(file): "
                throw .unusable(path, reason: "\(place)\(String(cString: strerror(code))): \(StorePlace.advice)")
            }
        }
    }
}
