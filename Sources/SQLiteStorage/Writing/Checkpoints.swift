import CPageChecksums
import CSQLite
import Glibc
import Storage
import Threads

/// Copies SQLite's log to the database in slices, each between two groups of commits, so that no commit waits for more
/// than one slice. For the writer's thread.
///
/// A checkpoint copies only what no reader needs any more. So a reader of our own keeps the snapshot of the last slice:
/// each slice is what was committed between two snapshots, and never reaches the end of the log, where SQLite would
/// sync the database. Meanwhile another thread makes the kernel write the copied pages (``Writeback``). When the log is
/// long, the reader ends its snapshot, and the last slice is copied and synced; then the log restarts.
///
/// Everything goes through the connection that writes. Two connections that write or checkpoint at once can lose
/// commits: the WAL-reset bug of SQLite 3.7.0 to 3.51.2 (<https://www.sqlite.org/wal.html#walresetbug>).
final class Checkpoints {
    private let connection: SQLiteConnection
    private let writeback: Writeback
    /// While it stands on a row, its connection keeps a snapshot.
    private let snapshot: SQLiteStatement
    private var hasSnapshot = false
    /// The length of the log at the last slice.
    private var lastSlice = 0

    /// In pages. To copy a slice takes 1.5 to 4.5 ms.
    private static let slice = 256
    /// In pages: 17 MB at 4 KiB.
    static let longestLog = 4_300

    /// - Parameter reader: a connection that nothing else uses.
    init(_ connection: SQLiteConnection, reader: SQLiteConnection, writeback: Writeback) throws(SQLiteError) {
        self.connection = connection
        self.writeback = writeback
        snapshot = try reader.prepare("SELECT 1 FROM sqlite_schema")
        try connection.execute("PRAGMA wal_autocheckpoint = 0")
    }

    /// Copies a slice when there is enough for one. Called after each group.
    func copySlice() throws(SQLiteError) {
        let length = connection.logPages
        guard length > 0 else { return }
        // A reader of an empty log needs no part of the log, and would keep every page of it out of the database.
        if !hasSnapshot { try renewSnapshot() }
        guard length - lastSlice >= Self.slice else { return }
        if length < Self.longestLog {
            try checkpoint(SQLITE_CHECKPOINT_PASSIVE)
            try renewSnapshot()
            lastSlice = length
        } else {
            try restartLog()
        }
        writeback.start()
    }

    /// Copies everything that no other reader needs, and restarts the log if no reader needs any of it.
    ///
    /// - Parameter truncates: whether to truncate the log's file as well, which makes room on a full disk.
    /// - Returns: false when a reader prevented it.
    @discardableResult
    func restartLog(truncates: Bool = false) throws(SQLiteError) -> Bool {
        snapshot.reset()
        hasSnapshot = false
        // Our own readers are done in a moment. Readers of other processes are not waited for.
        sqlite3_busy_timeout(connection.handle, 2)
        defer { sqlite3_busy_timeout(connection.handle, SQLiteConnection.busyTimeout) }
        let mode = truncates ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_RESTART
        let isDone = try checkpoint(mode)
        if isDone { connection.logPages = 0 }
        lastSlice = connection.logPages
        // A log that restarts is marked by the sync of the database. An empty one has a new round.
        if isDone, truncates { try connection.markEmpty() }
        return isDone
    }

    private func renewSnapshot() throws(SQLiteError) {
        snapshot.reset()
        hasSnapshot = try snapshot.step()
    }

    /// False when a reader or a full disk prevented it.
    @discardableResult
    private func checkpoint(_ mode: Int32) throws(SQLiteError) -> Bool {
        let code = sqlite3_wal_checkpoint_v2(connection.handle, nil, mode, nil, nil)
        // A full disk leaves the log as it is. Pages without room in the database belong to commits that were refused.
        if code & 0xFF == SQLITE_BUSY || code & 0xFF == SQLITE_FULL { return false }
        guard code == SQLITE_OK else {
            connection.lock?.resetBackfill()
            throw connection.error(code, doing: "copying the log to the database")
        }
        return true
    }
}

/// Makes the kernel write a file's changed pages a little at a time, so that a sync finds few of them.
///
/// Nothing relies on it: SQLite syncs the file itself.
final class Writeback: Sendable {
    private let queue = WorkQueue<Void>()

    init(of file: FileLock) throws(StoreOpeningError) {
        let isStarted = DetachedThread.start("store writeback") { [queue] in
            while let requests = queue.take(atMost: .max), !requests.isEmpty {
                cpagechecksums_start_writeback(file.descriptor)
                usleep(Self.pause)
            }
        }
        guard isStarted else { throw .noThread }
    }

    deinit { queue.close() }

    /// Called after pages were copied.
    func start() { _ = queue.append(()) }

    func close() { queue.close() }

    /// In microseconds.
    private static let pause: UInt32 = 20_000
}
