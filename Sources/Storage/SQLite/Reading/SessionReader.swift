import CSQLite
import Sessions

/// The statements that read sessions. Damage is reported, and the damaged parts are left out.
struct SessionReader {
    private let connection: SQLiteConnection
    private let names: ServiceNames
    private let recovery: Recovery
    private let damage: DamageCount
    private let keys: DocumentKeys?
    private let selectSession: SQLiteStatement
    private let pieces: PieceReader
    let tasks: TaskReader
    private let selectUser: SQLiteStatement
    private let selectPage: SQLiteStatement
    private let selectUses: SQLiteStatement

    init(
        _ connection: SQLiteConnection, names: ServiceNames, recovery: Recovery, damage: DamageCount,
        keys: DocumentKeys?
    ) throws(SQLiteError) {
        self.connection = connection
        self.names = names
        self.recovery = recovery
        self.damage = damage
        self.keys = keys
        selectSession = try connection.prepare("SELECT \(SessionRow.columns) FROM sessions WHERE key = ?1")
        pieces = try PieceReader(connection)
        tasks = try TaskReader(connection)
        selectUser = try connection.prepare("SELECT key FROM sessions WHERE user_id = ?1 ORDER BY key")
        selectPage = try connection.prepare("SELECT \(SessionRow.columns) FROM sessions WHERE key > ?1 ORDER BY key")
        selectUses = try connection.prepare(
            "SELECT key, used_at, expires_at, substr(state, 2, 8), revision, user_id IS NOT NULL FROM sessions "
                + "WHERE key > ?1 ORDER BY key")
    }

    func session(_ id: SessionID) throws(SQLiteError) -> StoredSession? {
        let found = try session(key: id.key)
        return found?.record.id == id ? found : nil
    }

    private func session(key: Int64, only service: String? = nil) throws(SQLiteError) -> StoredSession? {
        defer { noteDamagedPages() }
        do throws(SQLiteError) {
            try selectSession.bind(1, key)
            defer { selectSession.reset() }
            return try selectSession.step() ? try session(on: selectSession, only: service).session : nil
        } catch  where error.primaryCode == SQLITE_CORRUPT {
            damage.note("The pages of the session with the key \(key) are damaged (\(error)); it cannot be read.")
            return nil
        }
    }

    /// Nil when the file does not name the flows of all its journeys.
    func usedFlows() throws(SQLiteError) -> [UsedFlow]? {
        defer { noteDamagedPages() }
        guard try connection.number("SELECT value FROM facts WHERE name = 'flows_known'") == 1 else { return nil }
        let rows = try connection.prepare("SELECT flow, version, states FROM flows")
        var flows: [UsedFlow] = []
        while try rows.step() {
            flows.append(UsedFlow(flow: rows.text(0), version: Int(rows.int64(1)), states: rows.text(2)))
        }
        return flows
    }

    /// Reads each session by itself, so that a damaged one hides no other. See ``SessionStore/sessions(ofUser:)``.
    func sessions(ofUser userID: String) throws(SQLiteError) -> [StoredSession] {
        defer { noteDamagedPages() }
        var keys: [Int64] = []
        do throws(SQLiteError) {
            try selectUser.bind(1, userID)
            defer { selectUser.reset() }
            while try selectUser.step() { keys.append(selectUser.int64(0)) }
        } catch  where error.primaryCode == SQLITE_CORRUPT {
            damage.note("The index of users is damaged (\(error)); sessions of a user may be missing.")
        }
        var found: [StoredSession] = []
        for key in keys {
            guard let session = try session(key: key, only: UserService.key.name), session.record.userID == userID
            else { continue }
            found.append(session)
        }
        return found
    }

    // MARK: In the order of keys

    func page(after id: SessionID?, limit: Int) throws(SQLiteError) -> SessionPage {
        defer { noteDamagedPages() }
        var (sessions, damaged) = ([StoredSession](), 0)
        let walk = try KeyWalk(selectPage, after: id?.key, limit: limit, damage) { (row) throws(SQLiteError) in
            let found = try session(on: row)
            if let session = found.session { sessions.append(session) }
            damaged += found.damaged
            return found.session == nil ? .damaged : .sound
        }
        return SessionPage(
            sessions: sessions, next: walk.last.map { SessionID(key: $0, low: .max) }, skipped: walk.skipped + damaged)
    }

    /// The sessions of the next rows that a query wants ended.
    struct Overdue {
        let sessions: [(key: Int64, usedAt: Int64)]
        let candidates: [Shedding.Candidate]
        /// How many rows were read.
        let looked: Int
        /// Where the next search begins; nil for the first row.
        let last: Int64?
    }

    func overdue(_ query: ExpiryQuery, after key: Int64?) throws(SQLiteError) -> Overdue {
        defer { noteDamagedPages() }
        var (sessions, candidates) = ([(key: Int64, usedAt: Int64)](), [Shedding.Candidate]())
        let walk = try KeyWalk(selectUses, after: key, limit: query.limit, damage) { (row) throws(SQLiteError) in
            let (key, usedAt, expiresAt, low) = (row.int64(0), row.int64(1), row.int64(2), row.bytes(3))
            // After a crash a session that was used may look as if it was not: then this is later than its creation.
            let lastUsedAt = recovery.lastUse(usedAt)
            let isOver = min(lastUsedAt + query.idleTimeout, expiresAt) + query.retention <= query.now
            guard isOver || query.sheddingLifetime != nil, low.count == 8 else { return .sound }
            let id = SessionID(key: key, low: UInt64(bigEndian: low.loadUnaligned(as: UInt64.self)))
            let candidate = query.candidate(
                id, revision: row.int64(4), lastUsedAt: lastUsedAt, expiresAt: expiresAt, hasUser: row.int64(5) != 0)
            guard isOver || candidate != nil, !query.isInUse(id) else { return .sound }
            if isOver { sessions.append((key, usedAt)) } else if let candidate { candidates.append(candidate) }
            return .sound
        }
        return Overdue(sessions: sessions, candidates: candidates, looked: walk.rows, last: walk.last)
    }

    // MARK: Rows

    /// Returns the session in a statement's current row, and the number of damaged parts: the row, or documents, which
    /// are then missing in the session. While the statement stays on the row, all reads are of one state.
    ///
    /// - Parameter name: of the only service whose document is read; `nil` for all.
    private func session(
        on row: SQLiteStatement, only name: String? = nil
    ) throws(SQLiteError) -> (session: StoredSession?, damaged: Int) {
        guard var stored = SessionRow(row) else {
            damage.note("The row of the session with the key \(row.int64(0)) is damaged; it cannot be read.")
            return (nil, 1)
        }
        var services: [ServiceDocument] = []
        services.reserveCapacity(stored.services.count)
        var damaged = 0
        let seal = stored.isSealed ? keys.map { SessionSeal($0, of: stored.id) } : nil
        if !stored.openLabels(with: seal) {
            damage.note("The labels of \(stored.id) are damaged and left out.")
            damaged += 1
        }
        var details = stored.details
        for service in stored.services where name == nil || service.name == name {
            guard let bytes = try pieces.text(of: service, seal) else {
                damage.note("The service \(service.name) of \(stored.id) is damaged and left out.")
                damaged += 1
                continue
            }
            if let place = names[service.name] {
                services.append(service.document(service: place, bytes))
            } else {
                details.undeclared.append(
                    UndeclaredService(name: service.name, document: service.document(service: .max, bytes)))
            }
        }
        if stored.epoch < recovery.epoch { details.revisionFloor = max(details.revisionFloor, recovery.revisionFloor) }
        let record = SessionRecord(
            id: stored.id, token: stored.token, createdAt: stored.createdAt, expiresAt: stored.expiresAt,
            revision: stored.revision, services: services, details: details)
        return (StoredSession(record: record, lastUsedAt: recovery.lastUse(stored.usedAt)), damaged)
    }

    /// A damaged page may hide rows. The rows that it shows have checksums of their own.
    private func noteDamagedPages() {
        for page in connection.takeDamagedPages() { damage.note(page) }
    }
}
