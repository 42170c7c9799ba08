import Glibc
import Sessions
import Testing

@testable import Storage

@Suite("Looking after a database")
struct UpkeepTests {
    private static func fill(_ file: SQLiteFile, _ count: Int) async throws {
        let store = try file.store()
        for _ in 0..<count {
            let documents = (0..<2).map { service in
                ServiceDocument(
                    service: UInt16(service), birth: UInt64(service), revision: 1, createdAt: 12, updatedAt: 13,
                    bytes: Array(#"{"a":1}"#.utf8))
            }
            let record = SessionRecord(
                id: SessionID(random: SystemRandom()), token: TokenDigest(words: (1, 2, 3, 4)), createdAt: 10,
                expiresAt: 100_000, revision: 1, services: documents, details: .none)
            try await store.create(StoredSession(record: record, lastUsedAt: 11))
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
        try SQLiteConnection(file.path, .write).execute(sql)
        let found = try findings(file)
        #expect(found.count == parts.count, "\(found)")
        for part in parts { #expect(found.contains { $0.contains(part) }, "\(found)") }
    }

    private static let first = "(SELECT min(id) FROM sessions)"

    @Test(
        "check finds what is wrong with rows, and names the place",
        arguments: [
            (
                "UPDATE services SET document = '{\"a\":3}' WHERE name = 'quote' AND session = (SELECT min(key) FROM sessions)",
                ["service quote: the row does not fit its checksum"]
            ),
            ("UPDATE sessions SET expires_at = 1 WHERE id = \(first)", ["the row does not fit its checksum"]),
            (
                "DROP TRIGGER count_ended; DELETE FROM sessions WHERE id = \(first)",
                ["service profile: there is no such session", "service quote: there is no such", "3 are counted and 2"]
            ),
            (
                "UPDATE sessions SET key = key + 1 WHERE id = \(first)",
                [
                    "the row does not fit its checksum", "service profile: there is no", "service quote: there is no",
                ]
            ),
            ("UPDATE facts SET value = 7 WHERE name = 'sessions'", ["7 are counted and 3 are there"]),
            (
                "PRAGMA writable_schema = ON; DELETE FROM sqlite_schema WHERE name = 'sessions_by_due'",
                ["pages: "]
            ),
        ])
    func rows(_ sql: String, _ parts: [String]) async throws {
        try await Self.check(sql, says: parts)
    }

    @Test("a service that was written later than its session is found")
    func laterService() async throws {
        let file = try SQLiteFile()
        try await Self.fill(file, 1)
        let connection = try SQLiteConnection(file.path, .write)
        let row = try connection.prepare("SELECT id FROM sessions")
        #expect(try row.step())
        let id = try #require(SessionID(bytes: row.bytes(0)))
        row.reset()
        let late = ServiceRow(
            ServiceDocument(service: 0, birth: 0, revision: 9, createdAt: 12, updatedAt: 13, bytes: Array("{}".utf8)),
            named: "profile", of: id)
        try connection.execute(
            """
            UPDATE services SET revision = 9, document = '{}', checksum = \(late.checksum) WHERE name = 'profile'
            """)
        #expect(try Self.findings(file) == ["\(id), service profile: it was written later than its session"])
    }

    @Test("a backup is of one moment, whatever is committed between its steps")
    func oneMoment() async throws {
        let file = try SQLiteFile()
        try await Self.fill(file, 300)
        let target = file.folder + "/copy"
        defer { unlink(target) }
        let connection = try SQLiteConnection(file.path, .write)
        var steps = 0
        let backup = try StoreBackup(of: file.path, to: target, replaces: false, pagesAtOnce: 4) {
            steps += 1
            if steps <= 5 { try? connection.execute("DELETE FROM sessions WHERE id = \(Self.first)") }
        }
        #expect(steps > 5)
        #expect(try Self.findings(file) != [])
        #expect(backup.pages > 20)
        let check = try StoreCheck.run(target) { _ in }
        #expect(check.sessions == 300 && check.findings == 0)
        for ending in ["-wal", "-shm"] { unlink(target + ending) }
        // A log that is left from something else would be taken for that of the copy.
        let log = open(target + "-wal", O_WRONLY | O_CREAT, 0o600)
        #expect(write(log, "x", 1) == 1)
        #expect(throws: StoreBackupError.hasLog(target)) {
            try StoreBackup(of: file.path, to: target, replaces: true)
        }
        // An empty one is what is left of looking at the copy.
        #expect(ftruncate(log, 0) == 0)
        close(log)
        _ = try StoreBackup(of: file.path, to: target, replaces: true)
        #expect(access(target + "-wal", F_OK) != 0)
        #expect(access(target + ".partial", F_OK) != 0)
    }

    @Test("a backup takes no place that belongs to the store", arguments: ["", "-wal", "-shm"])
    func ownPlaces(_ ending: String) async throws {
        let file = try SQLiteFile()
        try await Self.fill(file, 1)
        for path in [file.path + ending, file.folder + "/../" + file.path.dropFirst("/tmp/".count) + ending] {
            #expect(throws: StoreBackupError.itself(path)) {
                try StoreBackup(of: file.path, to: path, replaces: true)
            }
        }
        #expect(try Self.findings(file) == [])
    }

    @Test("vacuum without a server makes a file of an earlier making one that can be made smaller in steps")
    func earlierMaking() async throws {
        let file = try SQLiteFile()
        let connection = try SQLiteConnection(file.path, .write)
        for migration in SQLiteSchema.migrations { try connection.execute(migration) }
        try connection.execute(
            """
            PRAGMA application_id = \(SQLiteSchema.applicationID); PRAGMA user_version = \(SQLiteSchema.migrations.count)
            """)
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
