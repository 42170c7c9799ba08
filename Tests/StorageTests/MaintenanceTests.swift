import Glibc
import Sessions
import Storage
import Testing

@testable import SQLiteStorage

@Suite("Maintenance of a database")
struct MaintenanceTests {
    private static func fill(_ file: SQLiteFile, _ count: Int) async throws {
        let store = try file.store()
        for _ in 0..<count {
            // One document is in the row and one beside it.
            let documents = [Samples.document(0, size: 60), Samples.document(1, size: 600)]
            try await store.create(Samples.session(SessionID(random: SystemRandom()), documents))
        }
        await store.close()
    }

    private static func findings(_ file: SQLiteFile) throws -> [String] {
        var findings: [String] = []
        let check = try StoreCheck.run(file.path) { findings.append($0) }
        #expect(check.findings == findings.count)
        return findings
    }

    private static func check(_ sql: String, says parts: [String]) async throws {
        let file = try SQLiteFile()
        try await fill(file, 3)
        #expect(try findings(file) == [])
        // A log that it leaves has no mark in the database, as no server's has.
        try SQLiteConnection(file.path, .write).execute(sql + "; PRAGMA wal_checkpoint(TRUNCATE)")
        let found = try findings(file)
        #expect(found.count == parts.count, "\(found)")
        for part in parts { #expect(found.contains { $0.contains(part) }, "\(found)") }
    }

    private static let first = "(SELECT min(key) FROM sessions)"

    @Test(
        "check finds errors in rows and names their places",
        arguments: [
            ("UPDATE sessions SET expires_at = 1 WHERE key = \(first)", ["the row does not match its checksum"]),
            ("UPDATE sessions SET key = key + 1 WHERE key = \(first)", ["the row does not match its checksum"]),
            (
                "UPDATE documents SET piece = zeroblob(600) WHERE id = (SELECT min(id) FROM documents)",
                ["service quote: the document does not match its checksum"]
            ),
            (
                "DELETE FROM sessions WHERE key = \(first)",
                ["the count is 3 and 2", "have 2 pieces of large documents, and 3 exist"]
            ),
            ("UPDATE facts SET value = 7 WHERE name = 'sessions'", ["the count is 7 and 3 exist"]),
            (
                "PRAGMA writable_schema = ON; DELETE FROM sqlite_schema WHERE name = 'sessions_by_user'",
                ["pages: "]
            ),
        ])
    func rows(_ sql: String, _ parts: [String]) async throws {
        try await Self.check(sql, says: parts)
    }

    @Test("a database whose first transaction was interrupted is reported as unfinished, and a start goes on")
    func unfinished() async throws {
        let file = try SQLiteFile()
        // The first transaction as a crash may leave it: pages in the file, and a journal to undo them.
        let connection = try SQLiteConnection(file.path, .write)
        try SQLiteSchema.prepare(connection, path: file.path)
        try connection.execute("PRAGMA cache_size = 1; BEGIN IMMEDIATE; PRAGMA cache_spill = 1")
        for number in 0..<200 {
            try connection.execute("INSERT INTO documents VALUES (\(number + 1), zeroblob(3000))")
        }
        let image = try SQLiteFile()
        for ending in ["", "-journal"] { try Files.copy(file.path + ending, to: image.path + ending) }
        #expect(throws: StoreOpeningError.unfinished(image.path)) { try StoreCheck.run(image.path) { _ in } }
        let store = try image.store()
        await store.close()
        #expect(try StoreCheck.run(image.path) { _ in }.findings == 0)
    }

    @Test("a backup has one state, whatever is committed meanwhile")
    func oneState() async throws {
        let file = try SQLiteFile()
        try await Self.fill(file, 300)
        let target = file.folder + "/copy"
        defer { unlink(target) }
        let store = try file.store()
        let ids = try await store.page(after: nil, limit: 300).sessions.map(\.record.id)
        let ending = Task { for id in ids { _ = try await store.end(id) } }
        while store.sessionCount > 290 { await Task.yield() }
        let backup = try StoreBackup(of: file.path, to: target, replaces: false)
        try await ending.value
        await store.close()
        #expect(backup.pages > 20)
        let check = try StoreCheck.run(target) { _ in }
        #expect(check.sessions <= 290 && check.findings == 0)
        for ending in ["-wal", "-shm"] { unlink(target + ending) }
        // SQLite would take a log of another file for the log of the copy.
        let log = open(target + "-wal", O_WRONLY | O_CREAT, 0o600)
        #expect(write(log, "x", 1) == 1)
        #expect(throws: StoreDraftError.hasLog(target)) {
            try StoreBackup(of: file.path, to: target, replaces: true)
        }
        // To read a copy leaves an empty log.
        #expect(ftruncate(log, 0) == 0)
        close(log)
        _ = try StoreBackup(of: file.path, to: target, replaces: true)
        #expect(access(target + "-wal", F_OK) != 0)
        #expect(access(target + ".partial", F_OK) != 0)
    }

    @Test("a backup replaces no file of the store", arguments: ["", "-wal", "-shm"])
    func ownPlaces(_ ending: String) async throws {
        let file = try SQLiteFile()
        try await Self.fill(file, 1)
        for path in [file.path + ending, file.folder + "/../" + file.path.dropFirst("/tmp/".count) + ending] {
            #expect(throws: StoreDraftError.itself(path)) {
                try StoreBackup(of: file.path, to: path, replaces: true)
            }
        }
        #expect(try Self.findings(file) == [])
    }

    @Test("vacuum without a server rewrites an old file, which can then shrink in steps")
    func earlierMaking() async throws {
        let file = try SQLiteFile()
        let connection = try SQLiteConnection(file.path, .write)
        try connection.execute(SQLiteFile.plainTables)
        try await Self.fill(file, 400)
        let emptying = try file.store()
        for session in try await emptying.page(after: nil, limit: 350).sessions {
            #expect(try await emptying.end(session.record.id))
        }
        #expect(throws: StoreOpeningError.inUse(file.path)) { try StoreVacuum(file.path) }
        await emptying.close()
        let before = StoreFile.size(of: file.path)
        let first = try StoreVacuum(file.path)
        #expect(first.isRewritten && first.given > 5 && first.left == 0, "\(first)")
        #expect(StoreFile.size(of: file.path) < before)
        #expect(try !StoreVacuum(file.path).isRewritten)
        #expect(try Self.findings(file) == [])
        let store = try file.store()
        #expect(store.sessionCount == 50)
        await store.close()
    }
}
