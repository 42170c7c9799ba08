import Chance
import Glibc
import Sessions
import Storage
import Support

/// The bytes of a database and of its log, and what is to be read from them.
struct StoredFiles: Sendable {
    var database: [UInt8]
    var log: [UInt8]
    /// Every commit in its order: to which session, and the number that it wrote into both of its services.
    let commits: [(session: SessionID, number: Int)]
    /// Of the ids, which say where on which page a session is: `TORTURE_SEED` makes the same files again.
    let seed: UInt64

    static let services = ["left", "right"]

    /// - Parameter inLog: how many commits are in the log alone; those before are in the database.
    static func make(sessions count: Int, commits total: Int, inLog: Int) async throws -> StoredFiles {
        try await withFolder([:]) { _, folder in
            let path = "\(folder)/sessions.db"
            let seed = getenv("TORTURE_SEED").flatMap { UInt64(String(cString: $0)) } ?? .random(in: 0...UInt64.max)
            var chance = SeededGenerator(seed: seed)
            let ids = (0..<count).map { _ in SessionID(high: chance.next(), low: chance.next()) }
            var commits: [(session: SessionID, number: Int)] = []
            var store = try open(path)
            for id in ids {
                commits.append((id, commits.count + 1))
                try await store.create(
                    StoredSession(record: record(id, revision: 1, number: commits.count), lastUsedAt: 1))
            }
            for index in 0..<total {
                if index == total - inLog {
                    // Closing writes the log back.
                    await store.close()
                    store = try open(path)
                }
                let id = ids[index % count]
                let revision = UInt64(index / count + 2)
                commits.append((id, commits.count + 1))
                try await store.commit(
                    SessionCommit(
                        record: record(id, revision: revision, number: commits.count), replacedRevision: revision - 1,
                        changedServices: [0, 1],
                        // Most into the log of recent writes, the others where they belong.
                        changesServicesOnly: !index.isMultiple(of: 5)))
            }
            if inLog == 0 {
                await store.close()
                // Without the pages that the log of recent writes had: what is damaged is to be of some use.
                store = try open(path)
                while try await store.giveBackSpace(atMost: 1_000).left > 0 {}
                await store.close()
            }
            defer { withExtendedLifetime(store) {} }
            return StoredFiles(
                database: try FileBytes.read(path), log: inLog == 0 ? [] : try FileBytes.read(path + "-wal"),
                commits: commits, seed: seed)
        }
    }

    static func open(_ path: String) throws -> SQLiteStore {
        try SQLiteStore(path: path, services: services)
    }

    /// About 400 bytes for each service, so that a session is not alone on its page, and many pages there are.
    static func document(_ number: Int) -> [UInt8] {
        Array(#"{"n":\#(number),"text":"\#(String(repeating: "\(number % 10)", count: 380))"}"#.utf8)
    }

    private static func record(_ id: SessionID, revision: UInt64, number: Int) -> SessionRecord {
        let documents = (0..<2).map { service in
            ServiceDocument(
                service: UInt16(service), birth: UInt64(service), revision: revision, createdAt: 1, updatedAt: 2,
                bytes: document(number))
        }
        return SessionRecord(
            id: id, token: TokenDigest(words: (1, 2, 3, 4)), createdAt: 1, expiresAt: 100_000, revision: revision,
            services: documents, details: .none)
    }
}

enum FileBytes {
    struct Failure: Error { let code: Int32 }

    static func read(_ path: String) throws -> [UInt8] {
        let file = open(path, O_RDONLY)
        guard file >= 0 else { throw Failure(code: errno) }
        defer { close(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = Glibc.read(file, &buffer, buffer.count)
            guard count > 0 else { return bytes }
            bytes += buffer[..<count]
        }
    }

    static func write(_ bytes: [UInt8], to path: String) throws {
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        guard file >= 0, Glibc.write(file, bytes, bytes.count) == bytes.count else { throw Failure(code: errno) }
        close(file)
    }
}
