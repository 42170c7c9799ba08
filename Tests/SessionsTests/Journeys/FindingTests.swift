import Navigation
import Synchronization
import Testing

@testable import Sessions

/// Looking for journeys in all sessions.
@Suite struct FindingTests {
    static let shop = """
        {"id": "shop", "version": 1, "initial": "browse",
         "guards": {"never": {"compare": ["/counter/count", "==", {"value": 7}]}},
         "on": {"pay": {"target": "paying"}, "check": {"target": "checking"}, "help": {"target": "helping"},
                "quit": {"target": "gone"}},
         "states": {
           "browse": {"on": {"look": {}}}, "paid": {}, "gone": {"type": "final", "outcome": "gone"},
           "helping": {"type": "flow", "flow": "loop", "on": {"done": {"target": "browse"}}},
           "checking": {"type": "task", "task": "check", "retry": {"attempts": 1},
             "on": {"done": {"guard": "never", "target": "paid"}}},
           "paying": {"type": "task", "task": "pay", "on": {"done": {"target": "paid"}}}}}
        """

    private static func fixture(
        _ store: any SessionStore = MemoryStore(), _ clock: ManualClock = ManualClock(isStill: true),
        flows: [String] = [shop, Flows.loop], _ configure: (inout SessionSettings) -> Void = { _ in }
    ) throws -> SessionsFixture {
        try SessionsFixture(store: store, clock: clock, flows: flows, mainFlow: "shop", configure)
    }

    private static func found(
        _ fixture: SessionsFixture, limit: Int = 100, _ change: (inout JourneyQuery) throws -> Void = { _ in }
    ) async throws -> [SessionID] {
        var query = JourneyQuery(limit: limit)
        try change(&query)
        var found: [FoundJourney] = []
        repeat {
            let page = try await fixture.sessions.journeys(query)
            #expect(page.found.count <= limit)
            found += page.found
            // As a client sends it.
            query.after = try page.next.map { try JourneyCursor(text: $0.text) }
        } while query.after != nil
        let names = found.map { "\($0.session) \($0.journey.id)" }
        #expect(Set(names).count == names.count)
        return found.map(\.session)
    }

    private static func begun(_ fixture: SessionsFixture, _ events: String...) async throws -> Session {
        let session = try await fixture.session()
        _ = try await session.journey("main")
        for event in events { _ = try await session.send(event, toJourney: "main") }
        return session
    }

    @Test("by flow, state and status, where they stand after each step")
    func places() async throws {
        let fixture = try Self.fixture()
        let (browsing, paying) = (try await Self.begun(fixture), try await Self.begun(fixture, "pay"))
        let (helped, gone) = (try await Self.begun(fixture, "help"), try await Self.begun(fixture, "quit"))
        let all = Set([browsing.id, paying.id, helped.id, gone.id])
        #expect(Set(try await Self.found(fixture)) == all)
        #expect(Set(try await Self.found(fixture) { $0.flow = "shop" }) == all)
        #expect(try await Self.found(fixture) { $0.flow = "loop" }.isEmpty)
        #expect(try await Self.found(fixture) { $0.version = 2 }.isEmpty)
        #expect(try await Self.found(fixture) { $0.state = "browse" } == [browsing.id])
        #expect(try await Self.found(fixture) { $0.state = "helping" } == [helped.id])
        #expect(try await Self.found(fixture) { $0.standing = .busy } == [paying.id])
        #expect(try await Self.found(fixture) { $0.standing = .finished } == [gone.id])
        let busy = try await fixture.sessions.journeys(JourneyQuery(limit: 1) { $0.standing = .busy }).found[0]
        #expect(busy.place == JourneyPlace(flow: "shop", version: 1, state: "paying", standing: .busy))
        #expect(busy.journey.id == "main" && busy.userID == nil)
        let task = try #require(
            try await fixture.sessions.claimTasks(named: "pay", max: 1, lease: 1_000, wait: 0).first)
        try await fixture.sessions.endTask(task.task.id, outcome: "ok")
        #expect(try await Self.found(fixture) { $0.standing = .busy }.isEmpty)
        #expect(try await Self.found(fixture) { $0.state = "paid" } == [paying.id])
        try await browsing.abandonJourney("main")
        #expect(try await Self.found(fixture) { $0.state = "browse" }.isEmpty)
        try await fixture.sessions.end(gone)
        #expect(Set(try await Self.found(fixture)) == [paying.id, helped.id])
    }

    @Test("held with the result of a worker, stuck when no attempt is left and the flow does not take that")
    func tasks() async throws {
        let fixture = try Self.fixture()
        let (held, stuck) = (try await Self.begun(fixture, "check"), try await Self.begun(fixture, "check"))
        let tasks = try await fixture.sessions.claimTasks(named: "check", max: 2, lease: 1_000, wait: 0).map(\.task.id)
        let ofHeld = try #require(tasks.first { $0.session == held.id })
        try await fixture.sessions.endTask(ofHeld, outcome: "ok")
        let ofStuck = try #require(tasks.first { $0.session == stuck.id })
        try await fixture.sessions.failTask(ofStuck, attempt: 1, reason: "no")
        #expect(try await Self.found(fixture) { $0.standing = .held } == [held.id])
        #expect(try await Self.found(fixture) { $0.standing = .stuck } == [stuck.id])
    }

    @Test("stuck when the version is gone, as soon as the session was looked at")
    func orphans() async throws {
        let store = StoreWrapper()
        let before = try Self.fixture(store)
        let session = try await Self.begun(before)
        await before.sessions.placeJourneys()
        let after = try Self.fixture(
            store, flows: [Self.shop.replacing("\"version\": 1", with: "\"version\": 2"), Flows.loop])
        // The index has it where it was. What it finds is looked at.
        #expect(try await Self.found(after) { $0.state = "browse" } == [session.id])
        #expect(try await Self.found(after) { $0.standing = .active }.isEmpty)
        #expect(try await Self.found(after) { $0.standing = .stuck } == [session.id])
    }

    @Test("by user, label, and the time of the last step")
    func others() async throws {
        let fixture = try Self.fixture()
        let old = try await Self.begun(fixture)
        fixture.clock.advance(60_000)
        let (labelled, _) = try await fixture.sessions.create(labels: ["plan": "gold:1", "a": "b"])
        _ = try await labelled.journey("main")
        let ofUser = try await Self.begun(fixture, "pay")
        _ = try await fixture.sessions.attachUser("ada", to: ofUser)
        _ = try await ofUser.journey("main")
        let now = fixture.clock.now()
        #expect(try await Self.found(fixture) { $0.before = now } == [old.id])
        #expect(try await Self.found(fixture) { $0.before = now - 60_000 }.isEmpty)
        #expect(try await Self.found(fixture) { $0.label = ("plan", "gold:1") } == [labelled.id])
        #expect(try await Self.found(fixture) { $0.label = ("plan", "gold") }.isEmpty)
        #expect(try await Self.found(fixture) { $0.userID = "ada" } == [ofUser.id])
        #expect(
            try await Self.found(fixture) {
                $0.userID = "ada"
                $0.label = ("a", "b")
            }.isEmpty)
        #expect(try await Self.found(fixture) { $0.userID = "eve" }.isEmpty)
    }

    @Test("all journeys of a session, in pages of any size", arguments: [1, 2, 3, 100])
    func several(limit: Int) async throws {
        let fixture = try Self.fixture()
        for _ in 0..<3 {
            let session = try await Self.begun(fixture)
            for _ in 0..<4 { _ = try await session.startJourney(flow: "loop") }
        }
        #expect(try await Self.found(fixture, limit: limit).count == 15)
        #expect(try await Self.found(fixture, limit: limit) { $0.flow = "loop" }.count == 12)
        await fixture.sessions.countStore()
        let counts = fixture.sessions.statistics.counts
        #expect(counts.running == 15)
        #expect(counts.places[JourneyPlace(flow: "loop", version: 1, state: "here", standing: .active)] == 12)
    }

    @Test("what does not fit ends a page before it takes long")
    func manyMisfits() async throws {
        let fixture = try Self.fixture()
        for _ in 0..<2_100 { _ = try await Self.begun(fixture) }
        var query = JourneyQuery(limit: 10)
        query.label = ("plan", "gold")
        let page = try await fixture.sessions.journeys(query)
        #expect(page.found.isEmpty && page.next != nil)
        query.after = page.next
        #expect(try await fixture.sessions.journeys(query).next == nil)
    }

    @Test("no session that has expired, and no journey at two places when it has moved")
    func moved() async throws {
        let portable =
            #"{"id": "parcel", "version": 1, "portable": true, "initial": "here", "states": {"here": {"on": {"go": {}}}}}"#
        let fixture = try Self.fixture(flows: [Self.shop, Flows.loop, portable])
        let (from, to) = (try await fixture.session(), try await fixture.session())
        let id = try await from.startJourney(flow: "parcel").view.id
        #expect(try await Self.found(fixture) { $0.flow = "parcel" } == [from.id])
        let link = try #require(PresentedLink(try await from.makeLink(toJourney: id, lifetime: 60_000).link.text))
        _ = try await fixture.sessions.moveJourney(.link(link), of: link.session, into: to)
        #expect(try await Self.found(fixture) { $0.flow = "parcel" } == [to.id])
        fixture.clock.advance(fixture.sessions.settings.lifetime + 1)
        #expect(try await Self.found(fixture).isEmpty)
    }

    @Test("of sessions that were imported")
    func ofImport() async throws {
        let source = try Self.fixture()
        let session = try await Self.begun(source, "pay")
        let lines = try await exported(source.sessions)
        let target = try Self.fixture(MemoryStore(), source.clock)
        #expect(try await imported(lines, into: target.sessions).imported == 1)
        #expect(try await Self.found(target) { $0.state = "paying" } == [session.id])
    }

    @Test("counts tasks by name and status, and says how old the oldest is")
    func taskCounts() async throws {
        let fixture = try Self.fixture()
        let begin = fixture.clock.now()
        for _ in 0..<3 { _ = try await Self.begun(fixture, "pay") }
        fixture.clock.advance(4_000)
        _ = try await Self.begun(fixture, "check")
        _ = try await fixture.sessions.claimTasks(named: "pay", max: 1, lease: 1_000_000, wait: 0)
        await fixture.sessions.countStore()
        let counts = fixture.sessions.statistics.counts
        #expect(counts.tasks["pay"]?.byStatus == [.waiting: 2, .claimed: 1] && counts.tasks["pay"]?.oldest == begin)
        #expect(counts.tasks["check"] == .init(byStatus: [.waiting: 1], oldest: begin + 4_000))
        // Not with each look.
        _ = try await Self.begun(fixture, "check")
        await fixture.sessions.countStore()
        #expect(fixture.sessions.statistics.counts.tasks["check"]?.byStatus == [.waiting: 1])
        fixture.clock.advance(5_000)
        await fixture.sessions.countStore()
        #expect(fixture.sessions.statistics.counts.tasks["check"]?.byStatus == [.waiting: 2])
    }
}

extension JourneyQuery {
    fileprivate init(limit: Int, _ change: (inout JourneyQuery) -> Void) {
        self.init(limit: limit)
        change(&self)
    }
}
