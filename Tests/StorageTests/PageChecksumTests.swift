import CSQLite
import Glibc
import Sessions
import Testing

@testable import SQLiteStorage

@Suite("Page checksums")
struct PageChecksumTests {
    private static func fill(_ file: SQLiteFile, _ count: Int, document: Int = 400) async throws -> [SessionID] {
        let store = try file.store()
        let ids = (0..<count).map { _ in SessionID(random: SystemRandom()) }
        for id in ids {
            let documents = [0, 1].map { Samples.document($0, size: document) }
            try await store.create(Samples.session(id, documents))
        }
        await store.close()
        return ids
    }

    @Test("check finds a flipped bit anywhere in any page, and names the page")
    func everyPage() async throws {
        let file = try SQLiteFile()
        _ = try await Self.fill(file, 60)
        let pages = try file.pages
        #expect(pages > 15)
        var clean: [String] = []
        _ = try StoreCheck.run(file.path) { clean.append($0) }
        #expect(clean == [])
        for page in 2...pages {
            // Varies the place: header, cells, the room between them, and the checksum itself.
            let place = (page - 1) * 4_096 + (page * 1_237) % 4_096
            let right = try Files.read(file.path, at: place, count: 1)
            try Files.write([right[0] ^ UInt8(1 << (page % 8))], to: file.path, at: place)
            var found: [String] = []
            _ = try StoreCheck.run(file.path) { found.append($0) }
            let isTold = found.contains("page \(page): it does not match its checksum")
            // SQLite does not follow every reference of a damaged page to other pages.
            #expect(isTold || found.contains { $0.hasPrefix("pages: ") }, "page \(page): \(found)")
            try Files.write(right, to: file.path, at: place)
        }
    }

    @Test("a page of an unknown kind refuses writes to its own sessions only")
    func brokenPage() async throws {
        let file = try SQLiteFile()
        let ids = try await Self.fill(file, 60)
        let places = try stride(from: 4_096, to: file.pages * 4_096, by: 4_096)
        let leaf = try #require(try places.reversed().first { try Files.read(file.path, at: $0, count: 1) == [13] })
        // Not a kind of page.
        try Files.write([0xFF], to: file.path, at: leaf)
        let store = try file.store()
        let refused = try await withThrowingTaskGroup(of: Bool.self) { group in
            for id in ids {
                let record = Samples.record(id, revision: 2, [Samples.document(size: 2, revision: 2)])
                group.addTask {
                    do {
                        try await store.commit(Samples.commit(record, over: 1))
                        return false
                    } catch StoreError.damaged {
                        return true
                    }
                }
            }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        // A page has room for four of these rows.
        #expect((1...10).contains(refused), "\(refused)")
        await store.close()
    }

    @Test("a page with a damaged row count is counted and reported once, however often its rows are read")
    func hiddenRows() async throws {
        let file = try SQLiteFile()
        let ids = try await Self.fill(file, 60)
        // Leaves of tables have kind 13, and the number of their cells in bytes 3 and 4.
        var damaged = 0
        for place in try stride(from: 4_096, to: file.pages * 4_096, by: 4_096) {
            let head = try Files.read(file.path, at: place, count: 5)
            guard head[0] == 13, head[4] > 1 else { continue }
            try Files.write([head[3], head[4] - 1], to: file.path, at: place + 3)
            damaged += 1
        }
        #expect(damaged > 5)
        let reports = Reports()
        let store = try file.store(report: reports.add)
        var missing = 0
        for _ in 0..<3 {
            for id in ids {
                do {
                    // Hidden is not absent.
                    _ = try #require(try await store.load(id))
                } catch StoreError.damaged {
                    missing += 1
                }
            }
        }
        #expect(missing > 0)
        #expect(store.damage.pages > 3 && store.damage.pages <= damaged)
        let lines = reports.all.filter { $0.contains("does not match its checksum; rows on it") }
        #expect(lines.count == store.damage.pages)
        await store.close()
    }

    @Test("check finds a page in another page's place, and a page that is cut")
    func misplaced() async throws {
        let file = try SQLiteFile()
        _ = try await Self.fill(file, 60)
        let size = try file.pages * 4_096
        var leaves: [Int] = []
        for place in stride(from: 4_096, to: size, by: 4_096)
        where try Files.read(file.path, at: place, count: 1) == [13] { leaves.append(place) }
        try #require(leaves.count > 2)
        let page = try Files.read(file.path, at: leaves[0], count: 4_096)
        try Files.write(page, to: file.path, at: leaves[1])
        try #require(truncate(file.path, size - 1_000) == 0)
        var found: [String] = []
        _ = try StoreCheck.run(file.path) { found.append($0) }
        for page in [leaves[1] / 4_096 + 1, size / 4_096] {
            #expect(found.contains("page \(page): it does not match its checksum"), "\(page): \(found)")
        }
    }

    @Test("every page of a backup has a checksum, also a page that was only in the log")
    func backup() async throws {
        let file = try SQLiteFile()
        // More than a connection caches, so that the copy's first page is not the first that is written.
        _ = try await Self.fill(file, 250, document: 6_000)
        let store = try file.store()
        // Changes pages that were read from the file with their old checksums.
        for session in try await store.page(after: nil, limit: 100).sessions {
            #expect(try await store.end(session.record.id))
        }
        let target = file.folder + "/copy"
        defer { for ending in ["", "-wal", "-shm"] { unlink(target + ending) } }
        _ = try StoreBackup(of: file.path, to: target, replaces: false)
        var found: [String] = []
        let check = try StoreCheck.run(target) { found.append($0) }
        #expect(found == [] && check.sessions == 150)
        #expect(try StoreStatistics(target).hasPageChecksums)
        await store.close()
    }

    @Test("pages that another program has made are read without checksums, and get them when the store writes them")
    func others() async throws {
        let file = try SQLiteFile()
        var handle: OpaquePointer?
        #expect(sqlite3_open_v2(file.path, &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, "unix") == SQLITE_OK)
        #expect(sqlite3_exec(handle, SQLiteFile.plainTables, nil, nil, nil) == SQLITE_OK)
        sqlite3_close_v2(handle)
        #expect(try !StoreStatistics(file.path).hasPageChecksums)
        let ids = try await Self.fill(file, 60)
        #expect(try !StoreStatistics(file.path).hasPageChecksums)
        #expect(try StoreVacuum(file.path).isRewritten)
        #expect(try StoreStatistics(file.path).hasPageChecksums)
        var found: [String] = []
        #expect(try StoreCheck.run(file.path) { found.append($0) }.sessions == ids.count)
        #expect(found == [])
        try Files.write([255, 255], to: file.path, at: try file.pages * 4_096 - 300)
        _ = try StoreCheck.run(file.path) { found.append($0) }
        #expect(found.contains { $0.hasSuffix("does not match its checksum") }, "\(found)")
    }
}
