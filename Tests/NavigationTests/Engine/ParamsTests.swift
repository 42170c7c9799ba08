import JSONDocument
import Navigation
import Testing

@Suite("Params of screens")
struct ParamsTests {
    private static let product: JSONDocument = [
        "requires": [["not": ["compare": ["/frame/id", "==", ["value": "none"]]]]],
        "on": [
            "show": ["target": "product", "params": ["id": ["$from": "/event/id"]]],
            "buy": [
                "target": "bought",
                "actions": [["op": "add", "path": "/limits/bought", "value": ["$from": "/frame/id"]]],
            ],
            "home": ["target": "a", "nav": "pop_to"],
            "look": ["target": "product", "nav": "pop_to", "params": ["id": ["$from": "/event/id"]]],
            "any": ["target": "product", "nav": "pop_to"],
        ],
    ]

    private static let flow = Flows.make([
        "a": ["on": ["show": ["target": "product", "params": ["id": ["$from": "/event/id"]]]]], "product": product,
        "bought": ["on": ["on": ["target": "a"]]],
    ])

    private func shop(_ products: JSONDocument...) throws -> Traveller {
        var traveller = try Traveller(Self.flow)
        for product in products { try traveller.send("show", ["id": product]) }
        return traveller
    }

    @Test("three products on one stack are three frames of one screen, and back shows the one before")
    func three() throws {
        var traveller = try shop("x", "y", "z")
        #expect(traveller.stack == ["a", "product", "product", "product"])
        for id in ["z", "y", "x"] as [JSONDocument] {
            #expect(try traveller.view().screen?.params == ["id": id])
            try traveller.back()
        }
        #expect(try traveller.view().screen?.params == nil)
    }

    @Test("params are read as /frame/id")
    func read() throws {
        var traveller = try shop("x", "y")
        try traveller.send("buy")
        #expect(traveller.services["limits"][member: "bought"] == "y")
    }

    @Test("a requires reads the params of its own frame")
    func required() throws {
        let traveller = try shop("x")
        guard case .guardNotMet? = traveller.refusal(of: "show", ["id": "none"]) else {
            Issue.record("shown")
            return
        }
        #expect(traveller.refusal(of: "show", ["id": "some"]) == nil)
    }

    @Test("pop_to goes back to the frame with the same params; without any, to the nearest of the screen")
    func popTo() throws {
        var traveller = try shop("x", "y", "z")
        try traveller.send("look", ["id": "x"])
        #expect(try traveller.stack.count == 2 && traveller.view().screen?.params == ["id": "x"])
        try traveller.send("look", ["id": "new"])
        #expect(try traveller.stack.count == 3 && traveller.view().screen?.params == ["id": "new"])
        try traveller.send("any")
        #expect(try traveller.view().screen?.params == ["id": "x"])
    }

    @Test("params go through choices and into child flows, and a branch may have its own")
    func handedOn() throws {
        let flow = Flows.make([
            "a": [
                "on": [
                    "child": ["target": "child", "params": ["id": 1]],
                    "choice": ["target": "choice", "params": ["id": 2]],
                ]
            ],
            "child": ["type": "flow", "flow": "child"],
            "choice": [
                "type": "choice",
                "branches": [
                    ["guard": ["compare": ["/limits/low", ">", ["value": 1]]], "target": "b", "params": ["id": 3]],
                    ["target": "b"],
                ],
            ],
            "b": ["on": ["on": ["target": "a"]]],
        ])
        let child = Flows.make(["a": ["on": ["on": ["target": "a"]]]], id: "child")
        for (event, low, id) in [("child", 1, 1), ("choice", 1, 2), ("choice", 2, 3)] {
            var traveller = try Traveller(flow, child)
            traveller.services["limits"] = ["low": JSONDocument(low)]
            try traveller.send(event)
            #expect(try traveller.view().screen?.params == ["id": JSONDocument(id)])
        }
    }

    @Test("a params that has no value refuses the step")
    func missing() throws {
        let traveller = try shop("x")
        guard case .actionFailed(let violation)? = traveller.refusal(of: "show") else {
            Issue.record("shown")
            return
        }
        #expect(violation.pointer == "/event/id")
    }
}
