import Sessions

/// The statements that change sessions, each within a transaction that ``GroupCommit`` begins and ends.
struct SessionWriter {
    let connection: SQLiteConnection
    let facts: StoreFacts
    let room: FileRoom
    private let names: ServiceNames
    private let damage: DamageCount
    private let documents: DocumentTable
    private let insertSession: SQLiteStatement
    private let updateSession: SQLiteStatement
    private let updateServices: SQLiteStatement
    private let selectSession: SQLiteStatement
    private let deleteSession: SQLiteStatement
    private let deleteOverdue: SQLiteStatement
    private let touchSession: SQLiteStatement
    private let writeFlow: SQLiteStatement
    private let writeFact: SQLiteStatement

    init(_ connection: SQLiteConnection, names: ServiceNames, facts: StoreFacts, damage: DamageCount)
        throws(SQLiteError)
    {
        self.connection = connection
        self.names = names
        self.damage = damage
        self.facts = facts
        try facts.read(connection)
        room = try FileRoom(connection)
        documents = try DocumentTable(connection)
        insertSession = try connection.prepare(
            """
            INSERT OR IGNORE INTO sessions (key, revision, used_at, expires_at, user_id, large, state)
            VALUES (?1, ?2, ?7, ?8, ?5, ?3, ?4)
            """)
        // The user has an index: a commit that does not change it must not touch that.
        let change = "UPDATE sessions SET revision = ?2, large = ?3, state = ?4, used_at = max(used_at, ?7)"
        // Two sessions never have one key, and what commits was in the table before.
        let condition = "WHERE key = ?1 AND revision = ?9 AND large = ?10"
        updateServices = try connection.prepare("\(change) \(condition)")
        updateSession = try connection.prepare("\(change), user_id = ?5 \(condition)")
        selectSession = try connection.prepare(
            "SELECT \(SessionRow.columns) FROM sessions WHERE key = ?1 AND \(Self.isOfID)")
        deleteSession = try connection.prepare(
            "DELETE FROM sessions WHERE key = ?1 AND \(Self.isOfID) RETURNING \(SessionRow.columns)")
        deleteOverdue = try connection.prepare(
            "DELETE FROM sessions WHERE key = ?1 AND used_at = ?2 RETURNING \(SessionRow.columns)")
        touchSession = try connection.prepare(
            "UPDATE sessions SET used_at = ?2 WHERE key = ?1 AND used_at < ?2 AND \(Self.isOfID)")
        writeFlow = try connection.prepare("INSERT OR REPLACE INTO flows VALUES (?1, ?2, ?3)")
        writeFact = try connection.prepare("INSERT OR REPLACE INTO facts VALUES (?1, ?2)")
    }

    /// SQL for the second half of the id, parameter 6: keys are the first.
    private static let isOfID = "substr(state, 2, 8) = ?6"

    /// Before a transaction is committed.
    func prepareCommit() throws(SQLiteError) {
        try facts.write(with: writeFact)
        // A page that is written again gets a new checksum: nobody else comes to know.
        for page in connection.takeDamagedPages() { damage.note(page) }
        try room.reserve()
    }

    // MARK: What a store does

    /// False when there is one of that id.
    func create(_ session: StoredSession) throws(SQLiteError) -> Bool {
        let record = session.record
        let row = try row(of: record, usedAt: session.lastUsedAt, over: nil)
        try bind(row, to: insertSession)
        try insertSession.bind(5, record.userID)
        try insertSession.bind(7, session.lastUsedAt)
        try insertSession.bind(8, record.expiresAt)
        try insertSession.run()
        guard connection.changes == 1 else {
            for document in row.services { try remove(document) }
            return false
        }
        facts[.sessions] += 1
        facts.note(revision: record.revision)
        return true
    }

    /// Nil when it is done. A row is only ever updated, never put back: no commit revives a session that has ended.
    func commit(_ commit: SessionCommit) throws(SQLiteError) -> StoreError? {
        #if PLANTED_BUGS
            let commit = try planted(commit)
        #endif
        // Nearly all sessions have nothing beside their row, before and after: then one statement does it.
        if !commit.record.hasLargeDocuments, try update(commit, over: nil) { return nil }
        guard let row = try storedRow(of: commit.record.id) else {
            #if PLANTED_BUGS
                let revived = StoredSession(record: commit.record, lastUsedAt: commit.record.createdAt)
                if PlantedBug.revivedSession.isActive { return try create(revived) ? nil : .conflict }
            #endif
            return .gone
        }
        guard row.revision == commit.replacedRevision else { return .conflict }
        return try update(commit, over: row) ? nil : .conflict
    }

    /// False when the row is not there, or not as it was to be.
    private func update(_ commit: SessionCommit, over former: SessionRow?) throws(SQLiteError) -> Bool {
        let row = try row(of: commit.record, usedAt: 0, over: former)
        let update = commit.changesServicesOnly ? updateServices : updateSession
        try bind(row, to: update)
        if !commit.changesServicesOnly { try update.bind(5, commit.record.userID) }
        try update.bind(9, Int64(clamping: commit.replacedRevision))
        try update.bind(10, Int64(former?.large ?? 0))
        try update.bind(7, commit.usedAt)
        try update.run()
        guard connection.changes == 1 else { return false }
        facts.note(revision: row.revision)
        for flow in commit.newFlows { try write(flow) }
        return true
    }

    /// Nil when it is done. The row of a session that is replaced goes first, with all that belongs to it.
    func receive(_ arrival: SessionArrival) throws(SQLiteError) -> StoreError? {
        let id = arrival.session.record.id
        var session = arrival.session
        if let replaced = arrival.replacedRevision {
            guard let row = try storedRow(of: id) else { return .gone }
            guard row.revision == replaced else { return .conflict }
            _ = try end(id)
        } else {
            // It may have ended here: what it was written to before then is not given again.
            session = StoredSession(
                record: session.record.raisingRevisionFloor(to: UInt64(facts[.arrivalFloor])),
                lastUsedAt: session.lastUsedAt)
        }
        guard try create(session) else { return .conflict }
        for flow in arrival.newFlows { try write(flow) }
        return nil
    }

    /// Never moves a time backwards.
    func touch(_ use: SessionUse) throws(SQLiteError) {
        try bind(use.id, to: touchSession)
        try touchSession.bind(2, use.usedAt)
        try touchSession.run()
    }

    /// False when there was none.
    func end(_ id: SessionID) throws(SQLiteError) -> Bool {
        #if PLANTED_BUGS
            if PlantedBug.endForgotten.isActive { return true }
        #endif
        try bind(id, to: deleteSession)
        return try end(with: deleteSession)
    }

    /// Ends a session whose time is over, unless it was used since it was looked at. False when it was.
    func endOverdue(key: Int64, usedAt: Int64) throws(SQLiteError) -> Bool {
        try deleteOverdue.bind(1, key)
        try deleteOverdue.bind(2, usedAt)
        return try end(with: deleteOverdue)
    }

    private func end(with statement: SQLiteStatement) throws(SQLiteError) -> Bool {
        defer { statement.reset() }
        guard try statement.step() else { return false }
        // What a damaged row has beside it stays there; `store check` counts it.
        if let row = SessionRow(statement) {
            for document in row.services { try remove(document) }
            let highest = max(row.revision, row.details.revisionFloor)
            facts[.arrivalFloor] = max(facts[.arrivalFloor], Int64(clamping: highest))
        }
        facts[.sessions] -= 1
        return true
    }

    func replaceUsedFlows(_ flows: [UsedFlow]) throws(SQLiteError) {
        try connection.execute("DELETE FROM flows")
        facts[.flowsKnown] = 1
        for flow in flows { try write(flow) }
    }

    private func write(_ flow: UsedFlow) throws(SQLiteError) {
        try writeFlow.bind(1, flow.flow)
        try writeFlow.bind(2, Int64(flow.version))
        try writeFlow.bind(3, flow.states)
        try writeFlow.run()
    }

    // MARK: Rows

    private func storedRow(of id: SessionID) throws(SQLiteError) -> SessionRow? {
        try bind(id, to: selectSession)
        defer { selectSession.reset() }
        return try selectSession.step() ? SessionRow(selectSession) : nil
    }

    /// The row for a record, once its large documents are written that the former row does not have as they are.
    private func row(
        of record: SessionRecord, usedAt: Int64, over former: SessionRow?
    ) throws(SQLiteError) -> SessionRow {
        var rest = former?.services ?? []
        var services: [StoredDocument] = []
        services.reserveCapacity(record.services.count)
        for document in record.services {
            services.append(try stored(document, named: names[document.service], over: &rest))
        }
        for service in record.details.undeclared {
            services.append(try stored(service.document, named: service.name, over: &rest))
        }
        for document in rest { try remove(document) }
        return SessionRow(record, usedAt: usedAt, epoch: UInt64(facts[.epoch]), services: services)
    }

    /// - Parameter former: what the row had; the document's own is taken out.
    private func stored(
        _ document: ServiceDocument, named name: String, over former: inout [StoredDocument]
    ) throws(SQLiteError) -> StoredDocument {
        let old = former.firstIndex { $0.name == name }.map { former.remove(at: $0) }
        let isSmall = document.bytes.count <= DocumentPieces.longestInRow
        guard case .beside(let pieces) = old?.content else {
            return StoredDocument(
                document, named: name,
                isSmall ? .inRow(document.bytes) : .beside(try documents.put(document.bytes, over: nil)))
        }
        if isSmall {
            try documents.remove(pieces)
            return StoredDocument(document, named: name, .inRow(document.bytes))
        }
        let isSame = old?.revision == document.revision
        return StoredDocument(
            document, named: name, .beside(isSame ? pieces : try documents.put(document.bytes, over: pieces)))
    }

    private func remove(_ document: StoredDocument) throws(SQLiteError) {
        if case .beside(let pieces) = document.content { try documents.remove(pieces) }
    }

    private func bind(_ id: SessionID, to statement: SQLiteStatement) throws(SQLiteError) {
        try statement.bind(1, id.key)
        try statement.bind(6, blob: id.lowBytes)
    }

    private func bind(_ row: SessionRow, to statement: SQLiteStatement) throws(SQLiteError) {
        try statement.bind(1, row.id.key)
        try statement.bind(2, Int64(clamping: row.revision))
        try statement.bind(3, Int64(row.large))
        try statement.bind(4, blob: row.state)
    }

    #if PLANTED_BUGS
        private func planted(_ commit: SessionCommit) throws(SQLiteError) -> SessionCommit {
            let record = commit.record
            var replaced = commit.replacedRevision
            if PlantedBug.noConflictCheck.isActive, let row = try storedRow(of: record.id) { replaced = row.revision }
            var services = record.services
            if PlantedBug.staleServiceRevision.isActive {
                services = services.map { document in
                    guard commit.changedServices.contains(document.service) else { return document }
                    return ServiceDocument(
                        service: document.service, birth: document.birth, revision: document.revision - 1,
                        createdAt: document.createdAt, updatedAt: document.updatedAt, bytes: document.bytes)
                }
            }
            let isHalf = PlantedBug.halfTransaction.isActive && commit.changedServices.count > 1
            let isLost = PlantedBug.lostService.isActive && record.revision.isMultiple(of: 32)
            if isHalf || isLost, let last = commit.changedServices.last {
                let stored = try storedRow(of: record.id)?.services.first { $0.name == names[last] }
                services.removeAll { $0.service == last }
                if let stored, case .inRow(let bytes) = stored.content {
                    services.append(stored.document(service: last, bytes))
                }
            }
            return SessionCommit(
                record: SessionRecord(
                    id: record.id, token: record.token, createdAt: record.createdAt, expiresAt: record.expiresAt,
                    revision: record.revision, services: services, details: record.details),
                replacedRevision: replaced, changedServices: commit.changedServices,
                changesServicesOnly: commit.changesServicesOnly)
        }
    #endif
}

extension SessionRecord {
    fileprivate var hasLargeDocuments: Bool {
        func isLarge(_ document: ServiceDocument) -> Bool { document.bytes.count > DocumentPieces.longestInRow }
        return services.contains(where: isLarge) || details.undeclared.contains { isLarge($0.document) }
    }
}
