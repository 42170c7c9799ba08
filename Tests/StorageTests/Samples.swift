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
