import Glibc
import Testing

@testable import SQLiteStorage
@testable import Sessions

/// Each page of each table and index of a small store is lost, one at a time.
@Suite("A page that is lost")
struct ZeroedPageTests {
    private static let count = 160
    private static let users = ["ada", "bob"]

    private static func session(_ number: Int) -> StoredSession {
        let id = SessionID(high: UInt64(1_700_000_000_000 + number) << 16, low: UInt64(number) &* 0x9E37_79B9_7F4A_7C15)
        var services = [Samples.document(0, size: 80 + number % 50, revision: 2, letter: "a")]
        if number.isMultiple(of: 3) {
            services.append(Samples.document(1, size: 600 + number % 4 * 2_500, revision: 2, letter: "b"))
        }
        let details = SessionDetails(userID: number.isMultiple(of: 4) ? users[number / 4 % 2] : nil)
        return Samples.session(id, revision: 2, services, details: details)
    }

    private static let sessions = (0..<count).map(session)
    private static let tasks = sessions.enumerated().filter { $0.offset % 5 == 1 }.map { number, session in
        StoredTask(
            id: TaskID(session: session.record.id, journey: "main", number: 1), name: "check", attempts: 3,
            createdAt: 10, due: Int64(number), userID: users[number % 2])
    }
    private static let flows: Set = [
        UsedFlow(flow: "a", version: 1, states: "x "), UsedFlow(flow: "b", version: 2, states: "y z "),
    ]

    private static func made() async throws -> SQLiteFile {
        let file = try SQLiteFile()
        let store = try file.store()
        for session in sessions {
            let tasks = tasks.filter { $0.id.session == session.record.id }
            try await store.receive(SessionArrival(session: session, replacedRevision: nil, tasks: tasks))
        }
        try await store.replaceUsedFlows(Array(flows))
        await store.close()
        return file
    }

    /// The names of the table or index, by the pages.
    static func owners(_ file: SQLiteFile) throws -> [(page: Int, owner: String, kind: String)] {
        let rows = try SQLiteConnection(file.path, .read).prepare("SELECT pageno, name, pagetype FROM dbstat")
        var pages: [(page: Int, owner: String, kind: String)] = []
        while try rows.step() {
            if rows.int64(0) > 1 { pages.append((Int(rows.int64(0)), rows.text(1), rows.text(2))) }
        }
        return pages
    }

    private static let derived: Set = [
        "facts", "flows", "tasks", "tasks_ready", "tasks_over", "tasks_by_user", "sessions_by_user", "sessions_due",
        "journeys", "journeys_at", "places",
    ]

    @Test("of each table and index: the sessions of others are read and written, and nothing that exists is missing")
    func everyPage() async throws {
        let file = try await Self.made()
        let pages = try Self.owners(file)
        #expect(Set(pages.map(\.owner)).isSuperset(of: Self.derived.union(["sessions", "documents"])))
        for (page, owner, kind) in pages {
            let image = try SQLiteFile()
            try Files.copy(file.path, to: image.path)
            try Files.write([UInt8](repeating: 0, count: 4_096), to: image.path, at: (page - 1) * 4_096)
            let place = "page \(page) of \(owner), \(kind)"
            do {
                try await Self.check(image, owner, "\(place)")
            } catch {
                Issue.record("\(place): \(error)")
            }
        }
        // The pointer map.
        let image = try SQLiteFile()
        try Files.copy(file.path, to: image.path)
        try Files.write([UInt8](repeating: 0, count: 4_096), to: image.path, at: 4_096)
        try await Self.check(image, "map", "the pointer map")
    }

    private static func check(_ image: SQLiteFile, _ owner: String, _ place: Comment) async throws {
        let reports = Reports()
        let store = try image.store(report: reports.add)
        let isReady = store.trouble == nil
        let (lost, damaged) = try await read(store, place)
        switch owner {
        case "sessions":
            // All sessions, below a root, are those of whom the server says that it is not ready.
            #expect(!isReady || lost.count <= 40, place)
            #expect(!lost.isEmpty, place)
        case "documents": #expect(lost.isEmpty && !damaged.isEmpty, place)
        default: #expect(lost.isEmpty && damaged.isEmpty && isReady, place)
        }
        var expected = try await write(store, except: lost, place)
        // Sessions are created, with a large document; or the server says that it is not ready.
        let new = Samples.session(
            SessionID(high: UInt64(1_800_000_000_000) << 16, low: 7), [Samples.document(0, size: 9_000, letter: "e")],
            details: SessionDetails(userID: "ada"))
        if try await isCreated(new, in: store) {
            expected[new.record.id] = new.record
        } else {
            #expect(owner == "sessions" && store.trouble?.contains("store repair") == true, place)
        }
        // A session ends, with all that it has.
        let ended = expected.keys.filter { $0 != new.record.id }.min()
        if let ended {
            let wasThere = try await store.end(ended)
            #expect(wasThere, place)
            expected[ended] = nil
        }
        do {
            try await checkDerived(store, expected, lost, ended, place)
        } catch {
            Issue.record("\(place): \(error), after \(reports.all)")
        }
        await store.close()
        try await checkAgain(image, expected, reports, place)
        // Only requests with an idempotency key read their tables.
        #expect(owner.contains("replays") || !reports.all.isEmpty, place)
        #expect(reports.all.count <= Set(reports.all).count * 2, "\(place): \(reports.all)")
        if derived.contains(owner) {
            var found: [String] = []
            _ = try StoreCheck.run(image.path) { found.append($0) }
            #expect(found == [], place)
        }
    }

    /// Every session is as it was written, or said to be damaged.
    private static func read(
        _ store: SQLiteStore, _ place: Comment
    ) async throws -> (lost: Set<SessionID>, damaged: Set<SessionID>) {
        var (lost, damaged) = (Set<SessionID>(), Set<SessionID>())
        for session in sessions {
            let id = session.record.id
            let found: StoredSession?
            do {
                found = try await store.load(id)
            } catch StoreError.damaged {
                lost.insert(id)
                continue
            }
            #expect(found?.record.services.count == session.record.services.count, place)
            for document in session.record.services {
                let read = found?.record.document(of: document.service)
                if read?.isDamaged == true { damaged.insert(id) } else { #expect(read?.bytes == document.bytes, place) }
            }
        }
        return (lost, damaged)
    }

    /// Writes the small document of each session. Every second one replaces its large document as well, damaged or not;
    /// the others keep it.
    private static func write(
        _ store: SQLiteStore, except lost: Set<SessionID>, _ place: Comment
    ) async throws -> [SessionID: SessionRecord] {
        var expected: [SessionID: SessionRecord] = [:]
        for (number, session) in sessions.enumerated() where !lost.contains(session.record.id) {
            let id = session.record.id
            let stored = try await store.load(id)
            let found = try #require(stored, place).record
            var services = found.services
            services[0] = Samples.document(0, size: 90, revision: 3, letter: "c")
            if services.count > 1, number.isMultiple(of: 2) {
                services[1] = Samples.document(1, size: 4_000, revision: 3, letter: "d")
            }
            let record = Samples.record(id, revision: 3, services, details: found.details)
            let changed = services.filter { $0.revision == 3 }.map(\.service)
            try await store.commit(
                SessionCommit(
                    record: record, replacedRevision: 2, changedServices: changed, changesServicesOnly: true))
            expected[id] = record
        }
        return expected
    }

    private static func isCreated(_ session: StoredSession, in store: SQLiteStore) async throws -> Bool {
        do {
            try await store.create(session)
            return true
        } catch StoreError.damaged {
            return false
        }
    }

    /// What was acknowledged is there after a restart.
    private static func checkAgain(
        _ image: SQLiteFile, _ expected: [SessionID: SessionRecord], _ reports: Reports, _ place: Comment
    ) async throws {
        let store = try image.store(report: reports.add)
        for (id, record) in expected {
            let stored = try await store.load(id)
            let found = try #require(stored, place).record
            #expect(found.highestRevision >= record.revision && found.services.count == record.services.count, place)
            for (read, written) in zip(found.services, record.services) {
                #expect(read.isDamaged == written.isDamaged && read.bytes == written.bytes, place)
            }
        }
        await store.close()
    }

    /// The lists that follow from the sessions are complete.
    private static func checkDerived(
        _ store: SQLiteStore, _ expected: [SessionID: SessionRecord], _ lost: Set<SessionID>, _ ended: SessionID?,
        _ place: Comment
    ) async throws {
        for user in users {
            let found = try await store.sessions(ofUser: user).map(\.record.id)
            #expect(Set(found) == Set(expected.values.filter { $0.userID == user }.map(\.id)), "\(place), \(user)")
        }
        let used = try await store.usedFlows()
        #expect(used == nil || Set(used ?? []) == flows, place)
        let awaited = tasks.filter { $0.id.session != ended && !lost.contains($0.id.session) }
        // As a server does. A session of which nothing can be read has no task that is lost.
        if store.hasLostTasks {
            let lostTasks = awaited.compactMap { task in
                expected[task.id.session].map {
                    RestoredTasks(session: $0.id, revision: $0.revision, tasks: [task], times: .none)
                }
            }
            let areRestored = try await store.restoreTasks(lostTasks, areAll: true)
            #expect(areRestored && !store.hasLostTasks, place)
        }
        _ = try await store.overdueTasks(now: 1_000, limit: 10)
        _ = try await store.dueSessions(now: 1_000, limit: 10)
        let nowhere = JourneyPlace(flow: "a", version: 1, state: "x", standing: .active)
        let (counts, ids) = (
            try await store.journeyCounts(), try await store.sessions(at: [nowhere], from: nil, limit: 10)
        )
        #expect(counts.isEmpty && ids.isEmpty, place)
        _ = try await store.place([PlacedSession(SessionID(high: 1, low: 1), revision: 1, places: [nowhere])])
        let claimed = try await store.claimTasks(TaskClaim(name: "check", limit: 1_000, now: 5_000, end: 6_000)).tasks
        #expect(Set(claimed.map(\.id)).isSuperset(of: awaited.map(\.id)), place)
        for user in users {
            var query = TaskQuery(now: 5_000, limit: 1_000)
            query.naming = .user(user)
            let named = try await store.tasks(query)
            #expect(Set(named.map(\.id)).isSuperset(of: awaited.filter { $0.userID == user }.map(\.id)), place)
        }
        let listed = try await store.tasks(TaskQuery(now: 5_000, limit: 1_000))
        #expect(listed.count == claimed.count && claimed.count <= awaited.count + lost.count, place)
    }

    @Test("a copy of a store does not hide its damage")
    func backup() async throws {
        let file = try await Self.made()
        let leaf = try #require(try Self.owners(file).first { $0.owner == "sessions" && $0.kind == "leaf" }).page
        // One row less than there are.
        let place = (leaf - 1) * 4_096 + 3
        let count = try Files.read(file.path, at: place, count: 2)
        try Files.write([count[0], count[1] - 1], to: file.path, at: place)
        let copy = try SQLiteFile()
        _ = try StoreBackup(of: file.path, to: copy.path, replaces: false)
        for image in [file, copy] {
            let store = try image.store()
            let (lost, _) = try await Self.read(store, "a copy")
            #expect(lost.count == 1)
            await store.close()
        }
    }

    @Test("a table that was made anew leaves pages behind, which a vacuum gives back")
    func leak() async throws {
        let file = try await Self.made()
        let page = try #require(try Self.owners(file).first { $0.owner == "tasks_over" }).page
        try Files.write([UInt8](repeating: 0, count: 4_096), to: file.path, at: (page - 1) * 4_096)
        let store = try file.store()
        let overdue = try await store.overdueTasks(now: 1_000_000, limit: 1_000)
        #expect(overdue.isEmpty)
        for session in Self.sessions.prefix(100) { #expect(try await store.end(session.record.id)) }
        let given = try await store.giveBackSpace(atMost: 1_000)
        #expect(!given.isPossible && given.left > 0)
        await store.close()
        #expect(try StoreVacuum(file.path).isRewritten)
        #expect(try !StoreVacuum(file.path).isRewritten)
        var found: [String] = []
        #expect(try StoreCheck.run(file.path) { found.append($0) }.sessions == Self.count - 100)
        #expect(found == [])
    }
}
