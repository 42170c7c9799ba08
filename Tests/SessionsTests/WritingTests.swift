import JSONDocument
import ServiceLocator
import Synchronization
import Testing

@testable import Sessions

@Suite struct WritingTests {
    private struct Mishap: Error {}

    @Test("typed services are changed as plain objects and committed as one")
    func typed() async throws {
        let fixture = try SessionsFixture()
        let session = try await fixture.session()
        try await session.update { locator in
            let profile = try locator.resolve(ProfileService.self)
            profile.state.name = "Ada"
            profile.state.email = "ada@example.org"
            profile.state.email = nil
            profile.state.attributes = ["theme": "dark"]
            try locator.resolve(DocumentService.key("counter")).document = ["count": 7]
        }
        let expected: JSONDocument = ["name": "Ada", "email": nil, "locale": nil, "attributes": ["theme": "dark"]]
        #expect(try fixture.get("profile", session) == (expected, ServiceETag(revision: 2)))
        #expect(try fixture.get("counter", session) == (["count": 7], ServiceETag(revision: 2)))
        #expect(try await fixture.store.load(session.id)?.record.services.count == 2)
    }

    @Test("a unit of work that only looks commits nothing, and makes what it asked for live")
    func onlyLooking() async throws {
        let fixture = try SessionsFixture()
        let session = try await fixture.session()
        let name = try await session.update { try $0.resolve(ProfileService.self).state.name }
        #expect(name == "")
        #expect(try session.summary().revision == 1)
        #expect(try fixture.status("profile", session)?.isLive == true)
    }

    @Test("when the closure throws, nothing has happened")
    func throwing() async throws {
        let fixture = try SessionsFixture()
        let session = try await fixture.session()
        await #expect(throws: Mishap.self) {
            try await session.update { locator in
                try locator.resolve(ProfileService.self).state.name = "Ada"
                throw Mishap()
            }
        }
        #expect(try session.summary().revision == 1)
        #expect(try fixture.status("profile", session)?.isLive == false)
    }

    @Test("one service that does not fit its schema stops the whole unit of work")
    func allOrNothing() async throws {
        let fixture = try SessionsFixture()
        let session = try await fixture.session()
        await #expect(throws: SessionError.self) {
            try await session.update { locator in
                try locator.resolve(ProfileService.self).state.name = "Ada"
                try locator.resolve(DocumentService.key("counter")).document = ["count": "many"]
            }
        }
        #expect(try session.summary().revision == 1)
        #expect(try session.services().allSatisfy { !$0.isLive })
    }

    @Test("in a unit of work, services that were not resolved can be cleared and removed, and made anew")
    func removingThroughTheLocator() async throws {
        let fixture = try SessionsFixture()
        let session = try await fixture.session()
        let counter = DocumentService.key("counter")
        try await fixture.perform(.put(["count": 1]), on: "counter", session)
        try await fixture.perform(.mergePatch(["name": "Ada"]), on: "profile", session)
        try await session.update { locator in
            #expect(locator.existing(counter) != nil)
            #expect(locator.existing(ServiceInstance<QuoteService>.key(nil)) == nil)
            try locator.clear(ServiceInstance<ProfileService>.key(nil))
            locator.remove(counter)
        }
        #expect(try fixture.get("profile", session).etag.revision == 4)
        #expect(try session.state(of: ProfileService.self).name == "")
        #expect(try fixture.status("counter", session)?.isLive == false)
        try await fixture.perform(.put(["count": 5]), on: "counter", session)
        try await session.update { locator in
            locator.remove(counter)
            let document = try locator.resolve(counter).document
            #expect(document == ["count": 0])
            try locator.resolve(counter).document = ["count": 1]
        }
        #expect(try fixture.get("counter", session) == (["count": 1], ServiceETag(revision: 6)))
        try await session.update { $0.removeAll() }
        #expect(try session.services().allSatisfy { !$0.isLive })
        #expect(try await fixture.store.load(session.id)?.record.services.isEmpty == true)
    }

    @Test("parallel updates lose no increment")
    func increments() async throws {
        let fixture = try SessionsFixture()
        let session = try await fixture.session()
        try await Self.increment(100) { _ in session }
        #expect(try fixture.get("counter", session).document == ["count": 100])
        #expect(try session.summary().revision == 101)
    }

    @Test("parallel updates of two processes on one store lose no increment")
    func incrementsOfTwo() async throws {
        let store = MemoryStore()
        let houses = try (0..<2).map { _ in try SessionsFixture(store: store) { $0.maxConflictRetries = 1_000 } }
        let (session, token) = try await houses[0].sessions.create()
        let sessions = [session, try await houses[1].sessions.authenticate(token.presented)]
        try await Self.increment(200) { sessions[$0 % 2] }
        #expect(try await store.load(session.id)?.record.revision == 201)
        // Who comes last has seen all.
        try await Self.increment(2) { sessions[$0 % 2] }
        let last = try await store.load(session.id)
        #expect(last?.record.services.first?.bytes == Array(#"{"count":202}"#.utf8))
    }

    private static func increment(_ times: Int, _ session: @escaping @Sendable (Int) -> Session) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<times {
                group.addTask {
                    try await session(number).update { locator in
                        let counter = try locator.resolve(DocumentService.key("counter"))
                        let count = try #require(counter.document[member: "count"]?.int)
                        counter.document = ["count": .init(count + 1)]
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("a commit that always loses is given up after the retries, and nothing has happened")
    func contention() async throws {
        let store = StoreWrapper()
        let fixture = try SessionsFixture(store: store) { $0.maxConflictRetries = 3 }
        let session = try await fixture.session()
        let attempts = Atomic<Int>(0)
        store.beforeCommit.withLock { $0 = { _ throws(StoreError) in throw .conflict } }
        await #expect(throws: SessionError.contention) {
            try await session.update { locator in
                attempts.add(1, ordering: .relaxed)
                try locator.resolve(ProfileService.self).state.name = "Ada"
            }
        }
        #expect(attempts.load(ordering: .relaxed) == 4)
        #expect(try session.summary().revision == 1)
        store.beforeCommit.withLock { $0 = nil }
        #expect(try await fixture.perform(.mergePatch(["name": "Ada"]), on: "profile", session).etag.revision == 2)
    }

    enum EndWithoutCommit: CaseIterable { case loses, throwsError, changesNothing, sessionIsGone, storeIsAway }

    @Test(
        "a session that is reserved for a unit of work is released when that ends without a commit",
        arguments: EndWithoutCommit.allCases)
    func released(_ end: EndWithoutCommit) async throws {
        let store = StoreWrapper()
        let fixture = try SessionsFixture(store: store)
        let session = try await fixture.session()
        let profile = try fixture.sessions.catalog.service(named: "profile")
        store.beforeCommit.withLock { $0 = { _ throws(StoreError) in throw .conflict } }
        store.beforeLoad.withLock {
            $0 = { _ throws(StoreError) in
                guard store.isReserved.withLock(\.self) == true else { return }
                switch end {
                case .sessionIsGone: _ = try await store.inner.end(session.id)
                case .storeIsAway: throw .unavailable("away")
                default: break
                }
            }
        }
        try? await session.transact(hasPrecedence: true) { pending in
            if store.isReserved.withLock(\.self) == true {
                if end == .throwsError { throw CancellationError() }
                if end == .changesNothing { return }
            }
            pending.write(profile, Array(#"{"name":"Ada"}"#.utf8))
        }
        #expect(store.isReserved.withLock(\.self) == false)
        store.letGo()
    }

    @Test("who gave If-Match is told when another process wrote first, and not run again")
    func conflictWithCondition() async throws {
        let store = StoreWrapper()
        let fixture = try SessionsFixture(store: store)
        let other = try SessionsFixture(store: store)
        let (session, token) = try await fixture.sessions.create()
        let same = try await other.sessions.authenticate(token.presented)
        try await other.perform(.put(["count": 1]), on: "counter", same)
        await #expect(
            throws: SessionError.preconditionFailed(service: "counter", current: ServiceETag(revision: 2))
        ) {
            try await fixture.perform(.put(["count": 2]), on: "counter", session, if: .ifMatch(.unwritten))
        }
        // Another service was not touched: its condition still holds.
        let outcome = try await fixture.perform(
            .mergePatch(["name": "A"]), on: "profile", session, if: .ifMatch(.unwritten))
        #expect(outcome.etag.revision == 3)
    }

    @Test("a failure of the store is told, and nothing has happened in memory")
    func storeFailures() async throws {
        let store = StoreWrapper()
        let fixture = try SessionsFixture(store: store)
        let session = try await fixture.session()
        store.beforeCommit.withLock { $0 = { _ throws(StoreError) in throw .full("no space") } }
        await #expect(throws: SessionError.storageFull(reason: "no space")) {
            try await fixture.perform(.put(["count": 2]), on: "counter", session)
        }
        store.beforeCommit.withLock { $0 = { _ throws(StoreError) in throw .unavailable("gone fishing") } }
        await #expect(throws: SessionError.storeUnavailable(reason: "gone fishing")) {
            try await fixture.perform(.put(["count": 2]), on: "counter", session)
        }
        #expect(try fixture.get("counter", session) == (["count": 0], .unwritten))
    }

    @Test("what is being committed is not seen before the commit returns")
    func unseenBeforeCommit() async throws {
        let store = StoreWrapper()
        let fixture = try SessionsFixture(store: store)
        let session = try await fixture.session()
        let seen = Mutex<JSONDocument?>(nil)
        defer { store.letGo() }
        store.beforeCommit.withLock {
            $0 = { _ in
                let document = try? fixture.get("counter", session).document
                seen.withLock { $0 = document }
            }
        }
        try await fixture.perform(.put(["count": 2]), on: "counter", session)
        #expect(seen.withLock { $0 } == ["count": 0])
        #expect(try fixture.get("counter", session).document == ["count": 2])
    }

    @Test("conditions: If-Match, its wildcard, and only if nothing was written")
    func conditions() async throws {
        let fixture = try SessionsFixture()
        let session = try await fixture.session()
        let put = ServiceOperation.Action.put(["count": 1])
        let unwritten = WriteCondition(ifNoneMatch: .any)
        #expect(try await fixture.perform(put, on: "counter", session, if: unwritten).etag.revision == 2)
        let current = ServiceETag(revision: 2)
        for condition in [unwritten, .ifMatch(.unwritten), .init(ifMatch: .oneOf([]))] {
            await #expect(throws: SessionError.preconditionFailed(service: "counter", current: current)) {
                try await fixture.perform(put, on: "counter", session, if: condition)
            }
        }
        #expect(try await fixture.perform(put, on: "counter", session, if: .init(ifMatch: .any)).etag.revision == 3)
        let several = WriteCondition(ifMatch: .oneOf([current, ServiceETag(revision: 3)]))
        #expect(try await fixture.perform(.remove, on: "counter", session, if: several).etag == .unwritten)
    }

    @Test("a service declared first_write is not written blindly")
    func firstWrite() async throws {
        let fixture = try SessionsFixture()
        let session = try await fixture.session()
        for action in [.put(.emptyObject), .mergePatch(.emptyObject), .jsonPatch([])] as [ServiceOperation.Action] {
            await #expect(throws: SessionError.preconditionRequired(service: "notes")) {
                try await fixture.perform(action, on: "notes", session)
            }
        }
        try await fixture.perform(.put(["a": 1]), on: "notes", session, if: .ifMatch(.unwritten))
        try await fixture.perform(.clear, on: "notes", session)
        try await fixture.perform(.remove, on: "notes", session)
    }

    @Test("a transaction is done as a whole, with one entity tag")
    func transaction() async throws {
        let fixture = try SessionsFixture()
        let session = try await fixture.session()
        try await fixture.perform(.put(["count": 1]), on: "counter", session)
        let spy = try ChangeSpy(session)
        let outcomes = try await session.perform([
            .init(.mergePatch(["name": "Ada"]), on: try fixture.service("profile")),
            .init(.put(["count": 2]), on: try fixture.service("counter"), condition: .ifMatch(.init(revision: 2))),
            .init(.jsonPatch([["op": "add", "path": "/count", "value": 3]]), on: try fixture.service("counter")),
            .init(.put(.emptyObject), on: try fixture.service("mail")),
            .init(.remove, on: try fixture.service("mail")),
        ])
        #expect(outcomes.map(\.etag.revision) == [3, 3, 3, 0, 0])
        #expect(try fixture.get("counter", session).document == ["count": 3])
        #expect(
            spy.changes == [
                .serviceChanged(name: "profile", etag: .init(revision: 3)),
                .serviceChanged(name: "counter", etag: .init(revision: 3)),
                .serviceRemoved(name: "mail"),
            ])
    }

    @Test("an operation that fails takes the whole transaction with it, and is named by its index")
    func failingTransaction() async throws {
        let fixture = try SessionsFixture()
        let session = try await fixture.session()
        let profile = try fixture.service("profile")
        let failing: [(ServiceOperation, SessionError)] = [
            (
                .init(.put(["count": "x"]), on: try fixture.service("counter")),
                .invalid([.init(pointer: "/count", detail: "")])
            ),
            (.init(.clear, on: try fixture.service("user")), .readOnly(service: "user")),
            (
                .init(.clear, on: profile, condition: .ifMatch(.init(revision: 9))),
                .preconditionFailed(service: "profile", current: .unwritten)
            ),
        ]
        for (operation, expected) in failing {
            let error = await #expect(throws: SessionError.self) {
                try await session.perform([.init(.mergePatch(["name": "Ada"]), on: profile), operation])
            }
            guard case .inOperation(1, let cause) = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
            if case .invalid(let inputs) = cause, case .invalid(let wanted) = expected {
                #expect(inputs.map(\.pointer) == wanted.map(\.pointer))
            } else {
                #expect(cause == expected)
            }
        }
        #expect(try session.summary().revision == 1)
        #expect(try fixture.status("profile", session)?.isLive == false)
    }

    @Test("while a commit waits for the store, readers and writers go on, and too many writers are turned away")
    func waiting() async throws {
        let store = StoreWrapper()
        let fixture = try SessionsFixture(store: store) { $0.maxWaitingWriters = 2 }
        let session = try await fixture.session()
        let (arrivals, arrival) = AsyncStream.makeStream(of: Void.self)
        let (departures, departure) = AsyncStream.makeStream(of: Void.self)
        store.beforeCommit.withLock {
            $0 = { _ in
                arrival.yield()
                for await _ in departures { return }
            }
        }
        let writers = (1...3).map { number in
            Task { try await fixture.perform(.put(["count": .init(number)]), on: "counter", session).etag.revision }
        }
        for await _ in arrivals { break }
        while session.underWayCount < 3 { await Task.yield() }
        #expect(try fixture.get("counter", session) == (["count": 0], .unwritten))
        await #expect(throws: SessionError.contention) {
            try await fixture.perform(.put(["count": 4]), on: "counter", session)
        }
        departure.finish()
        var revisions: Set<UInt64> = []
        for writer in writers { revisions.insert(try await writer.value) }
        #expect(revisions == [2, 3, 4])
    }

    @Test("a commit tells a store that has nothing to wait for when the session was used")
    func useOfCommit() async throws {
        let fixture = try SessionsFixture()
        let (session, token) = try await fixture.sessions.create()
        fixture.clock.advance(5_000)
        _ = try await fixture.sessions.authenticate(token.presented)
        try await fixture.perform(.put(["count": 1]), on: "counter", session)
        #expect(try await fixture.store.load(session.id)?.lastUsedAt == fixture.clock.now())
    }

    @Test("services of the process are found from a unit of work")
    func processServices() async throws {
        let greeting = ServiceKey("greeting", of: String.self)
        var added = SwiftServices()
        added.add(greeting) { _ in "Hello" }
        let sessions = Sessions(catalog: try ServiceCatalog(adding: added), store: MemoryStore())
        let (session, _) = try await sessions.create()
        try await session.update { locator in
            try locator.resolve(ProfileService.self).state.name = try locator.resolve(greeting)
        }
        #expect(try session.state(of: ProfileService.self).name == "Hello")
        #expect(sessions.environment.process.existing(greeting) == "Hello")
        await #expect(throws: ServiceLocatorError.self) {
            try await session.update { try $0.resolve(DocumentService.key("nothing")).document }
        }
    }
}
