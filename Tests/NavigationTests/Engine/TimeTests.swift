import JSONDocument
import Navigation
import Testing

@Suite("Timeouts")
struct TimeTests {
    private static let minute: Int64 = 60_000

    private static func flow(_ members: JSONDocument) -> JSONDocument {
        Flows.make([
            "a": ["on": ["next": ["target": "b"], "stay": ["actions": [Flows.note("stay")]]]],
            "b": ["on": ["next": ["target": "a"]]],
        ]).merging(members)
    }

    @Test("a journey that does not move for the idle time is expired, its flow's exit is done")
    func idle() throws {
        var traveller = try Traveller(Self.flow(["timeout": ["idle": "10m"], "exit": [Flows.note("over")]]))
        try traveller.wait(9 * Self.minute)
        try traveller.send("next")
        try traveller.wait(9 * Self.minute)
        #expect(traveller.journey.isActive)
        try traveller.wait(Self.minute)
        #expect(traveller.journey.status == .expired)
        #expect(traveller.services.log == ["over"])
        #expect(traveller.refusal(of: "next") == .expired)
    }

    @Test("no journey is longer than the total time")
    func total() throws {
        var traveller = try Traveller(Self.flow(["timeout": ["idle": "10m", "total": "25m"]]))
        for _ in 0..<2 {
            try traveller.wait(9 * Self.minute)
            try traveller.send("next")
        }
        #expect(traveller.journey.expiresAt == Traveller.start + 25 * Self.minute)
        traveller.now += 7 * Self.minute
        #expect(traveller.refusal(of: "next") == .due)
        try traveller.wait(0)
        #expect(traveller.journey.status == .expired)
    }

    @Test(
        "a rule that holds after one timeout is followed before the next, whenever somebody looks", arguments: [1, 9])
    func rulesBetween(minutes: Int64) throws {
        var traveller = try Traveller(
            Flows.make([
                "a": ["timeout": ["after": "1m", "target": "b"]],
                "b": [
                    "always": [["guard": ["is": "/limits/low"], "target": "c"]],
                    "timeout": ["after": "1m", "target": "d"],
                ], "c": ["on": ["next": ["target": "d"]]], "d": ["on": ["next": ["target": "a"]]],
            ]))
        traveller.services["limits"] = ["low": true]
        try traveller.wait(minutes * Self.minute)
        #expect(traveller.stack == ["a", "b", "c"])
    }

    @Test("what is done on the way counts for what the next screen requires, also where one before required the same")
    func requiresInARow() throws {
        let flow = Flows.make([
            "a": ["timeout": ["after": "1m", "target": "b"]],
            "b": [
                "requires": ["named"],
                "timeout": [
                    "after": "1m", "target": "c",
                    "actions": [["op": "replace", "path": "/profile/name", "value": ""]],
                ],
            ],
            "c": ["requires": ["named"], "on": ["next": ["target": "a"]]],
        ]).merging(["guards": Flows.wizard[member: "guards"] ?? .null])
        var services = TestServices()
        services["profile"] = ["name": "Ada", "email": nil, "attributes": .emptyObject]
        var traveller = try Traveller(flow, services: services)
        try traveller.wait(3 * Self.minute)
        #expect(traveller.journey.status == .expired)
        #expect(traveller.services["profile"][member: "name"] == "Ada")
    }

    @Test("the time of a screen counts from when it was come to, and leads where it says")
    func screens() throws {
        let flow = Flows.make([
            "a": [
                "timeout": ["after": "5m", "target": "b", "nav": "replace", "actions": [Flows.note("slow")]],
                "on": ["stay": ["actions": [Flows.note("stay")]]],
            ],
            "b": ["timeout": "5m", "on": ["next": ["target": "a"]]],
        ])
        var traveller = try Traveller(flow)
        try traveller.wait(4 * Self.minute)
        try traveller.send("stay")
        #expect(traveller.journey.dueAt == Traveller.start + 5 * Self.minute)
        try traveller.wait(Self.minute)
        #expect(traveller.stack == ["b"])
        #expect(traveller.services.log == ["stay", "slow"])
        try traveller.wait(5 * Self.minute)
        #expect(traveller.journey.status == .expired)
    }

    @Test("what was due while nobody looked happens at its time, one after the other, in one step")
    func catchingUp() throws {
        let flow = Flows.make([
            "a": ["timeout": ["after": "1m", "target": "b"]],
            "b": [
                "timeout": ["after": "1m", "target": "c"],
                "entry": [["op": "add", "path": "/limits/at", "value": ["$from": "/now"]]],
            ],
            "c": ["on": ["next": ["target": "a"]]],
        ])
        var traveller = try Traveller(flow)
        try traveller.wait(10 * Self.minute)
        #expect(traveller.stack == ["a", "b", "c"])
        #expect(traveller.journey.step == 2)
        #expect(traveller.journey.enteredAt == Traveller.start + 2 * Self.minute)
        #expect(traveller.services["limits"][member: "at"] == "2026-01-01T00:01:00.000Z")
    }

    @Test("slides that show each other for ever are caught up with")
    func slides() throws {
        let flow = Flows.make([
            "a": ["timeout": ["after": "1s", "target": "b", "nav": "replace"]],
            "b": ["timeout": ["after": "1s", "target": "a", "nav": "replace"]],
        ])
        var traveller = try Traveller(flow)
        try traveller.wait(24 * 60 * Self.minute)
        #expect(traveller.journey.isActive)
        #expect(!traveller.engine.isDue(traveller.journey, now: traveller.now))
    }

    @Test("a child that has run out of time ends, and its parent is told")
    func child() throws {
        let child = Flows.make(
            ["a": ["on": ["next": ["target": "b"]]], "b": ["type": "final"]], id: "child"
        ).merging(["timeout": ["total": "5m"]])
        let parent = Flows.make(
            [
                "a": ["on": ["go": ["target": "child"]]],
                "child": [
                    "type": "flow", "flow": "child", "on": ["done": .emptyObject, "done.expired": ["target": "late"]],
                ],
                "late": .emptyObject,
            ], id: "parent")
        var traveller = try Traveller(parent, child)
        try traveller.send("go")
        try traveller.wait(5 * Self.minute)
        #expect(traveller.stack == ["a", "late"])
        #expect(traveller.flows == ["parent"])
    }

    @Test("a timeout whose move is refused ends the journey")
    func refusedTimeout() throws {
        let flow = Flows.make([
            "a": ["timeout": ["after": "1m", "target": "b"]],
            "b": ["requires": [["service": "limits", "schema": ["required": ["none"]]]]],
        ])
        var traveller = try Traveller(flow)
        try traveller.wait(Self.minute)
        #expect(traveller.journey.status == .expired)
    }

    @Test("what was done before a refused timeout stays, whenever somebody looks", arguments: [1, 9])
    func doneBefore(minutes: Int64) throws {
        let flow = Flows.make([
            "a": [
                "timers": [["after": "1m", "actions": [Flows.note("reminder")]]],
                "timeout": ["after": "2m", "target": "b"],
            ],
            "b": ["requires": [["service": "limits", "schema": ["required": ["none"]]]]],
        ])
        var traveller = try Traveller(flow)
        try traveller.wait(minutes * Self.minute)
        try traveller.wait(Self.minute)
        #expect(traveller.journey.status == .expired)
        #expect(traveller.services.log == ["reminder"])
    }

    @Test("a child that a timeout has started is not idle before it began, and ends with a parent that stays")
    func lateChild() throws {
        let child = Flows.make(["a": ["on": ["next": ["target": "b"]]], "b": ["type": "final"]], id: "child")
            .merging(["timeout": ["idle": "3m"]])
        let parent = Flows.make(
            [
                "a": ["timeout": ["after": "5m", "target": "child", "nav": "set_root"]],
                "child": [
                    "type": "flow", "flow": "child", "on": ["done": .emptyObject, "done.expired": .emptyObject],
                ],
            ], id: "parent")
        var traveller = try Traveller(parent, child)
        try traveller.wait(6 * Self.minute)
        #expect(traveller.flows == ["parent", "child"])
        #expect(traveller.journey.dueAt == Traveller.start + 8 * Self.minute)
        try traveller.wait(2 * Self.minute)
        #expect(traveller.journey.status == .finished && traveller.journey.outcome == "abandoned")
    }
}
