import SQLiteStorage
import Support
import Testing

@testable import Sessions

/// In the program the writers of a session take turns, so these conflicts are shown on the store itself.
@Suite("Conflicting commits in the store")
struct StoreRaceTests {
    private static func commit(
        _ id: SessionID, from revision: UInt64, _ number: Int, changesServicesOnly: Bool = false
    ) -> SessionCommit {
        let document = ServiceDocument(
            service: 0, birth: 0, revision: revision + 1, createdAt: 1, updatedAt: 2, bytes: Array("\(number)".utf8))
        return SessionCommit(
            record: SessionRecord(
                id: id, token: TokenDigest(words: (1, 2, 3, 4)), createdAt: 1, expiresAt: 100_000,
                revision: revision + 1, services: [document], details: .none),
            replacedRevision: revision, changedServices: [0], changesServicesOnly: changesServicesOnly)
    }

    private static func withSession(_ body: (SQLiteStore, SessionID, String) async throws -> Void) async throws {
        try await withFolder([:]) { _, folder in
            let path = "\(folder)/sessions.db"
            let store = try StoredFiles.open(path)
            let id = SessionID(random: SystemRandom())
            let record = SessionRecord(
                id: id, token: TokenDigest(words: (1, 2, 3, 4)), createdAt: 1, expiresAt: 100_000, revision: 1,
                services: [], details: .none)
            try await store.create(StoredSession(record: record, lastUsedAt: 1))
            try await body(store, id, path)
            await store.close()
        }
    }

    @Test("of several commits from one revision one succeeds, and stays", arguments: [false, true])
    func oneWins(changesServicesOnly: Bool) async throws {
        try await Self.withSession { store, id, _ in
            let winners = await withTaskGroup(of: Int?.self) { group in
                for number in 1...16 {
                    group.addTask {
                        do throws(StoreError) {
                            try await store.commit(
                                Self.commit(id, from: 1, number, changesServicesOnly: changesServicesOnly))
                            return number
                        } catch {
                            if case .conflict = error {} else { Issue.record(error) }
                            return nil
                        }
                    }
                }
                return await group.reduce(into: [Int]()) { winners, number in
                    if let number { winners.append(number) }
                }
            }
            #expect(winners.count == 1)
            let services = try #require(try await store.load(id)).record.services
            #expect(services.map(\.bytes) == winners.map { Array("\($0)".utf8) })
        }
    }

    @Test("a closed store has everything in the database file")
    func closing() async throws {
        try await Self.withSession { store, id, path in
            try await store.commit(Self.commit(id, from: 1, 1))
            await store.close()
            let log = (try? FileBytes.read(path + "-wal")) ?? []
            #expect(log.isEmpty)
        }
    }

    @Test("a commit after the end does not revive the session", arguments: [false, true])
    func staysEnded(changesServicesOnly: Bool) async throws {
        try await Self.withSession { store, id, _ in
            let wasThere = try await store.end(id)
            #expect(wasThere)
            do throws(StoreError) {
                try await store.commit(Self.commit(id, from: 1, 1, changesServicesOnly: changesServicesOnly))
                Issue.record("a commit to an ended session succeeded")
            } catch {
                if case .gone = error {} else { Issue.record(error) }
            }
            let left = try await store.load(id)
            #expect(left == nil)
        }
    }
}
