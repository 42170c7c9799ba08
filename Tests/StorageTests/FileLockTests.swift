import CSQLite
import Glibc
import Sessions
import Storage
import Testing

@testable import SQLiteStorage

@Suite("Keeping a second server out")
struct FileLockTests {
    @Test("to delete a file beside the database does not admit a second server")
    func deletions() async throws {
        let file = try SQLiteFile()
        let store = try file.store()
        for name in Files.names(in: file.folder) where name != "sessions.db" && !name.hasSuffix("-wal") {
            #expect(unlink("\(file.folder)/\(name)") == 0)
        }
        #expect(throws: StoreOpeningError.inUse(file.path)) { try file.store() }
        await store.close()
    }

    @Test("a refused start leaves no file beside the database")
    func leavings() throws {
        let file = try SQLiteFile()
        try SQLiteConnection(file.path, .write).execute("CREATE TABLE theirs (x)")
        #expect(throws: StoreOpeningError.foreign(file.path)) { try file.store() }
        #expect(Files.names(in: file.folder) == ["sessions.db"])
    }

    @Test("a database that every user of the machine may read is closed to them, and so is its log")
    func modes() async throws {
        let file = try SQLiteFile()
        await (try file.store()).close()
        #expect(chmod(file.path, 0o666) == 0)
        let reports = Reports()
        var warnings: [String] = []
        let store = try SQLiteStore(path: file.path, services: [], report: reports.add, warn: { warnings.append($0) })
        for name in Files.names(in: file.folder) where name.hasPrefix("sessions.db") {
            var facts = stat()
            #expect(stat("\(file.folder)/\(name)", &facts) == 0 && facts.st_mode & 0o007 == 0, "\(name)")
        }
        #expect(warnings.first?.contains("had mode 666") == true && reports.all == [])
        await store.close()
    }

    @Test("an orderly end leaves no file beside the database")
    func orderlyEnd() async throws {
        let file = try SQLiteFile()
        let store = try file.store()
        await store.close()
        let own = ["", "-shm", "-wal"].map { "sessions.db\($0)" }
        #expect(Files.names(in: file.folder).allSatisfy(own.contains))
        let next = try file.store()
        await next.close()
    }

    @Test(
        "a database that is moved away from a server, or replaced, admits no second server to the log",
        arguments: [false, true])
    func takenAway(isReplaced: Bool) async throws {
        let file = try SQLiteFile()
        let away = file.path + ".away"
        defer { unlink(away) }
        let store = try file.store()
        let session = try await Self.add(to: store)
        #expect(store.trouble == nil)
        #expect(rename(file.path, away) == 0)
        if isReplaced { close(open(file.path, O_WRONLY | O_CREAT, 0o600)) }
        #expect(throws: StoreOpeningError.inUse(file.path)) { try file.store() }
        #expect((access(file.path, F_OK) == 0) == isReplaced)
        #expect(try #require(store.trouble).contains("was moved, replaced or deleted"))
        // The server still serves its sessions.
        let later = try await Self.add(to: store)
        #expect(try await store.load(session) != nil)
        await store.close()
        unlink(file.path)
        #expect(rename(away, file.path) == 0)
        let next = try file.store()
        for id in [session, later] { #expect(try await next.load(id) != nil) }
        await next.close()
    }

    @Test("after an error the store does not open a file that has replaced the database")
    func reopening() async throws {
        let file = try SQLiteFile()
        let store = try file.store()
        let other = try SQLiteFile()
        await (try other.store()).close()
        #expect(rename(other.path, file.path) == 0)
        let failed: Result<Void, StoreError> = await withCheckedContinuation { continuation in
            store.commits.append(
                Write { _ throws(SQLiteError) in
                    throw SQLiteError(code: SQLITE_IOERR, doing: "writing")
                } then: {
                    continuation.resume(returning: $0)
                })
        }
        #expect(throws: StoreError.self) { try failed.get() }
        await #expect(throws: StoreError.self) { try await Self.add(to: store) }
        await store.close()
        let next = try file.store()
        #expect(next.sessionCount == 0)
        await next.close()
    }

    @Test("to refuse a second store drops none of the locks that SQLite holds for the first")
    func locksOfSQLite() async throws {
        let file = try SQLiteFile()
        let store = try file.store()
        for _ in 0..<2 { #expect(throws: StoreOpeningError.inUse(file.path)) { try file.store() } }
        #expect(throws: StoreOpeningError.inUse(file.path)) { try StoreVacuum(file.path) }
        // Shared locks that SQLite holds on an open database and on the index of its log.
        #expect(try Self.isLocked(file.path, at: 0x4000_0002, 510))
        #expect(try Self.isLocked(file.path + "-shm", at: 128, 1))
        withExtendedLifetime(store) {}
    }

    @Test("nor does a lock that ends after another one was taken on the file, or before its connections")
    func order() throws {
        let file = try SQLiteFile()
        var first: FileLock? = try FileLock(on: file.path)
        first?.release()
        var second: FileLock? = try FileLock(on: file.path)
        let connection = try SQLiteConnection(file.path, .write, under: second)
        try connection.execute("PRAGMA journal_mode = WAL; BEGIN; SELECT 1 FROM sqlite_schema")
        first = nil
        #expect(try Self.isLocked(file.path, at: 0x4000_0002, 510))
        #expect(throws: StoreOpeningError.inUse(file.path)) { try FileLock(on: file.path) }
        second = nil
        #expect(try Self.isLocked(file.path, at: 0x4000_0002, 510))
        withExtendedLifetime(connection) {}
    }

    /// Whether there is a shared lock. The descriptor stays open: to close it would drop the locks in question.
    private static func isLocked(_ path: String, at place: off_t, _ length: off_t) throws -> Bool {
        let probe = open(path, O_RDWR | O_CLOEXEC)
        var range = flock()
        range.l_type = Int16(F_WRLCK)
        range.l_start = place
        range.l_len = length
        // F_OFD_GETLK
        try #require(fcntl(probe, 36, &range) == 0)
        return range.l_type == Int16(F_RDLCK)
    }

    private static func add(to store: SQLiteStore) async throws -> SessionID {
        let session = Samples.session()
        try await store.create(session)
        return session.record.id
    }
}
