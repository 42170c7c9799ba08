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
                "SELECT count(*), count(user_id), max(used_at) FROM sessions")
            _ = try rows.step()
            sessions = Int(rows.int64(0))
            sessionsOfUsers = Int(rows.int64(1))
            lastUsed = rows.isNull(2) ? nil : rows.int64(2)
            (services, oldest, newest) = try Self.contents(connection)
        } catch {
            throw StoreOpeningError.unusable(path, reason: error.description)
        }
    }

    /// What is in the rows: services, and when the oldest and the newest session were made. Damaged rows are left out.
    private static func contents(
        _ connection: SQLiteConnection
    ) throws(SQLiteError) -> (services: [Service], oldest: Int64?, newest: Int64?) {
        let rows = try connection.prepare("SELECT \(SessionRow.columns) FROM sessions")
        var services: [String: (count: Int, bytes: Int, largest: Int)] = [:]
        var created: ClosedRange<Int64>?
        while try rows.step() {
            guard let row = SessionRow(rows) else { continue }
            created = min(created?.lowerBound ?? .max, row.createdAt)...max(created?.upperBound ?? .min, row.createdAt)
            for service in row.services {
                let former = services[service.name, default: (0, 0, 0)]
                services[service.name] = (
                    former.count + 1, former.bytes + service.size, max(former.largest, service.size)
                )
            }
        }
        let items = services.sorted { $0.key < $1.key }.map {
            Service(name: $0.key, count: $0.value.count, bytes: $0.value.bytes, largest: $0.value.largest)
        }
        return (items, created?.lowerBound, created?.upperBound)
    }
}
