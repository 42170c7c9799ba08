import CSQLite
import Glibc
import Sessions
import Testing

@testable import Storage

@Suite("Keeping a second server out")
struct FileLockTests {
    @Test("nothing beside the database that could be deleted lets a second one in")
    func deletions() async throws {
        let file = try SQLiteFile()
        let store = try file.store()
        for name in try Self.names(in: file.folder) where name != "sessions.db" && !name.hasSuffix("-wal") {
            #expect(unlink("\(file.folder)/\(name)") == 0)
        }
        #expect(throws: StoreOpeningError.inUse(file.path)) { try file.store() }
        await store.close()
    }

    @Test("a start that is refused leaves nothing beside the file")
    func leavings() throws {
        let file = try SQLiteFile()
        try SQLiteConnection(file.path, .write).execute("CREATE TABLE theirs (x)")
        #expect(throws: StoreOpeningError.foreign(file.path)) { try file.store() }
        #expect(try Self.names(in: file.folder) == ["sessions.db"])
    }

    @Test("nor does an orderly end")
    func orderlyEnd() async throws {
        let file = try SQLiteFile()
        let store = try file.store()
        await store.close()
        let own = ["", "-shm", "-wal"].map { "sessions.db\($0)" }
        #expect(try Self.names(in: file.folder).allSatisfy(own.contains))
        let next = try file.store()
        await next.close()
    }

    @Test(
        "a database that is taken away under a server, or replaced by another, leads to no second one on its log",
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
        // What was there is served on.
        let later = try await Self.add(to: store)
        #expect(try await store.load(session) != nil)
        await store.close()
        unlink(file.path)
        #expect(rename(away, file.path) == 0)
        let next = try file.store()
        for id in [session, later] { #expect(try await next.load(id) != nil) }
        await next.close()
    }

    @Test("a file that was put in the place of the database is not taken for it after an error")
    func reopening() async throws {
        let file = try SQLiteFile()
        let store = try file.store()
        let other = try SQLiteFile()
        await (try other.store()).close()
        #expect(rename(other.path, file.path) == 0)
        let failed: Result<Void, StoreError> = await withCheckedContinuation { continuation in
            store.writing.append(
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

    @Test("refusing others costs the first one none of SQLite's own locks, which belong to the process")
    func locksOfSQLite() async throws {
        let file = try SQLiteFile()
        let store = try file.store()
        for _ in 0..<2 { #expect(throws: StoreOpeningError.inUse(file.path)) { try file.store() } }
        #expect(throws: StoreOpeningError.inUse(file.path)) { try StoreVacuum(file.path) }
        // Shared locks that SQLite has on a database and on the index of its log while they are open.
        #expect(try Self.isLocked(file.path, at: 0x4000_0002, 510))
        #expect(try Self.isLocked(file.path + "-shm", at: 128, 1))
        withExtendedLifetime(store) {}
    }

    @Test("nor does a lock that goes when another was taken on the file meanwhile, or before its connections")
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

    /// Whether a lock for writing would meet one. The descriptor stays open: to close it would give up the locks that are
    /// asked for.
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
        let id = SessionID(random: SystemRandom())
        let record = SessionRecord(
            id: id, token: TokenDigest(words: (1, 2, 3, 4)), createdAt: 1, expiresAt: 2, revision: 1, services: [],
            details: .none)
        try await store.create(StoredSession(record: record, lastUsedAt: 1))
        return id
    }

    private static func names(in folder: String) throws -> [String] {
        let directory = try #require(opendir(folder))
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }
}
