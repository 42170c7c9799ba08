import CPageChecksums
import CSQLite
import Glibc

/// Reserves room in the database for the pages in SQLite's log, and some spare room. For the writer's thread.
///
/// A new page is written to the log first, and to the database when the log is copied. If the disk is full by then, the
/// page has no room, and the log, which may be what filled the disk, has to stay. So the transaction that makes a page
/// also takes the room for it in the database.
///
/// The spare room is released when the disk is full: then sessions can still be ended, and the server can start.
///
/// SQLite's own means (SQLITE_FCNTL_CHUNK_SIZE, SQLITE_FCNTL_SIZE_HINT) lengthen the file with holes, which may have no
/// room in the end.
final class FileRoom {
    private let connection: SQLiteConnection
    private let pageCount: SQLiteStatement
    /// Up to here the file is known to have its blocks.
    private var allocated: Int64 = 0
    /// Whether the disk is full: then the store accepts only writes that make room.
    private(set) var isLow = false
    /// Set when a transaction frees the last free page: the file gets shorter when the log is copied.
    var isCheckpointDue = false

    /// The step in which the file grows.
    private static let chunk: Int64 = 64 << 10
    /// The room that must be free before the store accepts all writes again.
    private static let enough: UInt = 2 << 20

    init(_ connection: SQLiteConnection) throws(SQLiteError) {
        self.connection = connection
        pageCount = try connection.prepare("PRAGMA page_count")
    }

    /// Called before a transaction is committed. Costs next to nothing for a transaction that made no page.
    func reserve() throws(SQLiteError) {
        defer { pageCount.reset() }
        guard !isLow, let file = connection.lock?.descriptor, try pageCount.step() else { return }
        let wanted = pageCount.int64(0) * Int64(SQLiteSchema.pageSize) + Int64(CPAGECHECKSUMS_SPARE)
        guard wanted > allocated else {
            // May be less than before: a checkpoint truncates the file.
            allocated = wanted
            return
        }
        let end = (wanted + Self.chunk - 1) / Self.chunk * Self.chunk
        var status = stat()
        guard fstat(file, &status) == 0 else { return }
        guard freeBytes >= UInt(max(0, end - Int64(status.st_size))) + UInt(Self.chunk) else { throw Self.full }
        // The first call starts at 0, since the file may have holes. The next sync reports an error of the disk. On a
        // file system without this call the C library writes zeros (posix_fallocate(3)), which is safe: no other thread
        // writes.
        if posix_fallocate(file, off_t(allocated), off_t(end - allocated)) == ENOSPC { throw Self.full }
        allocated = end
    }

    /// Called when the disk is full.
    func releaseSpare() {
        isLow = true
        allocated = 0
        if let file = connection.lock?.descriptor { Self.releaseSpare(of: file) }
    }

    /// Called before a transaction: whether the disk is still full.
    func checkFreeSpace() {
        if isLow, freeBytes >= Self.enough { isLow = false }
    }

    /// Truncates a database behind its last page.
    static func releaseSpare(of file: Int32) {
        var (bytes, status) = ([UInt8](repeating: 0, count: DatabaseHeader.size), stat())
        guard pread(file, &bytes, bytes.count, 0) == bytes.count, let header = DatabaseHeader(bytes),
            header.pageCount > 0, fstat(file, &status) == 0
        else { return }
        // Pages that are only in the log lie behind those that the header counts.
        let end = max(Int(status.st_size) - Int(CPAGECHECKSUMS_SPARE), Int(header.pageCount) * SQLiteSchema.pageSize)
        if end < Int(status.st_size) { ftruncate(file, off_t(end)) }
    }

    /// What the file system has left for this process.
    var freeBytes: UInt {
        var disk = statvfs()
        guard let path = connection.path, statvfs(path, &disk) == 0 else { return .max }
        return UInt(disk.f_bavail) * disk.f_frsize
    }

    private static let full = SQLiteError(code: SQLITE_FULL, doing: "making room in the file")
}
