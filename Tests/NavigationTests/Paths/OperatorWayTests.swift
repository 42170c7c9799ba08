import JSONDocument
import Navigation
import Testing

@Suite("The ways of operators")
struct OperatorWayTests {
    private static let flow = Flows.make([
        "a": [
            "on": [
                "short": ["target": "c", "actions": [Flows.note("short")]], "long": ["target": "b"],
                "locked": ["target": "d", "guard": ["is": "/profile/attributes/open"]],
                "send": ["target": "e", "link": false], "told": ["target": "f"], "work": ["target": "busy"],
            ], "backend": ["told"],
        ],
        "b": ["on": ["on": ["target": "c"]]],
        "c": ["on": ["again": ["target": "a", "nav": "set_root"]]],
        "d": ["on": ["on": ["target": "c"]]],
        "e": [
            "back": false, "on": ["pay": ["target": "c", "actions": [Flows.note("paid")]], "over": ["target": "h"]],
        ],
        "f": ["on": ["on": ["target": "c"]]],
        "busy": ["type": "task", "task": "work", "on": ["done": ["target": "g"]]],
        "g": ["on": ["on": ["target": "c"]]],
        "h": ["on": ["on": ["target": "i", "history": "invalidate"]]],
        "i": ["on": ["on": ["target": "c"]]],
    ])

    private func go(
        to screen: String, from traveller: Traveller, isByOperator: Bool = true
    ) throws -> FlowEngine.Navigation {
        try traveller.engine.navigate(
            traveller.journey, to: screen, isByOperator: isByOperator, services: traveller.services,
            now: traveller.now)
    }

    /// The screen that blocks.
    private func obstacle(
        to screen: String, from traveller: Traveller, isByOperator: Bool = true
    ) throws -> String? {
        do {
            _ = try go(to: screen, from: traveller, isByOperator: isByOperator)
            return nil
        } catch JourneyRefusal.unreachable(let screen, _) {
            return screen
        }
    }

    @Test("go by transitions that no link may take, and back where nobody else may, if no other leads there")
    func ways() throws {
        var traveller = try Traveller(Self.flow)
        #expect(try go(to: "c", from: traveller).path == ["b", "c"])
        #expect(try obstacle(to: "e", from: traveller, isByOperator: false) == "e")
        let there = try go(to: "e", from: traveller).step
        #expect(there.taken.map(\.place) == ["/states/a/on/send"])
        traveller.journey = there.journey
        #expect(try obstacle(to: "b", from: traveller, isByOperator: false) == "a")
        #expect(try go(to: "b", from: traveller).path == ["a", "b"])
        // Not by the payment, though that is shorter.
        let onward = try go(to: "c", from: traveller)
        #expect(onward.path == ["a", "b", "c"] && onward.step.changes.isEmpty)
        traveller.journey = try go(to: "i", from: traveller).step.journey
        #expect(traveller.stack == ["a", "e", "h", "i"])
        // Never back over what is closed.
        #expect(try go(to: "e", from: traveller).path == ["c", "a", "e"])
    }

    @Test("are closed by a guard, an event of a back end and a task, which is left by going back")
    func closed() throws {
        var traveller = try Traveller(Self.flow)
        #expect(try obstacle(to: "d", from: traveller) == "d")
        for screen in ["f", "g"] { #expect(try obstacle(to: screen, from: traveller) == screen) }
        #expect(throws: JourneyRefusal.unknownScreen("busy")) { try go(to: "busy", from: traveller) }
        try traveller.send("work")
        #expect(traveller.stack == ["a", "busy"])
        #expect(try obstacle(to: "b", from: traveller, isByOperator: false) != nil)
        let left = try go(to: "b", from: traveller).step.journey
        #expect(left.task == nil && left.frames.map(\.state) == ["a", "b"])
    }
}
