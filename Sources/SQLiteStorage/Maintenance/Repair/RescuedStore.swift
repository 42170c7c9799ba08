import Sessions
import Storage

/// Completes a database that has the rescued rows of another one: looks at the documents, removes what belongs to no
/// session, and makes the numbers anew.
final class RescuedStore {
    private(set) var sessions = 0
    private(set) var services = 0
    private(set) var documents = 0
    private(set) var tasks = 0
    private let rows: RescuedRows
    private let connection: SQLiteConnection
    private let keys: DocumentKeys?
    private var highestRevision: UInt64 = 0
    private var highestEpoch: UInt64 = 0
    private var isSealed = false

    init(_ rows: RescuedRows, _ connection: SQLiteConnection, _ keys: DocumentKeys?) throws(SQLiteError) {
        self.rows = rows
        self.connection = connection
        self.keys = keys
    }

    func finish() throws(SQLiteError) {
        try connection.execute("CREATE TEMP TABLE owned (first INTEGER PRIMARY KEY, last INTEGER NOT NULL)")
        try checkSessions()
        // Of sessions that are missing. What has ended was not copied.
        try connection.execute(
            """
            DELETE FROM documents WHERE NOT EXISTS (SELECT 1 FROM owned
                WHERE first = (SELECT max(first) FROM owned WHERE first <= documents.id) AND documents.id <= last);
            DROP TABLE owned;
            """)
        for table in rows.tables where table.columns.contains(where: { $0.name == "session" && $0.type == "INTEGER" }) {
            try connection.execute(
                "DELETE FROM \(table.name) WHERE NOT EXISTS (SELECT 1 FROM sessions WHERE key = \(table.name).session)")
        }
        tasks = Int(try connection.number("SELECT count(*) FROM tasks") ?? 0)
        try writeFacts()
    }

    private func checkSessions() throws(SQLiteError) {
        let reader = try PieceReader(connection)
        let own = try connection.prepare("INSERT OR IGNORE INTO owned VALUES (?1, ?2)")
        // An id that is missing stays taken: a new document in its place would go with the old one.
        let fill = try connection.prepare("INSERT OR IGNORE INTO documents VALUES (?1, zeroblob(0))")
        let select = try connection.prepare("SELECT \(SessionRow.columns) FROM sessions ORDER BY key")
        while try select.step() {
            guard let row = SessionRow(select) else { continue }
            sessions += 1
            services += row.services.count
            highestRevision = max(highestRevision, row.revision, row.details.revisionFloor)
            highestEpoch = max(highestEpoch, row.epoch)
            isSealed = isSealed || row.isSealed
            for service in row.services {
                guard case .beside(let pieces) = service.content else { continue }
                try own.bind(1, pieces.ids.lowerBound)
                try own.bind(2, pieces.ids.upperBound)
                try own.run()
                guard try reader.bytes(of: service) == nil else {
                    documents += 1
                    continue
                }
                for id in pieces.ids {
                    try fill.bind(1, id)
                    try fill.run()
                }
                rows.report.add("\(row.id), service \(StoreCheck.visible(service.name)): the document cannot be read")
            }
        }
    }

    // MARK: Numbers

    private func writeFacts() throws(SQLiteError) {
        let (found, isKnown) = (rows.facts, !rows.damaged.contains("facts"))
        let counted = isKnown ? Int(found["sessions"] ?? 0) : 0
        if counted > sessions { rows.report.add("\(counted - sessions) of \(counted) sessions are missing") }
        let facts = StoreFacts()
        try facts.read(connection)
        for name in Self.kept { facts[name] = max(0, min(found[name.rawValue] ?? 0, Self.highest)) }
        facts[.sessions] = Int64(sessions)
        facts[.tasks] = Int64(tasks)
        // A start adds them up.
        facts[.bytesKnown] = 0
        facts[.flowsKnown] = rows.damaged.contains("flows") ? 0 : found[StoreFacts.Name.flowsKnown.rawValue] ?? 0
        // Later writes may be missing: a start raises the floor above the ceiling.
        facts[.restored] = 1
        let highest = min(Int64(clamping: highestRevision), Self.highest)
        facts[.revisionCeiling] = max(facts[.revisionCeiling], highest)
        facts[.epoch] = max(facts[.epoch], Int64(clamping: highestEpoch))
        if !isKnown {
            facts[.revisionCeiling] = highest + Self.raises * StoreFacts.stock
            facts[.running] = Self.longestUnknownUse
        }
        let write = try connection.prepare("INSERT OR REPLACE INTO facts VALUES (?1, ?2)")
        try facts.write(with: write)
        for (name, value) in found where name.hasPrefix("key:") {
            try write.bind(1, name)
            try write.bind(2, value)
            try write.run()
        }
        if rows.damaged.contains("tasks") {
            // A start looks for them in the journeys.
            try write.bind(1, "tasks_lost")
            try write.bind(2, 1)
            try write.run()
        }
        if !isKnown, isSealed { try nameKeys() }
    }

    private func nameKeys() throws(SQLiteError) {
        guard let keys else {
            return rows.report.add(
                "the names of its keys cannot be read: call this command with encryption_keys_file, so that the new file "
                    + "names them")
        }
        try UsedKeys.noteAll(of: keys, connection)
    }

    /// What a copy keeps. Other numbers are about the run that has ended, or are counted anew.
    private static let kept: [StoreFacts.Name] = [
        .revisionCeiling, .revisionFloor, .arrivalFloor, .epoch, .running, .behind, .behindUntil,
    ]
    /// Leaves room for what is added to a revision.
    private static let highest: Int64 = 1 << 60
    /// Without the ceiling it is only known that each start after a loss has raised it, at most by twice the stock.
    private static let raises: Int64 = 1 << 10
    /// The most that `touch_interval` can be, in milliseconds, and the time until a use reaches the store.
    private static let longestUnknownUse: Int64 = 3_605_000
}
