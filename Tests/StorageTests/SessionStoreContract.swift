import Sessions
import Storage
import Testing

/// What every store does. A new store is one line in `stores`.
@Suite struct SessionStoreContract {
    struct Candidate: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// A new, empty store, and what has to stay as long as it is used.
        let make: @Sendable () async throws -> (store: any SessionStore, owner: AnyObject?)
    }

    static let stores = [
        Candidate(testDescription: "memory") { (MemoryStore(), nil) },
        Candidate(testDescription: "sqlite") {
            let file = try SQLiteFile()
            return (try file.store(), file)
        },
    ]

    /// Stores that need not be waited for do the same when they are not.
    static let promptStores: [any PromptSessionStore] = [MemoryStore()]

    private static func record(
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

    private static func commit(_ record: SessionRecord, replacing revision: UInt64) -> SessionCommit {
        SessionCommit(
            record: record, replacedRevision: revision, changedServices: record.services.map(\.service))
    }

    private let id = SessionID(random: SystemRandom())

    @Test("what was created and committed is loaded, all of it", arguments: stores)
    func roundTrip(_ candidate: Candidate) async throws {
        let (store, owner) = try await candidate.make()
        defer { withExtendedLifetime(owner) {} }
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

    @Test("a session is created once", arguments: stores)
    func createTwice(_ candidate: Candidate) async throws {
        let (store, owner) = try await candidate.make()
        defer { withExtendedLifetime(owner) {} }
        try await store.create(StoredSession(record: Self.record(id), lastUsedAt: 11))
        await expect(.conflict) { () async throws(StoreError) in
            try await store.create(StoredSession(record: Self.record(id), lastUsedAt: 11))
        }
    }

    @Test("a commit from another revision is a conflict and changes nothing", arguments: stores)
    func conflict(_ candidate: Candidate) async throws {
        let (store, owner) = try await candidate.make()
        defer { withExtendedLifetime(owner) {} }
        try await store.create(StoredSession(record: Self.record(id), lastUsedAt: 11))
        try await store.commit(Self.commit(Self.record(id, revision: 2), replacing: 1))
        await expect(.conflict) { () async throws(StoreError) in
            try await store.commit(Self.commit(Self.record(id, revision: 2, user: "late"), replacing: 1))
        }
        #expect(try await store.load(id)?.record.userID == nil)
        #expect(try await store.sessions(ofUser: "late").isEmpty)
    }

    @Test("of many commits from one revision exactly one is done", arguments: stores)
    func race(_ candidate: Candidate) async throws {
        let (store, owner) = try await candidate.make()
        defer { withExtendedLifetime(owner) {} }
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

    @Test("commits that are made from ones under way are done in their order, and called back in it", arguments: stores)
    func chain(_ candidate: Candidate) async throws {
        let (store, owner) = try await candidate.make()
        defer { withExtendedLifetime(owner) {} }
        try await store.create(StoredSession(record: Self.record(id), lastUsedAt: 11))
        let (done, continuation) = AsyncStream.makeStream(of: (revision: UInt64, error: StoreError?).self)
        // One of them is made from a revision that was never there.
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

    @Test("an ended session is gone, and no commit brings it back", arguments: stores)
    func end(_ candidate: Candidate) async throws {
        let (store, owner) = try await candidate.make()
        defer { withExtendedLifetime(owner) {} }
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
        #expect(try await store.page(after: nil, limit: 10).isEmpty)
    }

    @Test("uses move the time of the last use forwards only, and a commit leaves it", arguments: stores)
    func touch(_ candidate: Candidate) async throws {
        let (store, owner) = try await candidate.make()
        defer { withExtendedLifetime(owner) {} }
        try await store.create(StoredSession(record: Self.record(id), lastUsedAt: 11))
        try await store.touch([SessionUse(id: id, usedAt: 20)])
        try await store.touch([SessionUse(id: id, usedAt: 15)])
        try await store.commit(Self.commit(Self.record(id, revision: 2), replacing: 1))
        #expect(try await store.load(id)?.lastUsedAt == 20)
    }

    @Test("sessions are found by their user, who may change", arguments: stores)
    func users(_ candidate: Candidate) async throws {
        let (store, owner) = try await candidate.make()
        defer { withExtendedLifetime(owner) {} }
        let ids = (0..<5).map { _ in SessionID(random: SystemRandom()) }
        for id in ids { try await store.create(StoredSession(record: Self.record(id, user: "a"), lastUsedAt: 11)) }
        #expect(try await store.sessions(ofUser: "a").map(\.record.id) == ids.sorted())
        try await store.commit(Self.commit(Self.record(ids[0], revision: 2, user: "b"), replacing: 1))
        try await store.commit(Self.commit(Self.record(ids[1], revision: 2), replacing: 1))
        #expect(try await store.sessions(ofUser: "a").map(\.record.id) == ids[2...].sorted())
        #expect(try await store.sessions(ofUser: "b").map(\.record.id) == [ids[0]])
        #expect(try await store.sessions(ofUser: "nobody").isEmpty)
    }

    @Test("pages go through all sessions in the order of ids", arguments: stores)
    func pages(_ candidate: Candidate) async throws {
        let (store, owner) = try await candidate.make()
        defer { withExtendedLifetime(owner) {} }
        // Some share their first byte; the first and the last that there can be are among them.
        var ids = (0..<40).map { SessionID(high: UInt64($0 % 7) << 56 | UInt64($0), low: UInt64($0)) }
        ids += [SessionID(high: .max, low: 0), SessionID(high: 1 << 63, low: 1), SessionID(high: 1 << 63 - 1, low: 2)]
        for id in ids { try await store.create(StoredSession(record: Self.record(id), lastUsedAt: 11)) }
        var found: [SessionID] = []
        while true {
            let page = try await store.page(after: found.last, limit: 3).map(\.record.id)
            #expect(page.count <= 3)
            if page.isEmpty { break }
            found += page
        }
        #expect(found == ids.sorted())
    }

    @Test("it knows how many sessions there are", arguments: stores)
    func count(_ candidate: Candidate) async throws {
        let (store, owner) = try await candidate.make()
        defer { withExtendedLifetime(owner) {} }
        #expect(store.sessionCount == 0)
        let ids = (0..<3).map { _ in SessionID(random: SystemRandom()) }
        for id in ids { try await store.create(StoredSession(record: Self.record(id), lastUsedAt: 11)) }
        _ = try? await store.create(StoredSession(record: Self.record(ids[0]), lastUsedAt: 11))
        #expect(store.sessionCount == 3)
        #expect(try await store.end(ids[0]))
        #expect(try await !store.end(ids[0]))
        #expect(store.sessionCount == 2)
    }

    @Test("what is over is ended, the first first, so many at a time; the others stay", arguments: stores)
    func expiry(_ candidate: Candidate) async throws {
        let (store, owner) = try await candidate.make()
        defer { withExtendedLifetime(owner) {} }
        let minute: Int64 = 60_000
        let ids = (0..<6).map { _ in SessionID(random: SystemRandom()) }
        for (number, id) in ids.enumerated() {
            // Their times are over minute by minute; that of the last one is over long after.
            let record = SessionRecord(
                id: id, token: TokenDigest(words: (1, 2, 3, id.low)), createdAt: 10,
                expiresAt: number == 5 ? 100 * minute : Int64(number + 1) * minute, revision: 1,
                services: [
                    ServiceDocument(
                        service: 1, birth: 0, revision: 1, createdAt: 10, updatedAt: 10, bytes: Array("{}".utf8))
                ], details: SessionDetails(userID: "u"))
            try await store.create(StoredSession(record: record, lastUsedAt: 11))
        }
        func query(_ now: Int64, limit: Int = 10, idleTimeout: Int64 = 1_800_000) -> ExpiryQuery {
            ExpiryQuery(now: now, idleTimeout: idleTimeout, limit: limit) { $0 == ids[1] }
        }
        #expect(try await store.endExpired(query(minute - 1)).count == 0)
        let first = try await store.endExpired(query(5 * minute, limit: 1))
        #expect(first.sessions.map(\.record.id) == [ids[0]] && first.count == 1 && first.looked == 1)
        #expect(first.sessions.first?.record.services.map(\.service) == [1])
        #expect(try await store.load(ids[0]) == nil)
        // The second is in use and does not keep the others from their ends.
        var ended: [SessionID] = []
        for _ in 0..<4 { ended += try await store.endExpired(query(5 * minute, limit: 1)).sessions.map(\.record.id) }
        #expect(ended == [ids[2], ids[3], ids[4]])
        #expect(try await store.page(after: nil, limit: 10).map(\.record.id) == [ids[1], ids[5]].sorted())
        #expect(try await store.sessions(ofUser: "u").count == 2)
        #expect(store.sessionCount == 2)
        // Used again, and by a longer timeout of today not over when it was to be looked at.
        try await store.touch([SessionUse(id: ids[5], usedAt: 29 * minute)])
        #expect(try await store.endExpired(query(60 * minute, idleTimeout: 60 * minute)).count == 0)
        #expect(try await store.endExpired(query(89 * minute, idleTimeout: 60 * minute)).sessions.count == 1)
    }

    @Test("a timeout that is shorter today holds for sessions that were written under a longer one", arguments: stores)
    func shorterTimeout(_ candidate: Candidate) async throws {
        let (store, owner) = try await candidate.make()
        defer { withExtendedLifetime(owner) {} }
        let minute: Int64 = 60_000
        let ids = (0..<5).map { _ in SessionID(random: SystemRandom()) }
        for (index, id) in ids.enumerated() {
            let record = SessionRecord(
                id: id, token: TokenDigest(words: (1, 2, 3, id.low)), createdAt: 10,
                expiresAt: index == 4 ? 4 * minute : 600 * minute, revision: 1, services: [], details: .none)
            // Written when it was half an hour.
            try await store.create(StoredSession(record: record, lastUsedAt: Int64(10 + index) * minute))
        }
        func ended(at now: Int64) async throws -> Set<SessionID> {
            var ended: Set<SessionID> = []
            // More than needed: none of them is to be looked at for ever.
            for _ in 0..<8 {
                let query = ExpiryQuery(now: now, idleTimeout: minute, limit: 2) { _ in false }
                ended.formUnion(try await store.endExpired(query).sessions.map(\.record.id))
            }
            return ended
        }
        #expect(try await ended(at: 13 * minute) == [ids[0], ids[1], ids[2], ids[4]])
        #expect(try await ended(at: 14 * minute) == [ids[3]])
        #expect(store.sessionCount == 0)
    }

    @Test("it remembers which versions of flows were used, or says that it does not", arguments: stores)
    func usedFlows(_ candidate: Candidate) async throws {
        let (store, owner) = try await candidate.make()
        defer { withExtendedLifetime(owner) {} }
        guard let none = try await store.usedFlows() else { return }
        #expect(none.isEmpty)
        try await store.create(StoredSession(record: Self.record(id), lastUsedAt: 11))
        let old = UsedFlow(flow: "a", version: 1, states: "x y ")
        let new = UsedFlow(flow: "a", version: 2, states: "x ")
        var commit = Self.commit(Self.record(id, revision: 2), replacing: 1)
        commit.newFlows = [old, new]
        try await store.commit(commit)
        #expect(Set(try await store.usedFlows() ?? []) == [old, new])
        // A commit that is not done says nothing.
        commit.newFlows = [UsedFlow(flow: "b", version: 1, states: "")]
        try? await store.commit(commit)
        #expect(try await store.usedFlows()?.count == 2)
        try await store.replaceUsedFlows([new])
        #expect(try await store.usedFlows() == [new])
    }

    @Test(
        "what comes from elsewhere is added where nothing is, and where it replaces all of that is gone",
        arguments: stores)
    func receive(_ candidate: Candidate) async throws {
        let (store, owner) = try await candidate.make()
        defer { withExtendedLifetime(owner) {} }
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
        #expect(store.sessionCount == 1)
        #expect(try await store.load(id)?.record.services.count == 2)
        await expect(.conflict) { () async throws(StoreError) in try await store.receive(arrival(first, replacing: nil))
        }
        await expect(.conflict) { () async throws(StoreError) in try await store.receive(arrival(first, replacing: 6)) }
        // Also what a commit never changes.
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
        #expect(store.sessionCount == 1)
        // Commits go on from it.
        try await store.commit(Self.commit(Self.record(id, revision: 9), replacing: 8))
        if let flows = try await store.usedFlows() { #expect(Set(flows.map(\.version)) == [7, 8]) }
        #expect(try await store.end(id))
        #expect(store.sessionCount == 0)
    }

    @Test("what is done at once is done, once, and from the revision that is there", arguments: promptStores)
    func atOnce(_ store: any PromptSessionStore) async throws {
        try store.createAtOnce(StoredSession(record: Self.record(id), lastUsedAt: 11))
        #expect(try await store.load(id)?.record.revision == 1)
        await expect(.conflict) { () async throws(StoreError) in
            try store.createAtOnce(StoredSession(record: Self.record(id), lastUsedAt: 12))
        }
        try store.commitAtOnce(Self.commit(Self.record(id, revision: 2, user: "u"), replacing: 1))
        await expect(.conflict) { () async throws(StoreError) in
            try store.commitAtOnce(Self.commit(Self.record(id, revision: 2), replacing: 1))
        }
        let session = try #require(try await store.load(id))
        #expect(session.lastUsedAt == 11 && session.record.revision == 2 && session.record.userID == "u")
        #expect(try await store.end(id))
        await expect(.gone) { () async throws(StoreError) in
            try store.commitAtOnce(Self.commit(Self.record(id, revision: 3), replacing: 2))
        }
    }

    private func expect(
        _ expected: StoreError, sourceLocation: SourceLocation = #_sourceLocation,
        _ body: () async throws(StoreError) -> Void
    ) async {
        do throws(StoreError) {
            try await body()
            Issue.record("nothing was thrown", sourceLocation: sourceLocation)
        } catch {
            #expect("\(error)" == "\(expected)", sourceLocation: sourceLocation)
        }
    }
}
