import CPageSeals
import CSQLite
import Glibc
import Threads

#if PLANTED_BUGS
    import Sessions
#endif

/// Copies what is in SQLite's log to the database, in slices between two groups of commits, so that none of these waits
/// for more than one slice. On the writer's thread alone.
///
/// A checkpoint copies what no reader needs any more. So a reader of our own holds the snapshot of the slice before: each
/// slice is what was committed between two of them, and never reaches the end of the log, which would sync the database.
/// Another thread has the kernel write the copied pages meanwhile (``Writeback``). When the log is long, the reader lets
/// go, and what is left is copied, synced, and the log begins anew; by then that is little.
///
/// Everything goes through the connection that writes. Two connections that write or checkpoint at once can lose commits:
/// the WAL-reset bug of SQLite 3.7.0 to 3.51.2 (<https://www.sqlite.org/wal.html#walresetbug>).
final class Checkpoints {
    private let connection: SQLiteConnection
    private let writeback: Writeback
    /// As long as it stands on a row its connection has a snapshot.
    private let snapshot: SQLiteStatement
    private var hasSnapshot = false
    /// How long the log was at the last slice.
    private var lastSlice = 0

    /// In pages. A slice takes 1.5 to 4.5 ms.
    private static let slice = 256
    /// In pages: 17 MB at 4 KiB.
    static let longestLog = 4_300

    /// - Parameter reader: a connection that nobody else uses.
    init(_ connection: SQLiteConnection, reader: SQLiteConnection, writeback: Writeback) throws(SQLiteError) {
        self.connection = connection
        self.writeback = writeback
        snapshot = try reader.prepare("SELECT 1 FROM sqlite_schema")
        connection.countLogPages()
    }

    /// After each group was answered.
    func goOn() throws(SQLiteError) {
        let length = connection.logPages
        guard length > 0 else { return }
        // Not on an empty log: a reader that needs nothing of it would keep everything out of the database.
        if !hasSnapshot { try renewSnapshot() }
        guard length - lastSlice >= Self.slice else { return }
        if length < Self.longestLog {
            try copy(SQLITE_CHECKPOINT_PASSIVE)
            try renewSnapshot()
            lastSlice = length
        } else {
            try finish()
        }
        writeback.start()
    }

    /// Copies all that no other reader needs, and has the log begin anew if none needs any of it.
    func finish() throws(SQLiteError) {
        snapshot.reset()
        hasSnapshot = false
        // Readers of ours are done in a moment; nobody waits for those of another process.
        sqlite3_busy_timeout(connection.handle, 2)
        defer { sqlite3_busy_timeout(connection.handle, SQLiteConnection.patience) }
        if try copy(SQLITE_CHECKPOINT_RESTART) { connection.logPages = 0 }
        lastSlice = connection.logPages
    }

    /// Cuts the log as well: a full disk has that room then.
    func empty() throws(SQLiteError) {
        try finish()
        if try copy(SQLITE_CHECKPOINT_TRUNCATE) { connection.logPages = 0 }
        lastSlice = 0
    }

    private func renewSnapshot() throws(SQLiteError) {
        snapshot.reset()
        hasSnapshot = try snapshot.step()
    }

    /// False when some reader stood in the way.
    @discardableResult
    private func copy(_ mode: Int32) throws(SQLiteError) -> Bool {
        #if PLANTED_BUGS
            if PlantedBug.sliceSkippedSync.isActive { try connection.execute("PRAGMA synchronous = OFF") }
            defer {
                if PlantedBug.sliceSkippedSync.isActive { try? connection.execute("PRAGMA synchronous = FULL") }
            }
        #endif
        let code = sqlite3_wal_checkpoint_v2(connection.handle, nil, mode, nil, nil)
        // A full disk leaves the log as it is: there is room for its pages in the file, or nobody was told of them.
        if code & 0xFF == SQLITE_BUSY || code & 0xFF == SQLITE_FULL { return false }
        guard code == SQLITE_OK else {
            connection.lock?.forgetCopies()
            throw connection.error(code, doing: "copying the log to the database")
        }
        return true
    }
}

/// Has the kernel begin to write a file's changed pages, a little at a time, so that a sync finds few of them.
///
/// It promises nothing: SQLite syncs the file itself before it relies on it.
final class Writeback: Sendable {
    private let queue = WorkQueue<Void>()

    /// - Parameter file: what is opened anew for each writing thread stays open until the lock is gone.
    init(of file: FileLock) throws(StoreOpeningError) {
        let isStarted = DetachedThread.start("store writeback") { [queue] in
            while let requests = queue.take(atMost: .max, before: nil), !requests.isEmpty {
                cpageseals_start_writeback(file.descriptor)
                usleep(Self.pause)
            }
        }
        guard isStarted else { throw .noThread }
    }

    deinit { queue.close() }

    /// Some pages were copied.
    func start() { _ = queue.append(()) }

    func close() { queue.close() }

    /// In microseconds.
    private static let pause: UInt32 = 20_000
}
