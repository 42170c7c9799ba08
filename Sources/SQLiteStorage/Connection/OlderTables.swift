import CSQLite
import Sessions
import Storage

/// The tables of versions 1 to 3, from which a start copies the sessions. Each transaction copies some, which takes
/// little memory; after an interruption the next start continues.
struct OlderTables {
    /// Renames the tables. They had a row for each service, and newer versions of these rows in two delta logs: a newer
    /// version with a higher revision than its session takes the place of the row.
    static let setAside = """
        DROP TRIGGER IF EXISTS count_created;
        DROP TRIGGER IF EXISTS count_ended;
        DROP INDEX sessions_by_user;
        CREATE TABLE IF NOT EXISTS recent_even AS SELECT * FROM services WHERE false;
        CREATE TABLE IF NOT EXISTS recent_odd AS SELECT * FROM services WHERE false;
        REPLACE INTO services (session, name, birth, revision, created_at, updated_at, document, checksum)
            SELECT session, name, birth, max(recent.revision), recent.created_at, updated_at, document, recent.checksum
            FROM (SELECT session, name, birth, revision, created_at, updated_at, document, checksum FROM recent_even UNION ALL
                SELECT session, name, birth, revision, created_at, updated_at, document, checksum FROM recent_odd) AS recent
            JOIN sessions ON key = session AND recent.revision > sessions.revision GROUP BY session, name;
        DROP TABLE recent_even;
        DROP TABLE recent_odd;
        ALTER TABLE sessions RENAME TO older_sessions;
        ALTER TABLE services RENAME TO older_services;
        """

    private static let batchBytes = 4 << 20
    private static let betweenReports: Int64 = 100_000

    private let names: ServiceNames
    private let damage: DamageCount
    private let selectSessions: SQLiteStatement
    private let selectServices: SQLiteStatement

    /// Copies the sessions, if there are older tables, and removes the tables. Damaged parts are reported and left out.
    ///
    /// - Parameters:
    ///   - batch: the most sessions in one transaction.
    ///   - batches: the number of transactions after which tests interrupt it.
    static func copy(
        with writer: SessionWriter, names: ServiceNames, damage: DamageCount, batch: Int = 500, batches: Int = .max,
        progress: (String) -> Void
    ) throws {
        let (connection, facts) = (writer.connection, writer.facts)
        func isThere(_ table: String) throws -> Bool {
            try connection.number("SELECT count(*) FROM sqlite_schema WHERE name = '\(table)'") == 1
        }
        guard try isThere("older_sessions") else { return }
        if facts[.migrated] == 0 {
            progress("The database is of an older version; its \(facts[.sessions]) sessions will be copied.")
            // From now on the number of copied sessions.
            facts[.sessions] = 0
            facts[.migrated] = .min
        }
        let tables = try OlderTables(connection, names, damage)
        var done = 0
        while facts[.migrated] < .max {
            guard done < batches else { return }
            done += 1
            let start = facts[.migrated]
            // Read before the transaction: SQLite refuses writes in a transaction that has met a damaged page.
            let (sessions, last) = try tables.sessions(after: start, limit: batch)
            try connection.transaction { () throws(SQLiteError) in
                for session in sessions where try !writer.create(session) {
                    damage.note("\(session.record.id) exists twice; the second one is not copied.")
                }
                facts[.migrated] = last ?? .max
                try writer.prepareCommit()
            }
            facts.noteCommit()
            let range = "BETWEEN \(start) AND \(last ?? .max)"
            // Makes room for the next sessions. Rows on damaged pages stay.
            try tables.unlessDamaged("DELETE FROM older_services WHERE session \(range)", on: connection)
            try tables.unlessDamaged("DELETE FROM older_sessions WHERE key \(range)", on: connection)
            let copied = facts[.sessions]
            if copied % Self.betweenReports < Int64(sessions.count), copied >= Self.betweenReports {
                progress("\(copied) sessions have been copied.")
            }
        }
        try tables.unlessDamaged("DROP TABLE older_services", on: connection)
        try tables.unlessDamaged("DROP TABLE older_sessions", on: connection)
        progress("\(facts[.sessions]) sessions have been copied; the database has the new version.")
    }

    private func unlessDamaged(_ sql: String, on connection: SQLiteConnection) throws(SQLiteError) {
        do throws(SQLiteError) {
            try connection.execute(sql)
        } catch  where error.primaryCode == SQLITE_CORRUPT {
            damage.report("Pages of the older tables are damaged and stay in the file: \(error).")
        }
    }

    private init(_ connection: SQLiteConnection, _ names: ServiceNames, _ damage: DamageCount) throws(SQLiteError) {
        self.names = names
        self.damage = damage
        selectSessions = try connection.prepare(
            """
            SELECT key, id, token, revision, created_at, expires_at, used_at, mode, user_id, labels, retired, checksum
            FROM older_sessions WHERE key > ?1 ORDER BY key
            """)
        selectServices = try connection.prepare(
            """
            SELECT name, birth, revision, created_at, updated_at, document, checksum FROM older_services
            WHERE session = ?1 ORDER BY birth
            """)
    }

    private func sessions(after key: Int64, limit: Int) throws(SQLiteError) -> ([StoredSession], last: Int64?) {
        var (sessions, bytes) = ([StoredSession](), 0)
        let walk = try KeyWalk(selectSessions, after: key, limit: limit, damage) { (row) throws(SQLiteError) in
            guard let session = try session(on: row) else {
                damage.note("The row of the session with the key \(row.int64(0)) is damaged; it is not copied.")
                return .damaged
            }
            sessions.append(session)
            bytes += session.record.services.reduce(0) { $0 + $1.bytes.count }
            return bytes < Self.batchBytes ? .sound : .last
        }
        return (sessions, walk.last)
    }

    /// Nil when the row is damaged.
    private func session(on row: SQLiteStatement) throws(SQLiteError) -> StoredSession? {
        let (bytes, revision) = (row.bytes(1), row.int64(3))
        var sum = ColumnChecksum()
        for column in [Int32(1), 2] { sum.add(row.bytes(column)) }
        for column in [Int32(3), 4, 5] { sum.add(row.int64(column)) }
        for column in [Int32(7), 8, 9, 10] { if row.isNull(column) { sum.add(-1) } else { sum.add(row.bytes(column)) } }
        guard bytes.count == 16, sum.value == row.int64(11), revision >= 0,
            let token = TokenDigest(bytes: Array(row.bytes(2))), let mode = SessionMode(rawValue: row.text(7)),
            let labels = row.isNull(9) ? SessionLabels.none : SessionLabels(text: Array(row.bytes(9)))
        else { return nil }
        let low = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        let id = SessionID(key: row.int64(0), low: low)
        var services: [(name: String, document: ServiceDocument)] = []
        do throws(SQLiteError) {
            services = try self.services(of: id)
        } catch  where error.primaryCode == SQLITE_CORRUPT {
            damage.note("The services of \(id) are on damaged pages; they are not copied.")
        }
        let details = SessionDetails(
            labels: labels, userID: row.isNull(8) ? nil : row.text(8), retiredTokens: Self.retiredTokens(row.bytes(10)),
            mode: mode,
            undeclared: services.filter { $0.document.service == .max }.map(UndeclaredService.init))
        let record = SessionRecord(
            id: id, token: token, createdAt: row.int64(4), expiresAt: row.int64(5),
            revision: services.reduce(UInt64(revision)) { max($0, $1.document.revision) },
            services: services.map(\.document).filter { $0.service != .max }, details: details)
        return StoredSession(record: record, lastUsedAt: row.int64(6))
    }

    private func services(of id: SessionID) throws(SQLiteError) -> [(name: String, document: ServiceDocument)] {
        let rows = selectServices
        try rows.bind(1, id.key)
        defer { rows.reset() }
        var services: [(name: String, document: ServiceDocument)] = []
        while try rows.step() {
            var sum = ColumnChecksum()
            var words = (id.high.bigEndian, id.low.bigEndian)
            withUnsafeBytes(of: &words) { sum.add($0) }
            sum.add(rows.bytes(0))
            for column in [Int32(1), 2, 3, 4] { sum.add(rows.int64(column)) }
            sum.add(rows.bytes(5))
            let (name, birth, revision) = (rows.text(0), rows.int64(1), rows.int64(2))
            guard sum.value == rows.int64(6), birth >= 0, revision >= 0 else {
                damage.note("The service \(name) of \(id) is damaged; it is not copied.")
                continue
            }
            services.append(
                (
                    name,
                    ServiceDocument(
                        service: names[name] ?? .max, birth: UInt64(birth), revision: UInt64(revision),
                        createdAt: rows.int64(3), updatedAt: rows.int64(4), bytes: Array(rows.bytes(5)))
                ))
        }
        return services
    }

    /// For each token a digest and three times, big-endian.
    private static func retiredTokens(_ bytes: UnsafeRawBufferPointer) -> [RetiredToken] {
        stride(from: 0, to: bytes.count - 55, by: 56).compactMap { start in
            let times = [32, 40, 48].map {
                Int64(bigEndian: bytes.loadUnaligned(fromByteOffset: start + $0, as: Int64.self))
            }
            return TokenDigest(bytes: Array(bytes[start..<start + 32])).map {
                RetiredToken(digest: $0, givenAt: times[0], retiredAt: times[1], grace: times[2] &- times[1])
            }
        }
    }
}

/// CRC-32 over columns, each preceded by its length.
private struct ColumnChecksum {
    private var sum = RowChecksum()

    var value: Int64 { Int64(sum.value) }

    mutating func add(_ number: Int64) { sum.add(number) }

    mutating func add(_ bytes: UnsafeRawBufferPointer) {
        sum.add(Int64(bytes.count))
        sum.add(bytes)
    }
}
