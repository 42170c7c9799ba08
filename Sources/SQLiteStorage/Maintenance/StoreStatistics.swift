import Sessions

/// The content of a database in numbers. To count them reads everything.
package struct StoreStatistics: Sendable {
    package struct Service: Sendable {
        package let name: String
        package fileprivate(set) var count = 0
        /// The size of the documents alone.
        package fileprivate(set) var bytes = 0
        package fileprivate(set) var largest = 0
    }

    package let fileBytes: Int
    package let logBytes: Int
    package var pageBytes: Int { SQLiteSchema.pageSize }
    package let pages: Int
    package let freePages: Int
    /// Whether free pages can be given back while a server uses the file.
    package let isIncremental: Bool
    package let hasPageChecksums: Bool
    package var schemaVersion: Int { Int(SQLiteSchema.version) }
    package let sessions: Int
    /// The sessions with a user.
    package let sessionsOfUsers: Int
    /// The creation times of the oldest and the newest session, in milliseconds since 1970; nil without sessions.
    package let oldest: Int64?
    package let newest: Int64?
    package let lastUsed: Int64?
    /// Documents that are encrypted.
    package let sealed: Int
    /// In the order of their names, with those that are not declared any more.
    package let services: [Service]

    /// The pages in use, divided among the sessions.
    package var bytesPerSession: Int { sessions == 0 ? 0 : (pages - freePages) * pageBytes / sessions }

    /// - Throws: ``StoreOpeningError``.
    package init(_ path: String) throws {
        self = try StoreFile.read(path) { (file) throws(SQLiteError) in try StoreStatistics(path, file) }
    }

    private init(_ path: String, _ file: StoreFile) throws(SQLiteError) {
        let connection = file.connection
        func number(_ sql: String) throws(SQLiteError) -> Int { Int(try connection.number(sql) ?? 0) }
        fileBytes = StoreFile.size(of: path)
        logBytes = StoreFile.size(of: path + "-wal")
        pages = try number("PRAGMA page_count")
        freePages = try connection.freePages
        isIncremental = try connection.isIncremental
        hasPageChecksums = try connection.hasPageChecksums
        let rows = try connection.prepare("SELECT \(SessionRow.columns) FROM sessions")
        var (sessions, sessionsOfUsers, sealed) = (0, 0, 0)
        var (oldest, newest, lastUsed) = (Int64?.none, Int64?.none, Int64?.none)
        var services: [String: Service] = [:]
        while try rows.step() {
            let isSession = rows.int64(0) != SessionID.process.key
            if isSession {
                sessions += 1
                if !rows.isNull(4) { sessionsOfUsers += 1 }
                lastUsed = max(lastUsed ?? .min, rows.int64(2))
            }
            // Damaged rows count as sessions only.
            guard let row = SessionRow(rows) else { continue }
            if isSession {
                oldest = min(oldest ?? .max, row.createdAt)
                newest = max(newest ?? .min, row.createdAt)
            }
            for document in row.services {
                var service = services[document.name] ?? Service(name: document.name)
                service.count += 1
                if document.isSealed { sealed += 1 }
                service.bytes += document.size
                service.largest = max(service.largest, document.size)
                services[document.name] = service
            }
        }
        (self.sessions, self.sessionsOfUsers, self.sealed) = (sessions, sessionsOfUsers, sealed)
        (self.oldest, self.newest, self.lastUsed) = (oldest, newest, lastUsed)
        self.services = services.values.sorted { $0.name < $1.name }
    }
}
