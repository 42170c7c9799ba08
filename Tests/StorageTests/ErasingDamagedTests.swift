import Testing

@testable import RedisStorage
@testable import SQLiteStorage
@testable import Sessions

/// A person's sessions that the store cannot read are erased like the others.
@Suite struct ErasingDamagedTests {
    /// Signs persons in, damages the first session of ada, and erases ada.
    private func erase(
        _ store: () throws -> any SessionStore, damaging damage: (SessionID) async throws -> Void
    ) async throws {
        var settings = SessionSettings()
        settings.noticeTask = "feed"
        let catalog = try ServiceCatalog()
        let first = try store()
        var ids: [SessionID] = []
        do {
            let sessions = Sessions(settings: settings, catalog: catalog, store: first)
            for user in ["ada", "ada", "Ada"] {
                let session = try await sessions.create().0
                _ = try await sessions.attachUser(user, to: session)
                ids.append(session.id)
            }
        }
        await first.close()
        try await damage(ids[0])
        let second = try store()
        let sessions = Sessions(settings: settings, catalog: catalog, store: second)
        #expect(try await second.sessions(ofUser: "ada").map(\.record.id) == [ids[1]])
        #expect(try await second.damagedSessions(ofUser: "ada") == [ids[0]])
        #expect(try await second.damagedSessions(ofUser: "Ada").isEmpty)
        let person = try await sessions.person("ada")
        #expect(person.sessions == [ids[1]] && person.damaged == [ids[0]] && person.notices.count == 2)
        let erased = try await sessions.erase(userID: "ada")
        #expect(erased.sessions == 2 && erased.notices == 2)
        #expect(try await second.damagedSessions(ofUser: "ada").isEmpty)
        #expect(try await second.load(ids[0]) == nil)
        #expect(try await second.load(ids[2]) != nil)
        let told = try await sessions.person("ada").notices
        #expect(told.map { $0.input[member: "reason"] } == ["erased", "erased"])
        #expect(Set(told.map(\.task.id.session)) == Set(ids.prefix(2)))
        #expect(try await sessions.erase(userID: "ada") == ErasedPerson())
        await second.close()
    }

    private static func names() throws -> [String] { try ServiceCatalog().services.map(\.name) }

    @Test("in a file") func sqlite() async throws {
        let file = try SQLiteFile()
        try await erase {
            try file.store(services: Self.names())
        } damaging: { (id: SessionID) async throws in
            try SQLiteConnection(file.path, .write).execute(
                "UPDATE sessions SET state = substr(state, 1, length(state) - 1) WHERE key = \(id.key)")
        }
    }

    @Test("in Redis") func redis() async throws {
        let fixture = try RedisFixture(nil)
        try await erase {
            try fixture.store(services: Self.names())
        } damaging: { (id: SessionID) async throws in
            try fixture.ask("HSET", .text(RedisKeys(prefix: fixture.prefix).session(id)), "h", "nothing")
        }
    }
}
