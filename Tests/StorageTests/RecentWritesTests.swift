import CSQLite
import Glibc
import Sessions
import Testing

@testable import Storage

@Suite("The log of recent writes", .timeLimit(.minutes(2)))
struct RecentWritesTests {
    private let id = SessionID(random: SystemRandom())

    private static func document(_ service: UInt16, _ revision: UInt64, _ text: String = "") -> ServiceDocument {
        ServiceDocument(
            service: service, birth: UInt64(service), revision: revision, createdAt: 12, updatedAt: 13,
            bytes: Array((text.isEmpty ? "\(revision)" : text).utf8))
    }

    private static func record(
        _ id: SessionID, _ revision: UInt64, _ services: [ServiceDocument], user: String? = nil
    ) -> SessionRecord {
        SessionRecord(
            id: id, token: TokenDigest(words: (1, 2, 3, 4)), createdAt: 10, expiresAt: 100_000, revision: revision,
            services: services, details: SessionDetails(labels: .none, userID: user, retiredTokens: [], mode: .bearer))
    }

    /// Writes some services, whose documents are the revision, and leaves the others at what they were.
    private static func write(
        _ services: [UInt16], of id: SessionID, from revision: UInt64, kept: [ServiceDocument] = []
    ) -> SessionCommit {
        let next = revision + 1
        let record = record(id, next, kept + services.map { document($0, next) })
        return SessionCommit(
            record: record, replacedRevision: revision, changedServices: services, changesServicesOnly: true)
    }

    private static func texts(_ session: StoredSession?) -> [String] {
        session.map { $0.record.services.map { String(decoding: $0.bytes, as: UTF8.self) } } ?? []
    }

    /// Never folded for want of something to do.
    private static func store(_ file: SQLiteFile, rows: Int = 16_384, report: Reports = Reports()) throws -> SQLiteStore
    {
        try SQLiteStore(
            path: file.path, services: ["profile", "quote"], idleTimeout: 1_800_000, durability: .commit,
            recent: RecentLimits(rows: rows, idleTime: .seconds(3_600)), report: report.add)
    }

    /// As a kill leaves it: what is on the disk while the store is open.
    private static func killed(_ file: SQLiteFile) throws -> SQLiteFile {
        let copy = try SQLiteFile()
        for ending in ["", "-wal"] { try copyFile(file.path + ending, to: copy.path + ending) }
        return copy
    }

    private static func rows(_ file: SQLiteFile) throws -> Int64? {
        try SQLiteConnection(file.path, .read).number(
            "SELECT (SELECT count(*) FROM recent_even) + (SELECT count(*) FROM recent_odd)")
    }

    private static func create(_ id: SessionID, in store: SQLiteStore, user: String? = nil) async throws {
        try await store.create(StoredSession(record: record(id, 1, [document(0, 1)], user: user), lastUsedAt: 11))
    }

    // MARK: Reading and writing

    @Test("what was acknowledged is shown by every way to read, though it is only in the log")
    func reading() async throws {
        let file = try SQLiteFile()
        let store = try Self.store(file)
        let other = SessionID(random: SystemRandom())
        try await Self.create(id, in: store, user: "u")
        try await Self.create(other, in: store)
        try await store.commit(Self.write([1], of: id, from: 1))
        try await store.commit(Self.write([0, 1], of: id, from: 2))
        try await store.commit(Self.write([0], of: id, from: 3))
        #expect(try Self.rows(file) == 4)
        let loaded = try #require(try await store.load(id))
        #expect(loaded.record.revision == 4 && Self.texts(loaded) == ["4", "3"])
        #expect(loaded.record.services.map(\.revision) == [4, 3] && loaded.lastUsedAt == 11)
        #expect(try await store.sessions(ofUser: "u").map { Self.texts($0) } == [["4", "3"]])
        let page = try await store.page(after: nil, limit: 10)
        #expect(page.map { $0.record.id } == [id, other].sorted { $0.key < $1.key })
        #expect(page.map { Self.texts($0) }.sorted { $0.count < $1.count } == [["1"], ["4", "3"]])
        await store.close()
        #expect(try Self.rows(file) == 0)
        #expect(try StoreCheck.run(file.path) { Issue.record("\($0)") }.services == 3)
    }

    @Test("what was acknowledged is there after a kill, and is where it belongs after closing")
    func kill() async throws {
        let file = try SQLiteFile()
        let store = try Self.store(file)
        try await Self.create(id, in: store)
        try await store.commit(Self.write([0, 1], of: id, from: 1))
        try await store.commit(Self.write([1], of: id, from: 2))
        let copy = try Self.killed(file)
        await store.close()
        let check = try StoreCheck.run(copy.path) { Issue.record("\($0)") }
        #expect(check.recentWrites == 3)
        let statistics = try StoreStatistics(copy.path)
        #expect(statistics.recentWrites == 3)
        #expect(statistics.services.map { "\($0.name) \($0.count) \($0.bytes)" } == ["profile 1 1", "quote 1 1"])
        let next = try Self.store(copy)
        #expect(Self.texts(try await next.load(id)) == ["2", "3"])
        await #expect(throws: StoreError.self) { try await next.commit(Self.write([0], of: id, from: 2)) }
        try await next.commit(Self.write([0], of: id, from: 3))
        #expect(Self.texts(try await next.load(id)) == ["4", "3"])
        await next.close()
        #expect(try Self.rows(copy) == 0)
        #expect(Self.texts(try await Self.store(copy).load(id)) == ["4", "3"])
    }

    @Test("a commit from another revision is refused, whether the newest is in the log or where it belongs")
    func conflict() async throws {
        let file = try SQLiteFile()
        let store = try Self.store(file)
        try await Self.create(id, in: store)
        func expectConflict(from revision: UInt64) async {
            do throws(StoreError) {
                try await store.commit(Self.write([0], of: id, from: revision))
                Issue.record("a commit from revision \(revision) was taken")
            } catch {
                if case .conflict = error {} else { Issue.record(error) }
            }
        }
        await expectConflict(from: 2)
        try await store.commit(Self.write([0], of: id, from: 1))
        await expectConflict(from: 1)
        await expectConflict(from: 3)
        // Does more than write services.
        try await store.commit(
            SessionCommit(
                record: Self.record(id, 3, [Self.document(0, 2)], user: "u"), replacedRevision: 2, changedServices: []))
        await expectConflict(from: 2)
        try await store.commit(Self.write([0], of: id, from: 3))
        let gone = SessionID(random: SystemRandom())
        await #expect(throws: StoreError.self) { try await store.commit(Self.write([0], of: gone, from: 1)) }
        #expect(try await store.load(gone) == nil)
        await store.close()
    }

    @Test("what does more than write services finds what was written before, and what is replayed is older than it")
    func otherChanges() async throws {
        let file = try SQLiteFile()
        let store = try Self.store(file)
        try await Self.create(id, in: store)
        try await store.commit(Self.write([0, 1], of: id, from: 1))
        // A new user; then a service less.
        try await store.commit(
            SessionCommit(
                record: Self.record(id, 3, [Self.document(0, 2), Self.document(1, 2)], user: "u"), replacedRevision: 2,
                changedServices: []))
        #expect(Self.texts(try await store.load(id)) == ["2", "2"])
        try await store.commit(Self.write([1], of: id, from: 3))
        try await store.commit(
            SessionCommit(
                record: Self.record(id, 5, [Self.document(0, 2)], user: "u"), replacedRevision: 4,
                changedServices: [1], changesServicesOnly: true))
        #expect(Self.texts(try await store.load(id)) == ["2"])
        let copy = try Self.killed(file)
        await store.close()
        let next = try Self.store(copy)
        let loaded = try #require(try await next.load(id))
        #expect(Self.texts(loaded) == ["2"] && loaded.record.revision == 5 && loaded.record.userID == "u")
        await #expect(throws: StoreError.self) { try await next.commit(Self.write([0], of: id, from: 4)) }
        try await next.commit(Self.write([0], of: id, from: 5))
        #expect(Self.texts(try await next.load(id)) == ["6"])
        await next.close()
        #expect(try StoreCheck.run(copy.path) { Issue.record("\($0)") }.services == 1)
    }

    @Test("an end takes what is in the log along, and what is received under the same id has nothing of it")
    func ending() async throws {
        let file = try SQLiteFile()
        let store = try Self.store(file)
        try await Self.create(id, in: store)
        for revision in 1...5 { try await store.commit(Self.write([0, 1], of: id, from: UInt64(revision))) }
        #expect(try await store.end(id))
        #expect(try await store.load(id) == nil)
        await #expect(throws: StoreError.self) { try await store.commit(Self.write([0], of: id, from: 6)) }
        let ended = try Self.killed(file)
        let arrival = StoredSession(record: Self.record(id, 2, [Self.document(0, 2)]), lastUsedAt: 11)
        try await store.receive(SessionArrival(session: arrival, replacedRevision: nil))
        #expect(Self.texts(try await store.load(id)) == ["2"])
        try await store.commit(Self.write([0], of: id, from: 2))
        let received = try Self.killed(file)
        // In the place of one that is there.
        let second = StoredSession(record: Self.record(id, 4, [Self.document(1, 4)]), lastUsedAt: 11)
        try await store.receive(SessionArrival(session: second, replacedRevision: 3))
        #expect(Self.texts(try await store.load(id)) == ["4"])
        await store.close()
        #expect(try await Self.store(ended).load(id) == nil)
        #expect(Self.texts(try await Self.store(received).load(id)) == ["3"])
    }

    @Test("a session whose time is over is told of with what it had in the log")
    func expiry() async throws {
        let file = try SQLiteFile()
        let store = try Self.store(file)
        try await Self.create(id, in: store)
        try await store.commit(Self.write([1], of: id, from: 1))
        let query = ExpiryQuery(now: 200_000, idleTimeout: 1_800_000, limit: 10) { _ in false }
        let expired = try await store.endExpired(query)
        #expect(expired.sessions.map { Self.texts($0) } == [["1", "2"]])
        #expect(try await store.load(id) == nil)
        await store.close()
    }

    // MARK: Folding

    @Test("full tables are folded and emptied beside the load, and everything stays as it was acknowledged")
    func folding() async throws {
        let file = try SQLiteFile()
        let store = try Self.store(file, rows: 24)
        let ids = (0..<40).map { _ in SessionID(random: SystemRandom()) }
        for id in ids { try await Self.create(id, in: store) }
        let last: [SessionID: UInt64] = try await withThrowingTaskGroup(of: [SessionID: UInt64].self) { group in
            for part in 0..<4 {
                group.addTask {
                    var last: [SessionID: UInt64] = [:]
                    var kept: [SessionID: ServiceDocument] = [:]
                    for step in 0..<150 {
                        // Some are written all the time, others now and then.
                        let place = step.isMultiple(of: 3) ? step % 10 : step % 2
                        let id = ids[part * 10 + place]
                        let revision = last[id] ?? 1
                        if step % 29 == 28 {
                            let services = [kept[id] ?? Self.document(0, 1)]
                            try await store.commit(
                                SessionCommit(
                                    record: Self.record(id, revision + 1, services, user: "u"),
                                    replacedRevision: revision, changedServices: [1]))
                        } else {
                            try await store.commit(Self.write([0], of: id, from: revision))
                            kept[id] = Self.document(0, revision + 1)
                        }
                        last[id] = revision + 1
                        let loaded = try #require(try await store.load(id))
                        #expect(loaded.record.revision == revision + 1)
                        #expect(
                            Self.texts(loaded).first == kept[id].map { String(decoding: $0.bytes, as: UTF8.self) }
                                ?? "1")
                        if step % 10 == 9 {
                            for session in try await store.page(after: nil, limit: 50) {
                                guard let known = last[session.record.id] else { continue }
                                #expect(session.record.revision == known)
                            }
                        }
                    }
                    return last
                }
            }
            return try await group.reduce(into: [:]) { $0.merge($1) { $1 } }
        }
        let rows = try #require(try Self.rows(file))
        #expect(rows > 0 && rows < 80, "two tables, and what a group may add")
        let copy = try Self.killed(file)
        await store.close()
        for place in [copy, file] {
            let next = try Self.store(place)
            for (id, revision) in last { #expect(try await next.load(id)?.record.revision == revision) }
            await next.close()
            #expect(try Self.rows(place) == 0)
            #expect(try StoreCheck.run(place.path) { Issue.record("\($0)") }.findings == 0)
        }
    }

    @Test("when there is nothing else to do all is folded, however much it is")
    func idle() async throws {
        let file = try SQLiteFile()
        let store = try SQLiteStore(
            path: file.path, services: ["profile", "quote"], idleTimeout: 1_800_000, durability: .commit,
            recent: RecentLimits(idleTime: .milliseconds(20)), report: { _ in })
        let ids = (0..<600).map { _ in SessionID(random: SystemRandom()) }
        await withTaskGroup(of: Void.self) { group in
            for id in ids {
                group.addTask {
                    try? await Self.create(id, in: store)
                    try? await store.commit(Self.write([1], of: id, from: 1))
                }
            }
        }
        while try Self.rows(file) != 0 { try await Task.sleep(for: .milliseconds(5)) }
        #expect(
            try SQLiteConnection(file.path, .read).number("SELECT count(*) FROM services WHERE revision = 2") == 600)
        await store.close()
    }

    @Test("a file of the version before gets the log, with all that it has")
    func migration() async throws {
        let file = try SQLiteFile()
        var store = try Self.store(file)
        try await Self.create(id, in: store)
        await store.close()
        try SQLiteConnection(file.path, .write).execute(
            "DROP TABLE recent_even; DROP TABLE recent_odd; PRAGMA user_version = 2")
        store = try Self.store(file)
        try await store.commit(Self.write([1], of: id, from: 1))
        #expect(Self.texts(try await store.load(id)) == ["1", "2"])
        await store.close()
    }

    @Test("rows of a service that is not declared any more go where they belong")
    func undeclared() async throws {
        let file = try SQLiteFile()
        let store = try Self.store(file)
        try await Self.create(id, in: store)
        try await store.commit(Self.write([0, 1], of: id, from: 1))
        let copy = try Self.killed(file)
        await store.close()
        do {
            let other = try copy.store(services: ["quote"])
            #expect(Self.texts(try await other.load(id)) == ["2"])
            await other.close()
        }
        let next = try Self.store(copy)
        #expect(Self.texts(try await next.load(id)) == ["2", "2"])
        await next.close()
    }

    // MARK: Trouble

    @Test(
        "a transaction that does not come about leaves no trace",
        arguments: [SQLITE_CONSTRAINT, SQLITE_IOERR, SQLITE_FULL])
    func rollback(_ code: Int32) async throws {
        let file = try SQLiteFile()
        try SQLiteSchema.prepare(try SQLiteConnection(file.path, .write), path: file.path)
        let index = RecentIndex(RecentLimits(idleTime: .seconds(3_600)))
        let commits = try GroupCommit(lock: try FileLock(on: file.path)) {
            [path = file.path] () throws(SQLiteError) in
            let connection = try SQLiteConnection(path, .write)
            for setting in SQLiteStore.writerSettings { try connection.execute(setting) }
            return (
                connection,
                try SessionWriter(
                    connection, names: ServiceNames(["profile", "quote"]), idleTimeout: 1, recent: index)
            )
        }
        #expect(StoreThread.start(commits.run))
        func write<Result: Sendable>(
            _ body: @escaping @Sendable (SessionWriter) throws(SQLiteError) -> Result
        ) async throws(StoreError) -> Result {
            try await withCheckedContinuation { commits.append(Write(body, $0)) }.get()
        }
        let id = id
        let session = StoredSession(record: Self.record(id, 1, [Self.document(0, 1)]), lastUsedAt: 11)
        #expect(try await write { writer throws(SQLiteError) in try writer.create(session) })
        let commit = Self.write([1], of: id, from: 1)
        _ = try await write { writer throws(SQLiteError) in try writer.commit(commit) }
        let second = Self.write([0, 1], of: id, from: 2)
        await #expect(throws: StoreError.self) {
            try await write { writer throws(SQLiteError) in
                _ = try writer.commit(second)
                throw SQLiteError(code: code, doing: "committing")
            }
        }
        let known = try #require(index.session(id))
        #expect(known.revision == 2 && known.rows.count == 1)
        let refusal = try await write { writer throws(SQLiteError) in try writer.commit(commit) }
        #expect(refusal != nil)
        #expect(try await write { writer throws(SQLiteError) in try writer.commit(second) } == nil)
        let reader = try SessionReader(
            try SQLiteConnection(file.path, .read), names: ServiceNames(["profile", "quote"]), recent: index,
            report: { Issue.record("\($0)") })
        #expect(Self.texts(try reader.session(id)) == ["3", "3"])
        commits.close()
        await commits.waitForEnd()
    }

    @Test(
        "a damaged row is counted, told of and as if it had not been; no revision is given a second time",
        arguments: [
            "document = '7'", "revision = 3", "session = session + 1", "id = zeroblob(16)", "checksum = 1",
        ])
    func damage(_ harm: String) async throws {
        let file = try SQLiteFile()
        let store = try Self.store(file)
        let other = SessionID(random: SystemRandom())
        for id in [id, other] { try await Self.create(id, in: store) }
        try await store.commit(Self.write([0], of: id, from: 1))
        try await store.commit(Self.write([1], of: other, from: 1))
        let copy = try Self.killed(file)
        await store.close()
        try SQLiteConnection(copy.path, .write).execute("UPDATE recent_even SET \(harm) WHERE seq = 1")
        let check = try StoreCheck.run(copy.path) { _ in }
        #expect(check.findings == 1)
        let reports = Reports()
        var next = try Self.store(copy, report: reports)
        #expect(next.damage.rows == 1 && reports.all.count == 1)
        let loaded = try #require(try await next.load(id))
        #expect(Self.texts(loaded) == ["1"] && loaded.record.revision > 2)
        #expect(Self.texts(try await next.load(other)) == ["1", "2"])
        try await next.commit(Self.write([0], of: id, from: loaded.record.revision))
        await next.close()
        // It is told of once.
        next = try Self.store(copy)
        #expect(next.damage.rows == 0)
        #expect(try await next.load(id)?.record.revision == loaded.record.revision + 1)
        await next.close()
    }

    @Test("a row that should be there and is not is looked for again, and nothing is made up in its place")
    func missing() async throws {
        let file = try SQLiteFile()
        let store = try Self.store(file)
        try await Self.create(id, in: store)
        let index = RecentIndex()
        var session = RecentSession(id, isSure: true)
        session.add(RecentSession.Row(sequence: 9, service: 1, table: .odd), revision: 5)
        index.apply([id.key: RecentIndex.Change(session: session)])
        let reports = Reports()
        let reader = try SessionReader(
            try SQLiteConnection(file.path, .read), names: ServiceNames(["profile", "quote"]), recent: index,
            report: reports.add)
        let found = try #require(try reader.session(id))
        #expect(found.record.revision == 1 && Self.texts(found) == ["1"])
        #expect(reports.all.count == 1)
        await store.close()
    }

    @Test(
        "a damaged page in the way of folding, or of the log, is not in everybody's way",
        arguments: ["services", "recent_even", "recent_odd"])
    func damagedPages(_ table: String) async throws {
        let file = try SQLiteFile()
        var store = try Self.store(file)
        let ids = (0..<3).map { _ in SessionID(random: SystemRandom()) }
        for id in ids { try await Self.create(id, in: store) }
        await store.close()
        let root = try #require(
            try SQLiteConnection(file.path, .read).number("SELECT rootpage FROM sqlite_schema WHERE name = '\(table)'"))
        let descriptor = open(file.path, O_WRONLY)
        let noise = [UInt8](repeating: 7, count: 4_096)
        #expect(pwrite(descriptor, noise, noise.count, off_t((root - 1) * 4_096)) == noise.count)
        close(descriptor)
        store = try Self.store(file, rows: 4)
        for revision in 1...20 {
            for id in ids { try await store.commit(Self.write([0], of: id, from: UInt64(revision))) }
        }
        #expect(store.damage.rows + store.damage.pages > 0)
        if table != "services" {
            for id in ids { #expect(Self.texts(try await store.load(id)) == ["21"]) }
        }
        await store.close()
        store = try Self.store(file, rows: 4)
        for id in ids { try await store.commit(Self.write([0], of: id, from: 21)) }
        await store.close()
    }

    private static func copyFile(_ source: String, to target: String) throws {
        let (from, to) = (open(source, O_RDONLY), open(target, O_WRONLY | O_CREAT | O_TRUNC, 0o600))
        defer {
            close(from)
            close(to)
        }
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = read(from, &buffer, buffer.count)
            guard count > 0 else { return }
            #expect(Glibc.write(to, buffer, count) == count)
        }
    }
}
