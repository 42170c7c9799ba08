import Glibc
import JSONDocument
import ServiceLocator
import Storage
import Synchronization
import Testing

@testable import SQLiteStorage
@testable import Sessions

@Suite("Sessions in SQLite")
struct SQLiteStoreTests {
    private let id = SessionID(random: SystemRandom())

    private func session(_ id: SessionID, services: [ServiceDocument] = []) -> StoredSession {
        StoredSession(
            record: SessionRecord(
                id: id, token: TokenDigest(words: (1, 2, 3, 4)), createdAt: 10, expiresAt: 100_000, revision: 1,
                services: services, details: .none),
            lastUsedAt: 11)
    }

    private func document(_ service: UInt16, _ text: String, revision: UInt64 = 2) -> ServiceDocument {
        ServiceDocument(
            service: service, birth: UInt64(service), revision: revision, createdAt: 12, updatedAt: 13,
            bytes: Array(text.utf8))
    }

    private func commit(_ services: [ServiceDocument], changed: [UInt16]) -> SessionCommit {
        SessionCommit(
            record: SessionRecord(
                id: id, token: TokenDigest(words: (1, 2, 3, 4)), createdAt: 10, expiresAt: 100_000, revision: 2,
                services: services, details: .none),
            replacedRevision: 1, changedServices: changed)
    }

    @Test("writes are there when the file is opened again, under the names of the services")
    func reopening() async throws {
        let file = try SQLiteFile()
        do {
            let store = try file.store()
            try await store.create(session(id))
            try await store.commit(commit([document(0, #"{"a":1}"#), document(1, "{}")], changed: [0, 1]))
            await store.close()
        }
        let store = try file.store(services: ["other", "quote", "profile"])
        let loaded = try #require(try await store.load(id))
        #expect(loaded.record.revision == 2)
        #expect(loaded.record.document(of: 2)?.bytes == Array(#"{"a":1}"#.utf8))
        #expect(loaded.record.document(of: 1)?.bytes == Array("{}".utf8))
        #expect(loaded.record.document(of: 0) == nil)
    }

    @Test("a service that is not declared any more stays in the file")
    func undeclared() async throws {
        let file = try SQLiteFile()
        do {
            let store = try file.store()
            try await store.create(session(id, services: [document(0, "{}"), document(1, "[]")]))
            await store.close()
        }
        do {
            let store = try file.store(services: ["quote"])
            let loaded = try #require(try await store.load(id))
            #expect(loaded.record.services.map(\.service) == [1, 0])
            let record = SessionRecord(
                id: id, token: loaded.record.token, createdAt: 10, expiresAt: 100_000, revision: 2,
                services: [loaded.record.services[0], document(0, "null")], details: loaded.record.details)
            try await store.commit(SessionCommit(record: record, replacedRevision: 1, changedServices: [0]))
            await store.close()
        }
        let services = try #require(try await file.store().load(id)).record.services
        #expect(services.map { String(decoding: $0.bytes, as: UTF8.self) }.sorted() == ["null", "{}"])
    }

    @Test("commits that wait while another one is written share a transaction")
    func groups() async throws {
        let file = try SQLiteFile()
        let store = try file.store()
        let ids = (0..<200).map { _ in SessionID(random: SystemRandom()) }
        await withTaskGroup(of: Void.self) { group in
            for id in ids { group.addTask { try? await store.create(session(id)) } }
        }
        #expect(try await store.page(after: nil, limit: 1_000).sessions.count == 200)
        #expect(store.figures.commits.counts.reduce(0, +) < 150)
        await store.close()
    }

    @Test("damage is counted once, and is an error where it is asked for; other rows are not affected")
    func damage() async throws {
        let file = try SQLiteFile()
        let other = SessionID(random: SystemRandom())
        do {
            let store = try file.store()
            try await store.create(
                session(id, services: [document(0, String(repeating: " ", count: 600)), document(1, "{}")]))
            try await store.create(session(other))
            await store.close()
        }
        let connection = try SQLiteConnection(file.path, .write)
        let copyLog = "PRAGMA wal_checkpoint(TRUNCATE)"
        try connection.execute("UPDATE documents SET piece = zeroblob(600); \(copyLog)")
        var store = try file.store()
        for _ in 0..<3 {
            let services = try #require(try await store.load(id)).record.services
            #expect(services.map(\.service) == [0, 1] && services.map(\.isDamaged) == [true, false])
        }
        #expect(store.damage.rows == 1)
        await store.close()
        try connection.execute("UPDATE sessions SET expires_at = expires_at + 1 WHERE key = \(id.key); \(copyLog)")
        store = try file.store()
        for _ in 0..<3 { #expect(await Self.isDamaged { () throws(StoreError) in _ = try await store.load(id) }) }
        #expect(try await store.page(after: nil, limit: 10).sessions.map(\.record.id) == [other])
        #expect(store.damage.rows == 1)
        // It can be removed on purpose.
        #expect(try await store.end(id))
        #expect(try await store.load(id) == nil)
    }

    private static func isDamaged(_ body: () async throws(StoreError) -> Void) async -> Bool {
        do {
            try await body()
            return false
        } catch {
            if case .damaged = error { return true }
            return false
        }
    }

    @Test("the number of sessions and the used flows are known when the file is opened again")
    func facts() async throws {
        let file = try SQLiteFile()
        let flow = UsedFlow(flow: "a", version: 1, states: "x ")
        do {
            let store = try file.store()
            for _ in 0..<3 { try await store.create(session(SessionID(random: SystemRandom()))) }
            try await store.create(session(id))
            #expect(try await store.end(id))
            try await store.replaceUsedFlows([flow])
            await store.close()
        }
        let store = try file.store()
        #expect(store.sessionCount == 3)
        #expect(try await store.usedFlows() == [flow])
    }

    @Test("two ids that begin alike share a key: only one of them can have a session")
    func sameKey() async throws {
        let file = try SQLiteFile()
        let store = try file.store()
        try await store.create(session(id, services: [document(0, "{}")]))
        let other = SessionID(high: id.high, low: id.low ^ 1)
        await #expect(throws: StoreError.self) { try await store.create(session(other)) }
        #expect(try await store.load(other) == nil)
        #expect(try await !store.end(other))
        #expect(try await store.load(id)?.record.services.count == 1)
    }

    @Test("a damaged session expires")
    func damagedExpiry() async throws {
        let file = try SQLiteFile()
        let store = try file.store()
        try await store.create(session(id, services: [document(0, "{}")]))
        let connection = try SQLiteConnection(file.path, .write)
        try connection.execute("UPDATE sessions SET user_id = 'nobody'")
        let query = ExpiryQuery(now: 120_000, idleTimeout: 60_000, retention: 0, limit: 10) { _ in false }
        let expired = try await store.endExpired(query)
        #expect(expired.count == 1 && expired.looked == 1)
        #expect(store.sessionCount == 0)
    }

    @Test("another program's file is refused in a sentence that says what to do, and does not change")
    func refused() throws {
        let file = try SQLiteFile()
        try SQLiteConnection(file.path, .write).execute("CREATE TABLE theirs (x)")
        #expect(throws: StoreOpeningError.foreign(file.path)) { try file.store() }
        let connection = try SQLiteConnection(file.path, .write)
        #expect(try connection.number("SELECT count(*) FROM sqlite_schema") == 1)
        try connection.execute("PRAGMA application_id = \(SQLiteSchema.applicationID); PRAGMA user_version = 99")
        let known = Int(SQLiteSchema.version)
        #expect(throws: StoreOpeningError.otherVersion(file.path, version: 99, known: known, isUpgraded: false)) {
            try file.store()
        }
    }

    @Test(
        "a file of version 4 to 7 gets the tables and columns that it does not have, and keeps its sessions",
        arguments: [("DROP TABLE tasks;", 4), (withoutKept, 5), (withoutKept, 6), (withoutKept, 7)])
    func upgraded(_ change: String, _ version: Int) async throws {
        let file = try SQLiteFile()
        let session = Samples.session()
        let first = try file.store()
        try await first.create(session)
        await first.close()
        let replays = version < 7 ? "DROP TABLE replays; DROP TABLE lone_replays;" : ""
        try SQLiteConnection(file.path, .write).execute(
            """
            INSERT INTO tasks VALUES (1, 'main', 1, 1, 'late', 3, 1, 9, 0, 1, 0, 1, 9, 0, NULL, NULL);
            \(change) \(replays) \(Self.withoutPlaces) DROP INDEX sessions_due; ALTER TABLE sessions DROP COLUMN due_at;
            ALTER TABLE sessions DROP COLUMN kept_until; PRAGMA user_version = \(version)
            """)
        let store = try file.store()
        #expect(try await store.load(session.record.id)?.record.revision == 1)
        // Its journeys may have times, and places.
        #expect(store.hasLostTasks && store.hasLostPlaces)
        let times = SessionTimes(dueAt: 30, keptUntil: 40)
        let lost = RestoredTasks(session: session.record.id, revision: 1, tasks: [], times: times)
        #expect(try await store.restoreTasks([lost], areAll: true) && !store.hasLostTasks)
        #expect(try await store.load(session.record.id)?.record.times == times)
        #expect(try await store.dueSessions(now: 30, limit: 1).map(\.id) == [session.record.id])
        #expect(try await store.overdueTasks(now: .max - 1, limit: 1).isEmpty)
        var commit = Samples.commit(Samples.record(session.record.id, revision: 2), over: 1)
        let task = StoredTask(
            id: TaskID(session: session.record.id, journey: "main", number: 2), name: "work", attempts: 1, createdAt: 1,
            due: 1)
        commit.tasks = [.begun(task)]
        let replay = SessionStoreContract.replay("key")
        commit.replays = ReplayChange(added: replay)
        try await store.commit(commit)
        #expect(try await store.replays.response(replay.entry.id, of: session.record.id) == replay.response)
        #expect(try await store.tasks(TaskQuery(name: "work", now: 1, limit: 1)) == [task])
        #expect(try await store.updateTask(task.id, .hold)?.isKept == true)
        await store.close()
    }

    static let withoutPlaces = "DROP TABLE journeys; DROP TABLE places;"
    static let withoutUser = "DROP INDEX tasks_by_user; ALTER TABLE tasks DROP COLUMN user_id;"
    private static let withoutKept =
        "\(withoutUser) ALTER TABLE tasks DROP COLUMN kept; ALTER TABLE tasks DROP COLUMN notice;"

    @Test("a file of version 8 gets the column of notices, and keeps its tasks")
    func upgradedToNotices() async throws {
        let file = try SQLiteFile()
        let session = Samples.session()
        let first = try file.store()
        try await first.create(session)
        var commit = Samples.commit(Samples.record(session.record.id, revision: 2), over: 1)
        let task = StoredTask(
            id: TaskID(session: session.record.id, journey: "main", number: 2), name: "work", attempts: 1, createdAt: 1,
            due: 1)
        commit.tasks = [.begun(task)]
        try await first.commit(commit)
        await first.close()
        try SQLiteConnection(file.path, .write).execute(
            "\(Self.withoutUser) ALTER TABLE tasks DROP COLUMN notice; \(Self.withoutPlaces) PRAGMA user_version = 8")
        let store = try file.store()
        let notice = StoredTask(
            id: TaskID(.ended, of: session.record.id, revision: 3), name: "feed", attempts: 1, createdAt: 1, due: 1,
            notice: SessionNotice(text: "expired ada", endsAt: 9))
        #expect(try await store.tasks(TaskQuery(now: 1, limit: 2)) == [task] && !store.hasLostTasks)
        #expect(try await store.end(session.record.id, as: nil, telling: notice))
        #expect(try await store.tasks(TaskQuery(now: 1, limit: 2)) == [notice])
        await store.close()
    }

    @Test("in a file of version 9 notices are found by the users whom they name")
    func upgradedToUsers() async throws {
        let file = try SQLiteFile()
        let first = try file.store()
        let notices = ["ada", "\u{301} b"].enumerated().map { number, user in
            StoredTask(
                id: TaskID(.ended, of: SessionID(key: 1, low: 2), revision: UInt64(number + 1)), name: "feed",
                attempts: 1, createdAt: 1, due: 1, notice: SessionNotice(text: "expired \(user)", endsAt: 9))
        }
        for notice in notices {
            let session = Samples.session()
            try await first.create(session, telling: notice)
        }
        await first.close()
        try SQLiteConnection(file.path, .write).execute(
            "\(Self.withoutUser) \(Self.withoutPlaces) PRAGMA user_version = 9")
        let store = try file.store()
        for notice in notices {
            var query = TaskQuery(now: 1, limit: 2)
            query.naming = .user(try #require(notice.userID))
            #expect(try await store.tasks(query) == [notice])
        }
        await store.close()
    }

    @Test("a second store on the same file is refused until the first is closed")
    func second() throws {
        let file = try SQLiteFile()
        let first = try file.store()
        #expect(throws: StoreOpeningError.inUse(file.path)) { try file.store() }
        withExtendedLifetime(first) {}
    }

    @Test("other names do not admit a second store: symbolic links share the lock, hard links are refused")
    func otherNames() async throws {
        let file = try SQLiteFile()
        let (soft, hard) = (file.folder + "/soft", file.folder + "/hard")
        defer { for name in [soft, hard] { unlink(name) } }
        let first = try file.store()
        #expect(symlink(file.path, soft) == 0)
        #expect(throws: StoreOpeningError.inUse(soft)) {
            try SQLiteStore(path: soft, services: ["profile"])
        }
        #expect(link(file.path, hard) == 0)
        for name in [file.path, hard] {
            #expect {
                try SQLiteStore(path: name, services: ["profile"])
            } throws: {
                "\($0)".contains("it has 2 names (hard links)")
            }
        }
        await first.close()
    }

    @Test("a path that is not a database, or cannot be opened, is refused")
    func unusable() throws {
        let file = try SQLiteFile()
        let descriptor = open(file.path, O_WRONLY | O_CREAT, 0o600)
        let noise = [UInt8](repeating: 7, count: 8_192)
        #expect(write(descriptor, noise, noise.count) == noise.count)
        close(descriptor)
        #expect(throws: StoreOpeningError.self) { try file.store() }
        #expect(throws: StoreOpeningError.self) {
            try SQLiteStore(path: file.folder + "/none/such/file.db", services: [])
        }
    }
}

@Suite("Hooks at the end of stored sessions", .timeLimit(.minutes(1)))
struct EndedHookTests {
    /// Writes down the state with which it ends.
    private final class Page: SessionService {
        struct State: Codable, Sendable { var text = "" }
        static let name = "page"
        static let initial = State()
        static let hooks = Hooks<Page>(ended: { page in told.withLock { $0.append(page.state.text) } })
        static let told = Mutex<[String]>([])
        var state: State
        init(state: State, services: borrowing ServiceResolver) { self.state = state }
    }

    @Test("a session that expired while no server had it in memory tells its services once, with what was stored")
    func afterRestart() async throws {
        let file = try SQLiteFile()
        var services = SwiftServices()
        services.add(Page.self)
        let catalog = try ServiceCatalog(adding: services)
        var settings = SessionSettings()
        settings.expiredRetention = 0
        let store = try file.store(services: catalog.services.map(\.name))
        let sessions = Sessions(settings: settings, catalog: catalog, store: store)
        let page = try catalog.service(named: "page")
        for number in 1...3 {
            let (session, _) = try await sessions.create()
            // The last one is never written.
            guard number < 3 else { continue }
            _ = try await session.perform([.init(.put(["text": .init("\(number)")]), on: page)])
        }
        await store.close()
        settings.idleTimeout = 1
        let next = try file.store(services: catalog.services.map(\.name))
        let later = Sessions(settings: settings, catalog: catalog, store: next)
        while next.sessionCount > 0 {
            await later.sweepStore()
            await Task.yield()
        }
        #expect(Page.told.withLock(\.self).sorted() == ["1", "2"])
        #expect(later.statistics.ended == 3 && later.statistics.live == 0)
        await next.close()
    }
}
