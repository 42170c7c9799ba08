import Storage

/// Reads everything in a database and reports each error with its place.
package struct StoreCheck {
    /// The counts of what can be read.
    package private(set) var sessions = 0
    package private(set) var services = 0
    package private(set) var findings = 0
    private let keys: DocumentKeys?
    private let tell: (String) -> Void

    private init(keys: DocumentKeys?, tell: @escaping (String) -> Void) {
        self.keys = keys
        self.tell = tell
    }

    /// Reads the whole file in one state of it; a server may go on writing.
    ///
    /// - Parameters:
    ///   - keys: open what is sealed; without them it is only compared with its checksums.
    ///   - isCopy: whether it is a file without a log that nobody writes to.
    ///   - tell: gets each finding as a sentence.
    /// - Throws: ``StoreOpeningError`` for a file that is not a store, or not one that this program can read.
    package static func run(
        _ path: String, keys: DocumentKeys? = nil, isCopy: Bool = false, tell: @escaping (String) -> Void
    ) throws -> StoreCheck {
        if let keys { try UsedKeys.check(try StoreFile(path, isCopy: isCopy).connection, path, against: keys) }
        var check = StoreCheck(keys: keys, tell: tell)
        try StoreFile.read(path, isCopy: isCopy) { (file) throws(SQLiteError) in
            let connection = file.connection
            if let finding = file.log.finding { check.found(finding) }
            check.part("the pages") { (check) throws(SQLiteError) in try check.checkPages(connection) }
            check.part("the sessions") { (check) throws(SQLiteError) in try check.checkSessions(connection) }
            // Every page that can be reached has been read by now.
            for page in connection.takeDamagedPages().sorted() {
                check.found("page \(page): it does not match its checksum")
            }
        }
        return check
    }

    /// An error that ends a part is one finding; the other parts are checked all the same.
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

    /// SQLite's own check: the structure of the pages, and whether each index has the content of its table.
    private mutating func checkPages(_ connection: SQLiteConnection) throws(SQLiteError) {
        let results = try connection.prepare("PRAGMA integrity_check(\(Self.mostPageFindings))")
        let hasLeaked = try connection.hasLeakedPages
        while try results.step() {
            // Several findings may share a row, under a headline.
            for result in results.text(0).split(separator: "\n") where result != "ok" && !result.hasPrefix("***") {
                if hasLeaked, Self.isOfLeak(result) { continue }
                found("pages: \(result)")
            }
        }
    }

    /// What something that was made anew leaves behind: it costs space only.
    private static func isOfLeak(_ result: Substring) -> Bool {
        result.hasSuffix("never used") || result.contains("ptr map")
    }

    /// In a badly damaged file further findings say nothing new.
    private static let mostPageFindings = 1_000

    /// Each row with its large documents, and whether the numbers of both are right.
    private mutating func checkSessions(_ connection: SQLiteConnection) throws(SQLiteError) {
        let rows = try connection.prepare("SELECT \(SessionRow.columns) FROM sessions")
        let reader = try PieceReader(connection)
        var (pieces, damaged) = (0, 0)
        while try rows.step() {
            sessions += 1
            let key = rows.int64(0)
            guard var row = SessionRow(rows) else {
                damaged += 1
                found("the session with the key \(key): the row does not match its checksum")
                continue
            }
            let seal = row.isSealed ? keys.map { SessionSeal($0, of: row.id) } : nil
            if seal != nil || !row.isSealed, !row.openLabels(with: seal) {
                found("\(row.id): the labels are damaged")
            }
            services += row.services.count
            for service in row.services {
                let name = "\(row.id), service \(Self.visible(service.name))"
                if case .beside(let place) = service.content { pieces += place.ids.count }
                if try reader.bytes(of: service) == nil {
                    found("\(name): the document does not match its checksum")
                } else if seal != nil, try reader.text(of: service, seal) == nil {
                    found("\(name): the document is not what was sealed for it")
                }
                if service.revision > row.revision { found("\(name): its revision is higher than its session's") }
            }
        }
        let counted = try connection.number("SELECT value FROM facts WHERE name = 'sessions'") ?? 0
        if counted != Int64(sessions) {
            found("sessions: the count is \(counted) and \(sessions) exist: rows are missing, or came from elsewhere")
        }
        let stored = Int(try connection.number("SELECT count(*) FROM documents") ?? 0)
        // The pieces of damaged rows belong to no session, nor those that stayed on damaged pages.
        let hasLeaked = try connection.hasLeakedPages
        if stored < pieces || (stored > pieces && damaged == 0 && !hasLeaked) {
            found("documents: sessions have \(pieces) pieces of large documents, and \(stored) exist")
        }
    }

    /// A damaged name may contain anything, and is shown on a terminal.
    static func visible(_ name: String) -> String {
        String(
            String.UnicodeScalarView(name.unicodeScalars.prefix(64).map { (33...126).contains($0.value) ? $0 : "?" }))
    }
}
