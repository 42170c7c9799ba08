import Glibc
import Sessions
import Testing

@testable import Storage

/// What tests of the log of recent writes have in common.
enum RecentWrites {
    static func document(_ service: UInt16, _ revision: UInt64, _ text: String = "") -> ServiceDocument {
        ServiceDocument(
            service: service, birth: UInt64(service), revision: revision, createdAt: 12, updatedAt: 13,
            bytes: Array((text.isEmpty ? "\(revision)" : text).utf8))
    }

    static func record(
        _ id: SessionID, _ revision: UInt64, _ services: [ServiceDocument], user: String? = nil
    ) -> SessionRecord {
        SessionRecord(
            id: id, token: TokenDigest(words: (1, 2, 3, 4)), createdAt: 10, expiresAt: 100_000, revision: revision,
            services: services, details: SessionDetails(labels: .none, userID: user, retiredTokens: [], mode: .bearer))
    }

    /// Writes some services, whose documents are the revision, and leaves the others at what they were.
    static func write(
        _ services: [UInt16], of id: SessionID, from revision: UInt64, kept: [ServiceDocument] = []
    ) -> SessionCommit {
        let next = revision + 1
        let record = record(id, next, kept + services.map { document($0, next) })
        return SessionCommit(
            record: record, replacedRevision: revision, changedServices: services, changesServicesOnly: true)
    }

    static func texts(_ session: StoredSession?) -> [String] {
        session.map { $0.record.services.map { String(decoding: $0.bytes, as: UTF8.self) } } ?? []
    }

    /// Never folded for want of something to do.
    static func store(_ file: SQLiteFile, rows: Int = 16_384, report: Reports = Reports()) throws -> SQLiteStore {
        try SQLiteStore(
            path: file.path, services: ["profile", "quote"], idleTimeout: 1_800_000, durability: .commit,
            recent: RecentLimits(rows: rows, idleTime: .seconds(3_600)), report: report.add)
    }

    /// As a kill leaves it: what is on the disk while the store is open.
    static func killed(_ file: SQLiteFile) throws -> SQLiteFile {
        let copy = try SQLiteFile()
        for ending in ["", "-wal"] { try copyFile(file.path + ending, to: copy.path + ending) }
        return copy
    }

    static func rows(_ file: SQLiteFile) throws -> Int64? {
        try SQLiteConnection(file.path, .read).number(
            "SELECT (SELECT count(*) FROM recent_even) + (SELECT count(*) FROM recent_odd)")
    }

    static func create(_ id: SessionID, in store: SQLiteStore, user: String? = nil) async throws {
        try await store.create(StoredSession(record: record(id, 1, [document(0, 1)], user: user), lastUsedAt: 11))
    }

    private static func copyFile(_ source: String, to target: String) throws {
        let (from, to) = (open(source, O_RDONLY), open(target, O_WRONLY | O_CREAT | O_TRUNC, 0o600))
        defer {
            close(from)
            close(to)
        }
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = read(from, &buffer, buffer.count)
            guard count > 0 else { return }
            #expect(Glibc.write(to, buffer, count) == count)
        }
    }
}
