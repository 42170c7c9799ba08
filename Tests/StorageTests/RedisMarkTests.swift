import RedisTestServer
import Sessions
import Synchronization
import Testing

@testable import RedisStorage

/// A Redis that has lost what it had, or is another one.
@Suite("The mark of an installation") struct RedisMarkTests {
    private let server: RedisTestServer
    private let fixture: RedisFixture
    private let id = SessionID(random: SystemRandom())

    init() throws {
        server = try RedisTestServer()
        fixture = try RedisFixture(server)
    }

    private var mark: RedisRequest.Word { .text("\(fixture.prefix){mark}") }

    /// Every call must refuse to say that a session does not exist.
    private func expectRefusals(
        _ store: RedisStore, _ id: SessionID, sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        func refuses(_ name: String, _ call: () async throws -> Void) async {
            do {
                try await call()
                Issue.record("\(name) was answered", sourceLocation: sourceLocation)
            } catch {
                #expect("\(error)".contains("Redis has lost"), "\(name): \(error)", sourceLocation: sourceLocation)
            }
        }
        let document = Samples.document(revision: 2)
        let commit = Samples.commit(Samples.record(id, revision: 2, [document]), over: 1)
        await refuses("commit") { try await store.commit(commit) }
        await refuses("standing") { _ = try await store.standing(of: id) }
        await refuses("load") { _ = try await store.load(id) }
        await refuses("end") { _ = try await store.end(id) }
        await refuses("list of a user") { _ = try await store.sessions(ofUser: "ada") }
        await refuses("page") { _ = try await store.page(after: nil, limit: 10) }
    }

    private func waitForTrouble(_ store: RedisStore) async throws {
        let start = ContinuousClock.now
        while store.trouble == nil { try #require(.now - start < .seconds(20)) }
    }

    @Test("after FLUSHALL nothing is said not to exist; a server that starts then begins anew")
    func flushed() async throws {
        let reports = Mutex<[String]>([])
        let store = try fixture.store(report: { text in reports.withLock { $0.append(text) } })
        try await store.create(Samples.session(id))
        #expect(try await store.load(SessionID(high: 1, low: 1)) == nil)
        try fixture.ask("FLUSHALL")
        await expectRefusals(store, id)
        try await waitForTrouble(store)
        let trouble = try #require(store.trouble)
        #expect(trouble.contains("{mark}") && trouble.contains("restart this server"), "\(trouble)")
        // Once, however many requests there were.
        #expect(reports.withLock { $0.count { $0.contains("Redis has lost") } } == 1)
        let new = try fixture.store()
        try await new.create(Samples.session(id))
        #expect(try await new.load(id) != nil)
        #expect(try await new.load(SessionID(high: 1, low: 1)) == nil)
        // It holds the former mark.
        await expectRefusals(store, SessionID(high: 1, low: 1))
        await store.close()
        await new.close()
    }

    @Test("a Redis that comes back without its data, and then with them")
    func emptied() async throws {
        let store = try fixture.store()
        try await store.create(Samples.session(id))
        server.kill()
        try server.start(["--appendonly", "no", "--dbfilename", "none.rdb"])
        let start = ContinuousClock.now
        var refusal = ""
        while !refusal.contains("Redis has lost") {
            try #require(.now - start < .seconds(30))
            do throws(StoreError) {
                #expect(try await store.load(id) != nil)
            } catch {
                refusal = "\(error)"
            }
        }
        server.kill()
        try server.start()
        _ = try await fixture.recovery(of: store)
        #expect(try await store.load(id) != nil && store.trouble == nil)
        await store.close()
    }

    @Test("another mark is as none, and the right one ends it")
    func other() async throws {
        let store = try fixture.store()
        try await store.create(Samples.session(id))
        #expect(try await store.load(SessionID(high: 1, low: 1)) == nil)
        let right = try #require(try fixture.ask("GET", mark).text)
        try fixture.ask("SET", mark, "other")
        try await waitForTrouble(store)
        await #expect(throws: StoreError.self) { try await store.load(id) }
        try fixture.ask("SET", mark, .text(right))
        _ = try await fixture.recovery(of: store)
        #expect(try await store.load(id) != nil)
        await store.close()
    }

    @Test("servers that start at once agree, also on sessions of a version without marks")
    func race() async throws {
        let first = try fixture.store()
        try await first.create(Samples.session(id))
        await first.close()
        try fixture.ask("DEL", mark)
        let stores = try (0..<8).map { _ in try fixture.store() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for store in stores {
                group.addTask { [id] in
                    let (found, missing) = (
                        try await store.load(id), try await store.load(SessionID(high: 1, low: 1))
                    )
                    #expect(found != nil && missing == nil)
                }
            }
            try await group.waitForAll()
        }
        #expect(stores.allSatisfy { $0.trouble == nil })
        for store in stores { await store.close() }
    }

    @Test("a node of a cluster that loses its data is noticed, though the others have theirs")
    func node() async throws {
        let cluster = try await RedisTestCluster()
        let store = try await RedisFixture(cluster: cluster).store()
        // Twelve are at more than one node, and none in the 64 slots where the slots of two nodes meet.
        var ids: [SessionID] = []
        while ids.count < 12 {
            let id = SessionID(random: SystemRandom())
            if ![5_461 / 64, 10_922 / 64].contains(RedisSlot.of("\(id)") / 64) { ids.append(id) }
        }
        for id in ids { try await store.create(Samples.session(id)) }
        for id in ids { #expect(try await store.load(id) != nil) }
        #expect(try await store.load(SessionID(high: 1, low: 1)) == nil)
        let owner = try await cluster.owner(of: RedisSlot.of("\(ids[0])"))
        try cluster.nodes[owner].ask("FLUSHALL")
        for id in ids {
            do throws(StoreError) {
                let found = try await store.load(id)
                #expect(found != nil)
            } catch {
                #expect("\(error)".contains("Redis has lost"), "\(error)")
            }
        }
        try await waitForTrouble(store)
        await store.close()
    }

    @Test("two installations in one Redis see nothing of each other")
    func prefixes() async throws {
        let other = try RedisFixture(server)
        #expect(other.prefix != fixture.prefix)
        let (here, there) = (try fixture.store(), try other.store())
        try await here.create(Samples.session(id, details: SessionDetails(userID: "ada")))
        #expect(try await here.sessions(ofUser: "ada").count == 1)
        #expect(try await there.load(id) == nil)
        #expect(try await there.sessions(ofUser: "ada").isEmpty)
        #expect(try await there.page(after: nil, limit: 10).sessions.isEmpty)
        #expect(try await there.end(id) == false)
        // The same id at once.
        try await there.create(Samples.session(id, usedAt: 12))
        try await here.commit(
            Samples.commit(Samples.record(id, revision: 2, [Samples.document(revision: 2)]), over: 1))
        #expect(try await there.load(id)?.record.revision == 1)
        await here.close()
        await there.close()
        let names = try server.ask("KEYS", "*").list.compactMap(\.text)
        #expect(names.allSatisfy { $0.hasPrefix("\(fixture.prefix){") || $0.hasPrefix("\(other.prefix){") }, "\(names)")
    }
}
