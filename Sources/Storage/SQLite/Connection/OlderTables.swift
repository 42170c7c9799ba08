import CSQLite
import JSONDocument
import Sessions

/// The tables of versions 1 to 3, from which a start copies the sessions: some hundred in each transaction, so that it
/// takes little memory, and one that is interrupted goes on where it was.
///
/// They had a row for each service, and newer versions of these rows in two tables of recent writes: what of those has a
/// higher revision than its session is the service's row.
struct OlderTables {
    /// The tables get other names, and what version 1 and 2 did not have is made.
    static let setAside = """
        DROP TRIGGER IF EXISTS count_created;
        DROP TRIGGER IF EXISTS count_ended;
        DROP INDEX IF EXISTS sessions_by_user;
        DROP INDEX IF EXISTS sessions_by_due;
        ALTER TABLE sessions RENAME TO older_sessions;
        ALTER TABLE services RENAME TO older_services;
        CREATE TABLE IF NOT EXISTS recent_even (seq INTEGER PRIMARY KEY, session INTEGER, id BLOB, name TEXT, birth INTEGER,
            revision INTEGER, created_at INTEGER, updated_at INTEGER, document TEXT, checksum INTEGER);
        CREATE TABLE IF NOT EXISTS recent_odd (seq INTEGER PRIMARY KEY, session INTEGER, id BLOB, name TEXT, birth INTEGER,
            revision INTEGER, created_at INTEGER, updated_at INTEGER, document TEXT, checksum INTEGER);
        CREATE INDEX recent_even_by_session ON recent_even (session);
        CREATE INDEX recent_odd_by_session ON recent_odd (session);
        """

    private static let betweenReports = 100_000

    private let writer: SessionWriter
    private let names: ServiceNames
    private let damage: DamageCount
    private let selectSessions: SQLiteStatement
    private let selectServices: [SQLiteStatement]
    private let deletes: [SQLiteStatement]

    /// Copies what is there, and removes the tables at the end.
    ///
    /// - Parameters:
    ///   - batch: how many sessions in one transaction.
    ///   - batches: after so many it is interrupted, in tests.
    static func copy(
        with writer: SessionWriter, names: ServiceNames, damage: DamageCount, batch: Int = 500, batches: Int = .max
    ) throws {
        let connection = writer.connection
        guard
            try connection.number("SELECT count(*) FROM sqlite_schema WHERE name = 'older_sessions'") == 1
        else { return }
        guard try OlderTables(writer, names, damage, batch).copy(batches) else { return }
        let tables = ["older_sessions", "older_services", "recent_even", "recent_odd"]
        do {
            try connection.transaction { for table in tables { try connection.execute("DROP TABLE \(table)") } }
        } catch let error as SQLiteError where error.primaryCode == SQLITE_CORRUPT {
            damage.report("Tables of the older version stay in the file, since pages of them are damaged (\(error)).")
        }
    }

    private init(
        _ writer: SessionWriter, _ names: ServiceNames, _ damage: DamageCount, _ batch: Int
    ) throws(SQLiteError) {
        self.writer = writer
        self.names = names
        self.damage = damage
        let connection = writer.connection
        selectSessions = try connection.prepare(
            """
            SELECT key, id, token, revision, created_at, expires_at, used_at, mode, user_id, labels, retired, checksum
            FROM older_sessions WHERE key > ?1 ORDER BY key LIMIT \(batch)
            """)
        let columns = "name, birth, revision, created_at, updated_at, document, checksum"
        var selects: [SQLiteStatement] = []
        for table in ["older_services", "recent_even", "recent_odd"] {
            selects.append(try connection.prepare("SELECT \(columns) FROM \(table) WHERE session = ?1"))
        }
        selectServices = selects
        deletes = [
            try connection.prepare("DELETE FROM older_sessions WHERE key BETWEEN ?1 AND ?2"),
            try connection.prepare("DELETE FROM older_services WHERE session BETWEEN ?1 AND ?2"),
        ]
    }

    /// False when it was interrupted.
    private func copy(_ batches: Int) throws -> Bool {
        let total = writer.facts[.sessions]
        if writer.facts[.migrated] == 0 {
            // From here on those that were copied are counted.
            writer.facts[.sessions] = 0
            writer.facts[.migrated] = .min
        }
        damage.report("The database is of an older version; its \(total) sessions are copied into the new tables.")
        var reported: Int64 = 0
        var done = 0
        while writer.facts[.migrated] < .max {
            guard done < batches else { return false }
            done += 1
            let mark = writer.facts.mark
            do {
                try writer.connection.transaction {
                    try copySome()
                    try writer.prepareCommit()
                }
                writer.facts.noteCommit()
            } catch {
                writer.facts.goBack(to: mark)
                throw error
            }
            let copied = writer.facts[.sessions]
            if copied - reported >= Self.betweenReports {
                reported = copied
                damage.report("\(copied) sessions are copied.")
            }
        }
        damage.report("\(writer.facts[.sessions]) sessions are copied; the database is of the new version.")
        return true
    }

    /// The next sessions; what is damaged is reported and left out, as if it were not there.
    private func copySome() throws(SQLiteError) {
        let start = writer.facts[.migrated]
        var last = start
        var isEnd = true
        do throws(SQLiteError) {
            try selectSessions.bind(1, start)
            defer { selectSessions.reset() }
            while try selectSessions.step() {
                isEnd = false
                last = selectSessions.int64(0)
                guard let session = try session(on: selectSessions) else {
                    damage.note("The row of the session with the key \(last) is damaged; it is not copied.")
                    continue
                }
                if try writer.create(session) { continue }
                damage.note("The session with the key \(last) is there twice; the second one is not copied.")
            }
        } catch  where error.primaryCode == SQLITE_CORRUPT {
            damage.note("Pages of the older tables are damaged behind the key \(last) (\(error)).")
            guard let next = try keyBehindDamage(after: last) else { return writer.facts[.migrated] = .max }
            return writer.facts[.migrated] = next
        }
        writer.facts[.migrated] = isEnd ? .max : last
        guard !isEnd else { return }
        do throws(SQLiteError) {
            for delete in deletes {
                try delete.bind(1, start)
                try delete.bind(2, last)
                try delete.run()
            }
        } catch  where error.primaryCode == SQLITE_CORRUPT {
            // They go with the tables.
        }
    }

    /// Nil when nothing can be read from there on.
    private func keyBehindDamage(after key: Int64) throws(SQLiteError) -> Int64? {
        HoleSearch.readableKey(after: key) { after in
            do throws(SQLiteError) {
                try selectSessions.bind(1, after)
                defer { selectSessions.reset() }
                return try !selectSessions.step() || selectSessions.int64(0) > after
            } catch {
                return false
            }
        }
    }

    // MARK: Rows as they were

    private func session(on row: SQLiteStatement) throws(SQLiteError) -> StoredSession? {
        let key = row.int64(0)
        let bytes = row.bytes(1)
        guard bytes.count == 16 else { return nil }
        let low = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        let id = SessionID(key: key, low: low)
        var sum = OlderChecksum()
        sum.add(bytes)
        sum.add(row.bytes(2))
        for column in [Int32(3), 4, 5] { sum.add(row.int64(column)) }
        for column in [Int32(7), 8, 9, 10] { if row.isNull(column) { sum.add(-1) } else { sum.add(row.bytes(column)) } }
        let revision = row.int64(3)
        guard sum.value == row.int64(11), revision >= 0, let token = TokenDigest(bytes: Array(row.bytes(2))),
            let mode = SessionMode(rawValue: row.text(7))
        else { return nil }
        var details = SessionDetails(userID: row.isNull(8) ? nil : row.text(8), mode: mode)
        if !row.isNull(9) {
            guard let labels = SessionRow.labels(Array(row.bytes(9))) else { return nil }
            details.labels = labels
        }
        if !row.isNull(10) { details.retiredTokens = Self.retiredTokens(row.bytes(10)) }
        let (services, highest) = try services(of: id, revision, &details)
        let record = SessionRecord(
            id: id, token: token, createdAt: row.int64(4), expiresAt: row.int64(5), revision: UInt64(highest),
            services: services, details: details)
        return StoredSession(record: record, lastUsedAt: row.int64(6))
    }

    /// The newest row of each service, and the session's revision.
    private func services(
        of id: SessionID, _ revision: Int64, _ details: inout SessionDetails
    ) throws(SQLiteError) -> ([ServiceDocument], Int64) {
        var newest: [String: ServiceDocument] = [:]
        var highest = revision
        for (place, rows) in selectServices.enumerated() {
            try rows.bind(1, id.key)
            defer { rows.reset() }
            while try rows.step() {
                let (name, written) = (rows.text(0), rows.int64(2))
                // A recent write that is not newer than the session means nothing.
                guard place == 0 || written > revision else { continue }
                var sum = OlderChecksum()
                var words = (id.high.bigEndian, id.low.bigEndian)
                withUnsafeBytes(of: &words) { sum.add($0) }
                sum.add(rows.bytes(0))
                for column in [Int32(1), 2, 3, 4] { sum.add(rows.int64(column)) }
                sum.add(rows.bytes(5))
                guard sum.value == rows.int64(6), rows.int64(1) >= 0, written >= 0 else {
                    damage.note("The service \(name) of \(id) is damaged; it is not copied.")
                    continue
                }
                highest = max(highest, written)
                guard newest[name].map({ $0.revision < UInt64(written) }) ?? true else { continue }
                newest[name] = ServiceDocument(
                    service: names[name] ?? .max, birth: UInt64(rows.int64(1)), revision: UInt64(written),
                    createdAt: rows.int64(3), updatedAt: rows.int64(4), bytes: Array(rows.bytes(5)))
            }
        }
        let all = newest.sorted { $0.value.birth < $1.value.birth }
        details.undeclared = all.filter { $0.value.service == .max }
            .map { UndeclaredService(name: $0.key, document: $0.value) }
        return (all.map(\.value).filter { $0.service != .max }, highest)
    }

    /// A digest and three times each, big-endian.
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

/// CRC-32 of columns, each with its length before it.
private struct OlderChecksum {
    private var sum = RowChecksum()

    var value: Int64 { Int64(sum.value) }

    mutating func add(_ number: Int64) { sum.add(number) }

    mutating func add(_ bytes: UnsafeRawBufferPointer) {
        sum.add(Int64(bytes.count))
        sum.add(bytes)
    }
}
