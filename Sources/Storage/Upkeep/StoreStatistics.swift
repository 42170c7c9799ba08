/// What is in a database, in numbers. Everything is read for it.
package struct StoreStatistics: Sendable {
    package struct Service: Sendable {
        package let name: String
        package let count: Int
        /// Of the documents alone.
        package let bytes: Int
        package let largest: Int
    }

    package let fileBytes: Int
    package let logBytes: Int
    package let pageBytes: Int
    package let pages: Int
    package let freePages: Int
    /// Whether free pages can be given back while a server has the file.
    package let isIncremental: Bool
    /// Whether pages have checksums.
    package let isSealed: Bool
    package let schemaVersion: Int
    package let sessions: Int
    /// Those to which a user is attached.
    package let sessionsOfUsers: Int
    /// When the oldest and the newest session were made, in milliseconds since 1970; nil without sessions.
    package let oldest: Int64?
    package let newest: Int64?
    package let lastUsed: Int64?
    /// Rows of the log of recent writes. The newest of a service counts among ``services``.
    package let recentWrites: Int
    /// In the order of their names; those that are not declared any more as well.
    package let services: [Service]

    /// All of the pages in use, shared out among the sessions.
    package var bytesPerSession: Int { sessions == 0 ? 0 : (pages - freePages) * pageBytes / sessions }

    /// - Throws: ``StoreOpeningError``.
    package init(_ path: String) throws {
        let file = try StoreFile(path, isCurrent: true)
        let connection = file.connection
        fileBytes = StoreFile.size(of: path)
        logBytes = StoreFile.size(of: path + "-wal")
        schemaVersion = file.version
        do throws(SQLiteError) {
            try connection.execute("BEGIN")
            defer { try? connection.execute("ROLLBACK") }
            func number(_ sql: String) throws(SQLiteError) -> Int { Int(try connection.number(sql) ?? 0) }
            pageBytes = try number("PRAGMA page_size")
            pages = try number("PRAGMA page_count")
            freePages = try number("PRAGMA freelist_count")
            isIncremental = try connection.number("PRAGMA auto_vacuum") == SQLiteSchema.incrementalVacuum
            isSealed = try connection.hasSeals
            let rows = try connection.prepare(
                "SELECT count(*), count(user_id), min(created_at), max(created_at), max(used_at) FROM sessions")
            _ = try rows.step()
            sessions = Int(rows.int64(0))
            sessionsOfUsers = Int(rows.int64(1))
            oldest = rows.isNull(2) ? nil : rows.int64(2)
            newest = rows.isNull(3) ? nil : rows.int64(3)
            lastUsed = rows.isNull(4) ? nil : rows.int64(4)
            services = try Self.services(connection)
            var recentWrites = 0
            for table in RecentTable.allCases { recentWrites += try number("SELECT count(*) FROM \(table.name)") }
            self.recentWrites = recentWrites
        } catch {
            throw StoreOpeningError.unusable(path, reason: error.description)
        }
    }

    /// With what the log of recent writes has in the places of what it takes the place of.
    private static func services(_ connection: SQLiteConnection) throws(SQLiteError) -> [Service] {
        let log = RecentTable.allCases.map { "SELECT session, name, revision, document FROM \($0.name)" }
        let rows = try connection.prepare(
            """
            WITH log AS (\(log.joined(separator: " UNION ALL "))),
            newest AS (
                SELECT session, name, max(log.revision), document FROM log
                JOIN sessions ON key = session AND log.revision > sessions.revision GROUP BY session, name
            ),
            sizes AS ( -- without the cast it would be characters
                SELECT name, length(CAST(document AS BLOB)) AS size FROM services
                WHERE (session, name) NOT IN (SELECT session, name FROM newest)
                UNION ALL SELECT name, length(CAST(document AS BLOB)) FROM newest
            )
            SELECT name, count(*), sum(size), max(size) FROM sizes GROUP BY name ORDER BY name
            """)
        var services: [Service] = []
        while try rows.step() {
            services.append(
                Service(
                    name: rows.text(0), count: Int(rows.int64(1)), bytes: Int(rows.int64(2)),
                    largest: Int(rows.int64(3))))
        }
        return services
    }
}
