import CSQLite
import Sessions

/// Looks at everything in a database and says what is wrong, each with its place.
package struct StoreCheck {
    /// What there is, as far as it can be read.
    package private(set) var sessions = 0
    package private(set) var services = 0
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

    /// Each row with the documents that lie beside it, and whether as many are there as there should be.
    private mutating func checkSessions(_ connection: SQLiteConnection) throws(SQLiteError) {
        let rows = try connection.prepare("SELECT \(SessionRow.columns) FROM sessions")
        let reader = try PieceReader(connection)
        var (pieces, damaged) = (0, 0)
        while try rows.step() {
            sessions += 1
            let key = rows.int64(0)
            guard let row = SessionRow(rows) else {
                damaged += 1
                found("the session with the key \(key): the row does not fit its checksum")
                continue
            }
            services += row.services.count
            for service in row.services {
                if case .beside(let place) = service.content { pieces += place.ids.count }
                if try reader.bytes(of: service) == nil {
                    found("\(row.id), service \(Self.visible(service.name)): the document does not fit its checksum")
                }
                if service.revision > row.revision {
                    found("\(row.id), service \(Self.visible(service.name)): it was written later than its session")
                }
            }
        }
        let counted = try connection.number("SELECT value FROM facts WHERE name = 'sessions'") ?? 0
        if counted != Int64(sessions) {
            found(
                "sessions: \(counted) are counted and \(sessions) are there: rows are "
                    + "missing, or came from elsewhere")
        }
        let found = Int(try connection.number("SELECT count(*) FROM documents") ?? 0)
        // Those of damaged rows belong to nobody.
        if found < pieces || (found > pieces && damaged == 0) {
            self.found("documents: sessions have \(pieces) pieces of large documents, and \(found) are there")
        }
    }

    /// A damaged name may be anything, and is shown on a terminal.
    private static func visible(_ name: String) -> String {
        String(
            String.UnicodeScalarView(name.unicodeScalars.prefix(64).map { (33...126).contains($0.value) ? $0 : "?" }))
    }
}
