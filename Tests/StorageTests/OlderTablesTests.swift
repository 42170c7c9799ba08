import Glibc
import Storage
import Testing

@testable import SQLiteStorage
@testable import Sessions

/// The program of version 3 made `Fixtures/version-3.db` and was killed while writes were in its delta logs: twelve
/// sessions with labels, a user, cookie mode, an earlier token, a removed service, journeys and 3,000 bytes of
/// attributes.
@Suite("Databases of older versions")
struct OlderTablesTests {
    private static let services = ["coordinator", "profile", "quote", "temporary-profile", "user"]

    private static func fixture() throws -> SQLiteFile {
        let file = try SQLiteFile()
        let source = #filePath.dropLast("OlderTablesTests.swift".count) + "Fixtures/version-3.db"
        let descriptor = open(String(source), O_RDONLY)
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 100_000)
        let count = read(descriptor, &bytes, bytes.count)
        try #require(count > 50_000)
        let copy = open(file.path, O_WRONLY | O_CREAT, 0o600)
        defer { close(copy) }
        try #require(write(copy, bytes, count) == count)
        return file
    }

    private static func profile(_ session: StoredSession?) -> String? {
        session?.record.document(of: 1).map { String(decoding: $0.bytes, as: UTF8.self) }
    }

    private static func check(_ store: SQLiteStore) async throws {
        #expect(store.sessionCount == 12)
        func load(_ id: String) async throws -> StoredSession {
            let id = try #require(SessionID("ses_" + id.lowercased()))
            return try #require(try await store.load(id))
        }
        let never = try await load("3BABB81B4B8E4297E058C58059FE7D94")
        #expect(never.record.revision == 1 && never.record.services.isEmpty)
        // Written again after the delta log was compacted.
        let recent = try await load("8625D7232F587DE159A6EF230B281D24")
        #expect(recent.record.revision == 4)
        #expect(
            Self.profile(recent) == #"{"attributes":{},"email":null,"locale":"de","name":"recent 1"}"#)
        let large = try await load("855C62D3D715FEE940CBB36279105F64")
        #expect(large.record.revision == 5)
        #expect(large.record.document(of: 1)?.bytes.count ?? 0 > 3_000)
        #expect(Self.profile(large)?.hasSuffix(#""locale":"de","name":"recent 6"}"#) == true)
        let user = try await load("A8B2DE0CABD3A78DC9CD53A009731A80")
        #expect(user.record.userID == "ada" && user.record.services.count == 2)
        #expect(try await store.sessions(ofUser: "ada").map(\.record.id) == [user.record.id])
        let labels = try await load("BC0345F7144149DAE0CD37FA9982BC7F")
        #expect(labels.record.details.labels.items.map(\.name) == ["device", "n"])
        let cookie = try await load("4011245E195055361376813D618AB94F")
        #expect(cookie.record.details.mode == .cookie && cookie.record.expiresAt == 1_795_962_730_649)
        let rotated = try await load("AE4DB5C971EC5C7027F139BE8C1252CA")
        #expect(rotated.record.details.retiredTokens.count == 1)
        let journeys = try await load("4A94CA0C8B656267D180C2B7B1E34A75")
        #expect(journeys.record.document(of: 0)?.bytes.count == 275)
        let removed = try await load("2A918B7FE1A84EAF8B6A221C58A5F61F")
        #expect(removed.record.revision == 4 && removed.record.services.map(\.service) == [2])
    }

    @Test("every session is copied with its newest writes, and the old tables are gone")
    func taken() async throws {
        let file = try Self.fixture()
        let reports = Reports()
        let store = try file.store(services: Self.services, progress: reports.add)
        try await Self.check(store)
        #expect(store.damage == StoreDamage())
        #expect(reports.all.last == "12 sessions have been copied; the database has the new version.")
        await store.close()
        #expect(try StoreCheck.run(file.path) { _ in }.findings == 0)
        let connection = try SQLiteConnection(file.path, .read)
        #expect(try connection.number("SELECT count(*) FROM sqlite_schema WHERE name LIKE '%older%'") == 0)
        #expect(try connection.number("PRAGMA user_version") == SQLiteSchema.version)
    }

    @Test("an interrupted copy continues at the next start", arguments: 1...4)
    func interrupted(_ rounds: Int) async throws {
        let file = try Self.fixture()
        for _ in 0..<rounds {
            let connection = try SQLiteConnection(file.path, .write)
            try SQLiteSchema.prepare(connection, path: file.path)
            let writer = try SessionWriter(
                connection, names: ServiceNames(Self.services), facts: StoreFacts(), damage: DamageCount { _ in })
            try OlderTables.copy(
                with: writer, names: ServiceNames(Self.services), damage: DamageCount { _ in }, batch: 3, batches: 1,
                progress: { _ in })
        }
        let connection = try SQLiteConnection(file.path, .read)
        #expect(try connection.number("SELECT count(*) FROM sessions") == Int64(3 * rounds))
        let store = try file.store(services: Self.services)
        try await Self.check(store)
        await store.close()
    }

    @Test("a damaged row is reported and left out, and the others are copied")
    func damaged() async throws {
        let file = try Self.fixture()
        try SQLiteConnection(file.path, .write).execute(
            """
            UPDATE sessions SET expires_at = 1 WHERE user_id = 'ada';
            UPDATE services SET document = '{}' WHERE name = 'quote'
            """)
        let store = try file.store(services: Self.services)
        #expect(store.sessionCount == 11 && store.damage.rows == 2)
        let removed = try #require(SessionID("ses_2a918b7fe1a84eaf8b6a221c58a5f61f"))
        #expect(try await store.load(removed)?.record.services.isEmpty == true)
        await store.close()
    }

    @Test("the sessions of a file of version 1, which has no facts, are counted; its flows are unknown")
    func firstVersion() async throws {
        let file = try Self.fixture()
        try SQLiteConnection(file.path, .write).execute(
            """
            DROP TABLE recent_even; DROP TABLE recent_odd;
            DROP TRIGGER count_created; DROP TRIGGER count_ended; DROP TABLE facts; DROP TABLE flows;
            PRAGMA user_version = 1
            """)
        let store = try file.store(services: Self.services)
        #expect(store.sessionCount == 12)
        #expect(try await store.usedFlows() == nil)
        try await store.replaceUsedFlows([])
        #expect(try await store.usedFlows() == [])
        await store.close()
    }

    @Test(
        "a file of version 4, 5 or 6 gets the tables that it does not have, and keeps its sessions",
        arguments: [("DROP TABLE tasks;", 4), ("", 5), ("", 6)])
    func fourthVersion(_ change: String, _ version: Int) async throws {
        let file = try SQLiteFile()
        let session = Samples.session()
        let first = try file.store()
        try await first.create(session)
        await first.close()
        try SQLiteConnection(file.path, .write).execute(
            "\(change) DROP TABLE replays; DROP TABLE lone_replays; PRAGMA user_version = \(version)")
        let store = try file.store()
        #expect(try await store.load(session.record.id)?.record.revision == 1)
        var commit = Samples.commit(Samples.record(session.record.id, revision: 2), over: 1)
        let task = StoredTask(
            id: TaskID(session: session.record.id, journey: "main", number: 2), name: "work", attempts: 1, createdAt: 1,
            endsAt: 9, due: 1)
        commit.tasks = [.begun(task)]
        let replay = SessionStoreContract.replay("key")
        commit.replays = ReplayChange(added: replay)
        try await store.commit(commit)
        #expect(try await store.replays.response(replay.entry.id, of: session.record.id) == replay.response)
        #expect(try await store.tasks(TaskQuery(now: 1, limit: 1)) == [task])
        await store.close()
    }
}
