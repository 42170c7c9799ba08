import JSONDocument
import Navigation
import Testing

@Suite("Going to a screen")
struct NavigateTests {
    private func wizard(name: String? = nil) throws -> Traveller {
        var traveller = try Traveller(Flows.wizard, Flows.editQuote)
        if let name { try traveller.send("sign_in", ["name": JSONDocument(name)]) }
        return traveller
    }

    private func navigate(_ traveller: Traveller, to screen: String) throws -> FlowEngine.Navigation {
        try traveller.engine.navigate(
            traveller.journey, to: screen, services: traveller.services, now: traveller.now)
    }

    /// What is in the way, as the screen and the pointers.
    private func obstacle(_ traveller: Traveller, to screen: String) -> (screen: String, pointers: [String])? {
        do {
            _ = try navigate(traveller, to: screen)
            return nil
        } catch JourneyRefusal.unreachable(let screen, let violations) {
            return (screen, violations.map(\.pointer))
        } catch {
            Issue.record("\(error)")
            return nil
        }
    }

    @Test("choices that part and meet again are gone through once each, however many are in a row")
    func choices() throws {
        var states: [(name: String, value: JSONDocument)] = [("here", ["on": ["go": ["target": "c0"]]])]
        for number in 0..<60 {
            let next: JSONDocument = number == 59 ? "there" : JSONDocument("c\(number + 1)")
            let guarded: JSONDocument = [
                "guard": ["service": "profile", "schema": ["required": ["x"]]], "target": next,
            ]
            states.append(("c\(number)", ["type": "choice", "branches": [guarded, ["target": next]]]))
        }
        states.append(("there", ["on": ["home": ["target": "here", "nav": "set_root"]]]))
        let flow: JSONDocument = [
            "id": "rows", "version": 1, "initial": "here", "states": JSONDocument(members: states),
        ]
        #expect(try navigate(try Traveller(flow), to: "there").path == ["there"])
    }

    @Test("a child's end that leaves nothing on the stack ends its parent, and the way goes on from there")
    func ends() throws {
        let outer = Flows.make([
            "a": ["on": ["go": ["target": "m"]]],
            "m": [
                "type": "flow", "flow": "middle", "on": ["done": .emptyObject, "done.abandoned": ["target": "far"]],
            ],
            "far": ["on": ["home": ["target": "a", "nav": "set_root"]]],
        ])
        let middle = Flows.make(
            [
                "a": ["type": "flow", "flow": "inner", "on": ["done": .emptyObject]],
                "z": ["type": "final"],
            ], id: "middle", adding: ["on": ["quit": ["target": "z"]]])
        let inner = Flows.make(
            [
                "a": ["on": ["next": ["target": "b", "nav": "set_root"]]], "b": ["on": ["end": ["target": "z"]]],
                "z": ["type": "final"],
            ], id: "inner")
        var traveller = try Traveller(outer, middle, inner)
        try traveller.send("go")
        try traveller.send("next")
        #expect(try navigate(traveller, to: "far").events == ["end"])
        try traveller.send("end")
        #expect(traveller.stack == ["far"])
    }

    @Test("the way over pages that may be seen is gone as one step")
    func steps() throws {
        let traveller = try wizard(name: "Ada")
        let result = try navigate(traveller, to: "page3")
        #expect(result.path == ["page2", "page3"])
        #expect(result.events == ["next", "next"])
        #expect(result.step.journey.step == traveller.journey.step + 1)
        #expect(result.step.journey.frames.map(\.state) == ["start", "page1", "page2", "page3"])
    }

    @Test("without a name, the first page that wants one is in the way, and says what is missing")
    func blocked() throws {
        let blocked = try #require(obstacle(try wizard(), to: "page3"))
        #expect(blocked.screen == "page1")
        #expect(blocked.pointers == ["/profile/name"])
    }

    @Test("with a name, an event that needs data is in the way all the same")
    func data() throws {
        var traveller = try wizard()
        traveller.services["profile"] = ["name": "Ada", "email": nil, "attributes": .emptyObject]
        let blocked = try #require(obstacle(traveller, to: "page3"))
        #expect(blocked.screen == "page1")
        #expect(blocked.pointers == ["/event/name"])
    }

    @Test("a screen on the stack is gone back to, and no event is sent for it")
    func back() throws {
        var traveller = try wizard(name: "Ada")
        try traveller.send("next")
        try traveller.send("next")
        // `finish` would lead to the start in one event, and remove the profile.
        let result = try navigate(traveller, to: "start")
        #expect(result.path == ["page2", "page1", "start"])
        #expect(result.events == ["back", "back", "back"])
        #expect(result.step.changes.isEmpty)
    }

    @Test("into a child flow, and out of it by leaving it")
    func children() throws {
        var traveller = try wizard(name: "Ada")
        let inside = try navigate(traveller, to: "edit")
        #expect(inside.path == ["page2", "show", "edit"])
        #expect(inside.step.journey.coordinators.map(\.flow) == ["wizard", "edit-quote"])
        try traveller.send("next")
        try traveller.send("edit")
        let outside = try navigate(traveller, to: "page3")
        #expect(outside.path.last == "page3")
        #expect(outside.step.journey.coordinators.map(\.flow) == ["wizard"])
        #expect(outside.step.journey.frames.map(\.state) == ["start", "page1", "page2", "page3"])
    }

    @Test("where one is already, nothing happens")
    func here() throws {
        let traveller = try wizard(name: "Ada")
        let result = try navigate(traveller, to: "page1")
        #expect(result.path.isEmpty)
        #expect(result.step.journey == traveller.journey)
    }

    @Test("a screen that no flow has")
    func unknown() throws {
        let traveller = try wizard(name: "Ada")
        #expect(throws: JourneyRefusal.unknownScreen("page4")) { try navigate(traveller, to: "page4") }
    }

    @Test("never back over what cannot be undone")
    func invalidated() throws {
        let flow = Flows.make([
            "a": ["on": ["pay": ["target": "b", "history": "invalidate"]]], "b": ["on": ["next": ["target": "b"]]],
        ])
        var traveller = try Traveller(flow)
        try traveller.send("pay")
        #expect(try #require(obstacle(traveller, to: "a")).screen == "a")
    }

    @Test("never back over what a modal screen has invalidated before it was dismissed")
    func invalidatedModal() throws {
        let flow = Flows.make([
            "a": ["on": ["go": ["target": "b"]]], "b": ["on": ["open": ["target": "m", "nav": "present"]]],
            "m": ["back": false, "on": ["done": ["nav": "dismiss", "history": "invalidate", "link": true]]],
        ])
        var traveller = try Traveller(flow)
        try traveller.send("go")
        try traveller.send("open")
        let obstacle = JSONViolation(pointer: "", detail: "cannot be gone back to")
        #expect(throws: JourneyRefusal.unreachable(blockedBy: "a", [obstacle])) {
            try navigate(traveller, to: "a")
        }
    }

    @Test("what is done on the way opens nothing")
    func consent() throws {
        let flow = Flows.make(
            [
                "a": [
                    "on": ["accept": ["target": "b", "actions": [["op": "add", "path": "/limits/ok", "value": true]]]]
                ],
                "b": ["requires": ["ok"], "on": ["back2": ["target": "a"]]],
            ],
            adding: ["guards": ["ok": ["service": "limits", "schema": ["required": ["ok"]]]]])
        let blocked = try #require(obstacle(try Traveller(flow), to: "b"))
        #expect(blocked.screen == "b")
        #expect(blocked.pointers == ["/limits/ok"])
    }

    @Test("when the way is refused as it is gone, another is taken")
    func detour() throws {
        let flow = Flows.make([
            "a": [
                "on": [
                    "short": ["target": "c", "actions": [["op": "test", "path": "/limits/low", "value": 2]]],
                    "long": ["target": "b"],
                ]
            ],
            "b": ["on": ["next": ["target": "c"]]], "c": ["on": ["next": ["target": "a"]]],
        ])
        #expect(try navigate(try Traveller(flow), to: "c").events == ["long", "next"])
    }

    @Test("a choice goes the way that the data decides, and says what would have to be otherwise for the other")
    func choice() throws {
        let flow = Flows.make([
            "a": ["on": ["go": ["target": "which"]]],
            "which": [
                "type": "choice",
                "branches": [
                    ["guard": ["compare": ["/limits/low", ">", ["value": 5]]], "target": "b"], ["target": "c"],
                ],
            ],
            "b": ["on": ["next": ["target": "a"]]], "c": ["on": ["next": ["target": "a"]]],
        ])
        let traveller = try Traveller(flow)
        #expect(try navigate(traveller, to: "c").path == ["c"])
        let blocked = try #require(obstacle(traveller, to: "b"))
        #expect(blocked.screen == "b")
        #expect(blocked.pointers == ["/limits/low"])
    }

    /// Three ways to `b`, of which one does the damage; and a way round of two events.
    private static func dangerous(_ damage: JSONDocument, link: JSONDocument = .emptyObject) -> JSONDocument {
        Flows.make([
            "a": [
                "on": [
                    "short": JSONDocument(members: [(name: "target", value: "c")]).merging(damage).merging(link),
                    "long": ["target": "b"],
                ]
            ],
            "b": ["on": ["next": ["target": "c"]]], "c": ["on": ["next": ["target": "a"]]],
        ])
    }

    private static let damages: [JSONDocument] = [
        ["actions": [["clear": "limits"]]], ["nav": "set_root"], ["history": "invalidate"],
    ]

    @Test("a link takes no transition with actions, set_root or invalidate", arguments: damages)
    func damage(damage: JSONDocument) throws {
        let traveller = try Traveller(Self.dangerous(damage))
        #expect(try navigate(traveller, to: "c").events == ["long", "next"])
        let at = try traveller.engine.start(
            flow: "test", id: "x", at: "c", services: traveller.services, now: traveller.now)
        #expect(at.events == ["long", "next"] && at.step.changes.isEmpty)
    }

    @Test("a link takes a transition that says \"link\": true, whatever it does", arguments: damages)
    func linked(damage: JSONDocument) throws {
        let traveller = try Traveller(Self.dangerous(damage, link: ["link": true]))
        #expect(try navigate(traveller, to: "c").events == ["short"])
    }

    @Test("a link takes no transition that says \"link\": false")
    func unlinked() throws {
        let traveller = try Traveller(Self.dangerous(.emptyObject, link: ["link": false]))
        #expect(try navigate(traveller, to: "c").events == ["long", "next"])
    }

    @Test("when only a transition that does damage leads there, the link is refused and says so")
    func onlyDamage() throws {
        let flow = Flows.make([
            "a": ["on": ["delete": ["target": "b", "actions": [["clear": "limits"]]]]],
            "b": ["on": ["on": ["target": "a"]]],
        ])
        let obstacle = JSONViolation(pointer: "", detail: "changes something, and a link changes nothing")
        let traveller = try Traveller(flow)
        #expect(throws: JourneyRefusal.unreachable(blockedBy: "b", [obstacle])) {
            try navigate(traveller, to: "b")
        }
    }

    @Test("a link passes no branch of a choice and no end of a child that does damage", arguments: ["choice", "child"])
    func damageFurtherOn(way: String) throws {
        let clearing: JSONDocument = ["target": "c", "actions": [["clear": "limits"]]]
        let flow = Flows.make([
            "a": ["on": ["go": ["target": JSONDocument(way)], "long": ["target": "b"]]],
            "b": ["on": ["x": ["target": "b2"]]], "b2": ["on": ["x": ["target": "b3"]]],
            "b3": ["on": ["next": ["target": "c"]]],
            "choice": ["type": "choice", "branches": [clearing]],
            "child": ["type": "flow", "flow": "child", "on": ["done": clearing]],
            "c": ["on": ["choice": ["target": "choice"], "child": ["target": "child"]]],
        ])
        let child = Flows.make(["a": ["on": ["end": ["target": "z"]]], "z": ["type": "final"]], id: "child")
        #expect(try navigate(try Traveller(flow, child), to: "c").events == ["long", "x", "x", "next"])
    }

    /// Two questions, each with one event that gives the answer.
    private static let questions = Flows.make([
        "a": [
            "answers": ["/limits/first"],
            "accepts": ["give": ["type": "object", "required": ["value"]]],
            "on": [
                "give": [
                    "target": "b",
                    "actions": [
                        ["op": "add", "path": "/limits/first", "value": ["$from": "/event/value"]], Flows.note("given"),
                    ],
                ]
            ],
        ],
        "b": [
            "answers": ["/limits/second"],
            "on": [
                "give": [
                    "target": "c", "history": "invalidate",
                    "actions": [["op": "add", "path": "/limits/second", "value": 2]],
                ]
            ],
        ],
        "c": ["on": ["next": ["target": "a"]]],
    ])

    @Test("a screen whose answers are there is passed by the event that would have given them, without its actions")
    func answered() throws {
        var traveller = try Traveller(Self.questions)
        #expect(try #require(obstacle(traveller, to: "b")).pointers == ["/event/value"])
        for missing in [JSONDocument.emptyObject, ["first": nil]] {
            traveller.services["limits"] = missing
            #expect(obstacle(traveller, to: "b") != nil, "null is no answer")
        }
        traveller.services["limits"] = ["first": 1]
        let result = try navigate(traveller, to: "b")
        #expect(result.events == ["give"] && result.step.changes.isEmpty)
        #expect(result.step.journey.frames.map(\.state) == ["a", "b"])
    }

    @Test("an answered screen is not passed by what makes it impossible to go back")
    func answeredForGood() throws {
        var traveller = try Traveller(Self.questions)
        traveller.services["limits"] = ["first": 1, "second": 2]
        #expect(try #require(obstacle(traveller, to: "c")).screen == "c")
    }

    @Test("a link goes on where an always leads")
    func always() throws {
        let flow = Flows.make([
            "a": ["on": ["go": ["target": "b"]]],
            "b": [
                "always": ["guard": ["service": "limits", "schema": .emptyObject], "target": "c"],
                "on": ["next": ["target": "a"]],
            ],
            "c": ["on": ["next": ["target": "a"]]],
        ])
        let result = try navigate(try Traveller(flow), to: "c")
        #expect(result.path == ["c"] && result.step.journey.frames.map(\.state) == ["a", "b", "c"])
    }

    @Test("a flow starts in the middle with the frames below that a person would have passed")
    func middle() throws {
        let flow = Flows.make([
            "a": ["on": ["next": ["target": "b"]]], "b": ["on": ["edit": ["target": "c", "nav": "present"]]],
            "c": ["on": ["next": ["target": "a"]]],
        ])
        let engine = FlowEngine(catalog: try Traveller.catalog([flow]))
        let result = try engine.start(flow: "test", id: "x", at: "c", services: TestServices(), now: 7)
        #expect(result.path == ["b", "c"])
        #expect(result.step.journey.frames.map(\.state) == ["a", "b", "c"])
        #expect(result.step.journey.frames.map(\.presentation) == [.root, .push, .modal])
        #expect(result.step.journey.step == 1)
    }
}
