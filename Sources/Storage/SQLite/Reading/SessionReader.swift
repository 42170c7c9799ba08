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
    private let recent: (index: RecentIndex, rows: RecentRows)?

    /// - Parameters:
    ///   - recent: what the log has; nil for who reads nothing that is in it.
    ///   - report: is told of each damaged row, in a sentence.
    ///   - reportPage: is told of each page that does not fit its checksum, perhaps again and again.
    init(
        _ connection: SQLiteConnection, names: ServiceNames, recent index: RecentIndex? = nil,
        report: @escaping @Sendable (String) -> Void,
        reportPage: @escaping @Sendable (UInt32) -> Void = { _ in }
    ) throws(SQLiteError) {
        self.reportPage = reportPage
        self.connection = connection
        self.names = names
        self.report = report
        if let index { recent = (index, try RecentRows(connection, report: report)) } else { recent = nil }
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
            // More than one look is rare, see `RecentIndex`; without a limit damage could make it endless.
            for _ in 0..<Self.mostLooks {
                // Before the snapshot.
                let written = recent?.index.session(id)
                let found = try snapshot { () throws(SQLiteError) in try newest(try current(id), written) }
                if !found.isBehind { return found.session }
            }
            report("Recent writes to \(id) are not where they should be; they are as if they had not been.")
            return try snapshot { () throws(SQLiteError) in try current(id) }
        } catch  where error.primaryCode == SQLITE_CORRUPT {
            report("The pages that \(id) is on are damaged (\(error)); it is as if it were not there.")
            return nil
        }
    }

    private static let mostLooks = 16

    /// The same within a transaction that somebody else has begun, and without what only the log has.
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
        let departures = recent?.index.departures
        let found = try snapshot { () throws(SQLiteError) in
            try selectUser.bind(1, userID)
            return try sessions(selectUser)
        }
        return try newest(found, departures).filter { $0.record.userID == userID }
    }

    /// Damaged ones are left out and others take their places: an empty page is the end.
    func page(after id: SessionID?, limit: Int) throws(SQLiteError) -> [StoredSession] {
        var last = id
        while true {
            let departures = recent?.index.departures
            let found = try snapshot { () throws(SQLiteError) in try rows(after: last, limit: limit) }
            let page = try newest(found, departures)
            // Perhaps all of them have ended meanwhile.
            guard page.isEmpty, let end = found.last else { return page }
            last = end.record.id
        }
    }

    private func rows(after id: SessionID?, limit: Int) throws(SQLiteError) -> [StoredSession] {
        let (first, isOverflow) = id.map { $0.key.addingReportingOverflow(1) } ?? (.min, false)
        guard !isOverflow else { return [] }
        try selectPage.bind(1, first)
        // The limit is not the statement's: damaged rows would count there.
        return try sessions(selectPage, limit: limit)
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

    // MARK: Recent writes

    /// Sessions of which the log has, or had meanwhile, more than was found are read again, each by itself.
    ///
    /// - Parameter departures: from before the snapshot. When none has left the index since, one that is not in it was not
    ///   in it then, and what was found is its newest state.
    private func newest(_ found: [StoredSession], _ departures: Int?) throws(SQLiteError) -> [StoredSession] {
        guard let index = recent?.index else { return found }
        var newest: [StoredSession] = []
        newest.reserveCapacity(found.count)
        for session in found {
            let id = session.record.id
            if index.session(id) == nil, index.departures == departures {
                newest.append(session)
            } else if let session = try self.session(id) {
                newest.append(session)
            }
        }
        return newest
    }

    /// What was found, with what the log has laid over it; behind when that was expected to be there and is not.
    private func newest(
        _ found: StoredSession?, _ written: RecentSession?
    ) throws(SQLiteError) -> (session: StoredSession?, isBehind: Bool) {
        guard let rows = recent?.rows, let written, let found, written.revision > Int64(clamping: found.record.revision)
        else { return (found, false) }
        let record = found.record
        var services = record.services
        for place in written.rows {
            switch try rows.read(place, of: record.id) {
            case .absent: return (found, true)
            case .damaged: break
            case .row(let row):
                guard UInt64(row.revision) > record.revision, let service = names[row.name] else { continue }
                services.removeAll { $0.service == service }
                services.append(row.document(service: service))
            }
        }
        services.sort { $0.birth < $1.birth }
        let newest = SessionRecord(
            id: record.id, token: record.token, createdAt: record.createdAt, expiresAt: record.expiresAt,
            revision: UInt64(written.revision), services: services, details: record.details)
        return (StoredSession(record: newest, lastUsedAt: found.lastUsedAt), false)
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
