import JSONDocument
import Navigation
import Testing

@Suite("Back with data and actions")
struct BackTests {
    /// A form that keeps a draft when a person goes back with data, and undoes a claim in any case.
    private static let form: JSONDocument = [
        "accepts": [
            "back": [
                "type": "object", "required": ["name"], "additionalProperties": false,
                "properties": ["name": ["type": "string", "maxLength": 5]],
            ]
        ],
        "rules": [
            "back": [["guard": ["compare": ["/event/name", "!=", "none"]], "at": "/name", "say": "A real one."]]
        ],
        "on": [
            "back": [
                [
                    "guard": ["compare": ["/event/name", "!=", "x"]],
                    "actions": [["set": "/limits/draft", "value": ["$from": "/event"]]],
                ]
            ],
            "send": ["target": "c"],
        ],
        "exit": [Flows.note("exit")],
    ]

    private static let undo: JSONDocument = [
        "on": [
            "back": ["actions": [Flows.note("undo"), ["op": "remove", "path": "/limits/claim"]]], "on": ["target": "c"],
        ],
        "exit": [Flows.note("exit")],
    ]

    private func traveller(_ screen: JSONDocument, _ more: JSONDocument = .emptyObject) throws -> Traveller {
        let states: JSONDocument = [
            "a": ["on": ["go": ["target": "b"]]], "b": screen, "c": ["on": ["on": ["target": "a"]]],
        ]
        var traveller = try Traveller(Flows.make(states.merging(more)))
        try traveller.send("go")
        return traveller
    }

    @Test("with data the draft is kept before the frame goes")
    func draft() throws {
        var traveller = try traveller(Self.form)
        try traveller.send("back", ["name": "Ada"])
        #expect(traveller.stack == ["a"])
        #expect(traveller.services["limits"][member: "draft"] == ["name": "Ada"])
        #expect(traveller.services.log == ["exit"])
        #expect(traveller.taken == ["test /states/b/on/back/0"])
    }

    @Test("without data nothing that reads it runs, and the person gets back")
    func bare() throws {
        var traveller = try traveller(Self.form)
        try traveller.back()
        #expect(traveller.stack == ["a"])
        #expect(traveller.services["limits"][member: "draft"] == nil)
    }

    @Test("data is checked as that of any event, by the schema, the rules and the guards")
    func checked() throws {
        let traveller = try traveller(Self.form)
        for data: JSONDocument in [.emptyObject, ["name": "too long"], ["name": 7], nil, ["name": "Ada", "more": 1]] {
            guard case .eventDataInvalid? = traveller.refusal(of: "back", data) else {
                Issue.record("\(data) was taken")
                continue
            }
        }
        #expect(
            traveller.refusal(of: "back", ["name": "none"])
                == .eventDataInvalid([JSONViolation(pointer: "/name", detail: "A real one.")]))
        guard case .guardNotMet(let violations)? = traveller.refusal(of: "back", ["name": "x"]) else {
            Issue.record("taken")
            return
        }
        #expect(violations.map(\.pointer) == ["/event/name"])
    }

    @Test("what cannot be undone is left out, and keeps nobody on the screen")
    func undone() throws {
        var traveller = try traveller(Self.undo)
        var other = traveller
        try traveller.back()
        #expect(traveller.stack == ["a"])
        #expect(traveller.services.log == ["exit"])
        other.services["limits"] = ["claim": 1]
        try other.back()
        #expect(other.services.log == ["exit", "undo"])
        #expect(other.services["limits"] == .emptyObject)
        // Who sends data is told.
        guard case .actionFailed? = try self.traveller(Self.undo).refusal(of: "back", ["x": 1]) else {
            Issue.record("dropped")
            return
        }
    }

    @Test("what would make a service invalid is left out, too")
    func invalid() throws {
        let screen: JSONDocument = [
            "on": [
                "back": ["actions": [["set": "/profile/name", "value": ["$from": "/limits/name"]]]],
                "on": ["target": "c"],
            ]
        ]
        var traveller = try traveller(screen)
        traveller.services["limits"] = ["name": 7]
        try traveller.back()
        #expect(traveller.stack == ["a"])
        #expect(traveller.services["profile"][member: "name"] == "")
    }

    @Test("of several the first whose guard holds runs; where none does, or one is undecided, none")
    func several() throws {
        func noting(_ line: String, _ high: JSONDocument) -> JSONDocument {
            ["guard": ["compare": ["/limits/high", ">", high]], "actions": [Flows.note(line)]]
        }
        let screen: JSONDocument = [
            "on": ["back": [noting("one", 20), noting("two", 10), noting("three", 0)], "on": ["target": "c"]]
        ]
        for (high, log) in [(30, ["one"]), (15, ["two"]), (5, ["three"]), (0, []), ("x", [])]
            as [(JSONDocument, [String])]
        {
            var traveller = try traveller(screen)
            traveller.services["limits"] = ["high": high]
            try traveller.back()
            #expect(traveller.stack == ["a"])
            #expect(traveller.services.log == log)
        }
    }

    @Test("a target of back and what is done before it stand beside each other")
    func target() throws {
        var traveller = try traveller(Self.undo.merging(["back": ["target": "c"]]))
        traveller.services["limits"] = ["claim": 1]
        try traveller.back()
        #expect(traveller.stack == ["a", "c"])
        #expect(traveller.services.log == ["exit", "undo"])
    }

    @Test("going back out of a child does it before the child is abandoned")
    func child() throws {
        let child = Flows.make(
            ["a": Self.form.merging(["on": ["send": ["target": "b"]]]), "b": ["type": "final"]], id: "child")
        var traveller = try Traveller(
            Flows.make([
                "a": ["on": ["go": ["target": "b"]]],
                "b": [
                    "type": "flow", "flow": "child",
                    "on": ["done.abandoned": ["actions": [Flows.note("abandoned")]], "done": ["target": "a"]],
                ],
            ]), child)
        try traveller.send("go")
        try traveller.send("back", ["name": "Ada"])
        #expect(traveller.flows == ["test"])
        #expect(traveller.services.log == ["exit", "abandoned"])
        #expect(traveller.services["limits"][member: "draft"] == ["name": "Ada"])
    }

    @Test("a screen that goes back to nothing refuses, whatever is sent")
    func nowhere() throws {
        let flow = Flows.make(["a": Self.form, "c": ["on": ["on": ["target": "a"]]]])
        let traveller = try Traveller(flow)
        for data: JSONDocument? in [nil, ["name": "Ada"]] {
            guard case .eventNotAccepted? = traveller.refusal(of: "back", data) else {
                Issue.record("accepted")
                continue
            }
        }
        #expect(try traveller.view().events.map(\.name) == ["send"])
    }

    @Test("the view lists back where it takes data, with its schema")
    func listed() throws {
        let traveller = try traveller(Self.form)
        let view = try traveller.view()
        #expect(view.events.map(\.name) == ["send", "back"])
        #expect(view.events.map(\.enabled) == [true, true])
        let schemas = try traveller.engine.eventSchemas(
            of: traveller.journey, services: traveller.services, now: traveller.now)
        #expect(schemas["back"]?.schema == Self.form[member: "accepts"]?[member: "back"])
        let other = try self.traveller(Self.undo)
        #expect(try other.view().events.map(\.name) == ["on"])
        let alone: JSONDocument = [
            "on": ["back": .emptyObject], "accepts": ["back": ["type": "object"]],
            "timeout": ["after": "1h", "target": "a"],
        ]
        #expect(try self.traveller(alone, ["c": nil]).view().events.map(\.name) == ["back"])
    }

    @Test(
        "several screens are gone back over as one by one; a link that leads forward from there undoes nothing unless it may",
        arguments: [nil, true, false])
    func links(link: Bool?) throws {
        var back = Self.undo[member: "on"]?[member: "back"] ?? .null
        if let link { back = back.merging(["link": JSONDocument(link)]) }
        let screen = Self.undo.merging(["on": ["back": back, "deeper": ["target": "d"]]])
        let deeper = Self.undo.merging(["on": ["back": ["actions": [Flows.note("first")]]]])
        var traveller = try Traveller(
            Flows.make([
                "a": ["on": ["go": ["target": "b"], "side": ["target": "e"]]], "b": screen, "d": deeper,
                "c": ["type": "final"], "e": ["on": ["on": ["target": "a"]]],
            ]))
        try traveller.send("go")
        try traveller.send("deeper")
        traveller.services["limits"] = ["claim": 1]
        func go(to screen: String, isByOperator: Bool) throws -> (stack: [String], log: [String], claim: JSONDocument?)
        {
            let step = try traveller.engine.navigate(
                traveller.journey, to: screen, isByOperator: isByOperator, services: traveller.services,
                now: traveller.now
            ).step
            var services = traveller.services
            services.perform(step.changes)
            return (step.journey.frames.map(\.state), services.log, services["limits"][member: "claim"])
        }
        let damage = JourneyRefusal.unreachable(
            blockedBy: "a", [.init(pointer: "", detail: "changes something, and a link changes nothing")])
        for (screen, isByOperator) in [("a", false), ("a", true), ("e", false), ("e", true)] {
            let mayGo = isByOperator || link == true || (link == nil && screen == "a")
            guard mayGo else {
                #expect(throws: JourneyRefusal.self) { try go(to: screen, isByOperator: false) }
                continue
            }
            // The topmost screen undoes something, too, and only going back alone does that.
            if screen == "e", !isByOperator {
                #expect(throws: JourneyRefusal.self) { try go(to: screen, isByOperator: false) }
                continue
            }
            let gone = try go(to: screen, isByOperator: isByOperator)
            #expect(gone.stack == (screen == "a" ? ["a"] : ["a", "e"]))
            #expect(gone.log == ["exit", "exit", "first", "exit", "undo"])
            #expect(gone.claim == nil)
        }
        if link == false { #expect(throws: damage) { try go(to: "a", isByOperator: false) } }
    }

    @Test("a link that may undo something leads on from there")
    func onward() throws {
        let back: JSONDocument = (Self.undo[member: "on"]?[member: "back"] ?? .null).merging(["link": true])
        var traveller = try traveller(
            Self.undo.merging(["on": ["back": back]]),
            ["a": ["on": ["side": ["target": "e"]]], "e": ["on": ["on": ["target": "a"]]]])
        traveller.services["limits"] = ["claim": 1]
        let step = try traveller.engine.navigate(
            traveller.journey, to: "e", services: traveller.services, now: traveller.now
        ).step
        #expect(step.journey.frames.map(\.state) == ["a", "e"])
        #expect(step.changes.last?.service == "limits")
    }
}

@Suite("The action set")
struct SetTests {
    private func after(_ action: JSONDocument, _ limits: JSONDocument, _ data: JSONDocument = .emptyObject) throws
        -> JSONDocument
    {
        var traveller = try Traveller(Flows.make(["a": ["on": ["go": ["actions": [action]]]]]))
        traveller.services["limits"] = limits
        try traveller.send("go", data)
        return traveller.services["limits"]
    }

    @Test("replaces a value whole, and makes it where there is none")
    func member() throws {
        let set: JSONDocument = ["set": "/limits/claim", "value": ["b": 1]]
        #expect(try after(set, ["claim": ["a": 1], "low": 1]) == ["claim": ["b": 1], "low": 1])
        #expect(try after(set, ["low": 1]) == ["claim": ["b": 1], "low": 1])
        #expect(try after(set, ["claim": nil]) == ["claim": ["b": 1]])
        #expect(try after(["set": "/limits/claim", "value": nil], ["claim": 1]) == ["claim": nil])
    }

    @Test("replaces the state of a service whole")
    func whole() throws {
        #expect(try after(["set": "/limits", "value": ["$from": "/event"]], ["a": 1], ["b": 2]) == ["b": 2])
    }

    @Test("replaces an element of a list, and adds one at its end")
    func element() throws {
        let set: JSONDocument = ["set": ["$pointer": ["limits", "all", ["$from": "/event/at"]]], "value": "x"]
        #expect(try after(set, ["all": ["a", "b"]], ["at": 0]) == ["all": ["x", "b"]])
        #expect(try after(set, ["all": ["a", "b"]], ["at": 2]) == ["all": ["a", "b", "x"]])
        #expect(try after(set, ["all": ["a"]], ["at": "-"]) == ["all": ["a", "x"]])
        #expect(throws: JourneyRefusal.self) { try after(set, ["all": ["a"]], ["at": 2]) }
        #expect(throws: JourneyRefusal.self) { try after(set, .emptyObject, ["at": 0]) }
    }
}
