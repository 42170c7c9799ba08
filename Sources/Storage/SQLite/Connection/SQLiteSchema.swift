/// What the database file looks like, and how an older one is brought up to that.
///
/// A change of the tables is one more step at the end of `migrations`; a step that was ever released is never changed.
enum SQLiteSchema {
    /// "Cncr": tells a file of ours from any other database (PRAGMA application_id).
    static let applicationID: Int64 = 0x436E_6372

    /// What PRAGMA auto_vacuum says of a file that can be made smaller in steps.
    static let incrementalVacuum: Int64 = 2

    /// The step with index n brings a file of version n (PRAGMA user_version) to n + 1.
    static let migrations = [
        """
        CREATE TABLE sessions (
            key        INTEGER PRIMARY KEY,          -- the first half of the id, ordered as ids are
            id         BLOB    NOT NULL,             -- 16 bytes, big-endian
            token      BLOB    NOT NULL,             -- SHA-256 of the token's text
            revision   INTEGER NOT NULL,
            created_at INTEGER NOT NULL,             -- milliseconds since 1970, like every time here
            expires_at INTEGER NOT NULL,
            used_at    INTEGER NOT NULL,
            due_at     INTEGER NOT NULL,             -- when to look whether it has expired
            mode       TEXT    NOT NULL,             -- bearer or cookie
            user_id    TEXT,
            labels     TEXT,                         -- a JSON object of strings; NULL for none
            retired    BLOB,                         -- for each earlier token its digest and three times
            checksum   INTEGER NOT NULL              -- CRC-32 of all but key, used_at and due_at
        ) STRICT;
        CREATE INDEX sessions_by_user ON sessions (user_id) WHERE user_id IS NOT NULL;
        CREATE INDEX sessions_by_due ON sessions (due_at);
        CREATE TABLE services (
            session    INTEGER NOT NULL,             -- its key
            name       TEXT    NOT NULL,
            birth      INTEGER NOT NULL,             -- grows with every instance made in a session
            revision   INTEGER NOT NULL,             -- the session's at the last write
            created_at INTEGER NOT NULL,
            updated_at INTEGER NOT NULL,
            document   TEXT    NOT NULL,
            checksum   INTEGER NOT NULL,             -- CRC-32 of the other columns, with the whole id
            PRIMARY KEY (session, name)
        ) STRICT, WITHOUT ROWID;
        """,
        """
        CREATE TABLE facts (
            name       TEXT    NOT NULL PRIMARY KEY,
            value      INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        INSERT INTO facts SELECT 'sessions', count(*) FROM sessions; -- how many there are; counted by the triggers
        CREATE TRIGGER count_created AFTER INSERT ON sessions
            BEGIN UPDATE facts SET value = value + 1 WHERE name = 'sessions'; END;
        CREATE TRIGGER count_ended AFTER DELETE ON sessions
            BEGIN UPDATE facts SET value = value - 1 WHERE name = 'sessions'; END;
        INSERT INTO facts SELECT 'flows_known', count(*) = 0 FROM sessions; -- whether flows has all that are in use
        CREATE TABLE flows (                         -- versions of flows that journeys were ever on
            flow       TEXT    NOT NULL,
            version    INTEGER NOT NULL,
            states     TEXT    NOT NULL,             -- the ids of its states then, sorted, with a blank after each
            PRIMARY KEY (flow, version)
        ) STRICT, WITHOUT ROWID;
        """,
        recent(.even) + recent(.odd),
    ]

    /// A table of rows that are to take the places of those in `services`: the log of recent writes (``RecentLog``). What is
    /// not newer than its session's revision means nothing.
    private static func recent(_ table: RecentTable) -> String {
        """
        CREATE TABLE \(table.name) (
            seq        INTEGER PRIMARY KEY,          -- in the order of commits, over both tables
            session    INTEGER NOT NULL,             -- its key
            id         BLOB    NOT NULL,
            name       TEXT    NOT NULL,             -- from here on as in services
            birth      INTEGER NOT NULL,
            revision   INTEGER NOT NULL,             -- the session's as well
            created_at INTEGER NOT NULL,
            updated_at INTEGER NOT NULL,
            document   TEXT    NOT NULL,
            checksum   INTEGER NOT NULL
        ) STRICT;
        """
    }

    /// Makes the tables, or brings them up to date, in one transaction.
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
        try connection.execute("BEGIN IMMEDIATE")
        do {
            let version = try connection.number("PRAGMA user_version") ?? 0
            let owner = try connection.number("PRAGMA application_id") ?? 0
            let isEmpty = try connection.number("SELECT count(*) FROM sqlite_schema") == 0
            guard owner == applicationID || isEmpty else { throw StoreOpeningError.foreign(path) }
            guard version <= migrations.count else {
                throw StoreOpeningError.newer(path, version: Int(version), known: migrations.count)
            }
            for migration in migrations[Int(version)...] { try connection.execute(migration) }
            try connection.execute("PRAGMA application_id = \(applicationID)")
            try connection.execute("PRAGMA user_version = \(migrations.count)")
            try connection.execute("COMMIT")
        } catch {
            if connection.isInTransaction { try? connection.execute("ROLLBACK") }
            throw error
        }
    }
}
