import Synchronization
import Testing

@testable import Sessions

// What every store does with the index of journeys.
extension SessionStoreContract {
    private static func place(_ state: String, _ standing: JourneyStanding = .active, version: Int = 1) -> JourneyPlace
    {
        JourneyPlace(flow: "wizard", version: version, state: state, standing: standing)
    }

    private func made(in store: any SessionStore, _ count: Int) async throws -> [SessionID] {
        var ids: [SessionID] = []
        for _ in 0..<count {
            ids.append(SessionID(random: SystemRandom()))
            try await store.create(StoredSession(record: try Self.recordOfJourneys(ids[ids.count - 1]), lastUsedAt: 11))
        }
        return ids
    }

    /// With the document in which journeys are kept.
    private static func recordOfJourneys(_ id: SessionID, revision: UInt64 = 1) throws -> SessionRecord {
        let coordinator = try ServiceCatalog().service(named: CoordinatorService.name)
        return record(
            id, revision: revision,
            services: [
                ServiceDocument(
                    service: coordinator.index, birth: 1, revision: revision, createdAt: 12, updatedAt: 13,
                    bytes: Array("{}".utf8))
            ])
    }

    @Test("journeys are found and counted where they were last placed", arguments: stores)
    func places(_ candidate: Candidate) async throws {
        let store = try await make(candidate)
        let index = store.journeyIndex
        let (a, b, over) = (Self.place("a"), Self.place("b"), Self.place("", .finished))
        let ids = try await made(in: store, 3)
        let none = try await index.journeyCounts()
        #expect(none.isEmpty)
        #expect(
            try await index.place([
                PlacedSession(ids[0], revision: 1, places: [a]), PlacedSession(ids[1], revision: 1, places: [a, a, b]),
                PlacedSession(ids[2], revision: 1, places: [over]),
            ]).isEmpty)
        #expect(try await index.journeyCounts() == [a: 3, b: 1, over: 1])
        #expect(Set(try await index.sessions(at: [a], from: nil, limit: 10)) == [ids[0], ids[1]])
        #expect(try await index.sessions(at: [b], from: nil, limit: 10) == [ids[1]])
        #expect(Set(try await index.sessions(at: [a, b, over], from: nil, limit: 10)) == Set(ids))
        #expect(try await index.sessions(at: [Self.place("c")], from: nil, limit: 10).isEmpty)
        #expect(try await index.sessions(at: [], from: nil, limit: 10).isEmpty)
        _ = try await index.place([PlacedSession(ids[1], revision: 1, places: [a, b, b])])
        #expect(try await index.journeyCounts() == [a: 2, b: 2, over: 1])
        _ = try await index.place([
            PlacedSession(ids[0], revision: 1, places: [b]), PlacedSession(ids[1], revision: 1, places: []),
        ])
        #expect(try await index.journeyCounts() == [b: 1, over: 1])
        #expect(try await index.sessions(at: [a], from: nil, limit: 10).isEmpty)
        #expect(try await index.sessions(at: [b], from: nil, limit: 10) == [ids[0]])
    }

    @Test("a session that has ended, however, or never was, is at no place", arguments: stores)
    func placesOfEnded(_ candidate: Candidate) async throws {
        let store = try await make(candidate)
        let (index, a) = (store.journeyIndex, Self.place("a"))
        let ids = try await made(in: store, 3) + [SessionID(random: SystemRandom())]
        let placed = ids.map { PlacedSession($0, revision: 1, places: [a]) }
        _ = try await index.place(placed)
        #expect(try await index.journeyCounts() == [a: 3])
        #expect(try await store.end(ids[0]))
        try await eventually { try await index.journeyCounts() == [a: 2] }
        _ = try await index.place([placed[0]])
        #expect(try await index.journeyCounts() == [a: 2])
        _ = try await store.endExpired(
            ExpiryQuery(now: 2_000, idleTimeout: 100_000, retention: 0, limit: 10, isInUse: { _ in false }))
        try await eventually { try await index.journeyCounts().isEmpty }
        #expect(try await index.sessions(at: [a], from: nil, limit: 10).isEmpty)
    }

    /// A store that others share removes entries of indexes when it has replied.
    private func eventually(_ isTrue: () async throws -> Bool) async throws {
        for _ in 0..<10_000 where try await !isTrue() { await Task.yield() }
        #expect(try await isTrue())
    }

    @Test("what another commit has overtaken is placed again, or was placed with that", arguments: stores)
    func overtakenPlaces(_ candidate: Candidate) async throws {
        let store = try await make(candidate)
        let (index, a, b) = (store.journeyIndex, Self.place("a"), Self.place("b"))
        let id = try await made(in: store, 1)[0]
        try await store.commit(Self.commit(try Self.recordOfJourneys(id, revision: 2), replacing: 1))
        _ = try await index.place([PlacedSession(id, revision: 2, places: [b])])
        let late = try await index.place([PlacedSession(id, revision: 1, places: [a])])
        #expect(late == (store.isShared ? [] : [id]))
        #expect(try await index.journeyCounts() == [b: 1])
    }

    @Test("a session is on one page, whatever others do meanwhile", arguments: stores, [3, 40])
    func pagesOfPlaces(_ candidate: Candidate, _ states: Int) async throws {
        let store = try await make(candidate)
        let index = store.journeyIndex
        let places = (0..<states).map { Self.place("s\($0)", version: 1 + $0 % 2) }
        let ids = try await made(in: store, 120)
        for (number, id) in ids.enumerated() {
            _ = try await index.place([
                PlacedSession(id, revision: 1, places: [places[number % states], places[(number + 1) % states]])
            ])
        }
        let wanted = Array(places.prefix(2))
        // Those of the first place stay.
        let staying = Set(ids.enumerated().filter { $0.offset % states == 0 }.map(\.element))
        var (seen, next) = ([SessionID](), SessionID?.none)
        repeat {
            let page = try await index.sessions(at: wanted, from: next, limit: 8)
            let new = page.drop { $0 == next }
            seen += new
            for id in ids.shuffled().prefix(10) where !staying.contains(id) {
                _ = try await index.place([PlacedSession(id, revision: 1, places: [places.randomElement()!])])
            }
            next = page.count == 8 ? page.last : nil
        } while next != nil
        #expect(staying.isSubset(of: seen) && Set(seen).count == seen.count)
    }

    @Test("the walk for expired sessions tells of those that a server has not placed", arguments: stores)
    func unplaced(_ candidate: Candidate) async throws {
        let store = try await make(candidate)
        guard store.isShared else { return }
        let ids = try await made(in: store, 2)
        _ = try await store.journeyIndex.place([PlacedSession(ids[0], revision: 1, places: [Self.place("a")])])
        func told() async throws -> Set<SessionID> {
            var query = ExpiryQuery(now: 20, idleTimeout: 100_000, retention: 0, limit: 10, isInUse: { _ in false })
            let told = Mutex<Set<SessionID>>([])
            query.onUnplaced = { id in told.withLock { _ = $0.insert(id) } }
            _ = try await store.endExpired(query)
            return told.withLock(\.self)
        }
        #expect(try await told() == [ids[1]])
        try await store.commit(Self.commit(try Self.recordOfJourneys(ids[0], revision: 2), replacing: 1))
        #expect(try await told() == Set(ids))
    }
}
