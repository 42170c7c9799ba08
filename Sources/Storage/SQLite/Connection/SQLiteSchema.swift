/// What the database file looks like.
enum SQLiteSchema {
    /// "Cncr": tells a file of ours from any other database (PRAGMA application_id).
    static let applicationID: Int64 = 0x436E_6372

    /// PRAGMA user_version. A change of the tables is one more version, and a way to it from those before
    /// (``OlderTables``).
    static let version: Int64 = 4

    /// What PRAGMA auto_vacuum says of a file that can be made smaller in steps.
    static let incrementalVacuum: Int64 = 2

    /// `facts` and `flows` are as they were in version 2.
    static let tables = """
        CREATE TABLE sessions (
            key        INTEGER PRIMARY KEY,          -- the first half of the id, ordered as ids are
            revision   INTEGER NOT NULL,
            used_at    INTEGER NOT NULL,             -- milliseconds since 1970, like every time here
            expires_at INTEGER NOT NULL,
            user_id    TEXT,
            large      INTEGER NOT NULL,             -- how many of its documents are in the table documents
            state      BLOB    NOT NULL              -- the rest: see SessionRow
        ) STRICT;
        CREATE INDEX sessions_by_user ON sessions (user_id) WHERE user_id IS NOT NULL;
        CREATE TABLE documents (                     -- those that are too large for their session's row, in pieces
            id         INTEGER PRIMARY KEY,          -- consecutive; the first is in the row
            piece      BLOB    NOT NULL
        ) STRICT;
        CREATE TABLE IF NOT EXISTS facts (           -- see StoreFacts
            name       TEXT    NOT NULL PRIMARY KEY,
            value      INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS flows (           -- versions of flows that journeys were ever on
            flow       TEXT    NOT NULL,
            version    INTEGER NOT NULL,
            states     TEXT    NOT NULL,             -- the ids of its states then, sorted, with a blank after each
            PRIMARY KEY (flow, version)
        ) STRICT, WITHOUT ROWID;
        INSERT OR IGNORE INTO facts             -- a file of version 1 has journeys whose flows it does not name
            SELECT 'flows_known', count(*) = 0 FROM sqlite_schema WHERE name = 'older_sessions';
        """

    /// Makes the tables when there are none. A file that is as it should be is not written to.
    ///
    /// - Throws: ``StoreOpeningError`` for a file of another program or of a newer version of this one, `SQLiteError`.
    static func prepare(_ connection: SQLiteConnection, path: String) throws {
        // Both are only heeded before there is a page: a file that was made without stays so until it is rewritten as a
        // whole, which a step cannot do (VACUUM runs in no transaction, and takes as long as there is to copy). The second
        // makes page 1, as which all others will be; on a file that is there it would write, and sync, for nothing.
        if try connection.number("PRAGMA page_count") == 0 {
            try connection.reserveSeals()
            try connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        }
        let found = try connection.number("PRAGMA user_version") ?? 0
        let owner = try connection.number("PRAGMA application_id") ?? 0
        let isEmpty = try connection.number("SELECT count(*) FROM sqlite_schema") == 0
        guard owner == applicationID || isEmpty else { throw StoreOpeningError.foreign(path) }
        guard found <= version else {
            throw StoreOpeningError.newer(path, version: Int(found), known: Int(version))
        }
        guard found < version else { return }
        try connection.transaction {
            if !isEmpty { try connection.execute(OlderTables.setAside) }
            try connection.execute(tables)
            try connection.execute("PRAGMA application_id = \(applicationID); PRAGMA user_version = \(version)")
        }
    }
}

extension SQLiteConnection {
    /// All of `body` or nothing.
    func transaction(_ body: () throws -> Void) throws {
        try execute("BEGIN IMMEDIATE")
        do {
            try body()
            try execute("COMMIT")
        } catch {
            if isInTransaction { try? execute("ROLLBACK") }
            throw error
        }
    }
}
