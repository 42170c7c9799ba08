import CSQLite
import Sessions

/// Looks at everything in a database and says what is wrong, each with its place.
package struct StoreCheck {
    /// What there is, as far as it can be read.
    package private(set) var sessions = 0
    package private(set) var services = 0
    /// Rows of the log of recent writes, the newest of which are not among the others yet.
    package private(set) var recentWrites = 0
    package private(set) var findings = 0
    private let tell: (String) -> Void

    private init(tell: @escaping (String) -> Void) { self.tell = tell }

    /// Reads the whole file, in one state of it; a server may go on writing.
    ///
    /// - Parameter tell: is told of each thing that is wrong, in a sentence.
    /// - Throws: ``StoreOpeningError`` for what is no store, or none that this program can read.
    package static func run(_ path: String, tell: @escaping (String) -> Void) throws -> StoreCheck {
        let file = try StoreFile(path, isCurrent: true)
        var check = StoreCheck(tell: tell)
        do {
            try file.snapshot { check.look(file.connection) }
        } catch let error as SQLiteError {
            throw StoreOpeningError.unusable(path, reason: error.description)
        }
        return check
    }

    private mutating func look(_ connection: SQLiteConnection) {
        part("the pages") { (check) throws(SQLiteError) in try check.checkPages(connection) }
        part("the sessions") { (check) throws(SQLiteError) in try check.checkSessions(connection) }
        part("the services") { (check) throws(SQLiteError) in try check.checkServices(connection) }
        part("the recent writes") { (check) throws(SQLiteError) in try check.checkRecentWrites(connection) }
        part("how they belong together") { (check) throws(SQLiteError) in try check.checkRelations(connection) }
        // By now every page that anything is on was read, as far as its place is known.
        for page in connection.takeDamagedPages().sorted() { found("page \(page): it does not fit its checksum") }
    }

    /// What cannot be read to its end is one finding; the other parts are looked at even so.
    private mutating func part(_ name: String, _ body: (inout StoreCheck) throws(SQLiteError) -> Void) {
        do throws(SQLiteError) {
            try body(&self)
        } catch {
            found("\(name) cannot be read to the end: \(error.description)")
        }
    }

    private mutating func found(_ sentence: String) {
        findings += 1
        tell(sentence)
    }

    /// SQLite's own check: the structure of the pages, and whether each index has what its table has.
    private mutating func checkPages(_ connection: SQLiteConnection) throws(SQLiteError) {
        let answers = try connection.prepare("PRAGMA integrity_check(\(Self.mostPageFindings))")
        while try answers.step() {
            let answer = answers.text(0)
            if answer != "ok" { found("pages: \(answer)") }
        }
    }

    /// In a file that is badly damaged further ones say nothing new.
    private static let mostPageFindings = 1_000

    private mutating func checkSessions(_ connection: SQLiteConnection) throws(SQLiteError) {
        let rows = try connection.prepare("SELECT \(SessionRow.columns), key FROM sessions")
        let key = Self.count(SessionRow.columns)
        while try rows.step() {
            sessions += 1
            let name = Self.name(rows.bytes(0), key: rows.int64(key))
            guard let row = SessionRow(rows), row.id.key == rows.int64(key) else {
                found("\(name): the row does not fit its checksum")
                continue
            }
            if row.stored(with: []) == nil { found("\(name): the row has what this program never writes") }
        }
    }

    /// Those of a session that is not there are checked elsewhere: the checksum is over the session's id, too.
    private mutating func checkServices(_ connection: SQLiteConnection) throws(SQLiteError) {
        let rows = try connection.prepare(
            """
            SELECT \(ServiceRow.columns.split(separator: ", ").map { "services." + $0 }.joined(separator: ", ")),
            sessions.id, services.session FROM services LEFT JOIN sessions ON sessions.key = services.session
            """)
        let session = Self.count(ServiceRow.columns)
        while try rows.step() {
            services += 1
            guard !rows.isNull(session) else { continue }
            let name = Self.name(rows.bytes(session), key: rows.int64(session + 1))
            guard let id = SessionID(bytes: rows.bytes(session)), ServiceRow(rows, of: id) != nil else {
                found("\(name), service \(Self.visible(rows.text(0))): the row does not fit its checksum")
                continue
            }
        }
    }

    /// Those of a session that has ended are as good as gone.
    private mutating func checkRecentWrites(_ connection: SQLiteConnection) throws(SQLiteError) {
        for table in RecentTable.allCases {
            let rows = try connection.prepare("SELECT \(RecentTable.columns) FROM \(table.name)")
            while try rows.step() {
                recentWrites += 1
                let (key, bytes) = (rows.int64(7), rows.bytes(8))
                guard let id = SessionID(bytes: bytes), id.key == key, ServiceRow(rows, of: id) != nil else {
                    found(
                        "\(Self.name(bytes, key: key)), recent write \(rows.int64(9)) of service "
                            + "\(Self.visible(rows.text(0))): the row does not fit its checksum")
                    continue
                }
            }
        }
    }

    private mutating func checkRelations(_ connection: SQLiteConnection) throws(SQLiteError) {
        let orphans = try connection.prepare(
            "SELECT session, name FROM services WHERE session NOT IN (SELECT key FROM sessions)")
        while try orphans.step() {
            found(
                "the session with the key \(orphans.int64(0)), service \(Self.visible(orphans.text(1))): "
                    + "there is no such session")
        }
        let later = try connection.prepare(
            """
            SELECT id, key, name FROM services JOIN sessions ON sessions.key = services.session
            WHERE services.revision > sessions.revision
            """)
        while try later.step() {
            found(
                "\(Self.name(later.bytes(0), key: later.int64(1))), service \(Self.visible(later.text(2))): "
                    + "it was written later than its session")
        }
        let counted = try connection.number("SELECT value FROM facts WHERE name = 'sessions'")
        if counted != Int64(sessions) {
            found(
                "sessions: \(counted.map(String.init) ?? "no number") are counted and \(sessions) are there: rows are "
                    + "missing, or came from elsewhere")
        }
    }

    private static func count(_ columns: String) -> Int32 { Int32(columns.split(separator: ",").count) }

    /// As the session is called elsewhere, if it has an id that goes with its key.
    private static func name(_ bytes: UnsafeRawBufferPointer, key: Int64) -> String {
        if let id = SessionID(bytes: bytes), id.key == key { return "\(id)" }
        return "the session with the key \(key)"
    }

    /// A damaged name may be anything, and is shown on a terminal.
    private static func visible(_ name: String) -> String {
        String(
            String.UnicodeScalarView(name.unicodeScalars.prefix(64).map { (33...126).contains($0.value) ? $0 : "?" }))
    }
}
