import Sessions
import Storage

/// Copies the rows of a damaged database to the tables of a new one.
final class RescuedRows {
    /// How many sentences say what is missing.
    private(set) var missing = 0
    private let tellCaller: (String) -> Void
    /// The rows of the table `facts`.
    private(set) var facts: [String: Int64] = [:]
    /// The names of tables of which rows may be missing.
    private(set) var damaged: Set<String> = []
    private let path: String
    private let connection: SQLiteConnection
    private let pages: DatabasePages
    private let cells: CellReader
    let tables: [RepairedTable]
    private let finder: PageFinder
    /// By the places of the tables: for rows on sound pages, and for others.
    private var insertions: [(sure: SQLiteStatement, doubtful: SQLiteStatement)] = []
    private let insertSession: SQLiteStatement

    init(
        _ pages: DatabasePages, to connection: SQLiteConnection, _ path: String, _ tell: @escaping (String) -> Void
    ) throws(SQLiteError) {
        self.pages = pages
        self.path = path
        self.connection = connection
        tellCaller = tell
        cells = CellReader(pages: pages)
        tables = [.schema] + (try RepairedTable.all(connection))
        finder = PageFinder(pages, tables: tables)
        for table in tables.dropFirst() {
            insertions.append(
                (
                    try connection.prepare(table.insertion(replaces: true)),
                    try connection.prepare(table.insertion(replaces: false))
                ))
        }
        // Both would be proven by their checksums. A page has one version of a session, so this is for damage that
        // leads to a page of an earlier time.
        insertSession = try connection.prepare(
            """
            INSERT OR REPLACE INTO sessions (key, revision, used_at, expires_at, user_id, large, state)
            SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7 WHERE NOT EXISTS (SELECT 1 FROM sessions WHERE key = ?1 AND revision > ?2)
            """)
    }

    func report(_ sentence: String) {
        missing += 1
        tellCaller(sentence)
    }

    /// - Throws: ``StoreOpeningError``, `SQLiteError`.
    func copyAll() throws {
        if let finding = pages.standing.finding { report(finding) }
        let roots = try roots()
        guard !roots.isEmpty else {
            throw StoreOpeningError.unusable(path, reason: "no table of a store can be found in it")
        }
        for (place, table) in tables.enumerated().dropFirst() {
            if let root = roots[table.name] { try finder.walk(from: root, of: place, copy) }
        }
        try finder.walkBelowLost(copy)
        let stored = try connection.number("SELECT count(*) FROM sessions")
        let isEverySessionThere = !damaged.contains("facts") && facts["sessions"] == stored
        for page in finder.lost.values.sorted(by: { $0.page < $1.page }) { tell(page, isEverySessionThere) }
    }

    // MARK: Tables

    /// The roots of the tables, by their names.
    private func roots() throws -> [String: UInt32] {
        var roots: [String: UInt32] = [:]
        try finder.walk(from: 1, of: 0) { (page, _) throws(SQLiteError) in
            for offset in page.cells {
                guard page.page.isSound, let cell = cells.cell(at: offset, on: page),
                    let row = Record(cell.payload, isCut: cell.missing != nil), row.text(0) == "table",
                    let name = row.text(1), let root = row.integer(3).flatMap(UInt32.init(exactly:))
                else { continue }
                roots[name] = root
            }
        }
        guard !finder.lost.isEmpty else { return roots }
        for table in tables.dropFirst() where roots[table.name] == nil { roots[table.name] = finder.root(of: table) }
        for root in finder.lostRoots where !roots.values.contains(root) {
            report("page \(root), the root of a table or of an index, cannot be read: what it leads to is missing")
        }
        if roots["facts"] == nil {
            damaged.insert("facts")
            report("the table facts cannot be found: how many sessions are missing is not known")
        }
        return roots
    }

    private func tell(_ lost: PageFinder.Lost, _ isEverySessionThere: Bool) {
        let table = tables[lost.table]
        // Everything below an inner page was found. It has no rows itself in a table with row ids.
        guard lost.table > 0, !(lost.isInner && table.hasRowID) else { return }
        damaged.insert(table.name)
        let place = "page \(lost.page) of the table \(table.name) cannot be read"
        switch table.name {
        case "sessions":
            guard !isEverySessionThere else { break }
            report("\(place): its sessions are missing, except for those that match a checksum of their own")
        // Each document that lacks a piece is told by its name.
        case "documents": break
        case "facts": report("\(place): the numbers of the store are made anew, and revisions continue far above")
        case "flows", "journeys", "places": report("\(place): the server makes it anew from its journeys")
        case "tasks": report("\(place): the server makes the tasks on it anew from their journeys")
        default: report("\(place): the rows on it are missing")
        }
    }

    // MARK: Rows

    private func copy(_ page: TreePage, of place: Int) throws(SQLiteError) {
        // The schema is made anew.
        guard place > 0 else { return }
        let table = tables[place]
        for offset in page.cells {
            // An inner page of a table with row ids has cells without rows.
            guard page.kind != .innerTable else { return }
            let cell = cells.cell(at: offset, on: page)
            let isCopied =
                switch (cell, table.name) {
                case (nil, _): false
                case (let cell?, "sessions"): try copySession(cell)
                case (let cell?, "facts"): copyFact(cell)
                case (let cell?, _): try copyRow(cell, of: place)
                }
            guard !isCopied else { continue }
            damaged.insert(table.name)
            // What is missing of a damaged page is told with the page.
            if page.page.isSound { tell(cell, on: page.page.number, of: table) }
        }
    }

    /// False when the row cannot be read.
    private func copySession(_ cell: Cell) throws(SQLiteError) -> Bool {
        guard cell.missing == nil, let record = Record(cell.payload), let row = SessionRow(record, key: cell.key) else {
            return false
        }
        try insertSession.bind(1, cell.key)
        try insertSession.bind(2, Int64(clamping: row.revision))
        // The checksum does not cover it.
        try insertSession.bind(3, cell.isSound ? row.usedAt : max(row.createdAt, min(row.usedAt, row.expiresAt)))
        try insertSession.bind(4, row.expiresAt)
        try insertSession.bind(5, row.details.userID)
        try insertSession.bind(6, Int64(row.large))
        try insertSession.bind(7, blob: record.blob(6).map(Array.init) ?? [])
        try insertSession.run()
        return true
    }

    private func copyFact(_ cell: Cell) -> Bool {
        guard cell.isSound, let record = Record(cell.payload), let name = record.text(0), let value = record.integer(1)
        else { return false }
        facts[name] = value
        return true
    }

    /// A piece of a document is proven by its session's row, any other row by its pages.
    private func copyRow(_ cell: Cell, of place: Int) throws(SQLiteError) -> Bool {
        let table = tables[place]
        guard cell.missing == nil, cell.isSound || table.name == "documents", let record = Record(cell.payload),
            table.fits(record)
        else { return false }
        let (sure, doubtful) = insertions[place - 1]
        let statement = cell.isSound ? sure : doubtful
        try table.bind(record, key: cell.key, to: statement)
        try statement.run()
        return true
    }

    /// Tells of a row on a sound page that cannot be read.
    private func tell(_ cell: Cell?, on page: UInt32, of table: RepairedTable) {
        guard let cell else { return report("a row on page \(page) of the table \(table.name) cannot be read") }
        let reason =
            cell.missing.map { "page \($0), on which its row continues, cannot be read" }
            ?? "the row does not match its checksum"
        switch table.name {
        case "sessions":
            let low = Record(cell.payload, isCut: cell.missing != nil)?.blob(6)?.dropFirst().prefix(8)
            let id = low.map { SessionID(key: cell.key, low: $0.reduce(0) { $0 << 8 | UInt64($1) }) }
            report("\(id.map { "\($0)" } ?? "the session with the key \(cell.key)") is missing: \(reason)")
        case "documents": break
        default: report("a row of the table \(table.name) is missing: \(reason)")
        }
    }
}

extension SessionRow {
    /// Reads a row of the table; nil when it is damaged.
    fileprivate init?(_ record: Record, key: Int64) {
        // Behind the state are the times, which are made anew. A row that an older program wrote has none.
        guard record.values.count >= 7, let revision = record.integer(1), let usedAt = record.integer(2),
            let expiresAt = record.integer(3), let state = record.blob(6)
        else { return nil }
        let row = state.withUnsafeBytes {
            SessionRow(
                key: key, revision: revision, usedAt: usedAt, expiresAt: expiresAt, userID: record.text(4), state: $0)
        }
        guard let row else { return nil }
        self = row
    }
}
