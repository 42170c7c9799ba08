import FlowTools
import JSONDocument
import Navigation
import Testing

@Suite("Commands that actions call")
struct CommandTests {
    private static let add: JSONDocument = [
        "call": "cart/add", "with": ["id": ["$from": "/event/id"], "count": ["$from": "/event/count", "default": 1]],
    ]

    /// A flow with one event, which does these actions and stays.
    private func traveller(
        doing actions: JSONDocument, adding members: JSONDocument = .emptyObject
    ) throws -> Traveller {
        try Traveller(Flows.make(["a": ["on": ["go": ["actions": actions]]]], adding: members))
    }

    private static func cart(_ items: JSONDocument, _ total: Int) -> JSONDocument {
        ["items": items, "total": JSONDocument(total)]
    }

    private static func refusal(_ pointer: String, _ detail: String) -> JourneyRefusal {
        .guardNotMet([JSONViolation(pointer: pointer, detail: detail)])
    }

    @Test("a command changes its service, and its output is there for the actions behind it")
    func output() throws {
        var traveller = try traveller(doing: [
            Self.add, ["op": "add", "path": "/limits/total", "value": ["$from": "/result/total"]],
            [
                "call": "cart/add",
                "with": [
                    "id": ["$if": [["compare": ["/result/total", ">", ["value": 9]]], "low", "high"]], "count": 1,
                ],
            ],
            ["op": "add", "path": ["$pointer": ["memo", ["$from": "/result/total"]]], "value": ["$from": "/result"]],
        ])
        try traveller.send("go", ["id": "high", "count": 2])
        #expect(traveller.services["cart"] == Self.cart(["high": 2, "low": 1], 21))
        #expect(traveller.services["limits"][member: "total"] == 20)
        #expect(traveller.services["memo"] == ["21": ["total": 21]])
        #expect(traveller.changes.map(\.service) == ["cart", "limits", "memo"])
    }

    @Test("a command without output leaves none of the command before it, nor does another list of actions")
    func noOutput() throws {
        let note: JSONDocument = [
            "op": "add", "path": "/memo/note", "value": ["$from": "/result/total", "default": "none"],
        ]
        var traveller = try traveller(doing: [Self.add, ["call": "cart/reset"], note])
        try traveller.send("go", ["id": "low"])
        #expect(traveller.services["memo"] == ["note": "none"])

        traveller = try Traveller(
            Flows.make([
                "a": ["on": ["go": ["target": "c", "actions": [["call": "cart/reset"]]]]],
                "c": ["type": "choice", "branches": [["target": "b", "actions": [["call": "cart/reset"], note]]]],
                "b": ["on": ["go": ["target": "a"]]],
            ]))
        try traveller.send("go")
        #expect(traveller.services["memo"] == ["note": "none"])
    }

    @Test("a command sees the services as the actions before it have left them, and others see what it changed")
    func order() throws {
        var traveller = try traveller(doing: [
            ["op": "replace", "path": "/limits/low", "value": 7], Self.add,
            ["op": "copy", "from": "/cart/total", "path": "/limits/low"], ["clear": "cart"], Self.add,
        ])
        try traveller.send("go", ["id": "low", "count": 2])
        #expect(traveller.services["cart"] == Self.cart(["low": 2], 28))
    }

    @Test("what a command changes in several services is handed over in its order")
    func several() throws {
        var traveller = try traveller(doing: [Self.add, ["call": "cart/reset"], ["call": "cart/empty"]])
        try traveller.send("go", ["id": "low"])
        #expect(
            traveller.changes == [
                ServiceChange(service: "limits", effect: .written(["low": 3])),
                ServiceChange(service: "quote", effect: .removed), ServiceChange(service: "cart", effect: .cleared),
                ServiceChange(service: "cart", effect: .removed),
            ])
    }

    @Test(
        "a refusal refuses the step like a guard, at the data that the refused part of the input was made from",
        arguments: [
            (["id": ["$from": "/event/id"], "count": 1], ["id": "x"], "/event/id", "There is no such thing."),
            (["$from": "/event"], ["id": "x", "count": 1], "/event/id", "There is no such thing."),
            (
                ["id": ["$lower": ["$from": "/event/id"]], "count": 1], ["id": "X"], "/event/id",
                "There is no such thing."
            ),
            (["id": "low", "count": ["$from": "/memo/count"]], [:], "/memo/count", "Take one at least."),
            (["id": "x", "count": ["$from": "/memo/count"]], [:], "/cart", "There is no such thing."),
            (["id": "low", "count": 0], [:], "/cart", "Take one at least."),
            (
                ["id": "low", "count": 1, "tags": ["x", ["$from": "/event/tag"]]], ["tag": ""], "/event/tag",
                "is empty"
            ),
            (
                ["id": "low", "count": 1, "tags": ["$from": "/event/a~1b"]], ["a/b": ["x", ""]], "/event/a~1b/1",
                "is empty"
            ),
            (
                ["id": ["$from": ["$pointer": ["memo", ["$from": "/event/key"]]]], "count": 1], ["key": "k"], "/memo/k",
                "There is no such thing."
            ),
        ] as [(JSONDocument, JSONDocument, String, String)])
    func refused(input: JSONDocument, data: JSONDocument, pointer: String, detail: String) throws {
        var traveller = try traveller(doing: [
            ["op": "replace", "path": "/quote/text", "value": "?"], ["call": "cart/add", "with": input],
        ])
        traveller.services["memo"] = ["count": 0, "k": "x"]
        #expect(traveller.refusal(of: "go", data) == Self.refusal(pointer, detail))
    }

    @Test("a state that does not fit the service refuses the step")
    func unfit() throws {
        let traveller = try traveller(doing: [Self.add])
        #expect(
            traveller.refusal(of: "go", ["id": "high", "count": 11])
                == .serviceInvalid(
                    service: "cart", [JSONViolation(pointer: "/cart/total", detail: "must be at most 100")]))
    }

    @Test("services without commands refuse every call")
    func none() {
        var work = 0
        #expect(throws: CommandRefusal([JSONViolation(pointer: "", detail: "has no command \"add\"")])) {
            try Guests().call(
                "add", of: "guest", with: nil, now: 0, work: &work, reading: { _ in nil }, isLive: { _ in nil })
        }
    }

    @Test("a command reads and changes what the calling coordinator owns, else what its parents do, else the session's")
    func owned() throws {
        let calls: JSONDocument = ["actions": [Self.add]]
        var traveller = try Traveller(
            Flows.make(
                ["a": ["on": ["go": calls, "child": ["target": "c"]]], "c": ["type": "flow", "flow": "child"]],
                adding: ["owns": ["cart"]]),
            Flows.make(
                ["a": ["on": ["go": calls, "reset": ["actions": [["call": "cart/reset"]]]]]], id: "child",
                adding: ["owns": ["limits"]]))
        let item: JSONDocument = ["id": "low"]
        try traveller.send("go", item)
        #expect(traveller.changes == [])
        try traveller.send("child")
        try traveller.send("go", item)
        #expect(traveller.journey.owned.map(\.document) == [Self.cart(["low": 2], 2)])
        try traveller.send("reset")
        #expect(traveller.changes == [ServiceChange(service: "quote", effect: .removed)])
        #expect(traveller.journey.owned.map(\.name) == ["cart", "limits"])
        #expect(traveller.journey.owned.map(\.document) == [Self.cart([:], 0), ["low": 3]])
        try traveller.send("go", item)
        #expect(traveller.journey.owned.first?.document == Self.cart(["low": 1], 3))
        #expect(traveller.services["cart"] == Self.cart([:], 0))
    }

    @Test("what depends on a value that a command changes is set back")
    func invalidates() throws {
        var traveller = try traveller(
            doing: [Self.add], adding: ["invalidates": ["/cart/total": ["/quote/text", "/memo/paid"]]])
        traveller.services["quote"] = ["text": "Two", "author": "Ada"]
        traveller.services["memo"] = ["paid": true]
        try traveller.send("go", ["id": "low"])
        #expect(traveller.services["quote"] == ["text": "To be.", "author": "Ada"])
        #expect(traveller.services["memo"] == [:])
    }

    @Test("an `always` moves the journey by what a command changed, and is not taken when its own command refuses")
    func always() throws {
        func move(_ id: String) -> JSONDocument {
            [
                "guard": ["compare": ["/cart/total", ">", ["value": 9]]], "target": "b",
                "actions": [["call": "cart/add", "with": ["id": JSONDocument(id), "count": 1]]],
            ]
        }
        for (id, screen, total) in [("low", "b", 11), ("none", "a", 10)] {
            var traveller = try Traveller(
                Flows.make([
                    "a": ["on": ["go": ["actions": [Self.add]]], "always": move(id)],
                    "b": ["on": ["back_to": ["target": "a"]]],
                ]))
            try traveller.send("go", ["id": "high"])
            #expect(traveller.screen == screen)
            #expect(traveller.services["cart"][member: "total"] == JSONDocument(total))
            // Looking at it tries the move again, and changes nothing.
            _ = try traveller.view()
            #expect(traveller.services["cart"][member: "total"] == JSONDocument(total))
        }
    }

    @Test("when a journey is given up, a list of actions whose command refuses is undone as a whole")
    func lenient() throws {
        func exit(_ count: Int) -> JSONDocument {
            [
                ["op": "add", "path": "/memo/left", "value": true],
                ["call": "cart/add", "with": ["id": "low", "count": ["$subtract": [JSONDocument(count), 0]]]],
            ]
        }
        for (count, memo) in [(0, [:]), (1, ["left": true])] as [(Int, JSONDocument)] {
            var traveller = try Traveller(
                Flows.make(["a": ["on": ["go": ["target": "a"]]]], adding: ["exit": exit(count)]))
            traveller.abandon()
            #expect(traveller.services["memo"] == memo)
        }
    }

    @Test("a link takes a transition that calls when it says so, and its input needs no event")
    func links() throws {
        func flow(_ input: JSONDocument, _ link: Bool?) -> JSONDocument {
            let go: JSONDocument = ["target": "b", "actions": [["call": "cart/add", "with": input]]]
            return Flows.make([
                "a": ["on": ["go": link.map { go.merging(["link": JSONDocument($0)]) } ?? go]],
                "b": ["on": ["go": ["target": "a"]]],
            ])
        }
        func navigate(_ input: JSONDocument, _ link: Bool?) throws -> [ServiceChange] {
            let traveller = try Traveller(flow(input, link))
            return try traveller.engine.navigate(
                traveller.journey, to: "b", services: traveller.services, now: traveller.now
            ).step.changes
        }
        let constant: JSONDocument = ["id": "low", "count": 1]
        #expect(
            try navigate(constant, true)
                == [ServiceChange(service: "cart", effect: .written(Self.cart(["low": 1], 1)))])
        #expect(throws: JourneyRefusal.self) { try navigate(constant, nil) }
        // The search knows that, so it is not the engine that says so.
        let missing = JSONViolation(pointer: "/event/id", detail: "is needed, and there is no value")
        #expect(throws: JourneyRefusal.unreachable(blockedBy: "b", [missing])) {
            try navigate(["id": ["$from": "/event/id"], "count": 1], true)
        }
    }

    @Test("scripts that cover a flow run its commands")
    func covered() throws {
        let catalog = try Traveller.catalog([
            Flows.make([
                "a": [
                    "on": [
                        "go": ["actions": [["call": "cart/add", "with": ["id": "high", "count": 1]]]],
                        "pay": [
                            "guard": ["compare": ["/cart/total", ">", ["value": 19]]], "target": "b",
                        ],
                    ]
                ],
                "b": ["type": "final"],
            ])
        ])
        let coverage = FlowPaths(try #require(catalog.flow("test")), in: catalog)
            .coveringScripts(services: TestServices())
        #expect(coverage.uncovered == [])
        #expect(coverage.scripts.first?.entries.count == 3)
    }
}
