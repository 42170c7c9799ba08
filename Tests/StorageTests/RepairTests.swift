import CSQLite
import Glibc
import SeededRandomness
import Sessions
import Storage
import Testing

@testable import SQLiteStorage

@Suite("Repair of a damaged database")
struct RepairTests {
    private static let page = 4_096

    /// Copies a database, and its log if it has one.
    private static func image(of file: SQLiteFile) throws -> SQLiteFile {
        let image = try SQLiteFile()
        for ending in ["", "-wal"] where access(file.path + ending, F_OK) == 0 {
            try Files.copy(file.path + ending, to: image.path + ending)
        }
        return image
    }

    /// Tables and indexes with the numbers of their pages.
    private static func owners(_ file: SQLiteFile) throws -> [Int: (name: String, kind: String)] {
        let connection = try SQLiteConnection(file.path, .read)
        let rows = try connection.prepare("SELECT pageno, name, pagetype FROM dbstat")
        var owners: [Int: (name: String, kind: String)] = [:]
        while try rows.step() { owners[Int(rows.int64(0))] = (rows.text(1), rows.text(2)) }
        return owners
    }

    @Test(
        "with any page zeroed every whole row comes back, nothing that has ended, and what is missing is told",
        arguments: [false, true])
    func everyPage(isPlain: Bool) async throws {
        let made = try await RepairedStore(count: 100, isPlain: isPlain)
        let file = try #require(made.file)
        let (bytes, pages, owners) = (try Files.read(file.path), try file.pages, try Self.owners(file))
        let tables = try RepairedTable.all(try SQLiteConnection(file.path, .read))
        for name in ["sessions", "documents", "tasks", "sessions_by_user"] {
            #expect(owners.values.contains { $0.name == name && $0.kind == "internal" }, "\(name)")
        }
        #expect(Set(owners.values.map(\.kind)) == ["internal", "leaf", "overflow"])
        #expect(try await made.check(file, without: [], "no damage").told == [])
        for number in 1...pages {
            let image = try Self.image(of: file)
            let start = (number - 1) * Self.page
            try Files.write([UInt8](repeating: 0, count: Self.page), to: image.path, at: start)
            let owner = owners[number]
            let what = "page \(number), \(owner?.name ?? "-") \(owner?.kind ?? "-")"
            let result = try await made.check(image, without: [bytes[start..<start + Self.page]], what)
            let table = tables.first { $0.name == owner?.name }
            let hasRows = table.map { owner?.kind != "internal" || !$0.hasRowID } ?? false
            #expect(result.told.isEmpty == !hasRows, "\(what): \(result.told)")
            if !result.isWhole { #expect(!result.told.isEmpty, "\(what)") }
            if hasRows, owner?.name != "documents" {
                #expect(result.told.contains { $0.contains("page \(number)") }, "\(what): \(result.told)")
            }
            #expect(try Files.read(image.path).count == bytes.count)
        }
    }

    @Test(
        "rows that were deleted do not come back from free pages, whichever page is zeroed", arguments: [false, true])
    func deleted(isPlain: Bool) async throws {
        let file = try SQLiteFile()
        if isPlain { try SQLiteConnection(file.path, .write).execute(SQLiteFile.plainTables) }
        let store = try file.store(durability: .none)
        for number in 0..<80 {
            let id = RepairedStore.session(number).record.id
            try await store.create(Samples.session(id, [Samples.document(0, size: 300)]))
        }
        await store.close()
        let connection = try SQLiteConnection(file.path, .write)
        // Debian's SQLite would clear what it deletes.
        try connection.execute(
            """
            PRAGMA secure_delete = OFF;
            DELETE FROM sessions WHERE key <= \(RepairedStore.session(39).record.id.key);
            UPDATE facts SET value = 40 WHERE name = 'sessions';
            PRAGMA wal_checkpoint(TRUNCATE);
            """)
        try #require(try connection.freePages > 2)
        for number in 1...(try file.pages) {
            let (image, repaired) = (try Self.image(of: file), try SQLiteFile())
            try Files.write([UInt8](repeating: 0, count: Self.page), to: image.path, at: (number - 1) * Self.page)
            var told: [String] = []
            let repair = try StoreRepair(image.path, to: repaired.path) { told.append($0) }
            #expect(repair.sessions <= 40 && (repair.sessions == 40 || !told.isEmpty), "page \(number): \(told)")
            let first = try SQLiteConnection(repaired.path, .read).number("SELECT min(key) FROM sessions")
            #expect(try #require(first) > RepairedStore.session(39).record.id.key, "page \(number)")
        }
    }

    @Test("a flipped bit is set right, wherever it is")
    func everyBit() async throws {
        let made = try await RepairedStore(count: 36)
        let file = try #require(made.file)
        var random = SeededGenerator(seed: 33)
        let owners = try Self.owners(file)
        for number in 1...(try file.pages) {
            let image = try Self.image(of: file)
            let place = Int.random(in: 0..<(number.isMultiple(of: 2) ? 30 : Self.page), using: &random)
            try Files.flip(
                image.path, at: (number - 1) * Self.page + place, bit: 1 << UInt8.random(in: 0..<8, using: &random))
            let result = try await made.check(image, without: [], "page \(number), byte \(place)")
            #expect(result.told == [] && result.isWhole, "page \(number), byte \(place)")
            if let owner = owners[number], !owner.name.contains("_") {
                #expect(result.corrected == 1, "page \(number), \(owner), byte \(place)")
            }
        }
    }

    @Test("with a sector of noise in any page other pages come back whole")
    func everySector() async throws {
        let made = try await RepairedStore(count: 36)
        let file = try #require(made.file)
        let bytes = try Files.read(file.path)
        var random = SeededGenerator(seed: 7)
        for number in 1...(try file.pages) {
            let image = try Self.image(of: file)
            let start = (number - 1) * Self.page
            let noise = (0..<512).map { _ in UInt8.random(in: 0...255, using: &random) }
            try Files.write(noise, to: image.path, at: start + Int.random(in: 0..<8, using: &random) * 512)
            let result = try await made.check(image, without: [bytes[start..<start + Self.page]], "page \(number)")
            if !result.isWhole { #expect(!result.told.isEmpty, "page \(number)") }
        }
    }

    @Test("inner pages of three levels: nothing is missing")
    func threeLevels() async throws {
        let file = try SQLiteFile()
        var store = try file.store(services: RepairedStore.services, durability: .none)
        let sessions = (0..<2_400).map { number in
            let session = RepairedStore.session(number * 10)
            return Samples.session(
                session.record.id,
                [Samples.document(0, size: 500, letter: "x"), Samples.document(1, size: 500, letter: "y")])
        }
        await withTaskGroup(of: Void.self) { [store] group in
            for session in sessions { group.addTask { try? await store.create(session) } }
        }
        await store.close()
        let inner = try Self.owners(file).filter { $0.value.name == "sessions" && $0.value.kind == "internal" }
        try #require(inner.count > 2)
        for number in inner.keys {
            let (image, repaired) = (try Self.image(of: file), try SQLiteFile())
            try Files.write([UInt8](repeating: 0, count: Self.page), to: image.path, at: (number - 1) * Self.page)
            let repair = try StoreRepair(image.path, to: repaired.path) { Issue.record("\($0)") }
            #expect(repair.sessions == 2_400 && repair.missing == 0)
            store = try repaired.store(services: RepairedStore.services)
            #expect(store.sessionCount == 2_400)
            await store.close()
            #expect(try StoreCheck.run(repaired.path) { Issue.record("\($0)") }.findings == 0)
        }
    }

    @Test("the log of a killed store is read; damage in it is told, and what was committed before is there")
    func log() async throws {
        var image: SQLiteFile?
        let made = try await RepairedStore(count: 40, durability: .commit) { store in
            image = try Self.image(of: try #require(store.file))
        }
        let killed = try #require(image)
        let size = StoreFile.size(of: killed.path + "-wal")
        #expect(size > 200_000)
        #expect(try await made.check(killed, without: [], "killed").told == [])
        // Pages of the database that the log replaces.
        for number in 1...3 {
            let zeroed = try Self.image(of: killed)
            try Files.write([UInt8](repeating: 0, count: Self.page), to: zeroed.path, at: (number - 1) * Self.page)
            #expect(try await made.check(zeroed, without: [], "page \(number) beside a log").told == [])
        }
        let frames = (size - 32) / 4_120
        for frame in [frames / 4, frames / 2, frames - 6] {
            let (damaged, repaired) = (try Self.image(of: killed), try SQLiteFile())
            try Files.flip(damaged.path + "-wal", at: 32 + frame * 4_120 + 2_000)
            var told: [String] = []
            let repair = try StoreRepair(damaged.path, to: repaired.path) { told.append($0) }
            #expect(told.count == 1 && told.allSatisfy { $0.contains("damaged at frame \(frame):") }, "\(told)")
            #expect(repair.sessions > 0)
            #expect(try StoreCheck.run(repaired.path) { Issue.record("\($0)") }.findings == 0)
            let store = try repaired.store(services: RepairedStore.services)
            let ids = Set((0..<40).map { RepairedStore.session($0).record.id })
            for session in try await store.page(after: nil, limit: 100).sessions {
                #expect(ids.contains(session.record.id))
            }
            await store.close()
        }
    }

    @Test("a log that is missing or cut is told, and a log of another database is refused")
    func otherLog() async throws {
        var image: SQLiteFile?
        _ = try await RepairedStore(count: 10, durability: .commit) { store in
            image = try Self.image(of: try #require(store.file))
        }
        let killed = try #require(image)
        for isCut in [false, true] {
            let (damaged, repaired) = (try Self.image(of: killed), try SQLiteFile())
            #expect(truncate(damaged.path + "-wal", isCut ? 32 + 4_120 * 8 : 0) == 0)
            var told: [String] = []
            _ = try StoreRepair(damaged.path, to: repaired.path) { told.append($0) }
            #expect(told.contains { $0.contains(isCut ? "was cut" : "is missing or empty") }, "\(told)")
            let store = try repaired.store(services: RepairedStore.services)
            await store.close()
        }
        let (mixed, repaired, other) = (try Self.image(of: killed), try SQLiteFile(), try SQLiteFile())
        let store = try other.store()
        try await store.create(Samples.session())
        try Files.copy(other.path + "-wal", to: mixed.path + "-wal")
        await store.close()
        #expect(throws: StoreOpeningError.foreignLog(mixed.path)) {
            try StoreRepair(mixed.path, to: repaired.path) { _ in }
        }
    }

    @Test("an encrypted store needs no keys for a repair, and its keys afterwards")
    func encrypted() async throws {
        let keys = try EncryptionTests.keys("k1", "k2")
        let made = try await RepairedStore(count: 30, keys: keys)
        let file = try #require(made.file)
        let facts = try #require(try Self.owners(file).first { $0.value.name == "facts" }).key
        for (isZeroed, given) in [(false, nil), (true, keys), (true, nil)] {
            let (image, repaired) = (try Self.image(of: file), try SQLiteFile())
            if isZeroed {
                try Files.write([UInt8](repeating: 0, count: Self.page), to: image.path, at: (facts - 1) * Self.page)
            }
            var told: [String] = []
            let repair = try StoreRepair(image.path, to: repaired.path, keys: given) { told.append($0) }
            #expect(repair.sessions == made.sessions.count)
            #expect(told.count == (isZeroed ? given == nil ? 2 : 1 : 0), "\(told)")
            if !isZeroed || given != nil {
                #expect(throws: StoreOpeningError.locked(repaired.path, key: "k1", .noKeys)) { try repaired.store() }
            }
            let store = try repaired.store(services: RepairedStore.services, keys: keys)
            for session in made.sessions {
                let found = try #require(try await store.load(session.record.id))
                #expect(found.record.services.map(\.bytes) == session.record.services.map(\.bytes))
            }
            await store.close()
        }
    }

    @Test(
        "without the numbers of the store revisions continue above all that can be read, and uses count as late as they may be"
    )
    func numbers() async throws {
        let (file, repaired, id) = (try SQLiteFile(), try SQLiteFile(), SessionID(random: SystemRandom()))
        var store = try file.store()
        try await store.create(Samples.session(id, revision: 77))
        await store.close()
        let facts = try #require(try Self.owners(file).first { $0.value.name == "facts" }).key
        try Files.write([UInt8](repeating: 0, count: Self.page), to: file.path, at: (facts - 1) * Self.page)
        _ = try StoreRepair(file.path, to: repaired.path) { _ in }
        store = try repaired.store()
        let session = try #require(try await store.load(id))
        #expect(session.record.highestRevision > 77 + (2 << 20))
        #expect(session.lastUsedAt == 11 + 3_605_000)
        #expect(store.documentBytes?.stored == 0)
        await store.close()
    }

    @Test("whatever is written over a file, a repair ends, and says that something is missing")
    func noise() async throws {
        let made = try await RepairedStore(count: 40)
        let file = try #require(made.file)
        let size = StoreFile.size(of: file.path)
        var random = SeededGenerator(seed: 1)
        for round in 0..<60 {
            let (image, repaired) = (try Self.image(of: file), try SQLiteFile())
            for _ in 0..<(1 << (round % 8)) {
                let place = Int.random(in: 0..<size - 16, using: &random)
                let count = Int.random(in: 1...16, using: &random)
                // Numbers that lead elsewhere are worse than noise.
                let bytes = (0..<count).map { _ in
                    round.isMultiple(of: 2)
                        ? UInt8.random(in: 0...255, using: &random)
                        : [0, 0, 1, 2, 255][Int.random(in: 0..<5, using: &random)]
                }
                try Files.write(bytes, to: image.path, at: place)
            }
            var told = 0
            do {
                let repair = try StoreRepair(image.path, to: repaired.path) { _ in told += 1 }
                #expect(repair.missing == told && repair.sessions <= made.sessions.count)
                if repair.sessions < made.sessions.count { #expect(told > 0, "round \(round)") }
            } catch {
                #expect(error is StoreOpeningError, "round \(round): \(error)")
            }
        }
    }

    @Test("a document that lacks a piece keeps its ids: a new document does not go with it")
    func ids() async throws {
        let (file, repaired) = (try SQLiteFile(), try SQLiteFile())
        let (first, second) = (SessionID(random: SystemRandom()), SessionID(random: SystemRandom()))
        var store = try file.store()
        try await store.create(Samples.session(first, [Samples.document(0, size: 9_000, letter: "a")]))
        await store.close()
        let leaf = try #require(try Self.owners(file).first { $0.value.name == "documents" && $0.value.kind == "leaf" })
            .key
        try Files.write([UInt8](repeating: 0, count: Self.page), to: file.path, at: (leaf - 1) * Self.page)
        var told: [String] = []
        _ = try StoreRepair(file.path, to: repaired.path) { told.append($0) }
        #expect(told == ["\(first), service profile: the document cannot be read"])
        store = try repaired.store()
        try await store.create(Samples.session(second, [Samples.document(0, size: 9_000, letter: "b")]))
        #expect(try await store.end(first))
        #expect(try await store.load(second)?.record.services.first?.bytes.count == 9_000)
        await store.close()
    }

    @Test(
        "a store in use, another program's database and the store itself are refused, and the damaged file is not written"
    )
    func refusals() async throws {
        let (file, target) = (try SQLiteFile(), try SQLiteFile())
        let store = try file.store()
        try await store.create(Samples.session())
        #expect(throws: StoreOpeningError.inUse(file.path)) { try StoreRepair(file.path, to: target.path) { _ in } }
        await store.close()
        #expect(throws: StoreDraftError.itself(file.path)) { try StoreRepair(file.path, to: file.path) { _ in } }
        let (before, names) = (try Files.read(file.path), Files.names(in: file.folder))
        #expect(chmod(file.path, 0o400) == 0)
        #expect(try StoreRepair(file.path, to: target.path) { Issue.record("\($0)") }.sessions == 1)
        #expect(try Files.read(file.path) == before && Files.names(in: file.folder) == names)
        #expect(throws: StoreDraftError.exists(target.path)) { try StoreRepair(file.path, to: target.path) { _ in } }
        #expect(try StoreRepair(file.path, to: target.path, replaces: true) { _ in }.sessions == 1)
        let foreign = try SQLiteFile()
        try SQLiteConnection(foreign.path, .write).execute("CREATE TABLE theirs (x)")
        #expect(throws: StoreOpeningError.foreign(foreign.path)) {
            try StoreRepair(foreign.path, to: target.path) { _ in }
        }
        let older = try SQLiteFile()
        try SQLiteConnection(older.path, .write).execute("\(SQLiteFile.plainTables) PRAGMA user_version = 3")
        let known = Int(SQLiteSchema.version)
        #expect(throws: StoreOpeningError.otherVersion(older.path, version: 3, known: known, isUpgraded: false)) {
            try StoreRepair(older.path, to: target.path) { _ in }
        }
        let noise = try SQLiteFile()
        try Files.write([UInt8](repeating: 9, count: 20_000), to: noise.path, at: 0, makes: true)
        #expect(throws: StoreOpeningError.self) {
            try StoreRepair(noise.path, to: target.path, replaces: true) { _ in }
        }
    }
}
