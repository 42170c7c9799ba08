import CSQLite
import Glibc
import SQLiteStorage
import SeededRandomness
import Support
import Testing

@testable import Sessions

/// The bytes of a database and of its log, and the sessions that they must show.
struct StoredFiles: Sendable {
    /// A commit, which writes both services of a session. The session's revision identifies it.
    struct Commit: Sendable {
        let session: Int
        let revision: UInt64
        let number: Int
    }

    /// All pages, without the spare room behind them.
    var database: [UInt8]
    var log: [UInt8]
    /// In the order of their creation.
    let sessions: [SessionID]
    /// In order, with the commits that created the sessions.
    private(set) var commits: [Commit]
    /// The record after each commit, by the commit's number.
    private var records: [Int: SessionRecord]
    /// How many commits are in the database. The others are in the log, or in both.
    let inDatabase: Int
    /// The kinds of the database's pages.
    let pages: [PageKind]
    /// The seed of the ids, which determine the places of sessions: `TORTURE_SEED` makes the same files again.
    let seed: UInt64

    static let services = ["left", "right"]
    static let flows = [
        UsedFlow(flow: "walk", version: 1, states: "here there "), UsedFlow(flow: "walk", version: 2, states: "here "),
    ]

    /// - Parameters:
    ///   - inLog: how many commits follow after the database was closed once.
    ///   - ended: how many of the sessions end, and leave free pages.
    static func make(sessions count: Int, commits total: Int, inLog: Int, ended: Int = 0) async throws -> StoredFiles {
        try await withFolder([:], in: memory) { _, folder in
            let path = "\(folder)/sessions.db"
            let seed = getenv("TORTURE_SEED").flatMap { UInt64(String(cString: $0)) } ?? .random(in: 0...UInt64.max)
            var generator = SeededGenerator(seed: seed)
            let ids = (0..<count).map { _ in SessionID(high: generator.next(), low: generator.next()) }
            var commits: [Commit] = []
            var records: [Int: SessionRecord] = [:]
            var store = try open(path)
            for session in ids.indices {
                let commit = Commit(session: session, revision: 1, number: commits.count + 1)
                let record = record(ids[session], commit)
                commits.append(commit)
                records[commit.number] = record
                try await store.create(StoredSession(record: record, lastUsedAt: 1))
            }
            try await store.replaceUsedFlows(flows)
            var inDatabase = count + total
            for index in 0..<total {
                if index == total - inLog {
                    // To close the store copies the log to the database.
                    await store.close()
                    inDatabase = commits.count
                    store = try open(path)
                }
                let commit = Commit(
                    session: index % count, revision: UInt64(index / count + 2), number: commits.count + 1)
                let record = record(ids[commit.session], commit)
                commits.append(commit)
                records[commit.number] = record
                try await store.commit(change(record, commit))
            }
            for id in ids.suffix(ended) { #expect(try await store.end(id)) }
            if inLog == 0 { await store.close() }
            defer { withExtendedLifetime(store) {} }
            let pages = try PageKind.all(of: path)
            return StoredFiles(
                database: Array(try FileBytes.read(path).prefix(pages.count * PageKind.size)),
                log: inLog == 0 ? [] : try FileBytes.read(path + "-wal"), sessions: ids.dropLast(ended),
                commits: commits.filter { $0.session < count - ended }, records: records, inDatabase: inDatabase,
                pages: pages, seed: seed
            )
        }
    }

    /// Memory rather than a disk, where thousands of files would wait for their syncs.
    static let memory = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"

    static func open(_ path: String, report: @escaping @Sendable (String) -> Void = { _ in }) throws -> SQLiteStore {
        try SQLiteStore(path: path, services: ServiceNames(services), report: report)
    }

    // MARK: The model

    /// The last commit of each session among the first `count`.
    func states(after count: Int) -> [SessionID: Commit] {
        var states: [SessionID: Commit] = [:]
        for commit in commits.prefix(count) { states[sessions[commit.session]] = commit }
        return states
    }

    /// Makes a further commit.
    mutating func goOn(_ session: Int, from revision: UInt64) -> SessionCommit {
        let commit = Commit(session: session, revision: revision, number: (commits.last?.number ?? 0) + 1)
        let record = Self.record(sessions[session], commit)
        commits.append(commit)
        records[commit.number] = record
        return Self.change(record, commit)
    }

    /// Whether a session is as a commit left it. Services may be damaged, and are then said to be.
    func isRight(_ session: StoredSession, after commit: Commit) -> Bool {
        guard let right = records[commit.number] else { return false }
        let record = session.record
        return record.id == right.id && record.revision == right.revision && record.token == right.token
            && record.createdAt == right.createdAt && record.expiresAt == right.expiresAt
            && record.userID == right.userID
            && record.services.allSatisfy { service in
                let written = right.document(of: service.service)
                return (service.isDamaged || written?.bytes == service.bytes) && written?.revision == service.revision
            }
    }

    /// Whether a session is as a commit left it, with both services.
    func isWhole(_ session: StoredSession, after commit: Commit) -> Bool {
        session.record.services.count == 2 && !session.record.services.contains(where: \.isDamaged)
            && isRight(session, after: commit)
    }

    /// The number of a session's last commit; nil when no commit gave it its revision.
    func number(of session: StoredSession) -> Int? {
        guard let place = sessions.firstIndex(of: session.record.id) else { return nil }
        return commits.first { $0.session == place && $0.revision == session.record.revision }?.number
    }

    /// Writes the files to a folder for the duration of `body`.
    func withStored<Result>(
        _ body: (_ path: String, _ folder: String) async throws -> Result
    ) async throws -> Result {
        try await withFolder([:], in: Self.memory) { _, folder in
            let path = "\(folder)/sessions.db"
            try FileBytes.write(database, to: path)
            if !log.isEmpty { try FileBytes.write(log, to: path + "-wal") }
            return try await body(path, folder)
        }
    }

    /// Eight users, whose long names need several pages of the index.
    static let users = (0..<8).map { "user-\($0)-" + String(repeating: "x", count: 150) }

    static func user(ofSession session: Int) -> String? {
        session.isMultiple(of: 2) ? users[session / 2 % users.count] : nil
    }

    /// Sizes of the two documents: in the row, in pieces beside it, and on pages of their own.
    private static let sizes = [(60, 300), (300, 1_800), (80, 60), (700, 9_000)]

    private static func document(_ number: Int, size: Int) -> [UInt8] {
        var text = Array(#"{"n":\#(number),"text":""#.utf8)
        // No part of it equals a part of another commit's document.
        for place in 0..<size / 8 { text += Array(String(number * 10_000 + place).suffix(8).utf8) }
        return text + Array(#""}"#.utf8)
    }

    private static func record(_ id: SessionID, _ commit: Commit) -> SessionRecord {
        let (left, right) = sizes[commit.session % sizes.count]
        let documents = [left, right].enumerated().map { service, size in
            ServiceDocument(
                service: UInt16(service), birth: UInt64(service), revision: commit.revision, createdAt: 1, updatedAt: 2,
                bytes: document(commit.number, size: size))
        }
        return SessionRecord(
            id: id, token: TokenDigest(words: (1, 2, 3, UInt64(commit.session))), createdAt: 1, expiresAt: 100_000,
            revision: commit.revision, services: documents,
            details: SessionDetails(userID: user(ofSession: commit.session)))
    }

    private static func change(_ record: SessionRecord, _ commit: Commit) -> SessionCommit {
        SessionCommit(
            record: record, replacedRevision: commit.revision - 1, changedServices: [0, 1],
            changesServicesOnly: !commit.number.isMultiple(of: 5))
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

    static func names(in folder: String) throws -> [String] {
        guard let directory = opendir(folder) else { throw Failure(code: errno) }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            names.append(
                withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) })
        }
        return names
    }

    static func write(_ bytes: [UInt8], to path: String) throws {
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        guard file >= 0, Glibc.write(file, bytes, bytes.count) == bytes.count else { throw Failure(code: errno) }
        close(file)
    }
}
