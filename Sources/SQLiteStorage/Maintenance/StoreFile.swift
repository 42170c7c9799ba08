import CSQLite
import Glibc
import Storage

/// A database as a command sees it from outside, whether a server uses it or not.
///
/// The connection only reads. SQLite before 3.51.3 can harm a file in which two processes write or checkpoint at once
/// (the "WAL-reset" bug); a connection that only reads never checkpoints, not even when it is the last to close.
struct StoreFile {
    let connection: SQLiteConnection
    /// The log beside the database, compared with what the database says of it.
    let log: LogStanding

    /// - Parameters:
    ///   - oldest: the lowest version of the tables that will do.
    ///   - isCopy: whether it is a file without a log that nobody writes to; then no file is made beside it.
    /// - Throws: ``StoreOpeningError``.
    init(_ path: String, from oldest: Int64 = SQLiteSchema.version, isCopy: Bool = false) throws {
        guard access(path, F_OK) == 0 else { throw StoreOpeningError.missing(path) }
        if let problem = StorePlace(path).problemOfKind { throw problem }
        if let problem = StorePlace(path).problemOfSize { throw problem }
        do {
            connection = try SQLiteConnection(path, isCopy ? .fileOnly : .read)
            log = try Self.standing(of: connection, path)
            guard try SQLiteSchema.isThere(in: connection, path, from: oldest) else {
                throw StoreOpeningError.unfinished(path)
            }
        } catch let error as SQLiteError {
            // Only the first transaction of a new file has a journal of that kind, and a connection that only reads
            // cannot undo it.
            let isUnfinished = error.primaryCode == SQLITE_READONLY || access(path + "-journal", F_OK) == 0
            throw isUnfinished
                ? StoreOpeningError.unfinished(path) : .unusable(path, reason: error.description)
        }
    }

    /// Under the most load, a server begins a new round ten times a second.
    private static let mostAttempts = 50

    /// - Throws: ``StoreOpeningError/foreignLog(_:)``.
    private static func standing(of connection: SQLiteConnection, _ path: String) throws -> LogStanding {
        var mark = try connection.freshLogMark
        var standing = LogStanding(mark, try LogInspection(of: path))
        for _ in 0..<Self.mostAttempts where standing.verdict != .sound {
            // A running server may have begun a new round meanwhile.
            let now = try connection.freshLogMark
            if now?.round == mark?.round, now?.kind == mark?.kind { break }
            mark = now
            standing = LogStanding(mark, try LogInspection(of: path))
        }
        guard standing.verdict != .foreign, standing.verdict != .former else {
            throw StoreOpeningError.foreignLog(path)
        }
        return standing
    }

    /// Runs `body` in one transaction, so that everything it reads is of one state. The log cannot restart meanwhile.
    ///
    /// - Throws: ``StoreOpeningError`` in place of an error of SQLite.
    static func read<Result>(
        _ path: String, isCopy: Bool = false, _ body: (StoreFile) throws(SQLiteError) -> Result
    ) throws -> Result {
        let file = try StoreFile(path, isCopy: isCopy)
        do throws(SQLiteError) {
            try file.connection.execute("BEGIN")
            defer { try? file.connection.execute("ROLLBACK") }
            return try body(file)
        } catch {
            throw StoreOpeningError.unusable(path, reason: error.description)
        }
    }

    static func size(of path: String) -> Int {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : 0
    }
}
