import CSQLite
import Glibc

/// Room in the file itself for what is in SQLite's log.
///
/// A page that is new is in that log first, and in the file when the log is written back. On a disk that is full by then it
/// could not be, and the log, which may be what has filled the disk, would have to stay. So the file takes the room for
/// each page in the transaction that makes it. On the writer's thread alone.
///
/// Not by SQLite's own means (SQLITE_FCNTL_CHUNK_SIZE, SQLITE_FCNTL_SIZE_HINT): those make the file long and leave holes in
/// it, for which there may be no room in the end.
final class FileRoom {
    private let connection: SQLiteConnection
    private let pageCount: SQLiteStatement
    private let pageSize: Int64
    /// Pages for which there is room, as far as is known.
    private var reserved: Int64 = 0
    /// Whether there may be holes from before in what is there.
    private var isChecked = false

    /// By how much the file grows.
    private static let chunk: Int64 = 64 << 10
    /// Left to SQLite's log, without which nothing can be removed.
    private static let spare: UInt = 256 << 10

    init(_ connection: SQLiteConnection) throws(SQLiteError) {
        self.connection = connection
        pageCount = try connection.prepare("PRAGMA page_count")
        pageSize = try connection.number("PRAGMA page_size") ?? 0
    }

    /// Before a transaction is committed. Costs next to nothing where it made no page.
    func reserve() throws(SQLiteError) {
        defer { pageCount.reset() }
        guard let file = connection.lock?.descriptor, try pageCount.step() else { return }
        let pages = pageCount.int64(0)
        if pages > reserved { try grow(file, to: pages * pageSize) }
        // Less as well: what is given back is cut off when the log is written back.
        reserved = pages
    }

    private func grow(_ file: Int32, to size: Int64) throws(SQLiteError) {
        var status = stat()
        guard fstat(file, &status) == 0 else { return }
        let start = isChecked ? Int64(status.st_size) : 0
        guard size > start else { return }
        guard hasRoom(for: size - Int64(status.st_size)) else { throw Self.full }
        let end = (size + Self.chunk - 1) / Self.chunk * Self.chunk
        // An error of the disk is told by the next sync. This thread alone writes to the file, so where the file system
        // cannot do it and the C library writes zeros instead, they are in nobody's way (posix_fallocate(3)).
        if posix_fallocate(file, off_t(start), off_t(end - start)) == ENOSPC { throw Self.full }
        isChecked = true
    }

    private func hasRoom(for bytes: Int64) -> Bool {
        var disk = statvfs()
        guard let path = sqlite3_db_filename(connection.handle, "main"), statvfs(path, &disk) == 0 else { return true }
        return UInt(disk.f_bavail) * disk.f_frsize >= UInt(max(0, bytes)) + UInt(Self.chunk) + Self.spare
    }

    private static let full = SQLiteError(code: SQLITE_FULL, doing: "making room in the file")
}
