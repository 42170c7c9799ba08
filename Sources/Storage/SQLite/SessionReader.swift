import CSQLite
import Sessions

/// The statements that read sessions. What is damaged is reported, and as if it were not there.
struct SessionReader {
    private let connection: SQLiteConnection
    private let names: ServiceNames
    private let report: @Sendable (String) -> Void
    private let reportPage: @Sendable (UInt32) -> Void
    private let selectSession: SQLiteStatement
    private let selectServices: SQLiteStatement
    private let selectUser: SQLiteStatement
    private let selectPage: SQLiteStatement

    /// - Parameters:
    ///   - report: is told of each damaged row, in a sentence.
    ///   - reportPage: is told of each page that does not fit its checksum, perhaps again and again.
    init(
        _ connection: SQLiteConnection, names: ServiceNames, report: @escaping @Sendable (String) -> Void,
        reportPage: @escaping @Sendable (UInt32) -> Void = { _ in }
    ) throws(SQLiteError) {
        self.reportPage = reportPage
        self.connection = connection
        self.names = names
        self.report = report
        selectSession = try connection.prepare("SELECT \(SessionRow.columns) FROM sessions WHERE key = ?1 AND id = ?2")
        selectServices = try connection.prepare(
            "SELECT \(ServiceRow.columns) FROM services WHERE session = ?1 ORDER BY birth")
        selectUser = try connection.prepare(
            "SELECT \(SessionRow.columns) FROM sessions WHERE user_id = ?1 ORDER BY key")
        selectPage = try connection.prepare(
            "SELECT \(SessionRow.columns) FROM sessions WHERE key >= ?1 ORDER BY key")
    }

    func session(_ id: SessionID) throws(SQLiteError) -> StoredSession? {
        do throws(SQLiteError) {
            return try snapshot { () throws(SQLiteError) in try current(id) }
        } catch  where error.primaryCode == SQLITE_CORRUPT {
            report("The pages that \(id) is on are damaged (\(error)); it is as if it were not there.")
            return nil
        }
    }

    /// The same within a transaction that somebody else has begun.
    func current(_ id: SessionID) throws(SQLiteError) -> StoredSession? {
        try selectSession.bind(1, id.key)
        try id.withBytes { bytes throws(SQLiteError) in try selectSession.bind(2, blob: bytes) }
        return try sessions(selectSession).first
    }

    /// Nil when it is not known of all sessions.
    func usedFlows() throws(SQLiteError) -> [UsedFlow]? {
        try snapshot { () throws(SQLiteError) in
            guard try connection.number("SELECT value FROM facts WHERE name = 'flows_known'") == 1 else { return nil }
            let rows = try connection.prepare("SELECT flow, version, states FROM flows")
            var flows: [UsedFlow] = []
            while try rows.step() {
                flows.append(UsedFlow(flow: rows.text(0), version: Int(rows.int64(1)), states: rows.text(2)))
            }
            return flows
        }
    }

    func sessions(ofUser userID: String) throws(SQLiteError) -> [StoredSession] {
        try snapshot { () throws(SQLiteError) in
            try selectUser.bind(1, userID)
            return try sessions(selectUser)
        }
    }

    /// Damaged ones are left out and others take their places: an empty page is the end.
    func page(after id: SessionID?, limit: Int) throws(SQLiteError) -> [StoredSession] {
        try snapshot { () throws(SQLiteError) in
            let (first, isOverflow) = id.map { $0.key.addingReportingOverflow(1) } ?? (.min, false)
            guard !isOverflow else { return [] }
            try selectPage.bind(1, first)
            // The limit is not the statement's: damaged rows would count there.
            return try sessions(selectPage, limit: limit)
        }
    }

    /// Everything that `body` reads is of one state of the database.
    private func snapshot<Result>(_ body: () throws(SQLiteError) -> Result) throws(SQLiteError) -> Result {
        try connection.execute("BEGIN")
        defer {
            try? connection.execute("ROLLBACK")
            noteDamagedPages()
        }
        return try body()
    }

    /// Rows on such pages may be hidden, and those that are not have checksums of their own: what was read is right, but
    /// something may be missing.
    func noteDamagedPages() {
        for page in connection.takeDamagedPages() { reportPage(page) }
    }

    private func sessions(_ rows: SQLiteStatement, limit: Int = .max) throws(SQLiteError) -> [StoredSession] {
        defer { rows.reset() }
        var found: [StoredSession] = []
        while found.count < limit {
            guard try rows.step() else { break }
            guard let row = SessionRow(rows), let session = row.stored(with: try services(of: row.id)) else {
                report("A session's row is damaged; the session is as if it were not there.")
                continue
            }
            found.append(session)
        }
        return found
    }

    private func services(of session: SessionID) throws(SQLiteError) -> [ServiceDocument] {
        defer { selectServices.reset() }
        try selectServices.bind(1, session.key)
        var documents: [ServiceDocument] = []
        while try selectServices.step() {
            guard let row = ServiceRow(selectServices, of: session) else {
                report("A service of \(session) is damaged; it is as if it were not there.")
                continue
            }
            guard let service = names[row.name] else { continue }
            documents.append(row.document(service: service))
        }
        return documents
    }
}
