import CSQLite
import Glibc
import Sessions
import Testing

@testable import Storage

@Suite("Trouble with the log of recent writes", .timeLimit(.minutes(2)))
struct RecentTroubleTests {
    private let id = SessionID(random: SystemRandom())

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
        let session = StoredSession(record: RecentWrites.record(id, 1, [RecentWrites.document(0, 1)]), lastUsedAt: 11)
        #expect(try await write { writer throws(SQLiteError) in try writer.create(session) })
        let commit = RecentWrites.write([1], of: id, from: 1)
        _ = try await write { writer throws(SQLiteError) in try writer.commit(commit) }
        let second = RecentWrites.write([0, 1], of: id, from: 2)
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
        #expect(RecentWrites.texts(try reader.session(id)) == ["3", "3"])
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
        let store = try RecentWrites.store(file)
        let other = SessionID(random: SystemRandom())
        for id in [id, other] { try await RecentWrites.create(id, in: store) }
        try await store.commit(RecentWrites.write([0], of: id, from: 1))
        try await store.commit(RecentWrites.write([1], of: other, from: 1))
        let copy = try RecentWrites.killed(file)
        await store.close()
        try SQLiteConnection(copy.path, .write).execute("UPDATE recent_even SET \(harm) WHERE seq = 1")
        let check = try StoreCheck.run(copy.path) { _ in }
        #expect(check.findings == 1)
        let reports = Reports()
        var next = try RecentWrites.store(copy, report: reports)
        #expect(next.damage.rows == 1 && reports.all.count == 1)
        let loaded = try #require(try await next.load(id))
        #expect(RecentWrites.texts(loaded) == ["1"] && loaded.record.revision > 2)
        #expect(RecentWrites.texts(try await next.load(other)) == ["1", "2"])
        try await next.commit(RecentWrites.write([0], of: id, from: loaded.record.revision))
        await next.close()
        // It is told of once.
        next = try RecentWrites.store(copy)
        #expect(next.damage.rows == 0)
        #expect(try await next.load(id)?.record.revision == loaded.record.revision + 1)
        await next.close()
    }

    @Test("a row that should be there and is not is looked for again, and nothing is made up in its place")
    func missing() async throws {
        let file = try SQLiteFile()
        let store = try RecentWrites.store(file)
        try await RecentWrites.create(id, in: store)
        let index = RecentIndex()
        var session = RecentSession(id, isSure: true)
        session.add(RecentSession.Row(sequence: 9, service: 1, table: .odd), revision: 5)
        index.apply([id.key: RecentIndex.Change(session: session)])
        let reports = Reports()
        let reader = try SessionReader(
            try SQLiteConnection(file.path, .read), names: ServiceNames(["profile", "quote"]), recent: index,
            report: reports.add)
        let found = try #require(try reader.session(id))
        #expect(found.record.revision == 1 && RecentWrites.texts(found) == ["1"])
        #expect(reports.all.count == 1)
        await store.close()
    }

    @Test(
        "a damaged page in the way of folding, or of the log, is not in everybody's way",
        arguments: ["services", "recent_even", "recent_odd"])
    func damagedPages(_ table: String) async throws {
        let file = try SQLiteFile()
        var store = try RecentWrites.store(file)
        let ids = (0..<3).map { _ in SessionID(random: SystemRandom()) }
        for id in ids { try await RecentWrites.create(id, in: store) }
        await store.close()
        let root = try #require(
            try SQLiteConnection(file.path, .read).number("SELECT rootpage FROM sqlite_schema WHERE name = '\(table)'"))
        let descriptor = open(file.path, O_WRONLY)
        let noise = [UInt8](repeating: 7, count: 4_096)
        #expect(pwrite(descriptor, noise, noise.count, off_t((root - 1) * 4_096)) == noise.count)
        close(descriptor)
        store = try RecentWrites.store(file, rows: 4)
        for revision in 1...20 {
            for id in ids { try await store.commit(RecentWrites.write([0], of: id, from: UInt64(revision))) }
        }
        #expect(store.damage.rows + store.damage.pages > 0)
        if table != "services" {
            for id in ids { #expect(RecentWrites.texts(try await store.load(id)) == ["21"]) }
        }
        await store.close()
        store = try RecentWrites.store(file, rows: 4)
        for id in ids { try await store.commit(RecentWrites.write([0], of: id, from: 21)) }
        await store.close()
    }
}
