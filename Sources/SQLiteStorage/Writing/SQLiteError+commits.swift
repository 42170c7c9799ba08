import CSQLite

extension SQLiteError {
    static func log(_ harm: LogFile.Harm, isSaved: Bool) -> SQLiteError {
        let what =
            switch harm {
            case .deleted: "was deleted"
            case .moved: "was moved or replaced"
            case .cut: "was cut"
            }
        return SQLiteError(
            code: SQLITE_READONLY,
            sentence: "The log of the database \(what) while the server uses it. "
                + (isSaved
                    ? "All that was acknowledged has been copied to the database. "
                    : "What is only in the log could not be copied to the database. ")
                + "Nothing is written until the server is started again.")
    }

    /// Whether one statement is at fault rather than the file as a whole.
    var isOfOneJob: Bool {
        if isDamage { return true }
        return switch primaryCode {
        case SQLITE_FULL, SQLITE_IOERR, SQLITE_CANTOPEN, SQLITE_READONLY, SQLITE_NOTADB, SQLITE_BUSY, SQLITE_LOCKED,
            SQLITE_PROTOCOL:
            false
        default: true
        }
    }
}
