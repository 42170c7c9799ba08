import CSQLite
import Sessions
import Storage

/// The statements that change sessions. ``GroupCommit`` begins and ends the transactions.
struct SessionWriter {
    let connection: SQLiteConnection
    let facts: StoreFacts
    let room: FileRoom
    private let names: ServiceNames
    let damage: DamageCount
    let keys: DocumentKeys?
    private let mostBytes: Int
    let documents: DocumentTable
    let tasks: TaskTable
    let replays: ReplayTable
    let places: PlaceTable
    private let insertSession: SQLiteStatement
    private let updateSession: SQLiteStatement
    private let updateServices: SQLiteStatement
    private let selectSession: SQLiteStatement
    private let deleteSession: SQLiteStatement
    private let deleteOverdue: SQLiteStatement
    private let touchSession: SQLiteStatement
    private let updateTimes: SQLiteStatement
    private let updateDue: SQLiteStatement
    private let writeFlow: SQLiteStatement
    private let writeFact: SQLiteStatement

    init(
        _ connection: SQLiteConnection, names: ServiceNames, facts: StoreFacts, damage: DamageCount,
        keys: DocumentKeys? = nil, mostBytes: Int = .max
    ) throws(SQLiteError) {
        self.connection = connection
        self.mostBytes = mostBytes
        self.names = names
        self.damage = damage
        self.keys = keys
        self.facts = facts
        try facts.read(connection)
        room = try FileRoom(connection)
        documents = try DocumentTable(connection)
        tasks = try TaskTable(connection, facts: facts)
        replays = try ReplayTable(connection)
        places = try PlaceTable(connection)
        insertSession = try connection.prepare(
            """
            INSERT OR IGNORE INTO sessions
                (key, revision, used_at, expires_at, user_id, large, state, due_at, kept_until)
            VALUES (?1, ?2, ?7, ?8, ?5, ?3, ?4, ?9, ?10)
            """)
        // SQLite rewrites an index entry for each column that is set, so most commits leave the user out, and times
        // have a statement of their own.
        let change = "UPDATE sessions SET revision = ?2, large = ?3, state = ?4, used_at = max(used_at, ?7)"
        // The key is enough: no two sessions share one, and the committed session was in the table before.
        let condition = "WHERE key = ?1 AND revision = ?9 AND large = ?10"
        updateServices = try connection.prepare("\(change) \(condition)")
        updateSession = try connection.prepare("\(change), user_id = ?5, expires_at = ?8 \(condition)")
        selectSession = try connection.prepare(
            "SELECT \(SessionRow.columns) FROM sessions WHERE key = ?1 AND \(Self.isOfID)")
        deleteSession = try connection.prepare(
            "DELETE FROM sessions WHERE key = ?1 AND \(Self.isOfID) RETURNING \(SessionRow.columns)")
        deleteOverdue = try connection.prepare(
            "DELETE FROM sessions WHERE key = ?1 AND used_at = ?2 RETURNING \(SessionRow.columns)")
        touchSession = try connection.prepare(
            "UPDATE sessions SET used_at = ?2 WHERE key = ?1 AND used_at < ?2 AND \(Self.isOfID)")
        updateTimes = try connection.prepare("UPDATE sessions SET due_at = ?2, kept_until = ?3 WHERE key = ?1")
        updateDue = try connection.prepare("UPDATE sessions SET due_at = ?2 WHERE key = ?1 AND due_at = ?3")
        writeFlow = try connection.prepare("INSERT OR REPLACE INTO flows VALUES (?1, ?2, ?3)")
        writeFact = try connection.prepare("INSERT OR REPLACE INTO facts VALUES (?1, ?2)")
    }

    /// Compares the second half of the id with parameter 6. The key is the first half.
    private static let isOfID = "substr(state, 2, 8) = ?6"

    /// Called before a transaction is committed.
    func prepareCommit() throws(SQLiteError) {
        // What is damaged is not read, so it is not taken off the sum when it goes.
        noteDamagedPages()
        if documents.hasLeft { facts[.leaked] = 1 }
        if damage.damage.rows > 0 { facts[.bytesKnown] = 0 }
        try facts.write(with: writeFact)
        try room.reserve()
    }

    /// Notes the damaged pages that were met since the last call.
    ///
    /// - Returns: how many.
    @discardableResult
    func noteDamagedPages() -> Int {
        let pages = connection.takeDamagedPages()
        for page in pages {
            damage.note(page)
            // It gets a new checksum when it is written, and may still be wrong.
            if connection.isPointerMap(page) { facts[.leaked] = 1 }
        }
        return pages.count
    }

    /// Commits the facts alone. On a full disk it leaves them to the next commit: the file then says what the last one
    /// said.
    func commitFacts() throws(SQLiteError) {
        do throws(SQLiteError) {
            try connection.transaction { () throws(SQLiteError) in try prepareCommit() }
            facts.noteCommit()
        } catch  where error.primaryCode == SQLITE_FULL {}
    }

    // MARK: Room

    /// Why nothing may be written that takes so many bytes more than what it replaces; nil when it may be.
    func refusal(of growth: Int) -> StoreError? {
        if room.isLow { return .diskIsFull }
        let bytes = Int(facts[.bytes])
        guard growth > 0, bytes + growth > mostBytes else { return nil }
        return .full(of: DocumentBytes(stored: bytes, allowed: mostBytes))
    }

    /// Adds up the bytes of all sessions, unless the file knows their sum: a backup does not, nor a file that had
    /// damage.
    func countBytes() throws(SQLiteError) {
        guard facts[.bytesKnown] == 0 else { return }
        let rows = try connection.prepare("SELECT \(SessionRow.columns) FROM sessions WHERE key > ?1 ORDER BY key")
        var bytes = 0
        _ = try KeyWalk(rows, after: nil, limit: .max, damage) { (row) throws(SQLiteError) in
            guard let row = SessionRow(row) else { return .damaged }
            bytes += row.writtenBytes(keys)
            return .sound
        }
        facts[.bytes] = Int64(bytes)
        facts[.bytesKnown] = 1
    }

    // MARK: Sessions

    /// False when the id is taken.
    func create(_ session: StoredSession, telling notice: StoredTask? = nil) throws(SQLiteError) -> Bool {
        let record = session.record
        let row = try row(of: record, usedAt: session.lastUsedAt, over: nil)
        try bind(row, to: insertSession)
        try insertSession.bind(5, record.userID)
        try insertSession.bind(7, session.lastUsedAt)
        try insertSession.bind(8, record.expiresAt)
        try record.times.bind(to: insertSession, 9, 10)
        try insertSession.run()
        guard connection.changes == 1 else {
            for document in row.services { try remove(document) }
            return false
        }
        facts[.sessions] += 1
        facts[.bytes] += Int64(row.writtenBytes(keys))
        facts.note(revision: record.revision)
        if let notice { try tasks.apply([.begun(notice)]) }
        return true
    }

    /// Nil when it is done. A commit only updates a row and never inserts one, so it cannot revive an ended session.
    func commit(_ commit: SessionCommit) throws(SQLiteError) -> StoreError? {
        // For nearly all sessions, which have no large documents before and after, one statement is enough.
        if !commit.record.hasLargeDocuments, try update(commit, over: nil) { return nil }
        guard let row = try storedRow(of: commit.record.id) else {
            return .gone
        }
        guard row.revision == commit.replacedRevision else { return .conflict }
        return try update(commit, over: row) ? nil : .conflict
    }

    /// False when the row does not exist or has another revision than expected.
    private func update(_ commit: SessionCommit, over former: SessionRow?) throws(SQLiteError) -> Bool {
        let row = try row(of: commit.record, usedAt: 0, over: former)
        let update = commit.changesServicesOnly ? updateServices : updateSession
        try bind(row, to: update)
        if !commit.changesServicesOnly {
            try update.bind(5, commit.record.userID)
            try update.bind(8, commit.record.expiresAt)
        }
        try update.bind(9, Int64(clamping: commit.replacedRevision))
        try update.bind(10, Int64(former?.large ?? 0))
        try update.bind(7, commit.usedAt)
        try update.run()
        guard connection.changes == 1 else { return false }
        facts[.bytes] += Int64(commit.growth)
        facts.note(revision: row.revision)
        if commit.changesTimes { try write(commit.record.times, of: commit.record.id) }
        for flow in commit.newFlows { try write(flow) }
        if !commit.tasks.isEmpty { try tasks.apply(commit.tasks) }
        if let change = commit.replays { try replays.apply(change, of: commit.record.id) }
        return true
    }

    /// Nil when it is done. A session that is replaced is ended first.
    func receive(_ arrival: SessionArrival) throws(SQLiteError) -> StoreError? {
        let id = arrival.session.record.id
        var session = arrival.session
        let size = session.record.writtenBytes
        if let replaced = arrival.replacedRevision {
            guard let row = try storedRow(of: id) else { return .gone }
            guard row.revision == replaced else { return .conflict }
            // What takes less room than before is not refused: a deletion may leave something.
            let growth = size - row.writtenBytes(keys)
            if growth > 0, let refusal = refusal(of: growth) { return refusal }
            _ = try end(id)
        } else {
            if let refusal = refusal(of: size) { return refusal }
            // The session may have ended here: the revisions that it had are not given again.
            session = StoredSession(
                record: session.record.raisingRevisionFloor(to: UInt64(facts[.arrivalFloor])),
                lastUsedAt: session.lastUsedAt)
        }
        guard try create(session) else { return .conflict }
        for flow in arrival.newFlows { try write(flow) }
        try tasks.apply(arrival.tasks.map { .begun($0) })
        return nil
    }

    /// Of a session that is there.
    func write(_ times: SessionTimes, of id: SessionID) throws(SQLiteError) {
        try updateTimes.bind(1, id.key)
        try times.bind(to: updateTimes, 2, 3)
        try updateTimes.run()
    }

    func putOff(_ due: DueSession, to time: Int64) throws(SQLiteError) {
        try updateDue.bind(1, due.id.key)
        try updateDue.bind(2, number: time == .max ? nil : time)
        try updateDue.bind(3, due.dueAt)
        try updateDue.run()
    }

    /// Never moves a time backwards.
    func touch(_ use: SessionUse) throws(SQLiteError) {
        try bind(use.id, to: touchSession)
        try touchSession.bind(2, use.usedAt)
        try touchSession.run()
    }

    /// False when the session does not exist.
    func end(_ id: SessionID, telling notice: StoredTask? = nil) throws(SQLiteError) -> Bool {
        try bind(id, to: deleteSession)
        guard try end(with: deleteSession) else { return false }
        if let notice { try tasks.apply([.begun(notice)]) }
        return true
    }

    /// Ends an expired session. False when it was used since its row was read.
    func endOverdue(key: Int64, usedAt: Int64) throws(SQLiteError) -> Bool {
        try deleteOverdue.bind(1, key)
        try deleteOverdue.bind(2, usedAt)
        return try end(with: deleteOverdue)
    }

    private func end(with statement: SQLiteStatement) throws(SQLiteError) -> Bool {
        defer { statement.reset() }
        guard try statement.step() else { return false }
        // Large documents of a damaged row stay in the file; `store check` counts them.
        if let row = SessionRow(statement) {
            for document in row.services { try remove(document) }
            try tasks.removeAll(of: row.id)
            if row.replayBytes > 0 { try replays.removeAll(of: row.id) }
            if row.hasJourneys { try places.remove(row.id) }
            facts[.bytes] -= Int64(row.writtenBytes(keys))
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

    // MARK: Free pages

    /// Moves at most this many pages from the end of the file into free ones, and shortens the file.
    func giveBack(atMost limit: Int) throws(SQLiteError) -> SpaceGivenBack {
        let free = try connection.freePages
        guard try isShrinkable else { return SpaceGivenBack(given: 0, left: free, isPossible: false) }
        // Without a number, or with 0, SQLite would move all of them.
        if free > 0, limit > 0 { try connection.execute("PRAGMA incremental_vacuum(\(limit))") }
        let left = try connection.freePages
        // The file is shortened only when the log is copied.
        if left == 0 { room.isCheckpointDue = true }
        return SpaceGivenBack(given: free - left, left: left, isPossible: true)
    }

    /// Gives back a step of the surplus, if there is one. To take a page again lengthens the file, so some stay: a
    /// quarter of the pages in use, and at least a mebibyte.
    func giveBackSurplus() throws(SQLiteError) {
        let free = try connection.freePages
        guard free > Self.leastKept, try isShrinkable else { return }
        let used = Int(try connection.number("PRAGMA page_count") ?? 0) - free
        let surplus = free - max(Self.leastKept, used / 4)
        if surplus > 0 { _ = try giveBack(atMost: min(surplus, Self.step)) }
    }

    /// Pages that nothing refers to any more prevent it: SQLite would have to move them.
    private var isShrinkable: Bool {
        get throws(SQLiteError) { facts[.leaked] == 0 ? try connection.isIncremental : false }
    }

    /// Commits that come meanwhile wait a few milliseconds for one step.
    private static let step = 256
    private static let leastKept = 256

    // MARK: Rows

    func storedRow(of id: SessionID) throws(SQLiteError) -> SessionRow? {
        try bind(id, to: selectSession)
        defer { selectSession.reset() }
        guard try selectSession.step() else { return nil }
        guard let row = SessionRow(selectSession) else { throw .damage(doing: "reading the row of \(id)") }
        return row
    }

    /// Returns the row for a record. Writes the large documents that have changed since the former row.
    private func row(
        of record: SessionRecord, usedAt: Int64, over former: SessionRow?
    ) throws(SQLiteError) -> SessionRow {
        let seal = keys.map { SessionSeal($0, of: record.id) }
        var rest = former?.services ?? []
        var services: [StoredDocument] = []
        services.reserveCapacity(record.services.count)
        for document in record.services {
            services.append(try stored(document, named: names[document.service], seal, over: &rest))
        }
        for document in rest { try remove(document) }
        return SessionRow(
            record, usedAt: usedAt, epoch: UInt64(facts[.epoch]), services: services, seal: seal)
    }

    /// Writes a document if it is large and has changed.
    ///
    /// - Parameter former: documents of the former row; this document's entry is removed.
    private func stored(
        _ document: ServiceDocument, named name: String, _ seal: SessionSeal?, over former: inout [StoredDocument]
    ) throws(SQLiteError) -> StoredDocument {
        let old = former.firstIndex { $0.name == name }.map { former.remove(at: $0) }
        var pieces: DocumentPieces?
        if case .beside(let written) = old?.content { pieces = written }
        if document.isDamaged {
            // What nobody can read now may be read once it is repaired.
            guard let old, old.revision == document.revision else { throw .damage(doing: "keeping a document") }
            return StoredDocument(document, named: name, old.content, isSealed: old.isSealed)
        }
        guard document.bytes.count > DocumentPieces.longestInRow else {
            if let pieces { try documents.remove(pieces) }
            let bytes = seal?.seal(document.bytes, named: name) ?? document.bytes
            return StoredDocument(document, named: name, .inRow(bytes), isSealed: seal != nil)
        }
        if let pieces, let old, old.revision == document.revision {
            return StoredDocument(document, named: name, .beside(pieces), isSealed: old.isSealed)
        }
        let bytes = seal?.seal(document.bytes, named: name) ?? document.bytes
        let place = try documents.put(bytes, over: pieces)
        return StoredDocument(
            document, named: name, place.map { .beside($0) } ?? .inRow(bytes), isSealed: seal != nil)
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
}

extension SessionRecord {
    /// Whether the former row has to be known: for its documents that are beside it, or damaged.
    fileprivate var hasLargeDocuments: Bool {
        func isLarge(_ document: ServiceDocument) -> Bool {
            document.bytes.count > DocumentPieces.longestInRow || document.isDamaged
        }
        return services.contains(where: isLarge)
    }
}
