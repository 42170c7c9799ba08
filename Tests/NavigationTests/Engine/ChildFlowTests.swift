import JSONDocument
import Testing

@testable import Navigation

@Suite("Child flows")
struct ChildFlowTests {
    /// `x` asks, and ends in `yes` or `no`.
    private static let child = Flows.make(
        [
            "a": ["on": ["yes": ["target": "yes"], "no": ["target": "no"], "more": ["target": "b"]]],
            "b": ["on": ["yes": ["target": "yes"], "out": ["target": "b", "nav": "set_root"]]],
            "yes": ["type": "final", "output": ["answer": "yes"]],
            "no": ["type": "final"],
        ], id: "child"
    ).merging(["entry": [Flows.note("+child")], "exit": [Flows.note("-child")]])

    private static func parent(_ ends: JSONDocument, nav: String = "push") -> JSONDocument {
        Flows.make(
            [
                "a": ["on": ["ask": ["target": "asking", "nav": JSONDocument(nav)]]],
                "asking": ["type": "flow", "flow": "child", "on": ends],
                "b": ["on": ["again": ["target": "asking"], "close": ["nav": "dismiss"]]],
                "help": ["on": ["ok": ["nav": "pop"], "close": ["nav": "dismiss"]]],
                "end": ["type": "final"],
            ], id: "parent"
        ).merging([
            "on": [
                "help": ["target": "help", "nav": "present"], "home": ["target": "a", "nav": "pop_to"],
                "root": ["target": "b", "nav": "set_root"], "shut": ["nav": "dismiss"], "stop": ["target": "end"],
                "swap": ["target": "b", "nav": "replace"],
            ],
            "exit": [Flows.note("-parent")],
        ])
    }

    private static let withoutUnhandled: JSONDocument = ["done": .emptyObject]

    @Test(
        "the parent does what it says of the child's end",
        arguments: [
            (["done.yes": ["target": "b"], "done": .emptyObject], ["ask", "yes"], ["a", "b"]),
            (["done.yes": ["target": "b"], "done": .emptyObject], ["ask", "no"], ["a"]),
            (["done": ["target": "b"]], ["ask", "no"], ["a", "b"]),
            (["done": ["target": "b", "nav": "replace"]], ["ask", "more", "yes"], ["b"]),
            (["done": ["target": "asking"]], ["ask", "more", "yes"], ["a", "a"]),
            (["done": ["target": "end"]], ["ask", "no"], []),
            (["done": ["target": "b"]], ["ask", "back"], ["a"]),
            (["done.abandoned": ["target": "b"], "done": .emptyObject], ["ask", "back"], ["a", "b"]),
            (["done.abandoned": ["target": "b"], "done": .emptyObject], ["ask", "more", "back"], ["a", "a"]),
        ] as [(JSONDocument, [String], [String])])
    func ends(on: JSONDocument, events: [String], stack: [String]) throws {
        var traveller = try Traveller(Self.parent(on), Self.child)
        for event in events { try traveller.send(event) }
        #expect(traveller.stack == stack)
    }

    @Test(
        "a child lives as long as it has a frame, whatever takes the last one away",
        arguments: [
            (["ask", "more", "home"], ["a"], ["parent"]),
            (["ask", "more", "root"], ["b"], ["parent"]),
            (["ask", "more", "shut"], ["a"], ["parent"]),
            (["ask", "swap"], ["a", "^b"], ["parent"]),
            (["ask", "more", "swap"], ["a", "^a", "b"], ["parent", "child"]),
            (["ask", "help"], ["a", "^a", "^help"], ["parent", "child"]),
            (["ask", "help", "ok"], ["a", "^a"], ["parent", "child"]),
            (["ask", "help", "close", "more"], ["a", "^a", "b"], ["parent", "child"]),
            (["ask", "more", "out"], ["b"], ["parent", "child"]),
            (["ask", "more", "stop"], [], []),
        ] as [([String], [String], [String])])
    func releases(events: [String], stack: [String], flows: [String]) throws {
        var traveller = try Traveller(Self.parent(Self.withoutUnhandled, nav: "present"), Self.child)
        for event in events { try traveller.send(event) }
        #expect(traveller.stack == stack)
        #expect(traveller.flows == flows)
        let gone = !flows.contains("child")
        #expect(traveller.services.log.contains("-child") == gone)
    }

    @Test(
        "when the parent is told while the move has a target of its own, it does its actions and stays out of the way")
    func toldDuringAMove() throws {
        let ends: JSONDocument = [
            "done": .emptyObject, "done.abandoned": ["target": "b", "actions": [Flows.note("told")]],
        ]
        var traveller = try Traveller(Self.parent(ends, nav: "present"), Self.child)
        try traveller.send("ask")
        try traveller.send("home")
        #expect(traveller.stack == ["a"])
        #expect(traveller.services.log == ["+child", "-child", "told"])
        try traveller.send("ask")
        try traveller.send("shut")
        #expect(traveller.stack == ["a", "b"])
    }

    @Test("flows end children first, in whatever way", arguments: ["stop", "abandon", "restart"])
    func order(way: String) throws {
        var traveller = try Traveller(Self.parent(Self.withoutUnhandled), Self.child)
        try traveller.send("ask")
        switch way {
        case "stop": try traveller.send("stop")
        case "abandon": traveller.abandon()
        default: try traveller.restart("parent")
        }
        #expect(traveller.services.log == ["+child", "-child", "-parent"])
        #expect(traveller.journey.step == 3)
        #expect(traveller.stack == (way == "restart" ? ["a"] : []))
    }

    @Test("the output of a child is there for its parent's transition, and for what that leads to")
    func output() throws {
        let parent = Flows.make(
            [
                "a": [
                    "type": "flow", "flow": "child", "on": ["done.yes": ["target": "which"], "done": ["target": "b"]],
                ],
                "which": [
                    "type": "choice",
                    "branches": [
                        [
                            "guard": ["compare": ["/output/answer", "==", ["value": "yes"]]], "target": "b",
                            "actions": [
                                ["op": "add", "path": "/log/lines/-", "value": ["$from": "/output/answer"]]
                            ],
                        ],
                        ["target": "a"],
                    ],
                ],
                "b": ["on": ["end": ["target": "end"]]],
                "end": ["type": "final", "outcome": "over"],
            ], id: "parent")
        var traveller = try Traveller(parent, Self.child)
        #expect(traveller.stack == ["a"])
        #expect(traveller.flows == ["parent", "child"])
        #expect(try traveller.view().coordinators?.state == "a")
        try traveller.send("yes")
        #expect(traveller.stack == ["b"])
        #expect(traveller.services.log == ["+child", "-child", "yes"])
        try traveller.send("end")
        #expect(traveller.journey.outcome == "over")
        #expect(traveller.journey.output == .null)
    }

    @Test("children of children: the chain is told upwards when the last frame goes")
    func grandchildren() throws {
        let middle = Flows.make(
            [
                "a": ["type": "choice", "branches": [["target": "inner"]]],
                "inner": ["type": "flow", "flow": "child", "on": ["done": ["target": "end"]]],
                "end": ["type": "final", "outcome": "through"],
            ], id: "middle"
        ).merging(["exit": [Flows.note("-middle")]])
        let outer = Flows.make(
            [
                "a": ["on": ["go": ["target": "middle"]]],
                "middle": [
                    "type": "flow", "flow": "middle",
                    "on": ["done.through": ["target": "b"], "done.abandoned": ["actions": [Flows.note("told")]]],
                ],
                "b": ["on": ["go": ["target": "a", "nav": "set_root"]]],
            ], id: "outer")
        var traveller = try Traveller(outer, middle, Self.child)
        try traveller.send("go")
        #expect(traveller.flows == ["outer", "middle", "child"])
        #expect(
            try traveller.view().coordinators
                == CoordinatorView(
                    flow: "outer", state: "middle",
                    children: [
                        CoordinatorView(
                            flow: "middle", state: "inner",
                            children: [CoordinatorView(flow: "child", state: "a", children: [])])
                    ]))
        try traveller.back()
        #expect(traveller.stack == ["a"])
        #expect(traveller.flows == ["outer"])
        #expect(traveller.services.log == ["+child", "-child", "-middle", "told"])
        try traveller.send("go")
        try traveller.send("yes")
        #expect(traveller.stack == ["a", "b"])
    }

    @Test("a flow of which nothing is left on the stack is over")
    func nothingLeft() throws {
        let parent = Flows.make(
            ["a": ["type": "flow", "flow": "child", "on": ["done.yes": .emptyObject, "done.no": .emptyObject]]],
            id: "parent")
        var traveller = try Traveller(parent, Self.child)
        try traveller.send("yes")
        #expect(traveller.journey.status == .finished)
        #expect(traveller.journey.outcome == "abandoned")
    }

    @Test("an input that the child does not take refuses the step")
    func badInput() throws {
        let parent = Flows.make(
            [
                "a": ["on": ["go": ["target": "edit"]]],
                "edit": [
                    "type": "flow", "flow": "edit-quote", "input": ["author": ["$from": "/limits/low"]],
                    "on": ["done": .emptyObject],
                ],
            ], id: "parent")
        let traveller = try Traveller(parent, Flows.editQuote)
        guard case .inputInvalid("edit-quote", let violations)? = traveller.refusal(of: "go") else {
            Issue.record("the child took the input")
            return
        }
        #expect(violations.map(\.pointer) == ["/author"])
    }

    @Test("choices and children that never come to a screen are cut off")
    func endless() throws {
        let child = Flows.make(["a": ["type": "final"]], id: "nothing")
        let parent = Flows.make(
            [
                "a": ["on": ["go": ["target": "loop"]]],
                "loop": [
                    "type": "flow", "flow": "nothing",
                    "on": ["done": ["target": "loop", "actions": [Flows.note("again")]]],
                ],
            ], id: "parent")
        let traveller = try Traveller(parent, child)
        guard case .endless? = traveller.refusal(of: "go") else {
            Issue.record("it came to an end")
            return
        }
    }
}
