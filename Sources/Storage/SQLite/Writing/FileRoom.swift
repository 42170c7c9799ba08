import CPageSeals
import CSQLite
import Glibc

/// Room in the database itself for what is in SQLite's log, and some to spare. On the writer's thread alone.
///
/// A new page is in the log first, and in the database when the log is copied. On a disk that is full by then it could not
/// be, and the log, which may be what has filled the disk, would have to stay. So the database takes the room for each page
/// in the transaction that makes it.
///
/// The spare room is given up when the disk is full: sessions can be ended then, and the server can start.
///
/// Not by SQLite's own means (SQLITE_FCNTL_CHUNK_SIZE, SQLITE_FCNTL_SIZE_HINT): those make the file long and leave holes in
/// it, for which there may be no room in the end.
final class FileRoom {
    private let connection: SQLiteConnection
    private let pageCount: SQLiteStatement
    private let pageSize: Int64
    /// Up to here the file has its blocks, as far as is known.
    private var allocated: Int64 = 0
    /// Whether the disk is full: then there is only room for what makes room.
    private(set) var isLow = false

    /// By how much the file grows.
    private static let chunk: Int64 = 64 << 10
    /// So much has to be free before others than ends are written again.
    private static let enough: UInt = 2 << 20

    init(_ connection: SQLiteConnection) throws(SQLiteError) {
        self.connection = connection
        pageCount = try connection.prepare("PRAGMA page_count")
        pageSize = try connection.number("PRAGMA page_size") ?? 0
    }

    /// Before a transaction is committed. Costs next to nothing where it made no page.
    func reserve() throws(SQLiteError) {
        defer { pageCount.reset() }
        guard !isLow, let file = connection.lock?.descriptor, try pageCount.step() else { return }
        let wanted = pageCount.int64(0) * pageSize + Int64(CPAGESEALS_SPARE)
        // Less as well: what is given back is cut off when the log is copied.
        guard wanted > allocated else {
            allocated = wanted
            return
        }
        let end = (wanted + Self.chunk - 1) / Self.chunk * Self.chunk
        var status = stat()
        guard fstat(file, &status) == 0 else { return }
        guard freeBytes >= UInt(max(0, end - Int64(status.st_size))) + UInt(Self.chunk) else { throw Self.full }
        // From the beginning the first time: there may be holes. An error of the disk is told by the next sync. This thread
        // alone writes to the file, so where the file system cannot do it and the C library writes zeros instead, they are
        // in nobody's way (posix_fallocate(3)).
        if posix_fallocate(file, off_t(allocated), off_t(end - allocated)) == ENOSPC { throw Self.full }
        allocated = end
    }

    /// The disk is full.
    func giveUpSpare() {
        isLow = true
        allocated = 0
        if let file = connection.lock?.descriptor { Self.giveUpSpare(of: file) }
    }

    /// Before a transaction: whether the disk is not full any more.
    func lookForRoom() {
        if isLow, freeBytes >= Self.enough { isLow = false }
    }

    /// Cuts a database behind its last page.
    static func giveUpSpare(of file: Int32) {
        // https://www.sqlite.org/fileformat2.html#the_database_header: page size and number of pages.
        var header = [UInt8](repeating: 0, count: 32)
        guard pread(file, &header, header.count, 0) == header.count else { return }
        let size = Int(header[16]) << 8 | Int(header[17])
        let pages = header[28..<32].reduce(0) { $0 << 8 | Int($1) }
        var status = stat()
        // Pages in the log may be behind those that the header counts.
        guard size >= 512, pages > 0, fstat(file, &status) == 0 else { return }
        let end = max(Int(status.st_size) - Int(CPAGESEALS_SPARE), pages * size)
        if end < Int(status.st_size) { ftruncate(file, off_t(end)) }
    }

    private var freeBytes: UInt {
        var disk = statvfs()
        guard let path = connection.path, statvfs(path, &disk) == 0 else { return .max }
        return UInt(disk.f_bavail) * disk.f_frsize
    }

    private static let full = SQLiteError(code: SQLITE_FULL, doing: "making room in the file")
}
