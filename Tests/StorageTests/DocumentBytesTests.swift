import Testing

@testable import SQLiteStorage
@testable import Sessions

/// The limit of the bytes of all sessions together.
@Suite("The bytes of all sessions")
struct DocumentBytesTests {
    static let stores = [
        SessionStoreContract.Candidate(testDescription: "memory") { _, _ in MemoryStore(mostBytes: 1_000) },
        SessionStoreContract.Candidate(testDescription: "sqlite") {
            try $1.keep(SQLiteFile()).store(services: $0, mostBytes: 1_000)
        },
        SessionStoreContract.Candidate(testDescription: "sqlite, encrypted") {
            try $1.keep(SQLiteFile()).store(services: $0, mostBytes: 1_000, keys: try EncryptionTests.keys("k1"))
        },
    ]

    private let kept = SessionStoreContract.Kept()

    /// A commit as a session makes it.
    private static func commit(_ record: SessionRecord, over former: SessionRecord) -> SessionCommit {
        var commit = SessionCommit(
            record: record, replacedRevision: former.revision, changedServices: record.services.map(\.service))
        commit.growth = record.writtenBytes - former.writtenBytes
        return commit
    }

    private static func session(_ services: [ServiceDocument]) -> StoredSession {
        Samples.session(SessionID(random: SystemRandom()), services)
    }

    /// Commits a state with documents of these sizes, and returns it.
    @discardableResult
    private static func write(
        _ sizes: [Int], over former: SessionRecord, to store: any SessionStore
    ) async throws -> SessionRecord {
        let services = sizes.enumerated().map {
            Samples.document(UInt16($0.offset), size: $0.element, revision: former.revision + 1)
        }
        let record = Samples.record(former.id, revision: former.revision + 1, services, details: former.details)
        try await store.commit(commit(record, over: former))
        return record
    }

    private static func expectFull(_ body: () async throws -> Void) async {
        let error = await #expect(throws: StoreError.self) { try await body() }
        guard case .full(let reason) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason.contains("limits.total_bytes"))
    }

    @Test("are bounded: what grows is refused, what shrinks or ends is not, and room is there again", arguments: stores)
    func limit(_ candidate: SessionStoreContract.Candidate) async throws {
        let store = try await candidate.make(["profile", "quote"], kept)
        let (first, second) = (Samples.session(), Samples.session())
        try await store.create(first)
        try await store.create(second)
        #expect(store.documentBytes == DocumentBytes(stored: 0, allowed: 1_000))
        var one = try await Self.write([600], over: first.record, to: store)
        var two = try await Self.write([300], over: second.record, to: store)
        #expect(store.documentBytes?.stored == 900)
        // One byte beyond the limit, then just the limit.
        await Self.expectFull { try await Self.write([401], over: two, to: store) }
        #expect(store.documentBytes?.stored == 900)
        two = try await Self.write([400], over: two, to: store)
        await Self.expectFull { try await Self.write([600, 1], over: one, to: store) }
        #expect(try await store.load(one.id)?.record.services.map(\.bytes.count) == [600])
        // As large as before, then smaller.
        one = try await Self.write([600], over: one, to: store)
        one = try await Self.write([100], over: one, to: store)
        #expect(store.documentBytes?.stored == 500)
        two = try await Self.write([400, 500], over: two, to: store)
        try await store.create(Samples.session())
        #expect(try await store.end(two.id))
        #expect(store.documentBytes?.stored == 100)
    }

    @Test("include labels, and what sessions bring from elsewhere", arguments: stores)
    func others(_ candidate: SessionStoreContract.Candidate) async throws {
        let store = try await candidate.make(["profile", "quote"], kept)
        func labelled(_ size: Int) -> SessionDetails {
            SessionDetails(labels: SessionLabels(["a": String(repeating: "x", count: size)]))
        }
        // {"a":"…"}
        let session = Samples.session(details: labelled(292))
        try await store.create(session)
        #expect(store.documentBytes?.stored == 300)
        await Self.expectFull { try await store.create(Samples.session(details: labelled(693))) }
        await Self.expectFull {
            try await store.receive(
                SessionArrival(session: Self.session([Samples.document(size: 701)]), replacedRevision: nil))
        }
        let arrival = Self.session([Samples.document(size: 600)])
        try await store.receive(SessionArrival(session: arrival, replacedRevision: nil))
        #expect(store.documentBytes?.stored == 900)
        func replacement(_ size: Int) -> StoredSession {
            Samples.session(arrival.record.id, revision: 2, [Samples.document(size: size, revision: 2)])
        }
        await Self.expectFull {
            try await store.receive(SessionArrival(session: replacement(701), replacedRevision: 1))
        }
        try await store.receive(SessionArrival(session: replacement(650), replacedRevision: 1))
        #expect(store.documentBytes?.stored == 950)
        // A session that is there already takes no room.
        await #expect(throws: StoreError.self) {
            try await store.create(Samples.session(session.record.id, details: labelled(12)))
        }
        let query = ExpiryQuery(now: .max - 1, idleTimeout: 0, retention: 0, limit: 10, isInUse: { _ in false })
        #expect(try await store.endExpired(query).count == 2)
        #expect(store.documentBytes?.stored == 0)
    }

    @Test("are known again after an end, exactly, also of an encrypted file", arguments: [false, true])
    func reopened(isEncrypted: Bool) async throws {
        let file = try SQLiteFile()
        let names = ["profile", "quote", "basket"]
        let keys = isEncrypted ? try EncryptionTests.keys("k1") : nil
        let store = try file.store(services: names, keys: keys)
        var record = Samples.record(
            SessionID(random: SystemRandom()), details: SessionDetails(labels: SessionLabels(["a": "b"])))
        try await store.create(StoredSession(record: record, lastUsedAt: 11))
        record = try await Self.write([100, 5_000, 700], over: record, to: store)
        #expect(store.documentBytes?.stored == 5_809)
        await store.close()
        for isKnown in [true, false] {
            // As a backup.
            if !isKnown {
                // Others may still be closing, and then it would leave a log of its own.
                try SQLiteConnection(file.path, .write)
                    .execute("DELETE FROM facts WHERE name LIKE 'bytes%'; PRAGMA wal_checkpoint(TRUNCATE)")
            }
            let again = try file.store(services: names, mostBytes: 5_809, keys: keys)
            #expect(again.documentBytes == DocumentBytes(stored: 5_809, allowed: 5_809), "\(isKnown)")
            await Self.expectFull { try await Self.write([101, 5_000, 700], over: record, to: again) }
            await again.close()
        }
    }

    @Test("are known after a crash up to a mebibyte, and most commits write no page for their sum")
    func crashed() async throws {
        let file = try SQLiteFile()
        let store = try file.store()
        var record = Samples.record(SessionID(random: SystemRandom()))
        try await store.create(StoredSession(record: record, lastUsedAt: 11))
        func written() throws -> Int64? {
            try SQLiteConnection(file.path, .read).number("SELECT value FROM facts WHERE name = 'bytes'")
        }
        for size in [100, 200_000, 300] { record = try await Self.write([size], over: record, to: store) }
        #expect(try written() ?? 0 == 0)
        record = try await Self.write([1_200_000], over: record, to: store)
        #expect(try written() == 1_200_000)
        record = try await Self.write([1_300_000], over: record, to: store)
        let image = try SQLiteFile()
        for ending in ["", "-wal"] { try Files.copy(file.path + ending, to: image.path + ending) }
        let after = try image.store()
        #expect(after.documentBytes?.stored == 1_200_000)
        await after.close()
        await store.close()
        #expect(try written() == 1_300_000)
    }

    @Test("are added up anew by the start after one that has read damage")
    func damaged() async throws {
        let file = try SQLiteFile()
        let store = try file.store()
        let (whole, broken) = (
            Self.session([Samples.document(size: 100)]), Self.session([Samples.document(size: 200)])
        )
        for session in [whole, broken] { try await store.create(session) }
        await store.close()
        try SQLiteConnection(file.path, .write)
            .execute("UPDATE sessions SET state = zeroblob(100) WHERE key = \(broken.record.id.key)")
        let reader = try file.store()
        #expect(reader.documentBytes?.stored == 300)
        await #expect(throws: StoreError.self) { try await reader.load(broken.record.id) }
        await reader.close()
        let next = try file.store()
        #expect(next.documentBytes?.stored == 100)
        await next.close()
    }
}
