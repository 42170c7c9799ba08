import CSQLite
import Glibc

/// Room in the file itself for what is in SQLite's log.
///
/// A page that is new is in that log first, and in the file when the log is written back. On a disk that is full by then it
/// could not be, and the log, which may be what has filled the disk, would have to stay. So the file takes the room for
/// each page in the transaction that makes it. On the writer's thread alone.
final class FileRoom {
    private let connection: SQLiteConnection
    private let pageCount: SQLiteStatement
    private let pageSize: Int64
    private var reserved: Int64 = 0

    /// By how much the file grows. Without such a number SQLite makes no room before it needs it
    /// (SQLITE_FCNTL_CHUNK_SIZE in <https://www.sqlite.org/c3ref/c_fcntl_begin_atomic_write.html>).
    private static let chunk: Int32 = 64 << 10

    init(_ connection: SQLiteConnection) throws(SQLiteError) {
        self.connection = connection
        pageCount = try connection.prepare("PRAGMA page_count")
        pageSize = try connection.number("PRAGMA page_size") ?? 0
        try setChunk(Self.chunk)
    }

    private func setChunk(_ size: Int32) throws(SQLiteError) {
        var size = size
        let code = sqlite3_file_control(connection.handle, "main", SQLITE_FCNTL_CHUNK_SIZE, &size)
        guard code == SQLITE_OK else { throw connection.error(code, doing: "setting by how much the file grows") }
    }

    /// Before a transaction is committed. Costs next to nothing where it made no page.
    func reserve() throws(SQLiteError) {
        defer { pageCount.reset() }
        guard try pageCount.step() else { return }
        let pages = pageCount.int64(0)
        if pages > reserved {
            var size = pages * pageSize
            let code = sqlite3_file_control(connection.handle, "main", SQLITE_FCNTL_SIZE_HINT, &size)
            // SQLite calls it a failure of the disk, whyever it could not be done. If it is one, a write or a sync will tell.
            guard code == SQLITE_OK || isRoom else {
                throw SQLiteError(code: SQLITE_FULL, doing: "making room in the file")
            }
        }
        // Less as well: what is given back is cut off when the log is written back.
        reserved = pages
    }

    /// Whether the disk has room, and its file system only cannot take it beforehand.
    private var isRoom: Bool {
        var disk = statvfs()
        guard let path = sqlite3_db_filename(connection.handle, "main"), statvfs(path, &disk) == 0 else { return true }
        return UInt(disk.f_bavail) * disk.f_frsize > UInt(Self.chunk)
    }

    /// After the log was written back as a whole: the file is as long as what is in it. What a kill leaves behind the last
    /// page does no harm.
    func giveBack() throws(SQLiteError) {
        try setChunk(0)
        defer { pageCount.reset() }
        var file: UnsafeMutablePointer<sqlite3_file>?
        guard try pageCount.step(),
            sqlite3_file_control(connection.handle, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK, let file
        else { return }
        _ = file.pointee.pMethods?.pointee.xTruncate?(file, pageCount.int64(0) * pageSize)
    }
}
