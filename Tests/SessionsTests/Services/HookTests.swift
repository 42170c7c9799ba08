import JSONDocument
import Support
import Testing

@testable import Sessions

@Suite("Hooks of services in Swift", .timeLimit(.minutes(1)))
struct HookTests {
    private let fixture: SessionsFixture
    private let session: Session

    init() async throws {
        fixture = try Self.fixture()
        session = try await fixture.session()
    }

    private static func fixture(
        store: any SessionStore = MemoryStore(), clock: ManualClock = ManualClock(),
        _ configure: (inout SessionSettings) -> Void = { _ in }
    ) throws -> SessionsFixture {
        try SessionsFixture(
            store: store, clock: clock,
            flows: [
                """
                {"id": "tour", "version": 1, "initial": "a", "states": {
                   "a": {"data": ["visit"], "on": {
                     "drop": {"actions": [{"remove": "visit"}, {"call": "visit/note", "with": "again"}]},
                     "buy": {"target": "buy"}}},
                   "buy": {"type": "flow", "flow": "buy", "on": {"done": {}}}}}
                """,
                """
                {"id": "buy", "version": 1, "initial": "b", "owns": ["basket"],
                 "entry": [{"call": "basket/add", "with": "tea"}], "states": {
                   "b": {"data": ["basket"], "on": {"end": {"target": "z"}, "new": {"actions": [{"remove": "basket"}]}}},
                   "z": {"type": "final"}}}
                """,
                """
                {"id": "look", "version": 1, "initial": "c", "owns": ["basket"], "states": {
                   "c": {"data": ["basket"], "on": {"count": {
                     "guard": {"compare": ["/basket/items/0", "==", {"value": "bag"}]},
                     "actions": [{"call": "basket/look"}]}}}}}
                """,
            ], adding: Visits.services, configure)
    }

    private static func ledger(of fixture: SessionsFixture) throws -> Ledger {
        try fixture.sessions.environment.process.resolve(Ledger.key)
    }

    private var ledger: Ledger { get throws { try Self.ledger(of: fixture) } }

    private func operation(_ action: ServiceOperation.Action, on name: String = "visit") throws -> ServiceOperation {
        ServiceOperation(action, on: try fixture.service(name))
    }

    private func call(
        _ command: String, _ input: JSONDocument? = nil, on name: String = "visit", inJourney journey: String? = nil
    ) throws -> ServiceOperation {
        let service = try fixture.service(name)
        return ServiceOperation(.call(try service.command(named: command), input), on: service, journey: journey)
    }

    /// The document that a GET shows.
    private func get(_ name: String = "visit") async throws -> (document: JSONDocument, etag: ServiceETag) {
        let (bytes, etag) = try await session.createdDocument(of: try fixture.service(name))
        return (try JSONDocument(parsing: bytes), etag)
    }

    // MARK: Created

    @Test("the first of any number of readers makes the instance, which is stored as its hook has made it")
    func created() async throws {
        #expect(try session.isFirstUse(of: fixture.service("visit")))
        let seen = try await withThrowingTaskGroup(of: (JSONDocument, ServiceETag).self) { group in
            for _ in 0..<50 { group.addTask { try await get() } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        for (document, etag) in seen {
            #expect(document == ["number": 1, "note": "new ", "log": []] && etag.revision == 2)
        }
        #expect(try ledger.count == 1)
        #expect(try !session.isFirstUse(of: fixture.service("visit")))
        #expect(try await fixture.store.load(session.id)?.record.services.count == 1)
        #expect(try fixture.get("visit", session) == seen[0])
    }

    @Test("a service without the hook is read as ever")
    func without() async throws {
        #expect(try !session.isFirstUse(of: fixture.service("orders")))
        #expect(try fixture.get("orders", session).etag == .unwritten)
        #expect(try fixture.status("orders", session)?.isLive == true)
        #expect(try session.summary().revision == 1)
        // Looked at in another way, one with the hook does not live either.
        _ = try fixture.get("visit", session)
        #expect(try fixture.status("visit", session)?.isLive == false)
    }

    @Test("whatever comes first finds what the hook has made, in one commit with it; so it is after a removal")
    func firstUses() async throws {
        let patch: [ServiceOperation.Action] = [
            .mergePatch(["log": ["x"]]), .jsonPatch([["op": "add", "path": "/log/-", "value": "x"]]),
        ]
        var (number, revision) = (0, try session.summary().revision)
        func expect(_ document: JSONDocument) async throws {
            number += 1
            revision += 1
            #expect(try await get().document == document)
            #expect(try session.summary().revision == revision)
            try await fixture.perform(.remove, on: "visit", session)
            revision += 1
        }
        for action in patch {
            try await fixture.perform(action, on: "visit", session)
            try await expect(["number": .init(number + 1), "note": "new ", "log": ["x"]])
        }
        for action in patch {
            _ = try await session.perform([operation(.put(["count": 1]), on: "orders"), operation(action)])
            try await expect(["number": .init(number + 1), "note": "new ", "log": ["x"]])
        }
        #expect(try await session.call(call("note", "first")).output == .init("\(number + 1) new first"))
        try await expect(["number": .init(number + 1), "note": "new first", "log": []])
        _ = try await session.perform([operation(.mergePatch(["log": ["y"]])), call("note", "z")])
        try await expect(["number": .init(number + 1), "note": "new z", "log": ["y"]])
        // Another one's object asks for it.
        _ = try await session.call(call("look", on: "basket"))
        try await expect(["number": .init(number + 1), "note": "new ", "log": []])
        #expect(try ledger.count == number)
        // A state is replaced as a whole, and only clients may not do what they may not.
        try await fixture.perform(.put(["number": 7]), on: "visit", session)
        #expect(try await get().document == ["number": 7, "note": "", "log": []])
        try await fixture.perform(.clear, on: "visit", session)
        #expect(try await get().document == ["number": 0, "note": "", "log": []])
        #expect(try ledger.count == number + 1)
    }

    @Test("a removed instance gets another one within the unit, and clearing makes none")
    func withinUnit() async throws {
        _ = try await get()
        let key = ServiceInstance<Visit>.key(nil)
        let numbers = try await session.update { locator in
            let first = try locator.resolve(Visit.self).state.number
            try locator.clear(key)
            let cleared = try locator.resolve(Visit.self).state.number
            locator.remove(key)
            return [first, cleared, try locator.resolve(Visit.self).state.number]
        }
        #expect(numbers == [1, 0, 2])
        #expect(try await get().document[member: "number"] == 2)
        try await session.update { locator in
            try locator.clear(key)
            #expect(try locator.resolve(Visit.self).state.number == 0)
        }
    }

    @Test("when the hook throws nothing has changed, and the next use tries again")
    func createdFails() async throws {
        try ledger.fail("created")
        let failed = { (error: any Error) -> Bool in
            if case .serviceFailed("visit", _) = error as? SessionError { true } else { false }
        }
        await #expect(performing: { _ = try await get() }, throws: failed)
        await #expect(
            performing: { try await fixture.perform(.mergePatch(["note": "x"]), on: "visit", session) }, throws: failed)
        await #expect(
            performing: {
                _ = try await session.perform([
                    operation(.put(["count": 1]), on: "orders"), operation(.put(["note": "x"])),
                ])
            },
            throws: { error in
                if case .inOperation(1, let inner) = error as? SessionError { failed(inner) } else { false }
            })
        let refusal = Refusal("ledger_closed", "The ledger is closed.")
        await #expect(throws: SessionError.refused(refusal)) { try await session.call(call("note", "x")) }
        await #expect(performing: { _ = try await session.startJourney(flow: "tour") }, throws: failed)
        #expect(try session.summary().revision == 1)
        #expect(try session.services().allSatisfy { !$0.isLive })
        // What a command makes of such an error does not keep what the hook has done.
        try await session.update { locator in
            #expect(throws: (any Error).self) { try locator.resolve(Visit.self) }
            try locator.resolve(Orders.self).state.count = 1
        }
        #expect(try fixture.status("visit", session)?.isLive == false)
        try ledger.fail()
        #expect(try await get().document[member: "note"] == "new ")
    }

    // MARK: Created, in journeys

    @Test("a journey shows the session's services as their hooks have made them, also after a removal")
    func inJourney() async throws {
        let started = try await session.startJourney(flow: "tour")
        let id = started.view.id
        #expect(started.view.screen?["visit"]?[member: "number"] == 1)
        try await fixture.perform(.remove, on: "visit", session)
        #expect(try await session.journey(id).view.screen?["visit"]?[member: "number"] == 2)
        #expect(try await get().document[member: "number"] == 2)
        try await fixture.perform(.remove, on: "visit", session)
        #expect(try await session.journeys().first?.view.screen?["visit"]?[member: "number"] == 3)
        let dropped = try await session.send("drop", toJourney: id)
        #expect(dropped.view.screen?["visit"] == ["number": 4, "note": "new again", "log": []])
        #expect(try ledger.count == 4)
        // Another one that nobody has made yet: no journey needs it.
        #expect(try fixture.status("basket", session)?.isLive == false)
    }

    @Test("what a coordinator owns is made with it, and made again, beside the session's")
    func owned() async throws {
        _ = try await session.call(call("add", "cup", on: "basket"))
        let id = try await session.startJourney(flow: "tour").view.id
        let bought = try await session.send("buy", toJourney: id)
        #expect(bought.view.screen?["basket"] == ["items": ["bag", "tea"]])
        let renewed = try await session.send("new", toJourney: id)
        #expect(renewed.view.screen?["basket"] == ["items": ["bag"]])
        #expect(try await session.call(call("add", "milk", on: "basket", inJourney: id)).output == 2)
        let basket = try fixture.service("basket")
        _ = try await session.perform([ServiceOperation(.remove, on: basket, journey: id)])
        let patch = ServiceOperation(
            .jsonPatch([["op": "add", "path": "/items/-", "value": "x"]]), on: basket, journey: id)
        #expect(try await session.perform([patch])[0].bytes == Array(#"{"items":["bag","x"]}"#.utf8))
        _ = try await session.perform([ServiceOperation(.remove, on: basket, journey: id)])
        let (bytes, etag) = try await session.document(of: basket, inJourney: id)
        #expect(bytes == Array(#"{"items":["bag"]}"#.utf8) && etag != .unwritten)
        #expect(try await get("basket").document == ["items": ["bag", "cup"]])
    }

    @Test("the first screen and its guards know what a coordinator's service was made with")
    func ownedAtStart() async throws {
        let started = try await session.startJourney(flow: "look")
        #expect(started.view.screen?["basket"] == ["items": ["bag"]])
        let revision = try session.summary().revision
        #expect(try session.residentJourney(started.view.id)?.view == started.view)
        #expect(try session.summary().revision == revision)
        try await session.send("count", toJourney: started.view.id)
    }

    // MARK: Signed out

    @Test("when the user leaves, living services do what they do then, and what is bound to the user is still there")
    func signedOut() async throws {
        _ = try await session.call(call("add", "cup", on: "basket"))
        try await fixture.sessions.detachUser(from: session)
        #expect(try await get().document[member: "log"] == [], "nobody was signed in")
        _ = try await session.call(call("add", "cup", on: "basket"))
        _ = try await fixture.sessions.attachUser("ada", to: session)
        _ = try await fixture.sessions.attachUser("ada", claims: ["a": 1], to: session)
        #expect(try await get().document[member: "log"] == [])
        let revision = try session.summary().revision
        try await fixture.sessions.detachUser(from: session)
        #expect(try session.summary().revision == revision + 1)
        #expect(try fixture.status("basket", session)?.isLive == false)
        // The newest first.
        #expect(try await get().document[member: "log"] == ["ada left 2", "signed out"])
        try await fixture.sessions.detachUser(from: session)
        #expect(try session.summary().revision == revision + 1)
        _ = try await fixture.sessions.attachUser("ada", to: session)
        _ = try await fixture.sessions.attachUser("bob", to: session)
        #expect(try await get().document[member: "log"]?.count == 3)
        try await fixture.perform(
            .put(["id": "eve", "authenticated": true, "claims": [:]]), on: "user", session, by: .admin)
        #expect(try await get().document[member: "log"]?.count == 4)
        #expect(session.identity.userID == "eve")
        // Whoever writes the service, the hooks see who leaves, and what is still theirs.
        for change in [
            .put(["id": "bob", "authenticated": true, "claims": [:]]), .clear,
            .put(["id": "ada", "authenticated": true, "claims": [:]]), .remove,
        ] as [ServiceOperation.Action] {
            _ = try await session.call(call("add", "cup", on: "basket"))
            let leaving = session.identity.userID ?? ""
            try await fixture.perform(change, on: "user", session, by: .admin)
            let log = try await get().document[member: "log"]
            if !leaving.isEmpty {
                let last = log?.elements?.suffix(2).compactMap(\.string) ?? []
                #expect(last.first?.hasPrefix("\(leaving) left ") == true && last.last == "signed out")
            }
        }
        #expect(session.identity.userID == nil)
        #expect(fixture.notes.failed == [])
    }

    @Test(
        "a hook that throws, or makes what cannot be kept, keeps nobody signed in",
        arguments: ["signedOut", "tooLarge"])
    func signedOutFails(_ failure: String) async throws {
        _ = try await session.call(call("add", "cup", on: "basket"))
        _ = try await fixture.sessions.attachUser("ada", to: session)
        try ledger.fail(failure)
        try await fixture.sessions.detachUser(from: session)
        #expect(session.identity.userID == nil)
        #expect(try fixture.status("basket", session)?.isLive == false)
        // What the other one has done is kept.
        #expect(try await get().document == ["number": 1, "note": "new ", "log": ["ada left 2"]])
        #expect(fixture.notes.failed == ["visit/signedOut"])
    }

    // MARK: Ended

    private static let ends = ["basket 2", "visit 1 new x"]

    /// Writes two services, and reads one more.
    private static func fill(_ session: Session, _ fixture: SessionsFixture) async throws {
        let (visit, basket) = (try fixture.service("visit"), try fixture.service("basket"))
        _ = try await session.call(.init(.call(try visit.command(named: "note"), "x"), on: visit))
        _ = try await session.call(.init(.call(try basket.command(named: "add"), "cup"), on: basket))
        _ = try fixture.get("orders", session)
    }

    @Test("a session that is ended tells its services, newest first, once, with their last states")
    func ended() async throws {
        try await Self.fill(session, fixture)
        try ledger.fail("ended")
        let (session, sessions) = (session, fixture.sessions)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<10 { group.addTask { _ = try? await sessions.end(session) } }
        }
        #expect(try ledger.ended == Self.ends)
        #expect(fixture.notes.failed == ["visit/ended"])
        // Nothing of it is left for others.
        try await sessions.end(try await fixture.session())
        #expect(try ledger.ended == Self.ends)
    }

    @Test("it does not matter why it ends", arguments: ["expired", "stolen", "shed", "user"])
    func otherEnds(_ end: String) async throws {
        let fixture = try Self.fixture { $0.maxSessions = 1 }
        let (session, old) = try await fixture.sessions.create()
        try await Self.fill(session, fixture)
        switch end {
        case "expired":
            fixture.clock.advance(1_800_000)
            await fixture.sessions.sweep()
        case "stolen":
            _ = try await fixture.sessions.rotate(session)
            fixture.clock.advance(30_000)
            #expect(try await !fixture.isAuthenticated(old))
        case "shed":
            fixture.clock.advance(Shedding.idleAge)
            _ = try await fixture.session()
        default:
            _ = try await fixture.sessions.attachUser("ada", to: session)
            #expect(try await fixture.sessions.endSessions(ofUser: "ada") == 1)
        }
        #expect(try Self.ledger(of: fixture).ended == Self.ends)
    }

    @Test("a session whose end the store refuses has not ended")
    func notEnded() async throws {
        let store = StoreWrapper()
        let fixture = try Self.fixture(store: store)
        let session = try await fixture.session()
        try await Self.fill(session, fixture)
        store.endFailure.withLock { $0 = .unavailable("x") }
        await #expect(throws: SessionError.self) { try await fixture.sessions.end(session) }
        #expect(try Self.ledger(of: fixture).ended == [])
        store.endFailure.withLock { $0 = nil }
        try await fixture.sessions.end(session)
        #expect(try Self.ledger(of: fixture).ended == Self.ends)
    }

    @Test("one that expired in a store that outlives the process ends when the store deletes it")
    func expiredInStore() async throws {
        let fixture = try Self.fixture(store: StoreWrapper())
        try await Self.fill(try await fixture.session(), fixture)
        fixture.clock.advance(1_800_000)
        await fixture.sessions.sweep()
        #expect(fixture.sessions.statistics.live == 0)
        await fixture.sessions.sweepStore()
        #expect(try Self.ledger(of: fixture).ended == [])
        let other = try await fixture.session()
        fixture.clock.advance(fixture.sessions.settings.expiredRetention)
        #expect(await fixture.sessions.sweepStore().count == 1)
        #expect(try Self.ledger(of: fixture).ended == Self.ends)
        #expect(fixture.sessions.statistics.ended == 1 && fixture.sessions.registry.total == 1)
        // It is in memory, so the sweep of the store leaves it alone.
        #expect(try await fixture.store.load(other.id) != nil)
        #expect(await fixture.sessions.sweepStore().count == 0)
        #expect(try Self.ledger(of: fixture).ended == Self.ends)
    }

    @Test("of processes that share a store one tells, with what another one has written")
    func shared() async throws {
        let (hub, clock) = (SharedStore(), ManualClock(isStill: true))
        let (one, two) = (
            try Self.fixture(store: hub.door(), clock: clock), try Self.fixture(store: hub.door(), clock: clock)
        )
        let session = try await one.session()
        _ = try await session.createdDocument(of: try one.service("visit"))
        let there = try #require(try await two.sessions.session(session.id))
        try await two.perform(.mergePatch(["note": "new x"]), on: "visit", there)
        async let first = one.sessions.end(session)
        async let second = two.sessions.end(there)
        let ends = try await (first, second)
        #expect(ends.0 || ends.1)
        let told = try Self.ledger(of: one).ended + Self.ledger(of: two).ended
        #expect(told == ["visit 1 new x"])
    }
}
