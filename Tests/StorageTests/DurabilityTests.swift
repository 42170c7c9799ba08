import CSQLite
import Glibc
import Sessions
import Storage
import Testing

@testable import SQLiteStorage

@Suite("Responding before the sync")
struct DurabilityTests {
    static let policies: [Durability] = [.commit, .interval(.milliseconds(20)), .none]

    private static func session(document: Int = 2) -> StoredSession {
        let text = [UInt8](repeating: UInt8(ascii: " "), count: document)
        let service = ServiceDocument(
            service: 0, birth: 0, revision: 1, createdAt: 1, updatedAt: 1, bytes: text)
        let record = SessionRecord(
            id: SessionID(random: SystemRandom()), token: TokenDigest(words: (1, 2, 3, 4)), createdAt: 1,
            expiresAt: 2, revision: 1, services: [service], details: .none)
        return StoredSession(record: record, lastUsedAt: 1)
    }

    @Test("after closing every acknowledged write is in the database file", arguments: policies)
    func closing(policy: Durability) async throws {
        let file = try SQLiteFile()
        let sessions = (0..<20).map { _ in Self.session() }
        let store = try file.store(durability: policy)
        for session in sessions { try await store.create(session) }
        await store.close()
        #expect(Self.size(of: file.path + "-wal") == 0)
        let next = try file.store()
        #expect(next.sessionCount == 20)
        for session in sessions { #expect(try await next.load(session.record.id) != nil) }
        await next.close()
    }

    @Test("a long log is copied to the database and restarts", arguments: policies)
    func checkpoints(policy: Durability) async throws {
        let file = try SQLiteFile()
        let store = try file.store(durability: policy)
        for _ in 0..<40 { try await store.create(Self.session(document: 1_000_000)) }
        // A little more than the length of a checkpoint. The writes were 40 MB.
        #expect(Self.size(of: file.path + "-wal") < 25_000_000)
        await store.close()
    }

    @Test(
        "after an error the file is opened anew within the interval, even without a call",
        .timeLimit(.minutes(1)))
    func mending() async throws {
        let file = try SQLiteFile()
        let (openings, opened) = AsyncStream.makeStream(of: Void.self)
        let (reports, reported) = AsyncStream.makeStream(of: String.self)
        let commits = try file.writer(
            durability: .interval(.milliseconds(20)), report: { reported.yield($0) }, opened: { opened.yield() })
        var opening = openings.makeAsyncIterator()
        _ = await opening.next()
        // With nothing to sync no other event would reopen the file.
        let failed: Result<Void, StoreError> = await withCheckedContinuation { continuation in
            commits.append(
                Write { _ throws(SQLiteError) in
                    throw SQLiteError(code: SQLITE_IOERR, doing: "writing")
                } then: {
                    continuation.resume(returning: $0)
                })
        }
        #expect(throws: StoreError.self) { try failed.get() }
        _ = await opening.next()
        var report = reports.makeAsyncIterator()
        #expect(await report.next()?.contains("writing") == true)
        commits.close()
        await commits.waitForEnd()
    }

    @Test("a queue waits until the given time, and not longer")
    func timeToTake() {
        let queue = WorkQueue<Int>()
        let end = SuspendingClock.now + .milliseconds(30)
        #expect(queue.take(atMost: 1, before: end) == nil)
        #expect(SuspendingClock.now >= end)
        #expect(queue.append(1))
        #expect(queue.take(atMost: 1, before: end) == [1])
        queue.close()
        #expect(queue.take(atMost: 1, before: .now + .seconds(60)) == [])
    }

    private static func size(of path: String) -> Int {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : 0
    }
}
