import Sessions
import Storage

/// The statements that read sessions. Damage is reported. What is damaged is an error where it was asked for, and left
/// out of lists. A damaged document is said to be so in its session (``ServiceDocument/isDamaged``).
struct SessionReader {
    private let connection: SQLiteConnection
    private let names: ServiceNames
    private let recovery: Recovery
    private let damage: DamageCount
    private let keys: DocumentKeys?
    private let selectSession: SQLiteStatement
    private let pieces: PieceReader
    /// For ``strictly(_:)``.
    let tasks: TaskReader
    /// For ``strictly(_:)``.
    let replays: ReplayReader
    /// For ``strictly(_:)``.
    let places: PlaceReader
    private let selectLow: SQLiteStatement
    private let selectUser: SQLiteStatement
    private let selectPage: SQLiteStatement
    private let selectDue: SQLiteStatement

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
        replays = try ReplayReader(connection)
        places = try PlaceReader(connection)
        selectLow = try connection.prepare("SELECT substr(state, 2, 8) FROM sessions WHERE key = ?1")
        selectUser = try connection.prepare("SELECT key FROM sessions WHERE user_id = ?1 ORDER BY key")
        selectPage = try connection.prepare("SELECT \(SessionRow.columns) FROM sessions WHERE key > ?1 ORDER BY key")
        selectDue = try connection.prepare(
            "SELECT key, substr(state, 2, 8), due_at FROM sessions INDEXED BY sessions_due WHERE due_at <= ?1 "
                + "ORDER BY due_at LIMIT ?2")
    }

    /// - Throws: ``SQLiteError/isDamage`` also when a damaged page may hide the session.
    func session(_ id: SessionID) throws(SQLiteError) -> StoredSession? {
        let found = try session(key: id.key)
        return found?.record.id == id ? found : nil
    }

    private func session(key: Int64, only service: String? = nil) throws(SQLiteError) -> StoredSession? {
        if let found = try row(key: key, only: service).session { return found }
        guard damage.damage.pages > 0 else { return nil }
        // Pages that are in memory were compared with their checksums when they were read. So they are read again, to
        // see whether a damaged one is on the way to the session.
        connection.forgetPages()
        let again = try row(key: key, only: service)
        if again.session == nil, again.damagedPages > 0 { throw .damage(doing: "looking for a session") }
        return again.session
    }

    private func row(
        key: Int64, only service: String?
    ) throws(SQLiteError) -> (session: StoredSession?, damagedPages: Int) {
        let found: (session: StoredSession?, damaged: Int)?
        do throws(SQLiteError) {
            try selectSession.bind(1, key)
            defer { selectSession.reset() }
            found = try selectSession.step() ? try session(on: selectSession, only: service) : nil
        } catch  where error.isDamage {
            // SQLite may notice what no checksum tells.
            if noteDamagedPages() == 0 { damage.note("A session cannot be read: \(error).") }
            throw error
        }
        let damagedPages = noteDamagedPages()
        if let found, found.session == nil { throw .damage(doing: "reading the session with the key \(key)") }
        return (found?.session, damagedPages)
    }

    /// Nil when the file does not name the flows of all its journeys.
    func usedFlows() throws(SQLiteError) -> [UsedFlow]? {
        guard try connection.number("SELECT value FROM facts WHERE name = 'flows_known'") == 1 else { return nil }
        let rows = try connection.prepare("SELECT flow, version, states FROM flows")
        var flows: [UsedFlow] = []
        while try rows.step() {
            flows.append(UsedFlow(flow: rows.text(0), version: Int(rows.int64(1)), states: rows.text(2)))
        }
        return flows
    }

    /// Finds them strictly, and reads each session by itself, so that a damaged one hides no other. See
    /// ``SessionStore/sessions(ofUser:)``.
    ///
    /// - Returns: also the keys of the damaged ones.
    /// - Throws: ``SQLiteError/isDamage`` when the index of users is damaged.
    func sessions(ofUser userID: String) throws(SQLiteError) -> (readable: [StoredSession], damaged: [Int64]) {
        var keys: [Int64] = []
        try selectUser.bind(1, userID)
        defer { selectUser.reset() }
        while try selectUser.step() { keys.append(selectUser.int64(0)) }
        connection.refuseDamagedPages(false)
        var (found, damaged) = ([StoredSession](), [Int64]())
        for key in keys {
            do throws(SQLiteError) {
                guard let session = try session(key: key, only: UserService.name), session.record.userID == userID
                else { continue }
                found.append(session)
            } catch  where error.isDamage { damaged.append(key) }
        }
        return (found, damaged)
    }

    /// Those of a user that cannot be read, by what their rows say of their ids.
    func damagedSessions(ofUser userID: String) throws(SQLiteError) -> [SessionID] {
        var ids: [SessionID] = []
        for key in try sessions(ofUser: userID).damaged {
            // On a lost page it cannot be ended, and must not seem to be.
            guard let low = try low(of: key) else { throw .damage(doing: "reading the session with the key \(key)") }
            ids.append(SessionID(key: key, low: low))
        }
        return ids
    }

    /// Finds them strictly. See ``JourneyIndex/sessions(at:from:limit:)``.
    func sessions(
        at places: [JourneyPlace], from id: SessionID?, limit: Int
    ) throws(SQLiteError) -> [SessionID] {
        let keys = try self.places.sessions(at: places, from: id?.key ?? .min, limit: limit)
        connection.refuseDamagedPages(false)
        var ids: [SessionID] = []
        for key in keys {
            // One that is damaged has to be told from the end of the list.
            ids.append(SessionID(key: key, low: (try? low(of: key)) ?? 0))
        }
        return ids
    }

    private func low(of key: Int64) throws(SQLiteError) -> UInt64? {
        try selectLow.bind(1, key)
        defer { selectLow.reset() }
        return try selectLow.step() ? UInt64(low: selectLow.bytes(0)) : nil
    }

    /// Reads what can be made anew (``DerivedObject``): a damaged page, which may hide rows, is an error.
    func strictly<Value>(_ body: () throws(SQLiteError) -> Value) throws(SQLiteError) -> Value {
        connection.refuseDamagedPages()
        defer {
            connection.refuseDamagedPages(false)
            noteDamagedPages()
        }
        return try body()
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
        /// How many have expired and stay for their work.
        let kept: Int
        /// How many rows were read.
        let looked: Int
        /// Where the next search begins; nil for the first row.
        let last: Int64?
    }

    func overdue(_ query: ExpiryQuery, after key: Int64?) throws(SQLiteError) -> Overdue {
        defer { noteDamagedPages() }
        var (sessions, candidates, kept) = ([(key: Int64, usedAt: Int64)](), [Shedding.Candidate](), 0)
        let walk = try KeyWalk(selectPage, after: key, limit: query.limit, damage) { (row) throws(SQLiteError) in
            let (key, usedAt, expiresAt) = (row.int64(0), row.int64(2), row.int64(3))
            let (hasUser, times) = (!row.isNull(4), SessionTimes(row, at: 6))
            // After a crash a session that was used may look as if it was not: then this is later than its creation.
            let lastUsedAt = recovery.lastUse(usedAt)
            var deadline = query.deadline(lastUsedAt, idleTimeout: nil, expiresAt: expiresAt)
            // Only a session that seems to have expired is worth a look at what it has chosen itself.
            if deadline <= query.now, deadline < expiresAt, let own = SessionRow(row)?.details.idleTimeout {
                deadline = query.deadline(lastUsedAt, idleTimeout: own, expiresAt: expiresAt)
            }
            let isOver = query.isOver(after: deadline, times)
            if query.isKept(after: deadline, until: times.keptUntil) { kept += 1 }
            let low = UnsafeRawBufferPointer(rebasing: row.bytes(5).dropFirst().prefix(8))
            guard isOver || query.sheddingLifetime != nil, low.count == 8 else { return .sound }
            let id = SessionID(key: key, low: UInt64(bigEndian: low.loadUnaligned(as: UInt64.self)))
            let candidate = query.candidate(
                id, revision: row.int64(1), lastUsedAt: lastUsedAt, expiresAt: expiresAt, keptUntil: times.keptUntil,
                hasUser: hasUser)
            guard isOver || candidate != nil, !query.isInUse(id) else { return .sound }
            switch candidate {
            case _ where isOver && query.onOverdue != nil: query.onOverdue?(id)
            case _ where isOver: sessions.append((key, usedAt))
            case let candidate?: candidates.append(candidate)
            case nil: break
            }
            return .sound
        }
        return Overdue(
            sessions: sessions, candidates: candidates, kept: kept, looked: walk.rows, last: walk.last)
    }

    /// For ``strictly(_:)``.
    func due(now: Int64, limit: Int) throws(SQLiteError) -> [DueSession] {
        try selectDue.bind(1, now)
        try selectDue.bind(2, Int64(limit))
        defer { selectDue.reset() }
        var due: [DueSession] = []
        while try selectDue.step() {
            guard let low = UInt64(low: selectDue.bytes(1)) else { continue }
            let id = SessionID(key: selectDue.int64(0), low: low)
            due.append(DueSession(id: id, dueAt: selectDue.int64(2)))
        }
        return due
    }

    // MARK: Rows

    /// Returns the session in a statement's current row, and the number of damaged parts: the row, or documents. While
    /// the statement stays on the row, all reads are of one state.
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
        guard stored.openLabels(with: seal) else {
            damage.note("The labels of \(stored.id) are damaged; it cannot be read.")
            return (nil, 1)
        }
        var details = stored.details
        for service in stored.services where name == nil || service.name == name {
            let bytes = try pieces.text(of: service, seal)
            if bytes == nil {
                damage.note("The service \(service.name) of \(stored.id) is damaged; it cannot be read.")
                damaged += 1
            }
            services.append(service.document(service: names[service.name], bytes))
        }
        if stored.epoch < recovery.epoch { details.revisionFloor = max(details.revisionFloor, recovery.revisionFloor) }
        let record = SessionRecord(
            id: stored.id, token: stored.token, createdAt: stored.createdAt, expiresAt: stored.expiresAt,
            revision: stored.revision, services: services, times: stored.times, details: details,
            replays: (name == nil ? try replays.entries(of: stored, damage) : [], stored.replayBytes))
        return (StoredSession(record: record, lastUsedAt: recovery.lastUse(stored.usedAt)), damaged)
    }

    /// A damaged page may hide rows. The rows that it shows have checksums of their own.
    ///
    /// - Returns: how many have been read since the last call.
    @discardableResult
    private func noteDamagedPages() -> Int {
        let pages = connection.takeDamagedPages()
        for page in pages { damage.note(page) }
        return pages.count
    }
}

extension UInt64 {
    /// The second half of an id as `state` has it.
    fileprivate init?(low bytes: UnsafeRawBufferPointer) {
        guard bytes.count == 8 else { return nil }
        self.init(bigEndian: bytes.loadUnaligned(as: UInt64.self))
    }
}
