import CPageChecksums
import CSQLite
import Glibc
import Storage

/// What a database file says of its log, so that a start notices a log that is missing, was cut, or belongs to another
/// state of the file. It is written to the header of the file with each group of commits, before they are acknowledged:
/// see CPageChecksums.h, and the table of states in the README.
struct LogMark: Equatable {
    enum Kind: UInt8 {
        /// A run or a command begins, and the log may be any. ``frames`` that are lost are not noted in the file yet.
        case opening = 1
        /// The log has ``frames``.
        case open
        /// The database has all of the log of ``round``, and the next round may have begun.
        case closed
    }

    let kind: Kind
    let round: LogRound
    /// The frames of the round whose commits may have been acknowledged.
    let frames: Int

    init(_ kind: Kind, _ round: LogRound, frames: Int = 0) {
        self.kind = kind
        self.round = round
        self.frames = frames
    }

    /// The mark of an open file; nil when it has none.
    ///
    /// - Parameter path: of the file, for an error.
    /// - Throws: ``StoreOpeningError`` when it cannot be read: nothing is known of it then.
    init?(of file: Int32, _ path: String) throws(StoreOpeningError) {
        var mark = cpagechecksums_mark()
        let code = cpagechecksums_read_mark(file, &mark)
        guard code == 0 else {
            let why = String(cString: strerror(code))
            throw .unusable(path, reason: "its header cannot be read (\(why)): start again, and look at the disk")
        }
        self.init(mark)
    }

    fileprivate init?(_ mark: cpagechecksums_mark) {
        guard let kind = Kind(rawValue: mark.kind) else { return nil }
        let round = withUnsafeBytes(of: mark.salts) { LogRound($0) }
        self.init(kind, round, frames: Int(mark.frames))
    }

    fileprivate var stored: cpagechecksums_mark {
        var mark = cpagechecksums_mark()
        mark.kind = kind.rawValue
        mark.frames = UInt32(clamping: frames)
        withUnsafeMutableBytes(of: &mark.salts) { round.write(to: $0) }
        return mark
    }
}

/// The time between two restarts of a log, told by the two salts in its header. A restart adds one to the first salt,
/// and makes the second at random: <https://www.sqlite.org/fileformat2.html#walformat>.
struct LogRound: Equatable {
    private var salts: UInt64 = 0

    static let none = LogRound()

    private init() {}

    /// - Parameter salts: eight bytes, as they are in the file.
    init(_ salts: UnsafeRawBufferPointer) { self.salts = UInt64(bigEndian: salts.loadUnaligned(as: UInt64.self)) }

    func write(to bytes: UnsafeMutableRawBufferPointer) { bytes.storeBytes(of: salts.bigEndian, as: UInt64.self) }

    private var first: UInt32 { UInt32(salts >> 32) }

    func isAfter(_ other: LogRound) -> Bool { first == other.first &+ 1 }
}

extension SQLiteConnection {
    /// The mark in the database. The connection writes it again with page 1.
    var logMark: LogMark? {
        get throws(SQLiteError) {
            var mark = cpagechecksums_mark()
            let code = cpagechecksums_current_mark(handle, &mark)
            guard code == SQLITE_OK else { throw SQLiteError(code: code, doing: "reading the mark of the log") }
            return LogMark(mark)
        }
    }

    /// The mark that another connection may have written since.
    var freshLogMark: LogMark? {
        get throws(SQLiteError) {
            cpagechecksums_forget_mark(handle)
            return try logMark
        }
    }

    func write(_ mark: LogMark) throws(SQLiteError) {
        let code = cpagechecksums_write_mark(handle, mark.stored)
        // On some file systems an overwrite needs room. What was written before is true enough: it asks for less.
        guard code == SQLITE_OK || code & 0xFF == SQLITE_FULL else {
            throw SQLiteError(code: code, doing: "marking the log's length in the database")
        }
    }

    /// Called after a commit, before it is acknowledged.
    func markCommit() throws(SQLiteError) {
        guard let (round, frames) = lock?.indexedLog else { return }
        // Nothing was written. A closed mark stays: the next commit may begin a round, for which an open one is wrong.
        if let before = try logMark, before.kind != .opening, before.round == round, before.frames == frames { return }
        logPages = frames
        try write(LogMark(.open, round, frames: frames))
    }

    /// Called before commits that are not marked: SQLite may begin a new log, whose salts are random.
    ///
    /// - Parameter frames: the length of a log that is lost, until the start has raised the floor for revisions.
    func markOpening(lost frames: Int = 0) throws(SQLiteError) {
        try write(LogMark(.opening, .none, frames: frames))
        if let lock, fsync(lock.descriptor) != 0 {
            throw SQLiteError(code: SQLITE_IOERR, doing: "syncing the header of the database")
        }
    }

    /// Called when the database has everything and its log nothing, before the next commit.
    func markEmpty() throws(SQLiteError) {
        guard let (round, _) = lock?.indexedLog else { return }
        try write(LogMark(.closed, round))
    }

    /// Whether the database has all of the log, which a reader may keep from being emptied.
    func isLogCopied() throws(SQLiteError) -> Bool {
        // Busy, frames, copied frames: https://www.sqlite.org/pragma.html#pragma_wal_checkpoint
        let result = try prepare("PRAGMA wal_checkpoint(PASSIVE)")
        return try result.step() && result.int64(1) == result.int64(2)
    }

    /// Copies all of the log to the database, and leaves nothing in it. False when a reader prevents that.
    func emptyLog() throws(SQLiteError) -> Bool {
        guard try number("PRAGMA wal_checkpoint(TRUNCATE)") == 0 else { return false }
        try markEmpty()
        return true
    }
}

/// The log's file, as a running server watches it. SQLite goes on writing to a log that has lost its name.
///
/// The descriptor is the server's own: SQLite's locks are on the index and on the database, so that to close it drops
/// none of them.
final class LogFile: Sendable {
    enum Harm: Equatable {
        /// It has no name any more, and is gone with the process.
        case deleted
        /// The name leads to another file, or to none.
        case moved
        /// The end of it is missing.
        case cut
    }

    private let path: String
    private let descriptor: Int32
    private let identity: FileIdentity

    /// Nil when there is no such file.
    init?(_ path: String) {
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        guard let identity = FileIdentity(descriptor) else {
            close(descriptor)
            return nil
        }
        self.path = path
        self.identity = identity
    }

    deinit { close(descriptor) }

    /// - Parameter frames: those that have to be in the log.
    func harm(frames: Int) -> Harm? {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        if status.st_nlink == 0 { return .deleted }
        let size = frames == 0 ? 0 : LogInspection.headerSize + frames * LogInspection.frameSize
        return Int(status.st_size) < size ? .cut : nil
    }

    /// Whether the name leads elsewhere.
    var hasMoved: Bool { FileIdentity(path) != identity }
}
