import JSONDocument
import Navigation
import Testing

@Suite("Versions in flight")
struct VersionTests {
    private static let old = Flows.make([
        "a": ["on": ["next": ["target": "pay"]]], "pay": ["on": ["next": ["target": "end"]]], "end": ["type": "final"],
    ])

    private static func new(_ members: JSONDocument) -> JSONDocument {
        Flows.make(
            [
                "a": ["on": ["next": ["target": "payment"]]],
                "payment": ["on": ["go": ["target": "thanks"], "next": ["target": "end"]]],
                "thanks": ["on": ["next": ["target": "end"]]], "end": ["type": "final"],
            ], version: 2, adding: members)
    }

    private static let migrating: JSONDocument = [
        "in_flight": "migrate",
        "migrations": [["from": 1, "states": ["pay": "payment"], "patch": [Flows.note("migrated")]]],
    ]

    /// Somebody on the screen `pay` of version 1, after version 2 was loaded.
    private func traveller(_ members: JSONDocument, keepingOld: Bool = true) throws -> Traveller {
        var traveller = try Traveller(Self.old)
        try traveller.send("next")
        let flows = (keepingOld ? [Self.old] : []) + [Self.new(members)]
        traveller.engine = FlowEngine(catalog: try Traveller.catalog(flows))
        return traveller
    }

    @Test("new journeys get the highest version")
    func highest() throws {
        let catalog = try Traveller.catalog([Self.new(.emptyObject), Self.old])
        let step = try FlowEngine(catalog: catalog).start(flow: "test", id: "x", services: TestServices(), now: 0)
        #expect(step.journey.version == 2)
        #expect(catalog.versions(of: "test").map(\.version) == [1, 2])
    }

    @Test("a running journey stays on its version unless the new one says otherwise")
    func pin() throws {
        var traveller = try traveller(.emptyObject)
        #expect(traveller.refusal(of: "go") != nil)
        try traveller.send("next")
        #expect(traveller.journey.status == .finished)
        #expect(traveller.journey.version == 1)
    }

    @Test("a migration moves it at its next event, with its whole stack")
    func migrate() throws {
        var traveller = try traveller(Self.migrating)
        #expect(try traveller.view().screen?.id == "pay")
        #expect(!traveller.engine.isDue(traveller.journey, now: traveller.now))
        try traveller.send("go")
        #expect(traveller.stack == ["a", "payment", "thanks"])
        #expect(traveller.journey.version == 2)
        #expect(traveller.services.log == ["migrated"])
    }

    @Test("a refused event does not migrate")
    func refusedMigration() throws {
        let traveller = try traveller(Self.migrating)
        guard case .eventNotAccepted(_, let accepted)? = traveller.refusal(of: "none") else {
            Issue.record("accepted")
            return
        }
        #expect(accepted == ["go", "next", "back"])
        #expect(traveller.journey.version == 1)
    }

    @Test("a version that is gone and has a migration is moved before it is looked at")
    func migrateGone() throws {
        var traveller = try traveller(Self.migrating, keepingOld: false)
        #expect(traveller.engine.isDue(traveller.journey, now: traveller.now))
        try traveller.wait(0)
        #expect(traveller.stack == ["a", "payment"])
        #expect(traveller.journey.step == 3)
    }

    @Test("a new version may start running journeys over, keeping the services")
    func restart() throws {
        var traveller = try traveller(["in_flight": "restart"])
        traveller.services["quote"] = ["text": "kept", "author": "me"]
        try traveller.send("next")
        #expect(traveller.stack == ["a"])
        #expect(traveller.journey.version == 2)
        #expect(traveller.journey.step == 3)
        #expect(traveller.services["quote"][member: "text"] == "kept")
    }

    @Test("a journey whose version is gone is refused, or starts over where that is configured")
    func orphans() throws {
        var traveller = try traveller(.emptyObject, keepingOld: false)
        #expect(traveller.refusal(of: "next") == .orphaned(flow: "test", version: 1))
        #expect(throws: JourneyRefusal.orphaned(flow: "test", version: 1)) { try traveller.view() }
        #expect(!traveller.engine.isDue(traveller.journey, now: traveller.now))
        traveller.engine = FlowEngine(catalog: traveller.engine.catalog, orphans: .restart)
        #expect(traveller.engine.isDue(traveller.journey, now: traveller.now))
        try traveller.wait(0)
        #expect(traveller.stack == ["a"])
        #expect(traveller.journey.version == 2)
    }

    @Test("a journey whose version is gone can be given up")
    func abandonOrphan() throws {
        var traveller = try traveller(.emptyObject, keepingOld: false)
        traveller.abandon()
        #expect(!traveller.journey.isActive)
    }

    @Test("migrations follow each other")
    func chain() throws {
        let third = Flows.make(
            ["a": ["on": ["next": ["target": "c"]]], "c": ["on": ["go": ["target": "a", "nav": "pop_to"]]]], version: 3,
            adding: [
                "in_flight": "migrate", "migrations": [["from": 2, "states": ["payment": "c", "thanks": "c"]]],
            ])
        var traveller = try traveller(Self.migrating)
        traveller.engine = FlowEngine(catalog: try Traveller.catalog([Self.old, Self.new(Self.migrating), third]))
        try traveller.send("go")
        #expect(traveller.journey.version == 3)
        #expect(traveller.stack == ["a"])
    }
}
