import Glibc
import Synchronization
import Testing

@testable import Sessions

/// Sessions and commits for tests of a store.
enum Samples {
    static func document(
        _ service: UInt16 = 0, size: Int = 60, revision: UInt64 = 1, letter: Character = " "
    ) -> ServiceDocument {
        ServiceDocument(
            service: service, birth: UInt64(service), revision: revision, createdAt: 12, updatedAt: 13,
            bytes: [UInt8](repeating: letter.asciiValue ?? 0, count: size))
    }

    static func record(
        _ id: SessionID, revision: UInt64 = 1, _ services: [ServiceDocument] = [],
        details: SessionDetails = SessionDetails()
    ) -> SessionRecord {
        SessionRecord(
            id: id, token: TokenDigest(words: (1, 2, 3, 4)), createdAt: 10, expiresAt: 100_000, revision: revision,
            services: services, details: details)
    }

    static func session(
        _ id: SessionID = SessionID(random: SystemRandom()), revision: UInt64 = 1, _ services: [ServiceDocument] = [],
        details: SessionDetails = SessionDetails(), usedAt: Int64 = 11
    ) -> StoredSession {
        StoredSession(record: record(id, revision: revision, services, details: details), lastUsedAt: usedAt)
    }

    static func commit(_ record: SessionRecord, over revision: UInt64) -> SessionCommit {
        SessionCommit(
            record: record, replacedRevision: revision, changedServices: record.services.map(\.service),
            changesServicesOnly: true)
    }
}

/// The reports of a store.
final class Reports: Sendable {
    private let sentences = Mutex<[String]>([])

    var all: [String] { sentences.withLock { $0 } }

    @Sendable func add(_ sentence: String) { sentences.withLock { $0.append(sentence) } }
}

/// Reads and changes files.
enum Files {
    static func read(_ path: String) throws -> [UInt8] {
        let file = open(path, O_RDONLY)
        try #require(file >= 0, "\(path): \(String(cString: strerror(errno)))")
        defer { close(file) }
        var status = stat()
        fstat(file, &status)
        var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
        try #require(pread(file, &bytes, bytes.count, 0) == bytes.count)
        return bytes
    }

    static func read(_ path: String, at place: Int, count: Int) throws -> [UInt8] {
        let file = open(path, O_RDONLY)
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: count)
        try #require(pread(file, &bytes, count, place) == count)
        return bytes
    }

    static func copy(_ path: String, to target: String) throws {
        let bytes = try read(path)
        let file = open(target, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        defer { close(file) }
        try #require(Glibc.write(file, bytes, bytes.count) == bytes.count)
    }

    static func flip(_ path: String, at place: Int, bit: UInt8 = 1) throws {
        let file = open(path, O_RDWR)
        defer { close(file) }
        var byte: UInt8 = 0
        try #require(pread(file, &byte, 1, place) == 1)
        byte ^= bit
        try #require(pwrite(file, &byte, 1, place) == 1)
    }

    static func names(in folder: String) -> [String] {
        guard let directory = opendir(folder) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            names.append(
                withUnsafeBytes(of: entry.pointee.d_name) {
                    String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
                })
        }
        return names.filter { $0 != "." && $0 != ".." }.sorted()
    }

    static func write(_ bytes: [UInt8], to path: String, at place: Int, makes: Bool = false) throws {
        let file = open(path, O_WRONLY | (makes ? O_CREAT : 0), 0o600)
        defer { close(file) }
        try #require(pwrite(file, bytes, bytes.count, place) == bytes.count)
    }
}
