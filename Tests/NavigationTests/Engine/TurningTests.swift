import JSONDocument
import Navigation
import Testing

@Suite("Standing rules about the time")
struct TurningTests {
    private static let minute: Int64 = 60_000
    private static let day: Int64 = 86_400_000

    /// A flow whose screen `a` has these members, and leads to `b`.
    private static func flow(_ screen: JSONDocument, adding members: JSONDocument = .emptyObject) -> JSONDocument {
        let on: JSONDocument = ["on": ["next": ["target": "b"]]]
        return Flows.make(["a": on.merging(screen), "b": ["on": ["next": ["target": "a"]]]], adding: members)
    }

    private static func always(_ guardian: JSONDocument) -> JSONDocument {
        flow(["always": [["guard": guardian, "target": "b"]]])
    }

    /// Services in which an offer ends at a time.
    private static func services(_ endsAt: JSONDocument) -> TestServices {
        var services = TestServices()
        services["limits"] = ["ends_at": endsAt, "paid": false]
        return services
    }

    @Test(
        "an always is due when its comparison turns",
        arguments: [
            (#"{"compare": ["/now", ">=", "/limits/ends_at"]}"#, 2 * day),
            (#"{"compare": ["/limits/ends_at", "<", "/now"]}"#, 2 * day + 1),
            (#"{"not": {"compare": ["/now", "<", "/limits/ends_at"]}}"#, 2 * day),
            (#"{"compare": [{"$time": {"from": "/now", "plus": "P1D"}}, ">=", "/limits/ends_at"]}"#, day),
            (#"{"compare": ["/now", ">=", {"$time": {"from": "/limits/ends_at", "plus": "P1M"}}]}"#, 33 * day),
            (#"{"any": [{"is": "/limits/paid"}, {"compare": ["/now", ">=", "/limits/ends_at"]}]}"#, 2 * day),
        ])
    func always(text: String, after: Int64) throws {
        let guardian = try JSONDocument(parsing: Array(text.utf8))
        var traveller = try Traveller(Self.always(guardian), services: Self.services("2026-01-03T00:00:00.000Z"))
        #expect(try traveller.view().dueAt == Traveller.start + after)
        try traveller.wait(after - 1)
        #expect(traveller.stack == ["a"])
        try traveller.wait(100 * Self.day)
        #expect(traveller.stack == ["a", "b"])
        #expect(traveller.journey.enteredAt == Traveller.start + after)
    }

    @Test(
        "a rule that the time alone does not turn is never due",
        arguments: [
            #"{"compare": ["/now", "<", "/limits/never"]}"#,
            #"{"all": [{"is": "/limits/paid"}, {"compare": ["/now", ">=", "/limits/ends_at"]}]}"#,
            #"{"compare": ["/limits/ends_at", "==", {"value": "x"}]}"#,
        ])
    func never(text: String) throws {
        let guardian = try JSONDocument(parsing: Array(text.utf8))
        let traveller = try Traveller(Self.always(guardian), services: Self.services("2026-01-03T00:00:00.000Z"))
        #expect(traveller.journey.dueAt == nil)
    }

    @Test("a rule about the times in a list is taken within a minute of its time")
    func lists() throws {
        let guardian: JSONDocument = [
            "some": ["of": "/limits/times", "where": ["compare": ["/now", ">=", "/item"]]]
        ]
        var services = TestServices()
        services["limits"] = ["times": ["2027-01-01T00:00:00Z", "2026-01-01T03:07:30.000Z"]]
        var traveller = try Traveller(Self.always(guardian), services: services)
        while traveller.stack == ["a"] {
            let due = try #require(traveller.journey.dueAt)
            try #require(due > traveller.now)
            try traveller.wait(due - traveller.now)
        }
        let end = Traveller.start + (3 * 60 + 7) * Self.minute + 30_000
        #expect((end...end + Self.minute).contains(traveller.journey.enteredAt))
    }

    @Test("a screen is closed at the time when its requires turn, and a write changes that time")
    func requires() throws {
        let isOpen: JSONDocument = ["compare": ["/now", "<", "/limits/ends_at"]]
        var traveller = try Traveller(
            Flows.make(
                [
                    "a": ["on": ["next": ["target": "b"]]],
                    "b": ["requires": ["open"], "otherwise": ["target": "late"], "on": ["next": ["target": "a"]]],
                    "late": ["on": ["next": ["target": "a"]]],
                ], adding: ["guards": ["open": isOpen]]), services: Self.services("2026-01-03T00:00:00.000Z"))
        #expect(traveller.journey.dueAt == nil)
        try traveller.send("next")
        #expect(traveller.journey.dueAt == Traveller.start + 2 * Self.day)
        traveller.services["limits"] = ["ends_at": "2026-01-02T00:00:00.000Z"]
        try traveller.wait(0)
        #expect(traveller.journey.dueAt == Traveller.start + Self.day)
        try traveller.wait(3 * Self.day)
        #expect(traveller.stack == ["a", "b", "late"])
        #expect(traveller.journey.enteredAt == Traveller.start + Self.day)
    }

    @Test("a write from outside dates the journey anew, and is no step")
    func redated() throws {
        let guardian: JSONDocument = ["compare": ["/now", ">=", "/limits/ends_at"]]
        var traveller = try Traveller(Self.always(guardian), services: Self.services("2026-01-03T00:00:00.000Z"))
        #expect(traveller.engine.redated(traveller.journey, services: traveller.services, now: traveller.now) == nil)
        traveller.services["limits"] = ["ends_at": "2026-01-02T00:00:00.000Z"]
        let redated = traveller.engine.redated(traveller.journey, services: traveller.services, now: traveller.now)
        #expect(redated?.dueAt == Traveller.start + Self.day && redated?.step == traveller.journey.step)
    }

    @Test("a rule that a write from outside makes hold is due at once")
    func madeToHold() throws {
        let guardian: JSONDocument = ["all": [["is": "/limits/paid"], ["compare": ["/now", ">=", "/limits/ends_at"]]]]
        var traveller = try Traveller(Self.always(guardian), services: Self.services("2025-01-03T00:00:00.000Z"))
        #expect(traveller.journey.dueAt == nil)
        traveller.services["limits"] = ["ends_at": "2025-01-03T00:00:00.000Z", "paid": true]
        let redated = traveller.engine.redated(traveller.journey, services: traveller.services, now: traveller.now)
        #expect(redated?.dueAt == traveller.now)
        traveller.journey = try #require(redated)
        try traveller.wait(0)
        #expect(traveller.stack == ["a", "b"])
    }

    @Test("a form that does not say when it turns is tried minute by minute")
    func tried() throws {
        let guardian: JSONDocument = [
            "compare": [["$concat": [["$from": "/now"], "!"]], ">=", ["value": "2026-01-01T02:30:30"]]
        ]
        var traveller = try Traveller(Self.always(guardian))
        // To the end of the hour, whenever somebody looks, and then again.
        let before = traveller.journey
        #expect(before.dueAt == Traveller.start + 60 * Self.minute)
        try traveller.wait(10 * Self.minute)
        #expect(try traveller.view().dueAt == before.dueAt && traveller.journey == before)
        try traveller.wait(50 * Self.minute)
        #expect(traveller.stack == ["a"] && traveller.journey.step == 1)
        #expect(traveller.journey.dueAt == Traveller.start + 120 * Self.minute)
        try traveller.wait(60 * Self.minute)
        #expect(traveller.journey.dueAt == Traveller.start + 151 * Self.minute)
        try traveller.wait(31 * Self.minute)
        #expect(traveller.stack == ["a", "b"])
    }
}
