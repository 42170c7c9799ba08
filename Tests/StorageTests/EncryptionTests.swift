import Sessions
import Storage
import Testing

@testable import SQLiteStorage

@Suite("Encryption at rest")
struct EncryptionTests {
    /// Nothing else has these bytes: the letter of ``Samples/document(_:size:revision:letter:)``, repeated.
    private static let canary: Character = "~"
    private static let sizes = [60, 600, 3_000, 9_000]

    static func keys(_ ids: String...) throws -> DocumentKeys {
        try #require(DocumentKeys(ids.map { ($0, Array(repeating: $0.utf8.first ?? 0, count: 32)) }))
    }

    /// A session whose documents and labels are canaries: one document in its row, others beside it.
    private static func session(_ id: SessionID = SessionID(random: SystemRandom())) -> StoredSession {
        let labels = SessionLabels(["device": String(repeating: canary, count: 40)])
        return Samples.session(
            id, sizes.enumerated().map { Samples.document(UInt16($0), size: $1, letter: canary) },
            details: SessionDetails(labels: labels, userID: "ada"))
    }

    private static let services = ["a", "b", "c", "d"]

    /// A closed file with so many of these sessions.
    private static func fill(_ file: SQLiteFile, _ count: Int = 1, keys: DocumentKeys?) async throws -> [SessionID] {
        let store = try file.store(services: services, keys: keys)
        let sessions = (0..<count).map { _ in session() }
        for session in sessions { try await store.create(session) }
        await store.close()
        return sessions.map(\.record.id).sorted()
    }

    /// The files of the database that have canaries.
    private static func canaries(in file: SQLiteFile) throws -> [String] {
        let letter = canary.asciiValue
        return try Files.names(in: file.folder).filter { name in
            var length = 0
            for byte in try Files.read(file.folder + "/" + name) {
                length = byte == letter ? length + 1 : 0
                if length == 16 { return true }
            }
            return false
        }
    }

    /// Whether all sessions are there, with all that was written to them.
    private static func expectWhole(
        _ file: SQLiteFile, _ ids: [SessionID], keys: DocumentKeys?, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let store = try file.store(services: services, keys: keys)
        let page = try await store.page(after: nil, limit: 1_000)
        #expect(page.sessions.map(\.record.id) == ids && page.skipped == 0, sourceLocation: sourceLocation)
        for session in page.sessions {
            #expect(session.record.services.map(\.bytes.count) == sizes, sourceLocation: sourceLocation)
            #expect(
                session.record.details.labels == Self.session().record.details.labels, sourceLocation: sourceLocation)
        }
        await store.close()
        #expect(try StoreCheck.run(file.path, keys: keys) { _ in }.findings == 0, sourceLocation: sourceLocation)
    }

    @Test("no file of the store has a byte of documents and labels in the clear, and all is read as it was written")
    func canaries() async throws {
        for (keys, found) in [(nil, ["sessions.db", "sessions.db-wal"]), (try Self.keys("k1"), [])] {
            let file = try SQLiteFile()
            let store = try file.store(services: Self.services, keys: keys)
            let made = Self.session()
            try await store.create(made)
            let changed = made.record.services.map {
                Samples.document($0.service, size: $0.bytes.count, revision: 2, letter: Self.canary)
            }
            try await store.commit(
                Samples.commit(
                    Samples.record(made.record.id, revision: 2, changed, details: made.record.details), over: 1))
            let loaded = try #require(try await store.load(made.record.id)).record
            #expect(loaded.services.map(\.bytes) == changed.map(\.bytes))
            #expect(loaded.details.labels == made.record.details.labels && loaded.userID == "ada")
            #expect(try Self.canaries(in: file) == Array(found.dropFirst()))
            await store.close()
            #expect(try Self.canaries(in: file) == Array(found.prefix(1)))
            #expect(try StoreStatistics(file.path).sealed == (keys == nil ? 0 : Self.sizes.count))
            try await Self.expectWhole(file, [made.record.id], keys: keys)
        }
    }

    @Test("a document of any size is read as it was written, also after it grows, shrinks, stays the same or goes")
    func sizes() async throws {
        let file = try SQLiteFile()
        let store = try file.store(keys: try Self.keys("k1"))
        let id = SessionID(random: SystemRandom())
        try await store.create(Samples.session(id))
        var revision: UInt64 = 1
        for size in [60, 512, 513, 630, 664, 4_020, 4_056, 4_057, 70_000, 600, 0, 3_000, 3_000, 60] {
            revision += 1
            let services = [
                Samples.document(0, size: size, revision: revision, letter: "a"),
                Samples.document(1, size: 2_000, revision: 2, letter: "b"),
            ]
            try await store.commit(Samples.commit(Samples.record(id, revision: revision, services), over: revision - 1))
            #expect(try await store.load(id)?.record.services.map(\.bytes) == services.map(\.bytes), "\(size)")
        }
        try await store.commit(Samples.commit(Samples.record(id, revision: revision + 1), over: revision))
        #expect(try SQLiteConnection(file.path, .read).number("SELECT count(*) FROM documents") == 0)
        await store.close()
    }

    @Test("what was moved to another session or service is damage: it is said to be, counted, and found by a check")
    func swapped() async throws {
        for place in 0..<Self.sizes.count {
            let (file, keys) = (try SQLiteFile(), try Self.keys("k1"))
            let ids = try await Self.fill(file, 2, keys: keys)
            let connection = try SQLiteConnection(file.path, .write)
            var rows = try ids.map { id in
                let select = try connection.prepare("SELECT \(SessionRow.columns) FROM sessions WHERE key = \(id.key)")
                _ = try select.step()
                return try #require(SessionRow(select))
            }
            // Of the same service in the other session; and of another service in the same one.
            let (other, own) = (rows[1].services[place].content, rows[1].services[(place + 1) % 4].content)
            rows[0].services[place].content = other
            rows[1].services[place].content = own
            let write = try connection.prepare("UPDATE sessions SET state = ?2 WHERE key = ?1")
            for row in rows {
                try write.bind(1, row.id.key)
                try write.bind(2, blob: row.state)
                try write.run()
            }
            try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            let store = try file.store(services: Self.services, keys: keys)
            for id in ids {
                let services = try #require(try await store.load(id)).record.services
                #expect(services.filter(\.isDamaged).map { Int($0.service) } == [place])
            }
            #expect(store.damage.rows == 2)
            await store.close()
            var found: [String] = []
            _ = try StoreCheck.run(file.path, keys: keys) { found.append($0) }
            #expect(found.filter { $0.contains("the document is not what was sealed for it") }.count == 2, "\(found)")
        }
    }

    @Test("labels of another session are damage as well")
    func swappedLabels() throws {
        let keys = try Self.keys("k1")
        let seals = [SessionID(high: 1, low: 1), SessionID(high: 1, low: 2)].map { SessionSeal(keys, of: $0) }
        let record = Self.session().record
        var row = SessionRow(record, usedAt: 0, epoch: 0, services: [], seal: seals[0])
        row.details.labels = .none
        let opened = ([seals[1], nil, seals[0]] as [SessionSeal?]).map { row.openLabels(with: $0) }
        #expect(opened == [false, false, true] && row.details.labels == record.details.labels)
    }

    @Test("every bit counts, and two seals of the same text are different")
    func bits() throws {
        let seal = SessionSeal(try Self.keys("k1"), of: SessionID(high: 1, low: 1))
        let text = Array("{}".utf8)
        let sealed = seal.seal(text, named: "a")
        #expect(seal.open(sealed, named: "a") == text)
        #expect(seal.seal(text, named: "a") != sealed)
        for bit in 0..<sealed.count * 8 {
            var changed = sealed
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(seal.open(changed, named: "a") == nil, "\(bit)")
        }
        for count in 0..<sealed.count { #expect(seal.open(Array(sealed.prefix(count)), named: "a") == nil) }
    }

    @Test("without its key, and with another one of its name, a database is not opened and not changed")
    func refused() async throws {
        let file = try SQLiteFile()
        _ = try await Self.fill(file, keys: try Self.keys("k1"))
        let before = try Files.read(file.path)
        let other = try #require(DocumentKeys([("k1", [UInt8](repeating: 9, count: 32))]))
        let cases: [(DocumentKeys?, StoreOpeningError.Lock)] = [
            (nil, .noKeys), (try Self.keys("n2"), .missing), (other, .other),
        ]
        for (keys, lock) in cases {
            let refusal = StoreOpeningError.locked(file.path, key: "k1", lock)
            #expect(throws: refusal) { try file.store(keys: keys) }
            #expect(refusal.description.contains(file.path) && refusal.description.contains("encryption_keys_file"))
            if let keys {
                #expect(throws: refusal) { try StoreRekey(file.path, keys: keys, tell: { _ in }) }
                #expect(throws: refusal) { try StoreCheck.run(file.path, keys: keys) { _ in } }
            }
        }
        #expect(try Files.read(file.path) == before)
    }

    @Test("keys are a list: each can be the first, and of no two the same name")
    func lists() throws {
        let key = [UInt8](repeating: 1, count: 32)
        #expect(DocumentKeys([]) == nil)
        #expect(DocumentKeys([("a", key), ("a", key)]) == nil)
        for id in ["", "a b", "ä", String(repeating: "a", count: 33)] { #expect(DocumentKeys([(id, key)]) == nil) }
        for count in [0, 31, 33] { #expect(DocumentKeys([("a", [UInt8](repeating: 1, count: count))]) == nil) }
        let keys = try #require(DocumentKeys([("a", key), ("B-1.x_", key)]))
        #expect(keys.first.id == "a" && keys["B-1.x_"] != nil && keys["c"] == nil)
        #expect("\(keys)" == "********" && Mirror(reflecting: keys).children.isEmpty)
    }

    @Test("turned on later: old documents can be read, new ones are sealed, rekey seals all and leaves nothing plain")
    func turnedOn() async throws {
        let (file, keys) = (try SQLiteFile(), try Self.keys("k1"))
        var ids = try await Self.fill(file, 40, keys: nil)
        // Some libraries of SQLite overwrite what is deleted. This leaves it in free pages everywhere.
        try SQLiteConnection(file.path, .write).execute(
            "PRAGMA secure_delete = OFF; CREATE TABLE copied AS SELECT piece FROM documents; DROP TABLE copied")
        let store = try file.store(services: Self.services, keys: keys)
        for id in ids.suffix(20) { #expect(try await store.end(id)) }
        ids.removeLast(20)
        let loaded = try #require(try await store.load(ids[0])).record
        #expect(loaded.services.map(\.bytes.count) == Self.sizes)
        let services = loaded.services.map {
            Samples.document($0.service, size: $0.bytes.count, revision: $0.service == 2 ? 2 : 1, letter: Self.canary)
        }
        try await store.commit(
            Samples.commit(Samples.record(ids[0], revision: 2, services, details: loaded.details), over: 1))
        await store.close()
        // That in the row, and the large one that has changed.
        #expect(try StoreStatistics(file.path).sealed == 2)
        try await Self.expectWhole(file, ids, keys: keys)
        #expect(try !Self.canaries(in: file).isEmpty)
        let rekey = try StoreRekey(file.path, keys: keys, batch: 7, tell: { _ in })
        #expect(rekey.sessions == 20 && rekey.documents == 20 * 4 - 2 && rekey.damaged == 0)
        #expect(try Self.canaries(in: file) == [])
        #expect(try StoreStatistics(file.path).sealed == 80)
        try await Self.expectWhole(file, ids, keys: keys)
        #expect(try StoreRekey(file.path, keys: keys, tell: { _ in }).documents == 0)
    }

    @Test("rotation: after a rekey the first key is enough, and the others open nothing")
    func rotation() async throws {
        let file = try SQLiteFile()
        let ids = try await Self.fill(file, 9, keys: try Self.keys("k1"))
        let both = try Self.keys("n2", "k1")
        try await Self.expectWhole(file, ids, keys: both)
        #expect(throws: StoreOpeningError.locked(file.path, key: "k1", .missing)) {
            try file.store(services: Self.services, keys: Self.keys("n2"))
        }
        #expect(try StoreRekey(file.path, keys: both, batch: 4, tell: { _ in }).documents == 36)
        try await Self.expectWhole(file, ids, keys: try Self.keys("n2"))
        #expect(throws: StoreOpeningError.locked(file.path, key: "n2", .missing)) {
            try file.store(services: Self.services, keys: Self.keys("k1"))
        }
    }

    @Test("a rekey that is killed anywhere leaves a whole database, and the next one finishes it")
    func killed() async throws {
        let file = try SQLiteFile()
        let ids = try await Self.fill(file, 9, keys: try Self.keys("k1"))
        let both = try Self.keys("n2", "k1")
        var images: [SQLiteFile] = []
        // As a kill behind each transaction leaves the files. SQLite sees to those within one.
        func copy() throws {
            let image = try SQLiteFile()
            for ending in ["", "-wal"] { try Files.copy(file.path + ending, to: image.path + ending) }
            images.append(image)
        }
        let whole = try StoreRekey(file.path, keys: both, batch: 2, tell: { _ in }, step: copy)
        // One for the note of the key, five slices, one for the rewritten file, one for the emptied log.
        #expect(images.count == 8 && whole.documents == 36)
        var left: [Int] = []
        for image in images {
            #expect(throws: StoreOpeningError.self) {
                try StoreRekey(image.path, keys: Self.keys("n2"), tell: { _ in })
            }
            #expect(throws: StoreOpeningError.locked(image.path, key: "n2", .missing)) {
                try StoreRekey(image.path, keys: Self.keys("k1"), tell: { _ in })
            }
            left.append(try StoreRekey(image.path, keys: both, tell: { _ in }).documents)
            try await Self.expectWhole(image, ids, keys: try Self.keys("n2"))
        }
        #expect(left == [36, 28, 20, 12, 4, 0, 0, 0])
    }

    @Test("a rekey passes over damage, and needs the file to itself and its log whole")
    func unusual() async throws {
        let (file, keys) = (try SQLiteFile(), try Self.keys("k1"))
        let ids = try await Self.fill(file, 3, keys: nil)
        let store = try file.store(services: Self.services, keys: keys)
        #expect(throws: StoreOpeningError.inUse(file.path)) { try StoreRekey(file.path, keys: keys, tell: { _ in }) }
        try await store.create(Self.session())
        let log = try Files.read(file.path + "-wal")
        await store.close()
        try SQLiteConnection(file.path, .write).execute(
            "UPDATE documents SET piece = zeroblob(600) WHERE id = (SELECT min(id) FROM documents)")
        let image = try SQLiteFile()
        try Files.copy(file.path, to: image.path)
        try Files.write(log, to: image.path + "-wal", at: 0, makes: true)
        // In the first frame: behind the last one there may be frames of an earlier round.
        try Files.flip(image.path + "-wal", at: 1_000)
        #expect {
            try StoreRekey(image.path, keys: keys, tell: { _ in })
        } throws: {
            "\($0)".contains("start the server on it once")
        }
        let rekey = try StoreRekey(file.path, keys: keys, tell: { _ in })
        #expect(rekey.damaged == 1 && rekey.sessions == 4 && rekey.documents == 11)
        let again = try file.store(services: Self.services, keys: keys)
        let whole = try await again.page(after: nil, limit: 9).sessions.count { session in
            !session.record.services.contains(where: \.isDamaged)
        }
        #expect(whole == 3)
        #expect(try await again.load(ids[1]) != nil)
        await again.close()
    }
}
