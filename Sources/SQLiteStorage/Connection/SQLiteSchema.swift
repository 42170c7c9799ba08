import CPageChecksums
import Storage

/// The tables of the database file.
enum SQLiteSchema {
    /// "Cncr": tells our files from other databases (PRAGMA application_id).
    static let applicationID: Int64 = 0x436E_6372

    /// PRAGMA user_version. A change of the tables is a higher version, and a way to it from the versions before.
    static let version: Int64 = 10

    /// From this version on rows are as they are now. Version 4 had no table for tasks, 4 to 6 none for replays, 4 to 7
    /// no times of sessions and no column `kept` of tasks, 8 no notices, 4 to 9 no index of journeys and no users of
    /// tasks, and programs of 5 cannot read sealed rows.
    static let firstWithRows: Int64 = 4

    /// The bytes of a page: SQLite's default, which no program of ours changes.
    static let pageSize = Int(CPAGECHECKSUMS_PAGE)

    /// The value of PRAGMA auto_vacuum in a file that can shrink in steps.
    static let incrementalVacuum: Int64 = 2

    /// See ``StoredTask``. `session` is the key of the session, and `low` the second half of its id; only a notice has
    /// `ends_at`. SQLite keeps the text, and all tables together must fit on the first page: a lost page of another
    /// is mended.
    private static let tasks = """
        CREATE TABLE tasks (session INTEGER NOT NULL, journey TEXT NOT NULL, number INTEGER NOT NULL,
        low INTEGER NOT NULL, name TEXT NOT NULL, attempts INTEGER NOT NULL, created_at INTEGER NOT NULL,
        ends_at INTEGER NOT NULL, attempt INTEGER NOT NULL, due INTEGER NOT NULL, claimed INTEGER NOT NULL,
        ready_at INTEGER NOT NULL, over_at INTEGER NOT NULL, kept INTEGER NOT NULL DEFAULT 0, notice TEXT,
        user_id TEXT, PRIMARY KEY (session, journey, number)) STRICT, WITHOUT ROWID;
        \(tasksReady)
        \(tasksOver)
        \(tasksByUser)
        """
    private static let tasksKept = "ALTER TABLE tasks ADD COLUMN kept INTEGER NOT NULL DEFAULT 0;"
    private static let tasksNotice = "ALTER TABLE tasks ADD COLUMN notice TEXT;"
    private static let tasksUser = """
        ALTER TABLE tasks ADD COLUMN user_id TEXT;
        UPDATE tasks SET user_id = nullif(substr(notice, instr(notice, ' ') + 1), '') WHERE notice IS NOT NULL;
        \(tasksByUser)
        """
    private static let tasksByUser =
        "CREATE INDEX tasks_by_user ON tasks (user_id) WHERE user_id IS NOT NULL;"
    private static let tasksReady = "CREATE INDEX tasks_ready ON tasks (name, ready_at);"
    private static let tasksOver = "CREATE INDEX tasks_over ON tasks (over_at);"
    private static let sessionsByUser =
        "CREATE INDEX sessions_by_user ON sessions (user_id) WHERE user_id IS NOT NULL;"
    private static let sessionsDue = "CREATE INDEX sessions_due ON sessions (due_at) WHERE due_at IS NOT NULL;"
    /// What older tables lack: the times of sessions, which follow from the journeys. A task had to be looked at when
    /// its time was over, too.
    private static let times = """
        ALTER TABLE sessions ADD COLUMN due_at INTEGER;
        ALTER TABLE sessions ADD COLUMN kept_until INTEGER;
        \(sessionsDue)
        UPDATE tasks SET over_at = iif(attempt < attempts, \(Int64.max), due);
        INSERT OR REPLACE INTO facts VALUES ('tasks_lost', 1);
        """
    /// See ``PlaceTable``.
    private static let journeys = """
        CREATE TABLE journeys (session INTEGER, place INTEGER, count INTEGER NOT NULL, PRIMARY KEY (session, place))
        STRICT, WITHOUT ROWID;
        \(journeysAt)
        """
    private static let journeysAt = "CREATE INDEX journeys_at ON journeys (place, session);"
    private static let places =
        "CREATE TABLE places (id INTEGER PRIMARY KEY, name TEXT NOT NULL, count INTEGER NOT NULL) STRICT;"
    private static let index = """
        \(journeys)
        \(places)
        INSERT OR REPLACE INTO facts VALUES ('places_lost', 1);
        """
    /// See ``StoreFacts``.
    private static let facts =
        "CREATE TABLE facts (name TEXT NOT NULL PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;"
    /// The versions of flows that journeys have ever used, with the ids of their states then, sorted, each followed by
    /// a blank.
    private static let flows = """
        CREATE TABLE flows (flow TEXT NOT NULL, version INTEGER NOT NULL, states TEXT NOT NULL,
        PRIMARY KEY (flow, version)) STRICT, WITHOUT ROWID;
        """

    /// Everything that follows from the table `sessions`, or may be lost: what is damaged of it is made anew
    /// (``DerivedObject``). Tables come before their indexes.
    ///
    /// To count rows, `count(*)`, SQLite may read another index than the one that is named.
    static let derived =
        [
            DerivedObject(name: "facts", sql: facts, probe: "SELECT max(value) FROM facts"),
            DerivedObject(name: "flows", sql: flows, probe: "SELECT sum(length(states)) FROM flows"),
            DerivedObject(name: "tasks", sql: tasks, probe: "SELECT count(*) FROM tasks NOT INDEXED"),
            DerivedObject(
                name: "tasks_ready", sql: tasksReady, probe: "SELECT count(ready_at) FROM tasks INDEXED BY tasks_ready"),
            DerivedObject(
                name: "tasks_over", sql: tasksOver, probe: "SELECT count(over_at) FROM tasks INDEXED BY tasks_over"),
            DerivedObject(
                name: "tasks_by_user", sql: tasksByUser,
                probe: "SELECT count(*) FROM tasks INDEXED BY tasks_by_user WHERE user_id IS NOT NULL"),
            DerivedObject(
                name: "sessions_by_user", sql: sessionsByUser,
                probe: "SELECT count(*) FROM sessions INDEXED BY sessions_by_user WHERE user_id IS NOT NULL"),
            DerivedObject(
                name: "sessions_due", sql: sessionsDue,
                probe: "SELECT count(*) FROM sessions INDEXED BY sessions_due WHERE due_at IS NOT NULL"),
            DerivedObject(name: "journeys", sql: journeys, probe: "SELECT sum(count) FROM journeys NOT INDEXED"),
            DerivedObject(
                name: "journeys_at", sql: journeysAt, probe: "SELECT count(place) FROM journeys INDEXED BY journeys_at"),
            DerivedObject(name: "places", sql: places, probe: "SELECT sum(count) FROM places"),
        ] + ReplayTable.derived

    /// Of `sessions`, `key` is the first half of the id, in the order of ids, `large` counts the documents that are in
    /// the table `documents`, and `state` has the rest (``SessionRow``). Times are milliseconds since 1970, like all
    /// here; `due_at` and `kept_until` are the ``SessionTimes``. `documents` has those that are too large for their
    /// session's row, in pieces with consecutive ids, the first of which is in the row.
    static let tables = """
        CREATE TABLE sessions (key INTEGER PRIMARY KEY, revision INTEGER NOT NULL, used_at INTEGER NOT NULL,
        expires_at INTEGER NOT NULL, user_id TEXT, large INTEGER NOT NULL, state BLOB NOT NULL, due_at INTEGER,
        kept_until INTEGER) STRICT;
        \(sessionsByUser)
        \(sessionsDue)
        CREATE TABLE documents (id INTEGER PRIMARY KEY, piece BLOB NOT NULL) STRICT;
        \(facts)
        \(flows)
        INSERT INTO facts VALUES ('flows_known', 1);
        \(tasks)
        \(ReplayTable.sql)
        \(journeys)
        \(places)
        """

    /// Whether a database has the tables; false when it is empty.
    ///
    /// - Parameter oldest: the lowest version that will do.
    /// - Throws: ``StoreOpeningError`` for a database of another program or of another version of this one,
    ///   `SQLiteError`.
    static func isThere(in connection: SQLiteConnection, _ path: String, from oldest: Int64 = version) throws -> Bool {
        guard try connection.number("PRAGMA application_id") == applicationID else {
            guard try connection.number("SELECT count(*) FROM sqlite_schema") == 0 else {
                throw StoreOpeningError.foreign(path)
            }
            return false
        }
        try check(version: try connection.number("PRAGMA user_version") ?? 0, path, from: oldest)
        // A program that copied tables of version 1 to 3 was interrupted, and nothing here reads the rest.
        guard
            try connection.number("SELECT count(*) FROM sqlite_schema WHERE name = 'older_sessions'") == 0
                || connection.number("SELECT value FROM facts WHERE name = 'migrated'") == .max
        else {
            throw StoreOpeningError.unusable(
                path,
                reason:
                    "its upgrade was interrupted: let the program that began it finish")
        }
        guard try connection.number("PRAGMA page_size") == Int64(pageSize) else {
            throw StoreOpeningError.unusable(path, reason: "another program has changed the size of its pages")
        }
        return true
    }

    static func check(version found: Int64, _ path: String, from oldest: Int64) throws(StoreOpeningError) {
        guard (oldest...version).contains(found) else {
            let isUpgraded = (firstWithRows..<version).contains(found)
            throw .otherVersion(path, version: Int(found), known: Int(version), isUpgraded: isUpgraded)
        }
    }

    /// What makes the tables of another version those of this one.
    private static func missing(in version: Int64) -> String {
        let before10 =
            switch version {
            case 4: tasks + ReplayTable.sql + times
            case 9: tasksUser
            case 8: tasksNotice + tasksUser
            default: tasksKept + tasksNotice + tasksUser + (version < 7 ? ReplayTable.sql : "") + times
            }
        return before10 + index
    }

    /// Makes the tables that are missing. A file that has them is not written to.
    ///
    /// - Parameter lost: how many frames the log has lost, which is reported later.
    /// - Throws: as ``isThere(in:_:from:)``.
    static func prepare(_ connection: SQLiteConnection, path: String, lost: Int = 0) throws {
        // SQLite heeds both only before the first page exists. In any other file PRAGMA auto_vacuum would write, and
        // sync, for nothing: only VACUUM changes that, which runs in no transaction and takes as long as the file is
        // large.
        if try connection.number("PRAGMA page_count") == 0 {
            try connection.reservePageChecksums()
            try connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        }
        var missing = tables
        if try isThere(in: connection, path, from: firstWithRows) {
            let found = try connection.number("PRAGMA user_version")
            guard found != version else { return }
            missing = Self.missing(in: found ?? version)
            // The log may be of a former run, or a new one.
            try connection.markOpening(lost: lost)
        }
        try connection.transaction { () throws(SQLiteError) in
            try connection.execute(
                "\(missing) PRAGMA application_id = \(applicationID); PRAGMA user_version = \(version)")
        }
    }
}
