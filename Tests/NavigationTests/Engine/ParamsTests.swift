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

@Suite("Going to a screen with params")
struct ParamsWayTests {
    private static let show: JSONDocument = [
        ["guard": ["compare": ["/event/id", "==", "gone"]], "target": "a"],
        [
            "target": "product",
            "params": [
                "id": ["$from": "/event/id"], "tab": ["$from": "/event/tab", "default": "info"], "kind": "thing",
            ],
        ],
    ]

    private static let accepts: JSONDocument = [
        "show": [
            "type": "object", "required": ["id"], "properties": ["id": ["type": "string"], "tab": ["type": "string"]],
        ]
    ]

    private static let flow = Flows.make(
        [
            "a": ["on": ["list": ["target": "list"]]], "list": ["accepts": accepts, "on": ["show": show]],
            "product": [
                "accepts": accepts,
                "requires": [["not": ["compare": ["/frame/id", "==", ["value": "secret"]]]]],
                "on": ["show": show, "buy": ["target": "bought"]],
            ],
            "bought": ["on": ["on": ["target": "a"]]],
            "closed": ["on": ["on": ["target": "a"]]],
        ],
        adding: [
            "on": ["wipe": ["target": "closed", "params": ["x": 1], "actions": [["clear": "limits"]]]]
        ])

    /// The `id` of each frame of the stack, and the way.
    private func go(
        _ traveller: Traveller, to screen: String = "product", _ params: JSONDocument?
    ) throws -> (ids: [String], path: [String]) {
        let way = try traveller.engine.navigate(
            traveller.journey, to: screen, params: params, services: traveller.services, now: traveller.now)
        return (way.step.journey.frames.map { $0.params?[member: "id"]?.string ?? "-" }, way.path)
    }

    private func invalid(_ params: JSONDocument, to screen: String = "product") throws -> [String]? {
        let traveller = try Traveller(Self.flow)
        do {
            _ = try go(traveller, to: screen, params)
            return nil
        } catch JourneyRefusal.paramsInvalid(let violations) {
            return violations.map { "\($0.pointer) \($0.detail)" }
        }
    }

    @Test("the event that makes the frame is sent with what the params say")
    func made() throws {
        let traveller = try Traveller(Self.flow)
        let (ids, path) = try go(traveller, ["id": "x"])
        #expect(ids == ["-", "-", "x"])
        #expect(path == ["list", "product"])
        let way = try traveller.engine.navigate(
            traveller.journey, to: "product", params: ["id": "x", "tab": "more", "kind": "thing"],
            services: traveller.services, now: traveller.now)
        #expect(way.step.journey.top?.params == ["id": "x", "tab": "more", "kind": "thing"])
    }

    @Test("a frame with others is another one, and one on the stack with the same is gone back to")
    func other() throws {
        var traveller = try Traveller(Self.flow)
        try traveller.send("list")
        for id in ["x", "y"] { try traveller.send("show", ["id": JSONDocument(id)]) }
        for (params, ids, path) in [
            (["id": "y"], ["-", "-", "x", "y"], []), (["id": "x"], ["-", "-", "x"], ["product"]),
            (["id": "z"], ["-", "-", "x", "y", "z"], ["product"]), (nil, ["-", "-", "x", "y"], []),
        ] as [(JSONDocument?, [String], [String])] {
            let way = try go(traveller, params)
            #expect(way.ids == ids && way.path == path)
        }
        #expect(try go(traveller, .emptyObject).path == [])
    }

    @Test("what the screen's frames do not take is refused")
    func refused() throws {
        #expect(try invalid(["id": "x"]) == nil)
        #expect(try invalid(["nr": "x"]) == ["/nr is not a param of \"product\", which has id, kind, tab"])
        #expect(try invalid(["id": 7]) == ["/id must be a string"])
        #expect(try invalid(["id": "x", "kind": "idea"]) == ["/kind must be \"thing\""])
        #expect(
            try invalid(["id": "x"], to: "list")
                == [" must be left out, because no transition gives \"list\" params"])
    }

    @Test("guards, requires, and what a link must not do, stand in the way as ever")
    func blocked() throws {
        let traveller = try Traveller(Self.flow)
        for (screen, params, pointers) in [
            ("product", ["id": "gone"], [""]), ("product", ["id": "secret"], ["/frame/id"]), ("closed", ["x": 1], [""]),
            ("product", ["tab": "more"], [""]),
        ] as [(String, JSONDocument, [String])] {
            do {
                _ = try go(traveller, to: screen, params)
                Issue.record("\(params)")
            } catch JourneyRefusal.unreachable(_, let violations) {
                #expect(violations.map(\.pointer) == pointers, "\(params)")
            }
        }
    }

    @Test("a journey may begin there")
    func start() throws {
        let traveller = try Traveller(Self.flow)
        let way = try traveller.engine.start(
            flow: "test", id: "other", at: "product", params: ["id": "x"], services: traveller.services,
            now: traveller.now)
        #expect(way.step.journey.frames.map { $0.params?[member: "id"]?.string ?? "-" } == ["-", "-", "x"])
    }
}
