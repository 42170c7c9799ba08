import Glibc
import Sessions
import Storage
import Support
import Testing

/// Files that end too early or have a bit that is wrong. The store opens them, or says in a sentence why not; what it
/// shows is right.
@Suite("Damaged files")
struct DamageTests {
    private static let tail = 64 << 10

    enum Harm: String, CaseIterable, Sendable { case cut, flip }

    /// What was found in damaged files.
    private struct Found {
        var sessions: [SessionID: StoredSession] = [:]
        var damagedRows = 0
        var damagedPages = 0
        /// Why it was not opened or read, in the store's own words.
        var refusal: String?
    }

    @Test(
        "a log that is cut or has a bit flipped: a beginning of the commits is there, each of them whole",
        arguments: Harm.allCases)
    func log(_ harm: Harm) async throws {
        let files = try await StoredFiles.make(sessions: 12, commits: 60, inLog: 40)
        #expect(files.log.count > Self.tail)
        var places = Places(in: files.log.count, tail: Self.tail)
        while let place = places.next() {
            var damaged = files
            Self.damage(&damaged.log, at: place, harm)
            let found = try await Self.read(damaged)
            guard found.refusal == nil else {
                Issue.record("\(harm) at \(place), seed \(files.seed): \(found.refusal ?? "")")
                continue
            }
            #expect(found.damagedRows == 0)
            let last = found.sessions.values.map(Self.number).max() ?? 0
            var expected: [SessionID: Int] = [:]
            for commit in files.commits where commit.number <= last { expected[commit.session] = commit.number }
            #expect(found.sessions.mapValues(Self.number) == expected, "\(harm) at \(place), seed \(files.seed)")
            for session in found.sessions.values {
                #expect(Self.isWhole(session), "\(harm) at \(place), seed \(files.seed)")
            }
        }
        places.report("log, \(harm)")
    }

    @Test(
        "a database that is cut or has a bit flipped shows nothing wrong, and says when something is missing",
        arguments: Harm.allCases)
    func database(_ harm: Harm) async throws {
        let files = try await StoredFiles.make(sessions: 60, commits: 120, inLog: 0)
        #expect(files.database.count > Self.tail)
        var latest: [SessionID: Int] = [:]
        for commit in files.commits { latest[commit.session] = commit.number }
        var (untold, harmful) = (0, 0)
        var places = Places(in: files.database.count, tail: Self.tail)
        while let place = places.next() {
            var damaged = files
            Self.damage(&damaged.database, at: place, harm)
            let found = try await Self.read(damaged)
            for session in found.sessions.values {
                let right = latest[session.record.id].map(StoredFiles.document)
                #expect(
                    session.record.services.allSatisfy { $0.bytes == right },
                    "\(harm) at \(place), seed \(files.seed): \(session.record.id)")
            }
            if found.damagedRows > 0 || found.damagedPages > 0 || found.refusal != nil { harmful += 1 }
            let isComplete = found.sessions.count == latest.count && found.sessions.values.allSatisfy(Self.isWhole)
            // A bit in a row's key takes the row to another place, where nobody looks for it, one in a page's count of rows
            // hides some, and so do the zeros that SQLite reads behind the end of a cut page: only the page's checksum
            // tells.
            if !isComplete, found.damagedRows == 0, found.refusal == nil {
                untold += 1
                #expect(found.damagedPages > 0, "\(harm) at \(place), seed \(files.seed)")
            }
        }
        // Or the places were where nothing is.
        #expect(harmful * 2 > places.count, "seed \(files.seed)")
        places.report("database, \(harm), \(untold) of them told by a page's checksum alone")
    }

    private static func damage(_ bytes: inout [UInt8], at place: Int, _ harm: Harm) {
        switch harm {
        case .cut: bytes.removeSubrange(place...)
        case .flip: bytes[place] ^= 1 << (place % 8)
        }
    }

    /// No disk, which makes thousands of files wait for their syncs.
    private static let memory = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"

    private static func read(_ files: StoredFiles) async throws -> Found {
        try await withFolder([:], in: memory) { _, folder in
            let path = "\(folder)/sessions.db"
            try FileBytes.write(files.database, to: path)
            if !files.log.isEmpty { try FileBytes.write(files.log, to: path + "-wal") }
            var found = Found()
            let store: SQLiteStore
            do {
                store = try StoredFiles.open(path)
            } catch let error as StoreOpeningError {
                found.refusal = "\(error)"
                #expect(error.description.hasSuffix("."))
                return found
            }
            do throws(StoreError) {
                for session in try await store.page(after: nil, limit: 1_000).sessions {
                    found.sessions[session.record.id] = session
                }
            } catch {
                found.refusal = "\(error)"
                // One by one there is more to be had.
                for id in Set(files.commits.map(\.session)) {
                    if let session = try? await store.load(id) { found.sessions[id] = session }
                }
            }
            found.damagedRows = store.damage.rows
            found.damagedPages = store.damage.pages
            await store.close()
            return found
        }
    }

    /// The number that both services have; 0 when they differ, or one is missing.
    private static func number(_ session: StoredSession) -> Int {
        let numbers = session.record.services.map { Self.numbers[$0.bytes] ?? 0 }
        return Set(numbers).count == 1 ? numbers[0] : 0
    }

    private static let numbers = Dictionary(
        uniqueKeysWithValues: (1...1_000).map { (StoredFiles.document($0), $0) })

    private static func isWhole(_ session: StoredSession) -> Bool {
        let services = session.record.services
        return services.count == 2 && services[0].bytes == services[1].bytes
            && services.allSatisfy { $0.revision == session.record.revision }
    }
}
