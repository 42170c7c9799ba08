import JSONDocument
import Navigation
import ServiceLocator
import Testing

@testable import Sessions

@Suite("The service that keeps the journeys")
struct CoordinatorServiceTests {
    @Test("a summary goes out, and nothing of what is kept")
    func summary() async throws {
        let fixture = try SessionsFixture(flows: [Flows.wizard], mainFlow: "wizard")
        let session = try await fixture.session()
        #expect(try fixture.get("coordinator", session) == (["journeys": []], .unwritten))
        try await session.send("sign_in", data: ["name": "Ada"], toJourney: "main")
        let id = try await session.startJourney(flow: "wizard").view.id
        try await session.send("cancel", toJourney: id)
        let (document, etag) = try fixture.get("coordinator", session)
        #expect(etag.revision == session.revision)
        let time = JSONDocument(
            Timestamp(millisecondsSince1970: fixture.clock.now()).description)
        let expiry = JSONDocument(Timestamp(millisecondsSince1970: fixture.clock.now() + 1_800_000).description)
        #expect(
            document == [
                "journeys": [
                    [
                        "id": "main", "flow": "wizard", "version": 1, "status": "active", "step": 2, "screen": "page1",
                        "outcome": nil, "started_at": time, "moved_at": time, "expires_at": expiry,
                    ],
                    [
                        "id": .init(id), "flow": "wizard", "version": 1, "status": "finished", "step": 2, "screen": nil,
                        "outcome": "cancelled", "started_at": time, "moved_at": time, "expires_at": nil,
                    ],
                ]
            ])
        try await session.abandonJourney(id)
        try await session.abandonJourney("main")
        #expect(try fixture.get("coordinator", session).document == ["journeys": []])
    }

    @Test("it is resolved from the session's locator like the others")
    func resolved() async throws {
        let fixture = try SessionsFixture(flows: [Flows.wizard], mainFlow: "wizard")
        let session = try await fixture.session()
        let key = DocumentService.key(CoordinatorService.name)
        #expect(try await session.update { try $0.resolve(key).document } == ["journeys": []])
        _ = try await session.journey("main")
        let screens = try await session.update { locator in
            try KeptJourneys(reading: locator.resolve(key).document.serialized()).journeys.map(\.top?.state)
        }
        #expect(screens == ["start"] && session.revision == 2)
        // From there the journeys are not written.
        await #expect(throws: SessionError.readOnly(service: "coordinator")) {
            try await session.update { try $0.resolve(key).document = ["journeys": []] }
        }
    }

    @Test("clients only read it, and an admin does not write it either")
    func readOnly() async throws {
        let fixture = try SessionsFixture(flows: [Flows.wizard], mainFlow: "wizard")
        let session = try await fixture.session()
        _ = try await session.journey("main")
        for action in [.put(["journeys": []]), .mergePatch([:]), .jsonPatch([])] as [ServiceOperation.Action] {
            for caller in [ServiceCaller.client, .admin] {
                await #expect(throws: SessionError.readOnly(service: "coordinator")) {
                    try await fixture.perform(action, on: "coordinator", session, by: caller)
                }
            }
        }
        for action in [.clear, .remove] as [ServiceOperation.Action] {
            await #expect(throws: SessionError.readOnly(service: "coordinator")) {
                try await fixture.perform(action, on: "coordinator", session)
            }
        }
        try await session.removeAllServices()
        #expect(try session.residentJourney("main")?.view.step == 1)
    }

    @Test(
        "when an admin clears or removes it the journeys are given up, and steps do not come back",
        arguments: [ServiceOperation.Action.clear, .remove])
    func admin(_ action: ServiceOperation.Action) async throws {
        let fixture = try SessionsFixture(flows: [Flows.wizard], mainFlow: "wizard")
        let session = try await fixture.session()
        let spy = try ChangeSpy(session)
        try await session.send("sign_in", data: ["name": "Ada"], toJourney: "main")
        await #expect(throws: SessionError.self) {
            try await fixture.perform(action, on: "coordinator", session, if: .ifMatch(.unwritten), by: .admin)
        }
        #expect(try session.residentJourney("main")?.view.step == 2)
        try await fixture.perform(action, on: "coordinator", session, by: .admin)
        #expect(try fixture.get("coordinator", session).document == ["journeys": []])
        #expect(try fixture.get("counter", session).document == ["count": 100])
        #expect(spy.changes.contains(.journeyAbandoned(id: "main")))
        #expect(try await session.journey("main").view.step == 3)
    }

    @Test("when an admin removes all services the journeys are given up first")
    func adminRemovesAll() async throws {
        let fixture = try SessionsFixture(flows: [Flows.wizard], mainFlow: "wizard")
        let session = try await fixture.session()
        let id = try await session.startJourney(flow: "wizard").view.id
        try await session.removeAllServices(by: .admin)
        await #expect(throws: JourneyError.notFound(id)) { try await session.journey(id) }
        #expect(try session.services().allSatisfy { !$0.isLive })
        _ = try await session.journey("main")
        try await session.removeAllServices(by: .admin)
        #expect(try await session.journey("main").view.step == 2)
    }

    @Test("what a store has not kept as it was is a fault of the service, and can be removed")
    func corrupted() async throws {
        let fixture = try SessionsFixture(flows: [Flows.wizard], mainFlow: "wizard")
        let session = try await fixture.session()
        _ = try await session.journey("main")
        let coordinator = try fixture.service("coordinator")
        for text in [
            #"{"journeys":[{"id":"main","step":1}]}"#, #"{"journeys":[[]"#, "[]", #"{"journeys":[],"step":-1}"#,
        ] {
            try await session.transact { $0.write(coordinator, Array(text.utf8)) }
            let error = await #expect(throws: SessionError.self) { try await session.journey("main") }
            guard case .serviceFailed("coordinator", _) = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
            #expect(try fixture.get("coordinator", session).document == ["journeys": []])
        }
        try await fixture.perform(.remove, on: "coordinator", session, by: .admin)
        #expect(try await session.journey("main").view.step == 1)
    }

    @Test("journeys that have gone through other hands are what they were")
    func rewritten() async throws {
        let fixture = try SessionsFixture(flows: [Flows.wizard], mainFlow: "wizard")
        let session = try await fixture.session()
        try await session.send("sign_in", data: ["name": "Ada"], toJourney: "main")
        let id = try await session.startJourney(flow: "wizard").view.id
        try await session.send("cancel", toJourney: id)
        let before = try await session.journeys()
        let coordinator = try fixture.service("coordinator")
        try await session.transact { pending in
            let kept = pending.document(of: coordinator)?.bytes ?? []
            // Sorts members by their names.
            let rewritten = try JSONDocument(parsing: kept).serialized()
            #expect(rewritten != kept)
            pending.write(coordinator, rewritten)
        }
        #expect(try await session.journeys().map(\.view) == before.map(\.view))
    }

    @Test("nothing of the journeys is left when the session has ended")
    func ended() async throws {
        let fixture = try SessionsFixture(flows: [Flows.wizard], mainFlow: "wizard")
        let session = try await fixture.session()
        let spy = try ChangeSpy(session)
        _ = try await session.journey("main")
        #expect(fixture.sessions.statistics.services.first { $0.name == "coordinator" }?.live == 1)
        try await fixture.sessions.end(session)
        #expect(fixture.sessions.statistics.services.allSatisfy { $0.live == 0 })
        #expect(try await fixture.store.load(session.id) == nil)
        #expect(try await fixture.sessions.runningJourneys().isEmpty)
        await #expect(throws: SessionError.ended) { try await session.journey("main") }
        #expect(throws: SessionError.ended) { try session.residentJourney("main") }
        #expect(
            spy.changes.suffix(2) == [.serviceRemoved(name: "coordinator"), .ended(.requested)])
        #expect(session.shownJourney("main") == nil)
    }

    @Test("running journeys are counted by the states that they stand on")
    func census() async throws {
        let fixture = try SessionsFixture(flows: [Flows.wizard, Flows.loop], mainFlow: "wizard")
        for number in 0..<5 {
            let session = try await fixture.session()
            _ = try await session.journey("main")
            if number < 3 { try await session.send("sign_in", data: ["name": "A"], toJourney: "main") }
            if number < 2 { _ = try await session.startJourney(flow: "loop") }
            if number == 4 { try await session.send("cancel", toJourney: "main") }
        }
        #expect(
            try await fixture.sessions.runningJourneys() == [
                .init(flow: "loop", version: 1, state: "here", count: 2, inUse: 2),
                .init(flow: "wizard", version: 1, state: "page1", count: 3, inUse: 3),
                .init(flow: "wizard", version: 1, state: "start", count: 1, inUse: 4),
            ])
    }
}
