import Testing

@testable import SQLiteStorage
@testable import Sessions

/// The index of journeys in a file: when it may be wrong, and how it is made anew.
@Suite struct PlaceTableTests {
    @Test("a file of version 9 gets an index of journeys, which is made of its sessions")
    func upgradedToPlaces() async throws {
        let file = try SQLiteFile()
        let session = Samples.session()
        let first = try file.store()
        try await first.create(session)
        #expect(!first.hasLostPlaces)
        await first.close()
        try SQLiteConnection(file.path, .write).execute(
            "\(SQLiteStoreTests.withoutUser) \(SQLiteStoreTests.withoutPlaces) PRAGMA user_version = 9")
        let store = try file.store()
        #expect(store.hasLostPlaces && !store.hasLostTasks)
        let place = JourneyPlace(flow: "wizard", version: 1, state: "start", standing: .active)
        _ = try await store.place([PlacedSession(session.record.id, revision: 1, places: [place])])
        try await store.notePlacesAreKnown()
        #expect(!store.hasLostPlaces)
        await store.close()
        let again = try file.store()
        #expect(try await again.journeyCounts() == [place: 1] && !again.hasLostPlaces)
        await again.close()
    }

    @Test("after a crash the index of journeys is in doubt, after an orderly end it is not")
    func doubtfulPlaces() async throws {
        let file = try SQLiteFile()
        await (try file.store()).close()
        let first = try file.store()
        #expect(!first.hasLostPlaces)
        await first.close()
        try SQLiteConnection(file.path, .write).execute("INSERT OR REPLACE INTO facts VALUES ('running', 1)")
        let crashed = try file.store()
        #expect(crashed.hasLostPlaces)
        await crashed.close()
        // Nobody has placed the sessions meanwhile.
        let store = try file.store()
        #expect(store.hasLostPlaces)
        await store.close()
    }

    @Test(
        "an index of journeys with a damaged page is made anew, whichever page",
        arguments: ["journeys", "journeys_at", "places"])
    func damagedPlaces(_ owner: String) async throws {
        let file = try SQLiteFile()
        let sessions = (0..<600).map { _ in Samples.session() }
        func placed(_ session: StoredSession) -> PlacedSession {
            let place = JourneyPlace(
                flow: "wizard", version: 1, state: "s\(session.record.id.low % 100)", standing: .active)
            return PlacedSession(session.record.id, revision: session.record.revision, places: [place])
        }
        let first = try file.store()
        for session in sessions { try await first.create(session) }
        _ = try await first.place(sessions.map(placed))
        await first.close()
        let pages = try ZeroedPageTests.owners(file).filter { $0.owner == owner }
        let page = try #require(pages.last).page
        try Files.write([UInt8](repeating: 0, count: 4_096), to: file.path, at: (page - 1) * 4_096)
        let store = try file.store()
        func counts() async throws -> Int { try await store.journeyCounts().values.reduce(0, +) }
        let places = Set(sessions.map { placed($0).places[0] })
        func found() async throws -> Int {
            try await store.sessions(at: Array(places), from: nil, limit: 1_000).count
        }
        _ = try await counts()
        _ = try await found()
        if store.hasLostPlaces {
            #expect(owner != "journeys_at")
            for start in stride(from: 0, to: sessions.count, by: 200) {
                #expect(try await store.place(sessions[start..<start + 200].map(placed)).isEmpty)
            }
        }
        #expect(try await counts() == 600)
        #expect(try await found() == 600)
        await store.close()
    }
}
