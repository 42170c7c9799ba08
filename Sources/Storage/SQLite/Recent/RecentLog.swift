import CSQLite
import Sessions

/// The writer's side of the log of recent writes: what it has added within its transaction, and which part of the log is to
/// be brought to where it belongs. On the writer's thread alone.
///
/// The table that gathers takes each commit that only writes services. When it is full it changes places with the other,
/// and while that one fills up, the sessions of the former are *folded*: their newest rows take the places of what is in
/// `services`, and their revision that in `sessions`. As many of them as the other is full, so that no group has much to do,
/// and in the order of their keys, so that those which share pages come together. What has a newer row for all of its
/// services by then is not folded: its turn comes with those. A table whose sessions are folded is emptied as a whole.
///
/// A row that is not newer than its session's own row, or whose session is not there, means nothing: so rows of sessions
/// that were folded stay where they are until their table is emptied.
final class RecentLog {
    /// What a transaction that does not come about takes back with it.
    private struct State {
        var gathering = RecentTable.even
        var rows = 0
        var bytes = 0
        /// The sessions with rows in the other table, by their keys; of these so many had their turn.
        var queue: [Int64] = []
        var folded = 0
        var isFormerEmpty = true
    }

    /// Where a damaged page was come upon.
    enum Place {
        /// Where it is somebody's own trouble.
        case elsewhere
        case folding(Int64)
        case log
    }

    let index: RecentIndex
    let rows: RecentRows
    var place = Place.elsewhere
    /// Nothing is added to it any more: its own pages are damaged. Commits then go where they belong at once.
    private(set) var isOff = false
    /// Sessions with damaged pages in the way. Their rows stay in the log.
    private var stuck: Set<Int64> = []
    private var state = State()
    private var committed = State()
    private var changes: [Int64: RecentIndex.Change] = [:]
    private let connection: SQLiteConnection
    private let inserts: [SQLiteStatement]
    private let report: @Sendable (String) -> Void
    private var limits: RecentLimits { index.limits }
    /// Pages of a full table that was emptied, which the next one takes again.
    private(set) var pagesInTurn = 0

    init(
        _ connection: SQLiteConnection, _ index: RecentIndex, report: @escaping @Sendable (String) -> Void
    ) throws(SQLiteError) {
        self.connection = connection
        self.index = index
        self.report = report
        rows = try RecentRows(connection, report: report)
        var inserts: [SQLiteStatement] = []
        for table in RecentTable.allCases {
            inserts.append(
                try connection.prepare(
                    """
                    INSERT INTO \(table.name) (session, \(ServiceRow.columns), id, seq)
                    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
                    """))
        }
        self.inserts = inserts
    }

    // MARK: Transactions

    /// Before a transaction.
    func begin() {
        place = .elsewhere
        if isFull, state.isFormerEmpty { turn() }
    }

    /// The empty table gathers from now on.
    private func turn() {
        pagesInTurn = state.bytes / 3_600
        state = State(gathering: state.gathering.other, queue: keys, isFormerEmpty: false)
    }

    /// The transaction is committed, and nobody was told yet.
    func publish() {
        committed = state
        guard !changes.isEmpty else { return }
        index.apply(changes)
        changes.removeAll(keepingCapacity: true)
    }

    /// The transaction has not come about.
    func discard() {
        state = committed
        changes.removeAll(keepingCapacity: true)
    }

    /// After a damaged page: whether the log goes around it from now on, so that what was done can be done again.
    func goAround() -> Bool {
        defer { place = .elsewhere }
        switch place {
        case .elsewhere: return false
        case .folding(let key):
            report("Pages of a session are damaged (key \(key)); recent writes to it stay in the log.")
            return stuck.insert(key).inserted
        case .log:
            report("Pages of the log of recent writes are damaged; it is not used any more.")
            defer { isOff = true }
            return !isOff
        }
    }

    func isStuck(key: Int64) -> Bool { stuck.contains(key) }

    // MARK: Sessions

    func session(_ id: SessionID) -> RecentSession? {
        guard let session = session(key: id.key), session.id == id else { return nil }
        return session
    }

    func session(key: Int64) -> RecentSession? {
        if let change = changes[key] { return change.session }
        return index[key]
    }

    func set(_ session: RecentSession) { changes[session.id.key] = RecentIndex.Change(session: session) }

    /// Its rows mean nothing any more, or stay in the log.
    func forget(key: Int64) {
        changes[key] = RecentIndex.Change(session: nil)
    }

    /// Those that have rows, in order.
    private var keys: [Int64] {
        guard !changes.isEmpty else { return index.keys.sorted() }
        var keys = Set(index.keys)
        for (key, change) in changes {
            if change.session == nil { keys.remove(key) } else { keys.insert(key) }
        }
        return keys.sorted()
    }

    // MARK: Rows

    func append(_ row: ServiceRow, service: UInt16, to session: inout RecentSession) throws(SQLiteError) {
        let sequence = index.nextSequence()
        let insert = inserts[state.gathering.place]
        try row.bind(to: insert)
        try session.id.withBytes { bytes throws(SQLiteError) in try insert.bind(9, blob: bytes) }
        try insert.bind(10, sequence)
        place = .log
        try insert.run()
        place = .elsewhere
        session.add(
            RecentSession.Row(sequence: sequence, service: service, table: state.gathering), revision: row.revision)
        state.rows += 1
        state.bytes += row.document.count + Self.bytesOfRow
    }

    /// Those columns that are not the document.
    private static let bytesOfRow = 80

    private var isFull: Bool { state.rows >= limits.rows || state.bytes >= limits.bytes }

    /// Whether there is anything in the tables that could be gone.
    var isToBeFolded: Bool { !isOff && (state.rows > 0 || !state.isFormerEmpty) }

    /// The next one whose turn has come to be folded.
    func nextDue() -> RecentSession? {
        let (count, rows, bytes) = (state.queue.count, state.rows, state.bytes)
        return next(before: min(count, max(rows * count / limits.rows, bytes * count / limits.bytes)))
    }

    /// The next one, whether its turn has come or not. Nil when the log is empty by then.
    func next() throws(SQLiteError) -> RecentSession? {
        while isToBeFolded {
            if let session = next(before: state.queue.count) { return session }
            try emptyFormer()
            if state.rows > 0 { turn() } else { pagesInTurn = 0 }
        }
        return nil
    }

    private func next(before end: Int) -> RecentSession? {
        while !isOff, state.folded < end {
            let key = state.queue[state.folded]
            state.folded += 1
            // Whatever it has in the other table by now is newer than all that it had in this one.
            guard !stuck.contains(key), let session = session(key: key), session.isIn(state.gathering.other) else {
                continue
            }
            return session
        }
        return nil
    }

    /// Empties the table whose sessions all had their turns.
    func emptyFormer() throws(SQLiteError) {
        guard !isOff, !state.isFormerEmpty, state.folded == state.queue.count else { return }
        try empty(state.gathering.other)
        state.queue = []
        state.folded = 0
        state.isFormerEmpty = true
    }

    /// Before a session is received: nothing that stayed in the log is taken for its.
    func removeStuck(key: Int64) throws(SQLiteError) {
        guard stuck.contains(key) else { return }
        for table in RecentTable.allCases { try connection.execute("DELETE FROM \(table.name) WHERE session = \(key)") }
        forget(key: key)
    }

    /// Without a condition SQLite does not look at the rows at all.
    private func empty(_ table: RecentTable) throws(SQLiteError) {
        place = .log
        let kept = stuck.map(String.init).joined(separator: ", ")
        try connection.execute("DELETE FROM \(table.name)" + (stuck.isEmpty ? "" : " WHERE session NOT IN (\(kept))"))
        place = .elsewhere
    }

    /// What was found in the file.
    func take(_ found: RecentReplay) {
        index.skipSequences(to: found.lastSequence)
        index.replaceAll(found.sessions)
        changes = [:]
        state = State(
            gathering: found.gathering, rows: found.count(of: found.gathering), bytes: found.bytes,
            isFormerEmpty: found.count(of: found.gathering.other) == 0)
        if !state.isFormerEmpty { state.queue = index.keys.sorted() }
        committed = state
    }
}
