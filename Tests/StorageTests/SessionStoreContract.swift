import FlowTools
import Navigation
import RedisStorage
import Synchronization
import Testing

@testable import Sessions

/// The behaviour of every store. A new store is one line in `stores`.
@Suite struct SessionStoreContract {
    struct Candidate: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// A new, empty store of those services, whose files last as long as `kept`.
        let make: @Sendable (_ services: [String], _ kept: Kept) async throws -> any SessionStore
    }

    /// Files that last as long as a test.
    final class Kept: Sendable {
        private let files = Mutex<[SQLiteFile]>([])

        func keep(_ file: SQLiteFile) -> SQLiteFile {
            files.withLock { $0.append(file) }
            return file
        }
    }

    static let stores = [
        Candidate(testDescription: "memory") { _, _ in MemoryStore() },
        Candidate(testDescription: "sqlite") { try $1.keep(SQLiteFile()).store(services: $0) },
        Candidate(testDescription: "sqlite, encrypted") {
            try $1.keep(SQLiteFile()).store(services: $0, keys: try EncryptionTests.keys("k1"))
        },
        Candidate(testDescription: "sqlite, repaired") {
            try $1.keep(try await SQLiteFile.repaired()).store(services: $0)
        },
        Candidate(testDescription: "redis") { services, _ in try RedisFixture().store(services: services) },
        Candidate(testDescription: "redis, as a user with the least rights") { services, _ in
            let fixture = try RedisFixture()
            try fixture.addUser(fixture.prefix)
            return try fixture.store(services: services, user: fixture.prefix, password: "word")
        },
        Candidate(testDescription: "redis, encrypted") { services, _ in
            try RedisFixture().store(services: services, keys: try EncryptionTests.keys("k1"))
        },
        Candidate(testDescription: "redis cluster") { services, _ in
            try await RedisFixture(cluster: nil).store(services: services)
        },
        Candidate(testDescription: "redis sentinels, with a replica") { services, _ in
            try await RedisFixture(sentinels: nil).store(services: services)
        },
    ]

    private let kept = Kept()

    func make(_ candidate: Candidate) async throws -> any SessionStore {
        try await candidate.make(try ServiceCatalog().services.map(\.name), kept)
    }

    /// Those of one process, to which a session's next commit may come before the last one is done.
    static let unshared = stores.filter { !$0.testDescription.hasPrefix("redis") }

    static func record(
        _ id: SessionID, revision: UInt64 = 1, services: [ServiceDocument] = [], user: String? = nil
    ) -> SessionRecord {
        SessionRecord(
            id: id, token: TokenDigest(words: (1, 2, 3, id.low)), createdAt: 10, expiresAt: 1_000, revision: revision,
            services: services,
            details: SessionDetails(
                labels: SessionLabels(["a": "b"]), userID: user,
                retiredTokens: [
                    RetiredToken(digest: TokenDigest(words: (4, 5, 6, 7)), givenAt: 5, retiredAt: 10, grace: 20)
                ],
                mode: .cookie))
    }

    static func commit(_ record: SessionRecord, replacing revision: UInt64) -> SessionCommit {
        SessionCommit(
            record: record, replacedRevision: revision, changedServices: record.services.map(\.service))
    }

    let id = SessionID(random: SystemRandom())

    @Test("sessions are loaded as they were created and committed", arguments: stores)
    func roundTrip(_ candidate: Candidate) async throws {
        let store = try await make(candidate)
        #expect(try await store.load(id) == nil)
        try await store.create(StoredSession(record: Self.record(id), lastUsedAt: 11))
        let document = ServiceDocument(
            service: 0, birth: 3, revision: 2, createdAt: 12, updatedAt: 13, bytes: Array("{}".utf8))
        try await store.commit(Self.commit(Self.record(id, revision: 2, services: [document], user: "u"), replacing: 1))
        let loaded = try #require(try await store.load(id))
        #expect(loaded.lastUsedAt == 11)
        let record = loaded.record
        #expect(record.id == id && record.revision == 2 && record.createdAt == 10 && record.expiresAt == 1_000)
        #expect(record.token == TokenDigest(words: (1, 2, 3, id.low)))
        #expect(record.details.labels == SessionLabels(["a": "b"]) && record.details.mode == .cookie)
        #expect(record.userID == "u")
        let retired = try #require(record.details.retiredTokens.first)
        #expect(retired.givenAt == 5 && retired.retiredAt == 10 && retired.graceEndsAt == 30)
        #expect(record.details.retiredTokens.map(\.digest) == [TokenDigest(words: (4, 5, 6, 7))])
        let kept = try #require(record.services.first)
        #expect(kept.service == 0 && kept.birth == 3 && kept.revision == 2)
        #expect(kept.createdAt == 12 && kept.updatedAt == 13 && kept.bytes == Array("{}".utf8))
    }

    @Test("what a sign-in has left of a token is kept, with and without a challenge, open and done", arguments: stores)
    func exchanges(_ candidate: Candidate) async throws {
        let store = try await make(candidate)
        let challenge = try #require(CodeChallenge("E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"))
        for (number, kept) in [(challenge, false), (nil, true), (challenge, true), (nil, false)].enumerated() {
            let id = SessionID(random: SystemRandom())
            var details = SessionDetails(labels: SessionLabels(["a": "b"]), mode: .cookie)
            details.exchange = TokenExchange(
                former: TokenDigest(words: (7, 8, 9, 10)), challenge: kept.0, endsAt: 500 + Int64(number),
                isDone: kept.1)
            let record = SessionRecord(
                id: id, token: TokenDigest(words: (1, 2, 3, 4)), createdAt: 100, expiresAt: 9_000, revision: 1,
                services: [], details: details)
            try await store.create(StoredSession(record: record, lastUsedAt: 101))
            let loaded = try #require(try await store.load(id)).record
            let exchange = try #require(loaded.details.exchange)
            #expect(exchange.former == TokenDigest(words: (7, 8, 9, 10)) && exchange.challenge == kept.0)
            #expect(exchange.endsAt == 500 + Int64(number) && exchange.isDone == kept.1)
            #expect(loaded.details.labels == SessionLabels(["a": "b"]) && loaded.details.mode == .cookie)
        }
    }

    @Test("a session is created once", arguments: stores)
    func createTwice(_ candidate: Candidate) async throws {
        let store = try await make(candidate)
        try await store.create(StoredSession(record: Self.record(id), lastUsedAt: 11))
        await expect(.conflict) { () async throws(StoreError) in
            try await store.create(StoredSession(record: Self.record(id), lastUsedAt: 11))
        }
    }

    @Test("a commit from another revision is a conflict and changes nothing", arguments: stores)
    func conflict(_ candidate: Candidate) async throws {
        let store = try await make(candidate)
        try await store.create(StoredSession(record: Self.record(id), lastUsedAt: 11))
        try await store.commit(Self.commit(Self.record(id, revision: 2), replacing: 1))
        await expect(.conflict) { () async throws(StoreError) in
            try await store.commit(Self.commit(Self.record(id, revision: 2, user: "late"), replacing: 1))
        }
        #expect(try await store.load(id)?.record.userID == nil)
        #expect(try await store.sessions(ofUser: "late").isEmpty)
    }

    @Test("of several commits from one revision exactly one succeeds", arguments: stores)
    func race(_ candidate: Candidate) async throws {
        let store = try await make(candidate)
        try await store.create(StoredSession(record: Self.record(id), lastUsedAt: 11))
        let id = id
        let done = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<50 {
                group.addTask {
                    let record = Self.record(id, revision: 2, user: "\(number)")
                    return (try? await store.commit(Self.commit(record, replacing: 1))) != nil
                }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(done == 1)
        let user = try #require(try await store.load(id)?.record.userID)
        for number in 0..<50 {
            #expect(try await store.sessions(ofUser: "\(number)").count == ("\(number)" == user ? 1 : 0))
        }
    }

    @Test("commits that follow pending ones are done and called back in their order", arguments: unshared)
    func chain(_ candidate: Candidate) async throws {
        let store = try await make(candidate)
        try await store.create(StoredSession(record: Self.record(id), lastUsedAt: 11))
        let (done, continuation) = AsyncStream.makeStream(of: (revision: UInt64, error: StoreError?).self)
        // One of them is made from a revision that never existed.
        for revision in (2...100).map(UInt64.init) {
            let replaced = revision == 51 ? 1 : revision - 1
            store.commit(Self.commit(Self.record(id, revision: revision), replacing: replaced)) { error in
                continuation.yield((revision, error))
                if revision == 100 { continuation.finish() }
            }
        }
        var next: UInt64 = 2
        for await (revision, error) in done {
            #expect(revision == next && (error == nil) == (revision < 51))
            next += 1
        }
        #expect(next == 101)
        #expect(try await store.load(id)?.record.revision == 50)
    }

    @Test("an ended session is gone, and no commit revives it", arguments: stores)
    func end(_ candidate: Candidate) async throws {
        let store = try await make(candidate)
        try await store.create(StoredSession(record: Self.record(id, user: "u"), lastUsedAt: 11))
        #expect(try await store.end(id))
        #expect(try await !store.end(id))
        #expect(try await store.load(id) == nil)
        await expect(.gone) { () async throws(StoreError) in
            try await store.commit(Self.commit(Self.record(id, revision: 2), replacing: 1))
        }
        try await store.touch([SessionUse(id: id, usedAt: 20)])
        #expect(try await store.load(id) == nil)
        #expect(try await store.sessions(ofUser: "u").isEmpty)
        let page = try await store.page(after: nil, limit: 10)
        #expect(page.sessions.isEmpty && page.next == nil && page.skipped == 0)
    }

    /// All sessions, and the number of pages that they fill.
    private static func all(_ store: any SessionStore, limit: Int) async throws -> (ids: [SessionID], pages: Int) {
        var ids: [SessionID] = []
        var next: SessionID?
        var pages = 0
        repeat {
            let page = try await store.page(after: next, limit: limit)
            #expect(page.sessions.count <= limit && page.skipped == 0)
            ids += page.sessions.map(\.record.id)
            next = page.next
            pages += 1
        } while next != nil
        return (ids, pages)
    }

    @Test("uses only move the time of the last use forward, and a commit without a use keeps it", arguments: stores)
    func touch(_ candidate: Candidate) async throws {
        let store = try await make(candidate)
        try await store.create(StoredSession(record: Self.record(id), lastUsedAt: 11))
        try await store.touch([SessionUse(id: id, usedAt: 20)])
        try await store.touch([SessionUse(id: id, usedAt: 15)])
        try await store.commit(Self.commit(Self.record(id, revision: 2), replacing: 1))
        #expect(try await store.load(id)?.lastUsedAt == 20)
    }

    @Test("a user's sessions come with the document of user, and no other that has to be read", arguments: stores)
    func documentsOfUser(_ candidate: Candidate) async throws {
        let store = try await make(candidate)
        let services = try ServiceCatalog().services
        let user = try #require(services.first { $0.name == "user" }).index
        let profile = try #require(services.first { $0.name == "profile" }).index
        let id = SessionID(random: SystemRandom())
        let documents = [profile, user].sorted().map { Samples.document($0, size: 20_000) }
        try await store.create(StoredSession(record: Self.record(id, services: documents, user: "a"), lastUsedAt: 11))
        let found = try #require(try await store.sessions(ofUser: "a").first).record.services
        #expect(found.first { $0.service == user }?.updatedAt == 13)
        #expect(store is MemoryStore || found.map(\.service) == [user])
        #expect(try await store.load(id)?.record.services.count == 2)
    }

    @Test("sessions are found by their user, which may change", arguments: stores)
    func users(_ candidate: Candidate) async throws {
        let store = try await make(candidate)
        let ids = (0..<5).map { _ in SessionID(random: SystemRandom()) }
        for id in ids { try await store.create(StoredSession(record: Self.record(id, user: "a"), lastUsedAt: 11)) }
        #expect(try await store.sessions(ofUser: "a").map(\.record.id) == ids.sorted())
        try await store.commit(Self.commit(Self.record(ids[0], revision: 2, user: "b"), replacing: 1))
        try await store.commit(Self.commit(Self.record(ids[1], revision: 2), replacing: 1))
        #expect(try await store.sessions(ofUser: "a").map(\.record.id) == ids[2...].sorted())
        #expect(try await store.sessions(ofUser: "b").map(\.record.id) == [ids[0]])
        #expect(try await store.sessions(ofUser: "nobody").isEmpty)
    }

    @Test("a commit notes its own use, and never moves the last use back", arguments: stores)
    func usesOfCommits(_ candidate: Candidate) async throws {
        let store = try await make(candidate)
        let id = SessionID(random: SystemRandom())
        try await store.create(StoredSession(record: Self.record(id), lastUsedAt: 11))
        for (revision, usedAt, expected) in [(2, 20, 20), (3, 15, 20), (4, Int64.min, 20)] as [(UInt64, Int64, Int64)] {
            var commit = Self.commit(Self.record(id, revision: revision), replacing: revision - 1)
            commit.usedAt = usedAt
            try await store.commit(commit)
            #expect(try await store.load(id)?.lastUsedAt == expected)
        }
    }

    @Test("pages go through all sessions in a fixed order of ids", arguments: stores)
    func pages(_ candidate: Candidate) async throws {
        let store = try await make(candidate)
        #expect(try await Self.all(store, limit: 3).pages == 1)
        // Some share the first byte of a half. The lowest and the highest possible id are among them.
        var ids = (0..<40 as Range<UInt64>).map { number in
            let (high, low) = (number % 7, number % 5)
            return SessionID(high: high << 56 | number, low: low << 56 | number)
        }
        ids += [SessionID(high: .max, low: .max), SessionID(high: 1 << 63, low: 1)]
        ids += [SessionID(high: 1 << 63 - 1, low: 1 << 63), SessionID(high: 1 << 62, low: 1 << 63 - 1)]
        for id in ids { try await store.create(StoredSession(record: Self.record(id), lastUsedAt: 11)) }
        let (found, pages) = try await Self.all(store, limit: 11)
        #expect(found.sorted() == ids.sorted())
        // The page after the last id is empty.
        #expect(pages == 4)
        for limit in [1, 3, 43, 44, 1_000] { #expect(try await Self.all(store, limit: limit).ids == found) }
        // A page may begin after an id that has ended, and a new session moves no other.
        let place = found[20]
        #expect(try await store.end(place))
        try await store.create(StoredSession(record: Self.record(SessionID(high: 99, low: 99)), lastUsedAt: 11))
        let rest = try await store.page(after: place, limit: 1_000).sessions.map(\.record.id)
        #expect(rest.filter(found.contains) == Array(found[21...]))
    }

    @Test("the store counts its sessions", arguments: stores)
    func count(_ candidate: Candidate) async throws {
        let store = try await make(candidate)
        try await Self.expectCount(store, 0)
        let ids = (0..<3).map { _ in SessionID(random: SystemRandom()) }
        for id in ids { try await store.create(StoredSession(record: Self.record(id), lastUsedAt: 11)) }
        _ = try? await store.create(StoredSession(record: Self.record(ids[0]), lastUsedAt: 11))
        try await Self.expectCount(store, 3)
        #expect(try await store.end(ids[0]))
        #expect(try await !store.end(ids[0]))
        try await Self.expectCount(store, 2)
    }

    /// Looks at every session, and returns how many were ended.
    private static func ended(_ store: any SessionStore, _ query: ExpiryQuery) async throws -> Int {
        var count = 0
        for _ in 0..<16 {
            let seen = try await store.endExpired(query)
            #expect(seen.count <= seen.looked && seen.looked <= query.limit)
            count += seen.count
        }
        return count
    }

    @Test("expired sessions are ended after the retention, in bounded steps; the others stay", arguments: stores)
    func expiry(_ candidate: Candidate) async throws {
        let store = try await make(candidate)
        let minute: Int64 = 60_000
        let ids = (0..<6).map { _ in SessionID(random: SystemRandom()) }
        for (number, id) in ids.enumerated() {
            // They expire minute by minute, the last one long after the others.
            let record = SessionRecord(
                id: id, token: TokenDigest(words: (1, 2, 3, id.low)), createdAt: 10,
                expiresAt: number == 5 ? 100 * minute : Int64(number + 1) * minute, revision: 1,
                services: [
                    ServiceDocument(
                        service: 1, birth: 0, revision: 1, createdAt: 10, updatedAt: 10, bytes: Array("{}".utf8))
                ], details: SessionDetails(userID: "u"))
            try await store.create(StoredSession(record: record, lastUsedAt: 11))
        }
        func ended(_ now: Int64, limit: Int = 10, idleTimeout: Int64 = 1_800_000) async throws -> Int {
            try await Self.ended(
                store,
                ExpiryQuery(now: now, idleTimeout: idleTimeout, retention: 3 * minute, limit: limit) { $0 == ids[1] })
        }
        #expect(try await ended(4 * minute - 1) == 0)
        #expect(try await ended(4 * minute) == 1)
        #expect(try await store.load(ids[0]) == nil)
        // The second is in use, and does not prevent the ends of the others.
        #expect(try await ended(8 * minute, limit: 1) == 3)
        for id in ids[2...4] { #expect(try await store.load(id) == nil) }
        #expect(try await Self.all(store, limit: 10).ids.sorted() == [ids[1], ids[5]].sorted())
        #expect(try await store.sessions(ofUser: "u").count == 2)
        try await Self.expectCount(store, 2)
        // Used again; a longer timeout applies to it now, so it has not expired.
        try await store.touch([SessionUse(id: ids[5], usedAt: 29 * minute)])
        #expect(try await ended(60 * minute, idleTimeout: 60 * minute) == 0)
        #expect(try await ended(92 * minute - 1, idleTimeout: 60 * minute) == 0)
        #expect(try await ended(92 * minute, idleTimeout: 60 * minute) == 1)
    }

    @Test("a commit may change the end of a session, and give it an idle timeout of its own", arguments: stores)
    func chosenTimes(_ candidate: Candidate) async throws {
        let store = try await make(candidate)
        let minute: Int64 = 60_000
        func commit(_ revision: UInt64, expiresAt: Int64, idleTimeout: Int64?) async throws {
            let record = SessionRecord(
                id: id, token: TokenDigest(words: (1, 2, 3, id.low)), createdAt: 10, expiresAt: expiresAt,
                revision: revision, services: [], details: SessionDetails(userID: "u", idleTimeout: idleTimeout))
            if revision == 1 {
                try await store.create(StoredSession(record: record, lastUsedAt: 11))
            } else {
                try await store.commit(Self.commit(record, replacing: revision - 1))
            }
            let loaded = try #require(try await store.load(id)).record
            #expect(loaded.expiresAt == expiresAt && loaded.idleTimeout == idleTimeout && loaded.userID == "u")
        }
        func ended(_ now: Int64) async throws -> Int {
            let query = ExpiryQuery(now: now, idleTimeout: minute, retention: 0, limit: 10) { _ in false }
            return try await Self.ended(store, query)
        }
        try await commit(1, expiresAt: 5 * minute, idleTimeout: nil)
        try await commit(2, expiresAt: 100 * minute, idleTimeout: 50 * minute)
        #expect(try await ended(50 * minute) == 0)
        try await store.touch([SessionUse(id: id, usedAt: 40 * minute)])
        #expect(try await ended(90 * minute - 1) == 0)
        // Used all the time, it would go at its end.
        try await commit(3, expiresAt: 80 * minute, idleTimeout: 50 * minute)
        #expect(try await ended(80 * minute - 1) == 0)
        try await commit(4, expiresAt: 80 * minute, idleTimeout: nil)
        #expect(try await ended(41 * minute - 1) == 0)
        #expect(try await ended(41 * minute) == 1)
        try await Self.expectCount(store, 0)
    }

    @Test("a timeout that has become shorter holds for sessions that were written before", arguments: stores)
    func shorterTimeout(_ candidate: Candidate) async throws {
        let store = try await make(candidate)
        let minute: Int64 = 60_000
        let ids = (0..<5).map { _ in SessionID(random: SystemRandom()) }
        for (index, id) in ids.enumerated() {
            let record = SessionRecord(
                id: id, token: TokenDigest(words: (1, 2, 3, id.low)), createdAt: 10,
                expiresAt: index == 4 ? 4 * minute : 600 * minute, revision: 1, services: [], details: .none)
            // Written when the timeout was half an hour.
            try await store.create(StoredSession(record: record, lastUsedAt: Int64(10 + index) * minute))
        }
        func query(_ now: Int64) -> ExpiryQuery {
            ExpiryQuery(now: now, idleTimeout: minute, retention: 0, limit: 2) { _ in false }
        }
        #expect(try await Self.ended(store, query(13 * minute)) == 4)
        #expect(try await store.load(ids[3]) != nil)
        #expect(try await Self.ended(store, query(14 * minute)) == 1)
        try await Self.expectCount(store, 0)
    }

    @Test(
        "a session that is imported after its end gets a revision floor, and keeps its own if that is higher",
        arguments: stores)
    func revisionFloor(_ candidate: Candidate) async throws {
        let store = try await make(candidate)
        func received(_ id: SessionID, revision: UInt64, floor: UInt64 = 0) async throws -> SessionRecord {
            let record = Self.record(id, revision: revision).raisingRevisionFloor(to: floor)
            try await store.receive(
                SessionArrival(session: StoredSession(record: record, lastUsedAt: 11), replacedRevision: nil))
            return try #require(try await store.load(id)).record
        }
        // No session has ended yet.
        let first = try await received(id, revision: 7)
        #expect(first.revision == 7 && first.details.revisionFloor == 0)
        try await store.commit(Self.commit(Self.record(id, revision: 9), replacing: 7))
        #expect(try await store.end(id))
        let second = try await received(id, revision: 7)
        #expect([7, second.highestRevision].contains(second.revision) && second.highestRevision >= 9)
        #expect(second.token == first.token && second.details.labels == first.details.labels)
        let third = try await received(SessionID(random: SystemRandom()), revision: 3, floor: 50)
        #expect(third.highestRevision >= 50)
        #expect(try await store.end(third.id))
        #expect(try await received(third.id, revision: 3).highestRevision >= 50)
        // The same for a session that expires.
        let query = ExpiryQuery(now: 120_000, idleTimeout: 1_000, retention: 0, limit: 10) { _ in false }
        let expired = Self.record(SessionID(high: 1, low: 1), revision: 70)
        try await store.create(StoredSession(record: expired, lastUsedAt: 1))
        #expect(try await Self.ended(store, query) == 3)
        #expect(try await received(expired.id, revision: 3).highestRevision >= 70)
    }

    @Test(
        "a session that is imported again after its end gives no entity tag and no journey step twice",
        arguments: stores)
    func importedAgain(_ candidate: Candidate) async throws {
        let store = try await make(candidate)
        let flow = #"""
            { "id": "loop", "version": 1, "initial": "here",
              "states": { "here": {"on": {"again": {"target": "here", "nav": "replace"}}} } }
            """#
        let catalog = try ServiceCatalog()
        let (flows, problems) = FlowLoader(services: catalog.directory)
            .load([FlowFile(name: "loop.json", bytes: Array(flow.utf8))])
        let sessions = Sessions(
            catalog: catalog, store: store,
            journeys: JourneySettings(engine: FlowEngine(catalog: try #require(flows, "\(problems)")), mainFlow: "loop")
        )
        let profile = try catalog.service(named: "profile")
        func write(_ session: Session) async throws -> ServiceETag {
            try await session.perform([.init(.put(["name": "Ada"]), on: profile, condition: .none)])[0].etag
        }
        func step(_ session: Session) async throws -> UInt64 {
            try await session.send("again", toJourney: "main").view.step
        }
        let (session, _) = try await sessions.create()
        var tags = [try await write(session)]
        // The first event makes two steps: the journey begins, and continues.
        var steps = [try await step(session)]
        let export = SessionExport(of: sessions, program: "test")
        var archive: [UInt8] = []
        while let piece = try await export.next() { archive += piece }
        for _ in 0..<3 {
            tags.append(try await write(session))
            for _ in 0..<3 { steps.append(try await step(session)) }
        }
        for _ in 0..<3 {
            let here = try #require(try await sessions.session(session.id))
            #expect(try await sessions.end(here))
            var work = SessionImport(into: sessions)
            try await work.take(archive)
            #expect(work.report.imported == 1 && work.report.isComplete)
            let back = try #require(try await sessions.session(session.id))
            steps.append(try await step(back))
            tags.append(try await write(back))
        }
        #expect(steps == steps.sorted() && Set(steps).count == steps.count)
        #expect(tags.map(\.revision) == tags.map(\.revision).sorted() && Set(tags).count == tags.count)
    }

    @Test("the store remembers the used versions of flows, or says that it cannot", arguments: stores)
    func usedFlows(_ candidate: Candidate) async throws {
        let store = try await make(candidate)
        guard let none = try await store.usedFlows() else { return }
        #expect(none.isEmpty)
        try await store.create(StoredSession(record: Self.record(id), lastUsedAt: 11))
        let old = UsedFlow(flow: "a", version: 1, states: "x y ")
        let new = UsedFlow(flow: "a", version: 2, states: "x ")
        var commit = Self.commit(Self.record(id, revision: 2), replacing: 1)
        commit.newFlows = [old, new]
        try await store.commit(commit)
        #expect(Set(try await store.usedFlows() ?? []) == [old, new])
        // A refused commit notes no flows.
        commit.newFlows = [UsedFlow(flow: "b", version: 1, states: "")]
        try? await store.commit(commit)
        #expect(try await store.usedFlows()?.count == 2)
        try await store.replaceUsedFlows([new])
        #expect(try await store.usedFlows() == [new])
    }

    @Test(
        "an imported session is added, or replaces the existing one completely",
        arguments: stores)
    func receive(_ candidate: Candidate) async throws {
        let store = try await make(candidate)
        let id = id
        func document(_ service: UInt16, _ revision: UInt64) -> ServiceDocument {
            ServiceDocument(
                service: service, birth: 0, revision: revision, createdAt: 12, updatedAt: 13, bytes: Array("{}".utf8))
        }
        func arrival(_ record: SessionRecord, replacing revision: UInt64?) -> SessionArrival {
            SessionArrival(
                session: StoredSession(record: record, lastUsedAt: 30), replacedRevision: revision,
                newFlows: [UsedFlow(flow: "a", version: Int(record.revision), states: "x ")])
        }
        let first = Self.record(id, revision: 7, services: [document(0, 5), document(1, 7)], user: "a")
        await expect(.gone) { () async throws(StoreError) in try await store.receive(arrival(first, replacing: 7)) }
        try await store.receive(arrival(first, replacing: nil))
        try await Self.expectCount(store, 1)
        #expect(try await store.load(id)?.record.services.count == 2)
        await expect(.conflict) { () async throws(StoreError) in try await store.receive(arrival(first, replacing: nil))
        }
        await expect(.conflict) { () async throws(StoreError) in try await store.receive(arrival(first, replacing: 6)) }
        // Also the parts that a commit never changes.
        let second = SessionRecord(
            id: id, token: TokenDigest(words: (9, 9, 9, 9)), createdAt: 20, expiresAt: 2_000, revision: 8,
            services: [document(1, 8)], details: SessionDetails(userID: "b"))
        try await store.receive(arrival(second, replacing: 7))
        let loaded = try #require(try await store.load(id))
        #expect(loaded.lastUsedAt == 30 && loaded.record.createdAt == 20 && loaded.record.expiresAt == 2_000)
        #expect(loaded.record.token == second.token && loaded.record.revision == 8)
        #expect(loaded.record.services.map(\.service) == [1] && loaded.record.services.map(\.revision) == [8])
        #expect(loaded.record.details.labels.isEmpty && loaded.record.details.retiredTokens.isEmpty)
        #expect(try await store.sessions(ofUser: "a").isEmpty)
        #expect(try await store.sessions(ofUser: "b").map(\.record.id) == [id])
        try await Self.expectCount(store, 1)
        // Commits continue from it.
        try await store.commit(Self.commit(Self.record(id, revision: 9), replacing: 8))
        if let flows = try await store.usedFlows() { #expect(Set(flows.map(\.version)) == [7, 8]) }
        #expect(try await store.end(id))
        try await Self.expectCount(store, 0)
    }

    /// The count of a cluster may be of a moment ago.
    static func expectCount(
        _ store: any SessionStore, _ count: Int, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let end = ContinuousClock.now + .seconds(20)
        while store is RedisStore, store.sessionCount != count, .now < end {
            try await Task.sleep(for: .milliseconds(5))
        }
        #expect(store.sessionCount == count, sourceLocation: sourceLocation)
    }

    func expect(
        _ expected: StoreError, sourceLocation: SourceLocation = #_sourceLocation,
        _ body: () async throws(StoreError) -> Void
    ) async {
        do throws(StoreError) {
            try await body()
            Issue.record("nothing was thrown", sourceLocation: sourceLocation)
        } catch {
            if case .overtaken = error, case .conflict = expected { return }
            #expect("\(error)" == "\(expected)", sourceLocation: sourceLocation)
        }
    }
}
