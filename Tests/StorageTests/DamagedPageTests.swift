import CSQLite
import Testing

@testable import SQLiteStorage
@testable import Sessions

/// Whatever page is damaged, and however: sessions that are shown are as they were written, missing ones are reported,
/// and every call returns.
@Suite("Damage to any page")
struct DamagedPageTests {
    private static let count = 150

    private static func session(_ number: Int) -> StoredSession {
        let id = SessionID(high: UInt64(1_700_000_000_000 + number) << 16, low: UInt64(number) &* 0x9E37_79B9_7F4A_7C15)
        let large = number.isMultiple(of: 2) ? number % 3 * 2_500 + 600 : 90
        let services = [
            Samples.document(0, size: 80 + number % 50, revision: 2, letter: "a"),
            Samples.document(1, size: large, revision: 2, letter: "b"),
        ]
        let details = SessionDetails(userID: number.isMultiple(of: 10) ? "ada" : nil)
        return Samples.session(id, revision: UInt64(2 + number % 5), services, details: details)
    }

    private static func isSound(_ found: StoredSession, _ model: [SessionID: StoredSession]) -> Bool {
        guard let written = model[found.record.id] else { return false }
        return found.record.revision == written.record.revision && found.record.userID == written.record.userID
            && found.record.services.allSatisfy { service in
                service.isDamaged || written.record.document(of: service.service)?.bytes == service.bytes
            }
    }

    @Test("each session is right, or missing and reported; pages of sessions end; writes to other sessions go on")
    func everyPage() async throws {
        let file = try SQLiteFile()
        let sessions = (0..<Self.count).map(Self.session)
        let model = Dictionary(uniqueKeysWithValues: sessions.map { ($0.record.id, $0) })
        let made = try file.store()
        for session in sessions { try await made.create(session) }
        // Makes free pages among the others.
        for session in sessions.suffix(20) { #expect(try await made.end(session.record.id)) }
        await made.close()
        let there = sessions.dropLast(20)
        let pages = try file.pages
        try #require(pages > 60)
        for page in 1...pages {
            let image = try SQLiteFile()
            try Files.copy(file.path, to: image.path)
            let start = (page - 1) * 4_096
            switch page % 4 {
            case 0:
                // Exchanges the page with its neighbour.
                let bytes = try Files.read(image.path)
                let other = (page == pages ? page - 2 : page) * 4_096
                guard page > 1, other > 0 else { continue }
                try Files.write(Array(bytes[other..<other + 4_096]), to: image.path, at: start)
                try Files.write(Array(bytes[start..<start + 4_096]), to: image.path, at: other)
            case 1 where page > 1: try Files.write([UInt8](repeating: 0, count: 4_096), to: image.path, at: start)
            case 2: try Files.flip(image.path, at: start + 4, bit: 2)  // its number of cells
            default: try Files.flip(image.path, at: start + (page == 1 ? 200 : page * 1_237 % 4_092), bit: 16)
            }
            try await Self.check(image, there, model, page)
        }
    }

    private static func check(
        _ image: SQLiteFile, _ sessions: ArraySlice<StoredSession>, _ model: [SessionID: StoredSession], _ page: Int
    ) async throws {
        let reports = Reports()
        let store: SQLiteStore
        do {
            store = try image.store(report: reports.add)
        } catch {
            // A page that describes the tables: the start reports it.
            let isSaid = "\(error)".contains("cannot be used") || "\(error)".contains("another program")
            #expect(isSaid, "page \(page): \(error)")
            return
        }
        var missing = 0
        for session in sessions {
            do {
                let found = try #require(try await store.load(session.record.id), "absent, page \(page)")
                #expect(Self.isSound(found, model), "page \(page)")
                if found.record.services.contains(where: \.isDamaged) { missing += 1 }
            } catch StoreError.damaged {
                missing += 1
            }
        }
        // Reads all pages of sessions, each session at most once.
        var (last, seen, skipped, rounds) = (SessionID?.none, Set<SessionID>(), 0, 0)
        repeat {
            let part = try await store.page(after: last, limit: 50)
            for session in part.sessions {
                #expect(Self.isSound(session, model), "page \(page)")
                #expect(seen.insert(session.record.id).inserted, "page \(page)")
            }
            skipped += part.skipped
            last = part.next
            rounds += 1
        } while last != nil && rounds < 1_000
        #expect(rounds < 1_000, "page \(page) has no end")
        if missing > 0 || seen.count < sessions.count {
            #expect(store.damage.pages + store.damage.rows > 0, "page \(page): \(missing) missing without a word")
        }
        _ = try await store.sessions(ofUser: "ada")
        // Expiry looks at all sessions, and other sessions are written to.
        let query = ExpiryQuery(now: 1_000, idleTimeout: 60_000, retention: 0, limit: 100) { _ in false }
        for _ in 0..<8 { _ = try? await store.endExpired(query) }
        var refused = 0
        for session in sessions.prefix(60) {
            let record = SessionRecord(
                id: session.record.id, token: session.record.token, createdAt: 10, expiresAt: 100_000,
                revision: session.record.revision + 1, services: session.record.services,
                details: session.record.details)
            do {
                try await store.commit(Samples.commit(record, over: session.record.revision))
                #expect(try await store.load(session.record.id)?.record.revision == record.revision, "page \(page)")
            } catch { refused += 1 }
        }
        // A leaf has some ten sessions, its parent all that follow.
        // Of an inner page it shows what it can, and writes nothing below.
        if missing < 30, store.trouble == nil { #expect(refused < 50, "page \(page)") }
        await store.close()
    }
}
