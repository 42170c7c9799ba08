import Glibc

@testable import JSONDocument
@testable import SQLiteStorage
@testable import Sessions

enum FuzzedStore {
    /// An archive. Each line gets a right checksum, so that what is behind it is tried as well.
    static func importArchive(_ bytes: [UInt8]) {
        let lines = bytes.split(separator: 10, omittingEmptySubsequences: false).prefix(20).map { sealed(Array($0)) }
        let archive = Array(lines.joined(separator: [10]))
        let report = waiting { await imported(archive) }
        precondition(report.imported + report.skipped + report.refused <= lines.count, "a session too many")
    }

    private static func imported(_ archive: [UInt8]) async -> ImportReport {
        let sessions = Sessions(
            catalog: Shipped.services, store: MemoryStore(), journeys: JourneySettings(engine: Shipped.engine))
        var work = SessionImport(into: sessions)
        do {
            try await work.take(archive)
        } catch {}
        await exportAgain(sessions)
        return work.report
    }

    /// What was taken in can be given out and taken in again.
    private static func exportAgain(_ sessions: Sessions) async {
        let export = SessionExport(of: sessions, program: "fuzz", after: nil)
        var work = SessionImport(into: sessions, conflict: .replace)
        do {
            var archive: [UInt8] = []
            while let piece = try await export.next() { archive += piece }
            try await work.take(archive)
        } catch {
            fatalError("an export is not taken in: \(error)")
        }
        precondition(work.report.refused == 0, "an export is refused: \(work.report)")
    }

    private static func sealed(_ line: [UInt8]) -> [UInt8] {
        guard let members = (try? JSONDocument(parsing: line))?.members else { return line }
        var json = JSONWriter()
        json.beginObject()
        for member in members where member.name != "sum" {
            json.name(member.name)
            json.document(member.value)
        }
        return ArchiveLine.seal(json).dropLast()
    }

    /// Runs asynchronous work to its end on this thread's time.
    private static func waiting<Result: Sendable>(_ work: @escaping @Sendable () async -> Result) -> Result {
        let outcome = Outcome<Result>()
        Task {
            outcome.value = await work()
            sem_post(outcome.semaphore)
        }
        while sem_wait(outcome.semaphore) != 0 {}
        guard let value = outcome.value else { fatalError("no outcome") }
        return value
    }

    /// `@unchecked Sendable`: the semaphore orders writing before reading.
    private final class Outcome<Value>: @unchecked Sendable {
        var value: Value?
        let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
        init() { sem_init(semaphore, 0, 0) }
        deinit {
            sem_destroy(semaphore)
            semaphore.deallocate()
        }
    }

    private nonisolated(unsafe) static let statement: SQLiteStatement = {
        do {
            return try SQLiteConnection(":memory:", .write).prepare("SELECT 1, 2, 3, 4, ?1, ?2")
        } catch {
            fatalError("\(error)")
        }
    }()

    /// The bytes of a session's row in the store, with a right checksum.
    static func readRow(_ bytes: [UInt8]) {
        do {
            defer { statement.reset() }
            let user = bytes.first == 1 ? nil : "user"
            var state = bytes
            withUnsafeBytes(of: SessionRow.checksum(of: bytes, userID: user).littleEndian) { state += $0 }
            try statement.bind(1, user)
            try statement.bind(2, blob: state)
            guard try statement.step(), let row = SessionRow(statement) else { return }
            // Numbers may have been written in more bytes than they need.
            let text = row.state
            try statement.reset(binding: text)
            guard try statement.step(), let again = SessionRow(statement) else { fatalError("a row is written wrong") }
            precondition(again.state == text, "a row is written as another")
        } catch {
            fatalError("\(error)")
        }
    }
}

extension SQLiteStatement {
    fileprivate func reset(binding state: [UInt8]) throws(SQLiteError) {
        reset()
        try bind(2, blob: state)
    }
}

extension SessionRow {
    fileprivate static func checksum(of state: [UInt8], userID: String?) -> UInt32 {
        state.withUnsafeBytes { checksum($0, key: 1, revision: 2, expiresAt: 4, userID) }
    }
}
