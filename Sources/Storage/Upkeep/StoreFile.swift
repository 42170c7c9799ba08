import CSQLite
import Glibc

/// A database that somebody looks at from outside, whether a server has it or not.
///
/// Whoever looks only reads: of SQLite's own processes two may write and check-point at once, of ours there is one, and
/// an error of SQLite before 3.51.3 ("WAL-reset") can harm a file that two do that to. A connection that only reads
/// does not write the log back either, not even when it is the last to close.
struct StoreFile {
    let path: String
    let connection: SQLiteConnection
    /// Of the tables.
    let version: Int

    /// - Parameter isCurrent: whether the tables have to be as this program makes them.
    /// - Throws: ``StoreOpeningError``.
    init(_ path: String, isCurrent: Bool) throws {
        guard access(path, F_OK) == 0 else { throw StoreOpeningError.missing(path) }
        if let problem = StorePlace(path).problemOfKind { throw problem }
        let known = Int(SQLiteSchema.version)
        guard Self.size(of: path) > 0 else { throw StoreOpeningError.unfinished(path) }
        do {
            connection = try SQLiteConnection(path, .read)
            guard try connection.number("PRAGMA application_id") == SQLiteSchema.applicationID else {
                throw StoreOpeningError.foreign(path)
            }
            version = Int(try connection.number("PRAGMA user_version") ?? 0)
        } catch let error as SQLiteError {
            // Whoever only reads cannot undo a transaction that was interrupted: the first one of a new file is the only one
            // that has a journal of that kind.
            let isUnfinished = error.primaryCode == SQLITE_READONLY || access(path + "-journal", F_OK) == 0
            throw isUnfinished
                ? StoreOpeningError.unfinished(path) : .unusable(path, reason: error.description)
        }
        guard version <= known else { throw StoreOpeningError.newer(path, version: version, known: known) }
        guard version == known || !isCurrent else {
            throw StoreOpeningError.older(path, version: version, known: known)
        }
        self.path = path
    }

    /// Everything that `body` reads is of one state of the database. The log cannot begin anew meanwhile: it grows by
    /// what is written.
    func snapshot<Result>(_ body: () throws -> Result) throws -> Result {
        try connection.execute("BEGIN")
        defer { try? connection.execute("ROLLBACK") }
        return try body()
    }

    static func size(of path: String) -> Int {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : 0
    }
}
