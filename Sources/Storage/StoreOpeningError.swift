import CSQLite

/// Why a store cannot be used, in a sentence that says what to do.
package enum StoreOpeningError: Error, CustomStringConvertible, Equatable {
    /// Some other program's database.
    case foreign(String)
    /// There is no such file.
    case missing(String)
    /// Being made, or its making was interrupted.
    case unfinished(String)
    /// Written by an older version of this program, and not brought up to date yet.
    case older(String, version: Int, known: Int)
    /// Written by a newer version of this program.
    case newer(String, version: Int, known: Int)
    /// Another process has it.
    case inUse(String)
    /// The system has no thread left for it.
    case noThread
    /// The path cannot be opened or written, or is no database.
    case unusable(String, reason: String)

    /// What SQLite said of a file that it was to open.
    init(_ error: SQLiteError, _ path: String) {
        self =
            switch error.primaryCode {
            // Whoever has it is no server of ours: that would hold the lock.
            case SQLITE_BUSY, SQLITE_LOCKED: .inUse(path)
            case SQLITE_NOTADB: .unusable(path, reason: "it is no SQLite database: name another file")
            case SQLITE_FULL: .unusable(path, reason: "its disk is full: make room, or name another file")
            case SQLITE_CANTOPEN, SQLITE_READONLY, SQLITE_PERM:
                .unusable(path, reason: "\(error): \(StorePlace.advice)")
            default: .unusable(path, reason: error.description)
            }
    }

    package var description: String {
        switch self {
        case .foreign(let path):
            "\(path) is a database of another program: name another file, or one that does not exist yet."
        case .missing(let path):
            "\(path) is not there: nothing was ever stored in it, or another file is meant."
        case .unfinished(let path):
            "\(path) is being made, or its making was interrupted, and nothing is stored in it: start the server on it once."
        case .older(let path, let version, let known):
            "\(path) has version \(version) of the tables, and this program wants \(known): start the server on it once, "
                + "which brings it up to date."
        case .newer(let path, let version, let known):
            "\(path) has version \(version) of the tables, and this program knows up to \(known): use a newer program, "
                + "or another file."
        case .inUse(let path):
            "\(path) is in use by another process: end that one, or name another file."
        case .noThread: "The system has no thread left for the store: raise its limit, or end something else."
        case .unusable(let path, let reason):
            "\(path) cannot be used as a store: \(reason)."
        }
    }
}
