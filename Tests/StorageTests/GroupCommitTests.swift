import CSQLite
import Glibc
import Sessions
import Synchronization
import Testing

@testable import SQLiteStorage

@Suite("Group commit")
struct GroupCommitTests {
    /// A writer on a new file. It counts how often the file is opened.
    private final class Place: Sendable {
        let file: SQLiteFile
        let commits: GroupCommit
        let openings: Openings

        final class Openings: Sendable {
            let count = Atomic<Int>(0)
        }

        init(settings: [String] = []) throws {
            file = try SQLiteFile()
            let openings = Openings()
            self.openings = openings
            commits = try file.writer(settings: settings, opened: { openings.count.wrappingAdd(1, ordering: .relaxed) })
        }

        func write<Result: Sendable>(
            _ body: @escaping @Sendable (SessionWriter) throws(SQLiteError) -> Result
        ) async throws(StoreError) -> Result {
            try await withCheckedContinuation { waiting in
                commits.append(Write(body) { waiting.resume(returning: $0) })
            }.get()
        }

        func create(document: Int = 0) async throws(StoreError) -> SessionID {
            let session = Samples.session(
                SessionID(random: SystemRandom()), document == 0 ? [] : [Samples.document(size: document)])
            _ = try await write { writer throws(SQLiteError) in try writer.create(session) }
            return session.record.id
        }

        var sessionCount: Int {
            get throws { Int(try SQLiteConnection(file.path, .read).number("SELECT count(*) FROM sessions") ?? 0) }
        }
    }

    /// SQLITE_IOERR_FSYNC, a macro that Swift does not see.
    private static let failedSyncCode = SQLITE_IOERR | 4 << 8

    @Test("after a failed sync nothing is acknowledged until the file is opened anew and its log copied to it")
    func failedSync() async throws {
        let place = try Place()
        _ = try await place.create()
        #expect(place.openings.count.load(ordering: .relaxed) == 1)
        await #expect(throws: StoreError.self) {
            try await place.write { _ throws(SQLiteError) in
                throw SQLiteError(code: Self.failedSyncCode, doing: "committing")
            }
        }
        #expect(place.commits.trouble?.contains("committing") == true)
        _ = try await place.create()
        #expect(place.commits.trouble == nil)
        #expect(place.openings.count.load(ordering: .relaxed) == 2)
        #expect(try place.sessionCount == 2)
        place.commits.close()
        await place.commits.waitForEnd()
    }

    @Test("a job that fails does not fail the others of its group")
    func oneJob() async throws {
        let place = try Place()
        let outcomes = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<40 {
                group.addTask {
                    do throws(StoreError) {
                        if number == 20 {
                            try await place.write { _ throws(SQLiteError) in
                                throw SQLiteError(code: SQLITE_CONSTRAINT, doing: "one of many")
                            }
                        } else {
                            _ = try await place.create()
                        }
                        return true
                    } catch {
                        return false
                    }
                }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(outcomes == 39)
        #expect(try place.sessionCount == 39)
        #expect(place.commits.trouble == nil)
    }

    @Test("on a full disk writes are refused and nothing is lost; with room there are writes again")
    func full() async throws {
        let place = try Place(settings: ["PRAGMA max_page_count = 64"])
        var made: [SessionID] = []
        let failure = await #expect(throws: StoreError.self) {
            while true { made.append(try await place.create(document: 8_000)) }
        }
        guard case .full = failure else { return #expect(Bool(false), "\(String(describing: failure))") }
        #expect(place.commits.trouble == nil)
        #expect(try place.sessionCount == made.count)
        for id in made.prefix(5) {
            #expect(try await place.write { writer throws(SQLiteError) in try writer.end(id) })
        }
        _ = try await place.create(document: 8_000)
        #expect(try place.sessionCount == made.count - 4)
        #expect(place.openings.count.load(ordering: .relaxed) == 1)
    }

    @Test("calls after closing are refused, earlier ones are done")
    func closing() async throws {
        let place = try Place()
        _ = try await place.create()
        place.commits.close()
        await place.commits.waitForEnd()
        await #expect(throws: StoreError.self) { try await place.create() }
        #expect(try place.sessionCount == 1)
    }

    @Test("while another program holds a lock a group fails once, with one report; then writes go on")
    func busy() async throws {
        let file = try SQLiteFile()
        let reports = Reports()
        let store = try file.store(report: reports.add)
        let other = try SQLiteConnection(file.path, .write)
        try other.execute("BEGIN IMMEDIATE")
        let failures = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<20 {
                group.addTask {
                    do throws(StoreError) {
                        try await store.create(Samples.session())
                        return false
                    } catch { return true }
                }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(failures == 20)
        #expect(store.trouble?.contains("locked") == true)
        #expect(reports.all.count == 1 && reports.all[0].hasPrefix("Another program holds a lock"), "\(reports.all)")
        try other.execute("ROLLBACK")
        try await store.create(Samples.session())
        #expect(store.trouble == nil && store.sessionCount == 1)
        await store.close()
    }

    @Test("a deleted database is reported within seconds, and nothing is acknowledged any more")
    func deleted() async throws {
        let file = try SQLiteFile()
        let (reports, reported) = AsyncStream.makeStream(of: String.self)
        let store = try file.store(report: { reported.yield($0) })
        try await store.create(Samples.session())
        let start = SuspendingClock.now
        #expect(unlink(file.path) == 0)
        var report = reports.makeAsyncIterator()
        #expect(await report.next()?.hasPrefix("The database was moved, replaced or deleted") == true)
        #expect(SuspendingClock.now - start < .seconds(10))
        #expect(store.trouble != nil)
        await #expect(throws: StoreError.self) { try await store.create(Samples.session()) }
        await store.close()
    }
}
