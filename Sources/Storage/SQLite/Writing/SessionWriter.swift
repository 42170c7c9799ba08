import Sessions

/// The statements that change sessions. Runs within a transaction that somebody else begins and ends.
struct SessionWriter {
    let names: ServiceNames
    /// In milliseconds; see `SessionSettings`.
    private let idleTimeout: Int64
    private let insertSession: SQLiteStatement
    private let updateSession: SQLiteStatement
    /// What most commits change of a session's own row.
    let updateRevision: SQLiteStatement
    private let findSession: SQLiteStatement
    private let selectRevision: SQLiteStatement
    private let deleteSession: SQLiteStatement
    private let touchSession: SQLiteStatement
    private let updateService: SQLiteStatement
    private let insertService: SQLiteStatement
    private let deleteService: SQLiteStatement
    private let deleteServices: SQLiteStatement
    private let writeFlow: SQLiteStatement
    let connection: SQLiteConnection
    /// Where commits that only write services go first.
    let recent: RecentLog
    let room: FileRoom
    let selectSession: SQLiteStatement
    /// Reads within the writer's transaction, and nothing of the log: who is read is folded before.
    let reader: SessionReader
    let selectDue: SQLiteStatement
    let selectDueTooLate: SQLiteStatement
    let moveDue: SQLiteStatement

    /// - Parameters:
    ///   - index: is given what the log has; readers are to look into it.
    ///   - report: is told of each damaged row, in a sentence.
    ///   - reportPage: of each damaged page.
    init(
        _ connection: SQLiteConnection, names: ServiceNames, idleTimeout: Int64,
        recent index: RecentIndex = RecentIndex(),
        report: @escaping @Sendable (String) -> Void = { _ in },
        reportPage: @escaping @Sendable (UInt32) -> Void = { _ in }
    ) throws(SQLiteError) {
        self.connection = connection
        room = try FileRoom(connection)
        recent = try RecentLog(connection, index, report: report)
        reader = try SessionReader(connection, names: names, report: report, reportPage: reportPage)
        self.names = names
        self.idleTimeout = idleTimeout
        insertSession = try connection.prepare(
            """
            INSERT OR IGNORE INTO sessions (key, \(SessionRow.columns), due_at)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12,
                    \(Self.due(used: "?7", timeout: "?13", expires: "?6")))
            """)
        updateSession = try connection.prepare(
            """
            UPDATE sessions SET token = ?3, revision = ?4, mode = ?8, user_id = ?9, labels = ?10, retired = ?11,
            checksum = ?12 WHERE key = ?1 AND id = ?2 AND revision = ?13
            """)
        updateRevision = try connection.prepare(
            "UPDATE sessions SET revision = ?4, checksum = ?12 WHERE key = ?1 AND id = ?2 AND revision = ?13")
        findSession = try connection.prepare("SELECT 1 FROM sessions WHERE key = ?1 AND id = ?2")
        selectRevision = try connection.prepare("SELECT revision FROM sessions WHERE key = ?1 AND id = ?2")
        selectSession = try connection.prepare("SELECT \(SessionRow.columns) FROM sessions WHERE key = ?1 AND id = ?2")
        deleteSession = try connection.prepare("DELETE FROM sessions WHERE key = ?1 AND (?2 IS NULL OR id = ?2)")
        touchSession = try connection.prepare(
            "UPDATE sessions SET used_at = ?3 WHERE key = ?1 AND id = ?2 AND used_at < ?3")
        updateService = try connection.prepare(
            """
            UPDATE services SET birth = ?3, revision = ?4, created_at = ?5, updated_at = ?6, document = ?7, checksum = ?8
            WHERE session = ?1 AND name = ?2
            """)
        insertService = try connection.prepare(
            """
            INSERT INTO services (session, \(ServiceRow.columns)) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
            """)
        deleteService = try connection.prepare("DELETE FROM services WHERE session = ?1 AND name = ?2")
        deleteServices = try connection.prepare("DELETE FROM services WHERE session = ?1")
        writeFlow = try connection.prepare("INSERT OR REPLACE INTO flows VALUES (?1, ?2, ?3)")
        selectDue = try connection.prepare(
            "SELECT key, id, used_at, expires_at FROM sessions WHERE due_at <= ?1 ORDER BY due_at LIMIT ?2")
        selectDueTooLate = try connection.prepare(
            "SELECT key, id, used_at, expires_at FROM sessions WHERE due_at > ?1 ORDER BY due_at DESC LIMIT ?2")
        moveDue = try connection.prepare("UPDATE sessions SET due_at = ?2 WHERE key = ?1")
        try replay(report: report)
    }

    /// False when there is one of that id.
    func create(_ session: StoredSession) throws(SQLiteError) -> Bool {
        let row = SessionRow(session.record, usedAt: session.lastUsedAt)
        try bind(row, to: insertSession)
        try insertSession.bind(5, row.createdAt)
        try insertSession.bind(6, row.expiresAt)
        try insertSession.bind(7, row.usedAt)
        try insertSession.bind(13, idleTimeout)
        try insertSession.run()
        guard connection.changes == 1 else { return false }
        for document in session.record.services {
            let row = ServiceRow(document, named: names[document.service], of: row.id)
            try row.bind(to: insertService)
            try insertService.run()
        }
        return true
    }

    /// Nil when it is done. A row is only ever updated, never put back: no commit revives a session that has ended.
    func commit(_ commit: SessionCommit) throws(SQLiteError) -> StoreError? {
        if isForLog(commit) { return try append(commit) }
        try settle(commit.record.id)
        let record = commit.record
        let row = SessionRow(record, usedAt: 0)
        let update = commit.changesServicesOnly ? updateRevision : updateSession
        if commit.changesServicesOnly {
            try bind(row.id, to: update)
            try update.bind(4, row.revision)
            try update.bind(12, row.checksum)
        } else {
            try bind(row, to: update)
        }
        try update.bind(13, Int64(clamping: commit.replacedRevision))
        #if PLANTED_BUGS
            if PlantedBug.noConflictCheck.isActive, let revision = try storedRevision(of: record.id) {
                try update.bind(13, revision)
            }
            if PlantedBug.revivedSession.isActive, try !exists(record.id) {
                return try create(StoredSession(record: record, lastUsedAt: record.createdAt)) ? nil : .conflict
            }
        #endif
        try update.run()
        guard connection.changes == 1 else { return try exists(record.id) ? .conflict : .gone }
        for service in commit.changedServices {
            #if PLANTED_BUGS
                let isLast = service == commit.changedServices.last && commit.changedServices.count > 1
                if PlantedBug.halfTransaction.isActive, isLast { continue }
                if PlantedBug.lostService.isActive, record.revision.isMultiple(of: 32) { continue }
            #endif
            if let document = record.document(of: service) {
                try write(document, of: record.id)
            } else {
                try deleteService.bind(1, record.id.key)
                try deleteService.bind(2, names[service])
                try deleteService.run()
            }
        }
        for flow in commit.newFlows { try write(flow) }
        return nil
    }

    /// Never moves a time backwards. When the session is looked at stays as it was: that it is not over yet is seen then,
    /// once in each idle timeout, where to move it in the index with each use would change two more pages.
    func touch(_ use: SessionUse) throws(SQLiteError) {
        try bind(use.id, to: touchSession)
        try touchSession.bind(3, use.usedAt)
        try touchSession.run()
    }

    /// False when there was none.
    func end(_ id: SessionID) throws(SQLiteError) -> Bool {
        #if PLANTED_BUGS
            if PlantedBug.endForgotten.isActive { return true }
        #endif
        try bind(id, to: deleteSession)
        return try end(bound: id.key)
    }

    /// Ends the session with this key, whatever its column `id` says.
    func end(key: Int64) throws(SQLiteError) -> Bool {
        try deleteSession.bind(1, key)
        try deleteSession.bindNull(2)
        return try end(bound: key)
    }

    private func end(bound key: Int64) throws(SQLiteError) -> Bool {
        try deleteSession.run()
        guard connection.changes == 1 else { return false }
        // Rows of the log that are of nobody mean nothing, and no new session has the id of this one, but for one that is
        // received (`receive(_:)`).
        recent.forget(key: key)
        try deleteServices.bind(1, key)
        try deleteServices.run()
        return true
    }

    func replaceUsedFlows(_ flows: [UsedFlow]) throws(SQLiteError) {
        try connection.execute("DELETE FROM flows; UPDATE facts SET value = 1 WHERE name = 'flows_known'")
        for flow in flows { try write(flow) }
    }

    func write(_ flow: UsedFlow) throws(SQLiteError) {
        try writeFlow.bind(1, flow.flow)
        try writeFlow.bind(2, Int64(flow.version))
        try writeFlow.bind(3, flow.states)
        try writeFlow.run()
    }

    // MARK: Parts

    /// Nil when there is no such session. What the log has is not looked at.
    func storedRevision(of id: SessionID) throws(SQLiteError) -> Int64? {
        try bind(id, to: selectRevision)
        defer { selectRevision.reset() }
        return try selectRevision.step() ? selectRevision.int64(0) : nil
    }

    private func exists(_ id: SessionID) throws(SQLiteError) -> Bool {
        try bind(id, to: findSession)
        defer { findSession.reset() }
        return try findSession.step()
    }

    private func write(_ document: ServiceDocument, of session: SessionID) throws(SQLiteError) {
        #if PLANTED_BUGS
            var document = document
            if PlantedBug.staleServiceRevision.isActive {
                document = ServiceDocument(
                    service: document.service, birth: document.birth, revision: document.revision - 1,
                    createdAt: document.createdAt, updatedAt: document.updatedAt, bytes: document.bytes)
            }
        #endif
        try write(ServiceRow(document, named: names[document.service], of: session))
    }

    func write(_ row: ServiceRow) throws(SQLiteError) {
        // Most are there: only the first write finds none.
        try row.bind(to: updateService)
        try updateService.run()
        guard connection.changes == 0 else { return }
        try row.bind(to: insertService)
        try insertService.run()
    }

    /// The key and the whole id.
    func bind(_ id: SessionID, to statement: SQLiteStatement) throws(SQLiteError) {
        try statement.bind(1, id.key)
        try id.withBytes { bytes throws(SQLiteError) in try statement.bind(2, blob: bytes) }
    }

    /// What both making and changing a session write.
    private func bind(_ row: SessionRow, to statement: SQLiteStatement) throws(SQLiteError) {
        try bind(row.id, to: statement)
        try statement.bind(3, blob: row.token)
        try statement.bind(4, row.revision)
        try statement.bind(8, row.mode)
        if let userID = row.userID { try statement.bind(9, userID) } else { try statement.bindNull(9) }
        if let labels = row.labels { try statement.bind(10, text: labels) } else { try statement.bindNull(10) }
        if let retired = row.retired { try statement.bind(11, blob: retired) } else { try statement.bindNull(11) }
        try statement.bind(12, row.checksum)
    }

    /// SQL for when to look whether a session has expired. Rounded up to a minute: those that are due together are
    /// looked at together.
    private static func due(used: String, timeout: String, expires: String) -> String {
        "(min(\(used) + \(timeout), \(expires)) + 59999) / 60000 * 60000"
    }
}
