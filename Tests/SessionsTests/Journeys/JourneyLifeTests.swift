import JSONDocument
import Navigation
import ServiceLocator
import Testing

@testable import Sessions

@Suite("The life of journeys")
struct JourneyLifeTests {
    private static let minute: Int64 = 60_000

    @Test("main is started by the first who asks, and by nobody twice")
    func main() async throws {
        let fixture = try SessionsFixture(flows: [Flows.wizard], mainFlow: "wizard")
        let session = try await fixture.session()
        #expect(try session.residentJourney("main") == nil)
        #expect(try await session.journeys().isEmpty)
        let steps = try await withThrowingTaskGroup(of: UInt64.self) { group in
            for _ in 0..<20 { group.addTask { try await session.journey("main").view.step } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(steps == .init(repeating: 1, count: 20))
        #expect(session.revision == 2)
        #expect(try session.residentJourney("main")?.view.screen?.id == "start")
        #expect(try await session.journeys().map(\.view.id) == ["main"])
    }

    @Test("an event can be what starts main, also when it is refused")
    func mainByEvent() async throws {
        let fixture = try SessionsFixture(flows: [Flows.wizard], mainFlow: "wizard")
        let session = try await fixture.session()
        await #expect(throws: JourneyRefusal.self) { try await session.send("next", toJourney: "main") }
        #expect(try session.residentJourney("main")?.view.step == 1)
        let other = try await fixture.session()
        #expect(try await other.send("sign_in", data: ["name": "A"], toJourney: "main").view.screen?.id == "page1")
    }

    @Test("without a main flow there is no main, until somebody begins one")
    func noMain() async throws {
        let fixture = try SessionsFixture(flows: [Flows.wizard])
        let session = try await fixture.session()
        await #expect(throws: JourneyError.notFound("main")) { try await session.journey("main") }
        await #expect(throws: JourneyError.noMainFlow) { try await session.restartJourney("main") }
        await #expect(throws: JourneyError.notFound("jrn_1")) {
            try await session.restartJourney("jrn_1", flow: "wizard")
        }
        let (shown, isNew) = try await session.restartJourney("main", flow: "wizard")
        #expect(isNew && shown.view.step == 1)
        #expect(try await session.journey("main").view == shown.view)
    }

    @Test("starting over releases everything first, and the step grows on")
    func restart() async throws {
        let fixture = try SessionsFixture(flows: [Flows.wizard, Flows.loop], mainFlow: "wizard")
        let session = try await fixture.session()
        try await session.send("sign_in", data: ["name": "Ada"], toJourney: "main")
        await #expect(throws: JourneyError.self) {
            try await session.restartJourney("main", condition: .atStep(1))
        }
        await #expect(throws: JourneyError.self) {
            try await session.restartJourney("main", condition: .init(ifNoneMatch: .any))
        }
        let (again, isNew) = try await session.restartJourney("main", condition: .atStep(2))
        #expect(!isNew && again.view.step == 3 && again.view.stack.map(\.screen) == ["start"])
        // The flow's exit was run.
        #expect(try fixture.get("counter", session).document == ["count": 100])
        #expect(try await session.restartJourney("main", flow: "loop").shown.view.flow == "loop")
        await #expect(throws: JourneyRefusal.unknownFlow("nothing", version: nil)) {
            try await session.restartJourney("main", flow: "nothing")
        }
        #expect(try await session.journey("main").view.step == 4)
    }

    @Test("a journey that is given up runs its exits and is forgotten; main begins anew at a later step")
    func abandon() async throws {
        let fixture = try SessionsFixture(flows: [Flows.wizard], mainFlow: "wizard")
        let session = try await fixture.session()
        let spy = try ChangeSpy(session)
        try await session.send("sign_in", data: ["name": "Ada"], toJourney: "main")
        await #expect(throws: JourneyError.self) {
            try await session.abandonJourney("main", condition: .atStep(1))
        }
        try await session.abandonJourney("main", condition: .atStep(2))
        #expect(try fixture.get("counter", session).document == ["count": 100])
        #expect(try await session.journeys().isEmpty)
        #expect(spy.changes.last == .journeyAbandoned(id: "main"))
        await #expect(throws: JourneyError.notFound("main")) { try await session.abandonJourney("main") }
        let step = try await session.journey("main").view.step
        #expect(step > 2)
        let id = try await session.startJourney(flow: "wizard").view.id
        try await session.abandonJourney(id)
        await #expect(throws: JourneyError.notFound(id)) { try await session.journey(id) }
    }

    @Test("what is over stays readable, and makes room for others when there are too many")
    func limit() async throws {
        let fixture = try SessionsFixture(flows: [Flows.wizard], maxJourneys: 3)
        let session = try await fixture.session()
        let spy = try ChangeSpy(session)
        var ids: [String] = []
        for _ in 0..<3 {
            ids.append(try await session.startJourney(flow: "wizard").view.id)
            fixture.clock.advance(1)
        }
        await #expect(throws: JourneyError.tooMany(limit: 3)) { try await session.startJourney(flow: "wizard") }
        // The second is over first.
        for id in [ids[1], ids[0]] {
            #expect(try await session.send("cancel", toJourney: id).view.status == .finished)
            fixture.clock.advance(1)
        }
        #expect(try await session.journey(ids[0]).view.outcome == "cancelled")
        await #expect(throws: JourneyRefusal.finished(outcome: "cancelled")) {
            try await session.send("cancel", toJourney: ids[0])
        }
        #expect(
            spy.changes.contains(.journeyFinished(id: ids[1], step: 2)))
        let new = try await session.startJourney(flow: "wizard").view.id
        #expect(try await session.journeys().map(\.view.id) == [ids[0], ids[2], new])
        // One that is over can be started over.
        #expect(try await session.restartJourney(ids[0]).shown.view.status == .active)
        await #expect(throws: JourneyError.tooMany(limit: 3)) { try await session.startJourney(flow: "wizard") }
    }

    @Test("a journey that nobody moves expires, which whoever comes first commits")
    func expiry() async throws {
        let fixture = try SessionsFixture(flows: [Flows.wizard]) { $0.idleTimeout = 600 * Self.minute }
        let (session, token) = try await fixture.sessions.create()
        let spy = try ChangeSpy(session)
        let started = try await session.startJourney(flow: "wizard")
        let id = started.view.id
        #expect(started.dueAt == fixture.clock.now() + 30 * Self.minute)
        fixture.clock.advance(30 * Self.minute - 1)
        #expect(try session.residentJourney(started.view.id)?.view == started.view)
        _ = try await fixture.sessions.authenticate(token.presented)
        #expect(session.shownJourney(id)?.bytes == started.bytes)
        fixture.clock.advance(1)
        _ = try await fixture.sessions.authenticate(token.presented)
        #expect(session.shownJourney(id) == nil)
        #expect(try session.residentJourney(started.view.id) == nil)
        await #expect(throws: JourneyRefusal.expired) { try await session.send("cancel", toJourney: started.view.id) }
        let shown = try #require(try session.residentJourney(started.view.id))
        #expect(shown.view.status == .expired && shown.view.step == 2 && shown.revision == 3)
        #expect(spy.changes.last == .journeyExpired(id: started.view.id, step: 2))
        #expect(try await session.restartJourney(started.view.id).shown.view.step == 3)
    }

    @Test("a screen whose time is over gives way to the next before anything else is done")
    func screenTimeout() async throws {
        let fixture = try SessionsFixture(flows: [Flows.slides]) { $0.idleTimeout = 600 * Self.minute }
        let session = try await fixture.session()
        let id = try await session.startJourney(flow: "slides").view.id
        fixture.clock.advance(Self.minute)
        await #expect(throws: JourneyError.self) {
            try await session.send("skip", toJourney: id, condition: .atStep(1))
        }
        #expect(try session.residentJourney(id)?.view.screen?.id == "two")
        try await session.send("rewind", toJourney: id)
        fixture.clock.advance(Self.minute)
        #expect(try await session.journeys().map(\.view.screen?.id) == ["two"])
        #expect(try await session.send("rewind", toJourney: id).view.screen?.id == "one")
    }

    @Test("a screen is gone to along the way that a person would take, and a journey can begin there")
    func navigation() async throws {
        let fixture = try SessionsFixture(flows: [Flows.wizard, Flows.slides], mainFlow: "wizard")
        let session = try await fixture.session()
        await #expect(throws: JourneyRefusal.self) { try await session.navigate(journey: "main", to: "page2") }
        try await session.send("sign_in", data: ["name": "Ada"], toJourney: "main")
        await #expect(throws: JourneyError.self) {
            try await session.navigate(journey: "main", to: "page2", condition: .atStep(1))
        }
        let (shown, path) = try await session.navigate(journey: "main", to: "page2")
        #expect(shown.view.stack.map(\.screen) == ["start", "page1", "page2"] && shown.view.step == 3)
        #expect(path == ["page2"])
        let again = try await session.navigate(journey: "main", to: "page2")
        #expect(again.path.isEmpty && again.shown.view == shown.view && again.shown.revision == shown.revision)
        #expect(try await session.navigate(journey: "main", to: "start").shown.view.stack.count == 1)
        let other = try await session.startJourney(flow: "slides", at: "two")
        #expect(other.view.stack.map(\.screen) == ["one", "two"] && other.view.step == 1)
    }

    @Test("a view holds no longer than the services that it shows")
    func lifetimes() async throws {
        let fixture = try SessionsFixture(flows: [Flows.loop])
        let session = try await fixture.session()
        try await fixture.perform(.put(["items": [1]]), on: "cart", session)
        fixture.clock.advance(10)
        let shown = try await session.startJourney(flow: "loop")
        #expect(shown.dueAt == fixture.clock.now() - 10 + 60_000)
    }

    @Test("journeys come back from the store, and are on the way where they were")
    func reload() async throws {
        let store = MemoryStore()
        let fixture = try SessionsFixture(store: store, flows: [Flows.wizard], mainFlow: "wizard")
        let (session, token) = try await fixture.sessions.create()
        let shown = try await session.send("sign_in", data: ["name": "Ada"], toJourney: "main")
        let other = try SessionsFixture(store: store, clock: fixture.clock, flows: [Flows.wizard], mainFlow: "wizard")
        let same = try await other.sessions.authenticate(token.presented)
        #expect(try same.residentJourney("main")?.view == shown.view)
        #expect(try await same.send("next", toJourney: "main").view.stack.map(\.screen) == ["start", "page1", "page2"])
    }

    @Test("times are shown as the wall clock calls them, and a wall clock that is set expires nothing")
    func wallClock() async throws {
        let fixture = try SessionsFixture(flows: [Flows.wizard])
        let session = try await fixture.session()
        let started = try await session.startJourney(flow: "wizard")
        fixture.clock.jump(3_600_000)
        let shown = try #require(try session.residentJourney(started.view.id))
        #expect(shown.view.startedAt == started.view.startedAt + 3_600_000)
        #expect(shown.view.expiresAt == started.view.expiresAt.map { $0 + 3_600_000 })
        #expect(shown.dueAt == started.dueAt)
    }
}
