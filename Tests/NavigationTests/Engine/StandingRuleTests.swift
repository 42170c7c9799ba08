import JSONDocument
import Navigation
import Testing

@Suite("Where one may be")
struct StandingRuleTests {
    /// `low` is 1 until somebody writes it.
    private static let guards: JSONDocument = [
        "low": ["compare": ["/limits/low", "==", ["value": 1]]],
        "high": ["compare": ["/limits/low", ">", ["value": 1]]],
    ]

    private static func flow(
        _ states: JSONDocument, id: String = "test", version: Int = 1, adding members: JSONDocument = .emptyObject
    ) -> JSONDocument {
        let known: JSONDocument = ["guards": guards]
        return Flows.make(states, id: id, version: version, adding: known.merging(members))
    }

    /// A write from outside.
    private func write(_ low: Int, _ traveller: inout Traveller) {
        traveller.services["limits"] = ["low": JSONDocument(low)]
    }

    private func isDue(_ traveller: Traveller) -> Bool {
        do throws(JourneyRefusal) {
            _ = try traveller.engine.view(traveller.journey, services: traveller.services, now: traveller.now)
            return false
        } catch {
            return error == .due && traveller.refusal(of: "on") == .due
        }
    }

    private static let page: JSONDocument = ["on": ["on": ["target": "a"], "go": ["target": "b"]]]

    @Test("requires are asked at every look and before every event, not on arrival only")
    func asked() throws {
        let closing: JSONDocument = ["requires": ["low"], "on": ["on": ["target": "a"]]]
        var traveller = try Traveller(Self.flow(["a": Self.page, "b": closing]))
        try traveller.send("go")
        #expect(!isDue(traveller))
        write(2, &traveller)
        #expect(isDue(traveller))
        try traveller.wait(1)
        #expect(traveller.stack == ["a"])
        #expect(try traveller.view().screen?.id == "a")
        #expect(!isDue(traveller))
    }

    @Test("where requires no longer hold, otherwise is taken")
    func otherwise() throws {
        var traveller = try Traveller(
            Self.flow([
                "a": Self.page,
                "b": [
                    "requires": ["low"], "otherwise": ["target": "c", "actions": [Flows.note("otherwise")]],
                    "exit": [Flows.note("-b")], "on": ["on": ["target": "a"]],
                ],
                "c": ["entry": [Flows.note("+c")], "on": ["on": ["target": "a"]]],
            ]))
        try traveller.send("go")
        write(2, &traveller)
        try traveller.wait(1)
        #expect(traveller.stack == ["a", "b", "c"])
        #expect(traveller.services.log == ["-b", "otherwise", "+c"])
        // The screen below is closed.
        try traveller.back()
        #expect(traveller.stack == ["a"])
    }

    @Test("an otherwise that is refused is not taken: the stack is uncovered")
    func refusedOtherwise() throws {
        var traveller = try Traveller(
            Self.flow([
                "a": Self.page,
                "b": ["requires": ["low"], "otherwise": ["target": "c"], "on": ["on": ["target": "a"]]],
                "c": ["requires": ["low"], "on": ["on": ["target": "a"]]],
            ]))
        try traveller.send("go")
        write(2, &traveller)
        try traveller.wait(1)
        #expect(traveller.stack == ["a"])
    }

    private static let closed: JSONDocument = [
        "requires": ["low"], "on": ["go": ["target": "b"], "on": ["target": "c"]],
    ]

    @Test("the stack is uncovered down to the nearest frame whose requires hold, children released as by back")
    func uncovered() throws {
        let child = Self.flow(
            ["a": ["requires": ["low"], "on": ["on": ["target": "a"]]]], id: "child",
            adding: ["exit": [Flows.note("child ends")]])
        var traveller = try Traveller(
            Self.flow([
                "a": Self.page, "b": Self.closed,
                "c": [
                    "type": "flow", "flow": "child", "on": ["done.abandoned": ["actions": [Flows.note("abandoned")]]],
                ],
            ]), child)
        try traveller.send("go")
        try traveller.send("on")
        #expect(traveller.stack == ["a", "b", "a"] && traveller.flows == ["test", "child"])
        write(2, &traveller)
        try traveller.wait(1)
        #expect(traveller.stack == ["a"] && traveller.flows == ["test"])
        #expect(traveller.services.log == ["child ends", "abandoned"])
    }

    @Test("a screen that history forbids to go back to is not uncovered")
    func sealed() throws {
        var traveller = try Traveller(
            Self.flow([
                "a": ["on": ["go": ["target": "b", "history": "invalidate"]]],
                "b": ["requires": ["low"], "on": ["on": ["target": "a"]]],
            ]))
        try traveller.send("go")
        write(2, &traveller)
        try traveller.wait(1)
        #expect(traveller.journey.outcome == "closed")
    }

    @Test("a flow that has none left ends with the outcome closed")
    func closedJourney() throws {
        var traveller = try Traveller(Self.flow(["a": Self.closed, "b": Self.closed, "c": Self.closed]))
        try traveller.send("go")
        write(2, &traveller)
        try traveller.wait(1)
        #expect(traveller.journey.status == .finished && traveller.journey.outcome == "closed")
        #expect(try traveller.view().screen == nil)
    }

    @Test("a parent of a child that has none left is told done.closed, and may lead on", arguments: [true, false])
    func closedChild(isNamed: Bool) throws {
        let child = Self.flow(["a": ["requires": ["low"], "on": ["on": ["target": "a"]]]], id: "child")
        let ends: JSONDocument = ["done.closed": ["target": "b"], "done.abandoned": ["target": "c"]]
        var traveller = try Traveller(
            Self.flow([
                "a": [
                    "type": "flow", "flow": "child",
                    "on": isNamed ? ends : ["done.abandoned": ends[member: "done.abandoned"] ?? .null],
                ],
                "b": ["on": ["on": ["target": "c"]]], "c": ["on": ["on": ["target": "b"]]],
            ]), child)
        write(2, &traveller)
        try traveller.wait(1)
        #expect(traveller.stack == [isNamed ? "b" : "c"] && traveller.flows == ["test"])
    }

    @Test("what fails while a screen is closed is left out: nothing keeps a journey where it may not be")
    func lenient() throws {
        let failing: JSONDocument = [["op": "test", "path": "/limits/low", "value": 77]]
        var traveller = try Traveller(
            Self.flow([
                "a": ["entry": [Flows.note("+a")], "on": ["go": ["target": "b"]]],
                "b": ["requires": ["low"], "exit": failing, "on": ["on": ["target": "a"]]],
            ]))
        try traveller.send("go")
        write(2, &traveller)
        try traveller.wait(1)
        #expect(traveller.stack == ["a"] && traveller.services.log == ["+a", "+a"])
    }

    @Test("also on the way forward that a parent takes then")
    func lenientResume() throws {
        let failing: JSONDocument = [["op": "test", "path": "/limits/low", "value": 77]]
        let child = Self.flow(["a": ["requires": ["low"], "on": ["on": ["target": "a"]]]], id: "child")
        var traveller = try Traveller(
            Self.flow([
                "a": ["on": ["next": ["target": "b"], "kid": ["target": "k"]]],
                "b": ["entry": failing, "on": ["next": ["target": "c"]]],
                "c": ["on": ["on": ["target": "a"]]],
                "k": ["type": "flow", "flow": "child", "on": ["done.closed": ["target": "c", "nav": "resume"]]],
            ]), child)
        try traveller.send("kid")
        write(2, &traveller)
        try traveller.wait(1)
        // Screen b has no answers, so it is not passed.
        #expect(traveller.stack == ["a", "b"] && traveller.journey.status == .active)
    }

    private static let rising: JSONDocument = [["guard": "high", "target": "c"]]

    @Test("always is taken as soon as its guard holds: after any step")
    func alwaysAfterStep() throws {
        var traveller = try Traveller(
            Self.flow([
                "a": [
                    "always": Self.rising,
                    "on": ["raise": ["actions": [["op": "replace", "path": "/limits/low", "value": 2]]]],
                ],
                "c": ["on": ["on": ["target": "a"]]],
            ]))
        #expect(traveller.stack == ["a"])
        try traveller.send("raise")
        #expect(traveller.stack == ["a", "c"])
        #expect(traveller.journey.step == 2)
    }

    @Test("always is taken at any look, and when a service was written from outside", arguments: [true, false])
    func alwaysAtLook(isOfFlow: Bool) throws {
        var traveller = try Traveller(
            Self.flow(
                [
                    "a": Self.page,
                    "b": JSONDocument(members: isOfFlow ? [] : [("always", Self.rising)]).merging([
                        "on": ["on": ["target": "a"]]
                    ]), "c": ["on": ["on": ["target": "a"]]],
                ], adding: isOfFlow ? ["always": Self.rising] : .emptyObject))
        try traveller.send("go")
        write(2, &traveller)
        #expect(isDue(traveller))
        try traveller.wait(1)
        #expect(traveller.stack == ["a", "b", "c"])
        // It does not lead to where the journey is.
        #expect(!isDue(traveller))
    }

    @Test("an always of the flow holds on the screens of its children, too, and closes no screen before")
    func alwaysOverChildren() throws {
        let child = Self.flow(
            ["a": ["requires": ["low"], "on": ["on": ["target": "a"]]]], id: "child",
            adding: ["always": [["guard": "high", "target": "b"]]]
        ).merging([
            "states": [
                "a": ["requires": ["low"], "on": ["on": ["target": "a"]]], "b": ["type": "final", "outcome": "risen"],
            ]
        ])
        let parent = Self.flow(
            [
                "a": ["type": "flow", "flow": "child", "on": ["done.risen": ["target": "b"]]],
                "b": ["on": ["on": ["target": "b"]]], "c": ["on": ["on": ["target": "b"]]],
            ], adding: ["always": [["guard": "high", "target": "c", "nav": "set_root"]]])
        var traveller = try Traveller(parent, child)
        write(2, &traveller)
        try traveller.wait(1)
        // The nearest flow's own comes first, and then the parent's.
        #expect(traveller.stack == ["c"] && traveller.flows == ["test"])
    }

    @Test("an always that is refused is not taken, and the journey is looked at where it is")
    func refusedAlways() throws {
        var traveller = try Traveller(
            Self.flow([
                "a": ["always": Self.rising, "on": ["on": ["target": "c"]]],
                "c": ["requires": ["low"], "on": ["on": ["target": "a"]]],
            ]))
        write(2, &traveller)
        try traveller.wait(1)
        #expect(traveller.stack == ["a"] && traveller.journey.step == 1)
        #expect(!isDue(traveller))
    }

    @Test("a run of automatic moves has a bound: an event is refused, and at a look the journey expires")
    func endless() throws {
        // Each turn adds a line, and the guards see it.
        let turning = { (target: JSONDocument) -> JSONDocument in
            ["guard": "high", "target": target, "nav": "replace", "actions": [Flows.note("x")]]
        }
        let flow = Self.flow([
            "a": [
                "always": [turning("b")],
                "on": ["raise": ["actions": [["op": "replace", "path": "/limits/low", "value": 2]]]],
            ],
            "b": ["always": [turning("a")], "on": ["on": ["target": "a"]]],
        ])
        var traveller = try Traveller(flow)
        guard case .endless? = traveller.refusal(of: "raise") else {
            Issue.record("it came to rest")
            return
        }
        write(2, &traveller)
        try traveller.wait(1)
        #expect(traveller.journey.status == .expired)
    }

    @Test("what time has done comes first")
    func timeFirst() throws {
        var traveller = try Traveller(
            Self.flow([
                "a": [
                    "timeout": ["after": "1m", "target": "b"], "always": Self.rising, "on": ["on": ["target": "b"]],
                ],
                "b": ["on": ["on": ["target": "a"]]], "c": ["on": ["on": ["target": "a"]]],
            ]))
        write(2, &traveller)
        try traveller.wait(60_000)
        #expect(traveller.stack == ["a", "b"])
    }

    @Test("a required screen that a new version adds is met, at the next event")
    func newVersion() throws {
        let ready: JSONDocument = ["target": "b"]
        let first = Self.flow(["a": ["on": ["go": ready]], "b": ["on": ["on": ["target": "a"]]]])
        let second = Self.flow(
            [
                "a": ["on": ["go": ready]],
                "b": ["requires": ["high"], "otherwise": ["target": "c"], "on": ["on": ["target": "a"]]],
                "c": [
                    "on": [
                        "consent": ["target": "b", "actions": [["op": "replace", "path": "/limits/low", "value": 2]]]
                    ]
                ],
            ], version: 2, adding: ["in_flight": "migrate", "migrations": [["from": 1]]])
        var traveller = try Traveller(first)
        try traveller.send("go")
        traveller.engine = FlowEngine(catalog: try Traveller.catalog([first, second]))
        #expect(try traveller.view().version == 1, "a look alone does not bring it to the new version")
        #expect(traveller.refusal(of: "on") == .due)
        let step = try #require(
            try traveller.engine.advance(
                traveller.journey, services: traveller.services, now: traveller.now, beforeEvent: true))
        traveller.journey = step.journey
        #expect(traveller.stack == ["a", "b", "c"] && traveller.journey.version == 2)
        try traveller.send("consent")
        #expect(traveller.screen == "b")
    }
}
