import Glibc
import Storage
import Synchronization

/// Keeps a second server away from a database. SQLite's own locks would admit two servers, and each would take the
/// other's writes for conflicts.
///
/// The lock covers two files. The database itself, so that every name of it leads to the same lock. And `-shm`, the
/// index of the log, which SQLite finds by name: when somebody moves the database away from a running server and puts
/// another one in its place, the next server would otherwise open the first server's log as its own.
final class FileLock: Sendable {
    let path: String
    /// SQLite finds the log by this name.
    let logPath: String
    private let mode: Int32
    private let database: LockedFile
    /// Nil until the index exists.
    private let index: Mutex<LockedFile?>

    /// - Parameters:
    ///   - makesFile: whether to make a database when there is none.
    ///   - isForReading: whether the files are opened for reading alone, which keeps servers away all the same.
    /// - Throws: ``StoreOpeningError``.
    init(on path: String, makesFile: Bool = true, isForReading: Bool = false) throws(StoreOpeningError) {
        self.path = path
        mode = isForReading ? O_RDONLY : O_RDWR
        var status = stat()
        // Each name would have a log of its own, and a start under one name would miss the other's.
        if stat(path, &status) == 0, status.st_nlink > 1 {
            throw .unusable(
                path,
                reason: "it has \(status.st_nlink) names (hard links), by which others could open it: leave it one")
        }
        // The index is locked first, so that no file is made beside the index of another server.
        index = Mutex(try Self.index(of: path, mode))
        if let problem = StorePlace(path).problemOfLog ?? StorePlace(path).problemOfSize { throw problem }
        if makesFile { try NewDatabase.make(path) }
        database = try Self.lock(path, of: path, mode)
        logPath = Self.realPath(of: path) + "-wal"
    }

    /// Locks the index, once SQLite has made the one that it uses.
    ///
    /// - Throws: ``StoreOpeningError``.
    func holdIndex() throws(StoreOpeningError) {
        try index.withLock { index throws(StoreOpeningError) in
            guard index == nil || index?.identity != FileIdentity(Self.indexPath(of: path)) else { return }
            index = try Self.index(of: path, mode)
        }
    }

    /// Makes the next checkpoint copy the whole log again, after a sync of the database that failed.
    ///
    /// The kernel has dropped the pages that it could not write, and earlier slices of a checkpoint may have copied
    /// them. SQLite counts such pages as copied, in the index (`nBackfill` in <https://www.sqlite.org/walformat.html>).
    /// No other connection may checkpoint meanwhile. Readers notice nothing: a page that is copied again has the same
    /// content.
    func resetBackfill() {
        index.withLock { index in
            guard let index else { return }
            var none: UInt32 = 0
            pwrite(index.descriptor, &none, MemoryLayout.size(ofValue: none), 96)
        }
    }

    /// The round and the length of the log, in frames, as the index has them; nil before ``holdIndex()``.
    ///
    /// The offsets are those of `WalIndexHdr`: <https://www.sqlite.org/walformat.html#the_wal_index_header>. A round that
    /// has not begun has no frames, and the salts that its header will get.
    var indexedLog: (round: LogRound, frames: Int)? {
        index.withLock { index in
            var header = [UInt8](repeating: 0, count: 24)
            guard let index, pread(index.descriptor, &header, header.count, 16) == header.count else { return nil }
            return header.withUnsafeBytes { bytes in
                (
                    LogRound(UnsafeRawBufferPointer(rebasing: bytes[16..<24])),
                    Int(bytes.loadUnaligned(fromByteOffset: 0, as: UInt32.self))
                )
            }
        }
    }

    /// Admits other servers.
    func release() {
        index.withLock { $0?.release() }
        database.release()
    }

    /// Whether the path now leads to another file, or to none.
    var hasMoved: Bool { FileIdentity(path) != database.identity }

    /// Whether the file has no name any more: its content is gone when the server ends.
    var isDeleted: Bool {
        var status = stat()
        return fstat(database.descriptor, &status) == 0 && status.st_nlink == 0
    }

    /// The descriptor of the database. Callers must not close it.
    var descriptor: Int32 { database.descriptor }

    /// Tells the database from any other file of this machine.
    var identity: FileIdentity { database.identity }

    private static func index(of path: String, _ mode: Int32) throws(StoreOpeningError) -> LockedFile? {
        let index = indexPath(of: path)
        guard access(index, F_OK) == 0 else { return nil }
        return try lock(index, of: path, mode)
    }

    /// The log and its index lie beside the file itself, not beside a symbolic link to it.
    static func realPath(of path: String) -> String {
        let real = realpath(path, nil)
        defer { free(real) }
        return real.map { String(cString: $0) } ?? path
    }

    private static func indexPath(of path: String) -> String { realPath(of: path) + "-shm" }

    /// - Parameter flags: for open(2), beside those that a lock needs.
    static func lock(
        _ file: String, of path: String, _ mode: Int32 = O_RDWR, flags: Int32 = 0
    ) throws(StoreOpeningError) -> LockedFile {
        do {
            return try LockedFile(file, access: mode, flags: flags)
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
