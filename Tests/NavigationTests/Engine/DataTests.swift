import JSONDocument
import Testing

@testable import Navigation

@Suite("Actions, values and guards")
struct DataTests {
    private func traveller(doing actions: JSONDocument) throws -> Traveller {
        try Traveller(Flows.make(["a": ["on": ["go": ["actions": actions]]]]))
    }

    @Test(
        "actions are operations on services",
        arguments: [
            (
                [["op": "add", "path": "/profile/attributes/x", "value": [1, ["y": 2]]]], "profile",
                "/attributes/x/1/y", 2
            ),
            ([["op": "replace", "path": "/profile/name", "value": "Ada"]], "profile", "/name", "Ada"),
            (
                [["op": "copy", "from": "/quote/author", "path": "/profile/name"]], "profile", "/name", "Nobody"
            ),
            (
                [["op": "copy", "from": "/profile/name", "path": "/profile/attributes/was"]], "profile",
                "/attributes/was", ""
            ),
            (
                [["op": "move", "from": "/limits/low", "path": "/profile/attributes/low"]], "profile",
                "/attributes/low", 1
            ),
            ([["op": "move", "from": "/limits/low", "path": "/profile/attributes/low"]], "limits", "/low", nil),
            ([["op": "replace", "path": "/limits", "value": ["low": 5]]], "limits", "", ["low": 5]),
            ([["op": "remove", "path": "/limits/high"]], "limits", "/high", nil),
            (
                [["op": "add", "path": "/limits/at", "value": ["$from": "/now"]]], "limits", "/at",
                "2026-01-01T00:00:00.000Z"
            ),
            (
                [["op": "add", "path": "/limits/x", "value": ["$from": "/event/none", "default": ["y": 1]]]], "limits",
                "/x/y", 1
            ),
            (
                [["op": "add", "path": "/limits/x", "value": ["list": [["$from": "/event/n"], 2]]]], "limits",
                "/x/list", [7, 2]
            ),
            (
                [
                    ["op": "replace", "path": "/limits/low", "value": 2],
                    ["op": "copy", "from": "/limits/low", "path": "/limits/high"],
                ], "limits", "/high", 2
            ),
            ([["op": "replace", "path": "/limits/low", "value": 2], ["clear": "limits"]], "limits", "/low", 1),
        ] as [(JSONDocument, String, String, JSONDocument?)])
    func actions(actions: JSONDocument, service: String, pointer: String, value: JSONDocument?) throws {
        var traveller = try traveller(doing: actions)
        try traveller.send("go", ["n": 7])
        let place = try #require(JSONPointer(parsing: pointer))
        #expect(traveller.services[service].value(at: place) == value)
    }

    @Test("what is done to a service is handed over in order, writes that follow each other as one")
    func changes() throws {
        var traveller = try traveller(doing: [
            ["op": "add", "path": "/limits/a", "value": 1], ["op": "add", "path": "/limits/b", "value": 2],
            ["remove": "limits"], ["op": "add", "path": "/limits/c", "value": 3], ["clear": "quote"],
        ])
        try traveller.send("go")
        #expect(
            traveller.changes == [
                ServiceChange(service: "limits", effect: .removed),
                ServiceChange(
                    service: "limits", effect: .written(["low": 1, "high": 10, "name": "x", "c": 3])),
                ServiceChange(service: "quote", effect: .cleared),
            ])
    }

    @Test(
        "an action that cannot be done refuses the step, and says where",
        arguments: [
            (["op": "remove", "path": "/limits/none"], "/limits/none"),
            (["op": "add", "path": "/limits/x", "value": ["$from": "/event/none"]], "/event/none"),
            (["op": "test", "path": "/limits/low", "value": 2], "/limits/low"),
            (["op": "test", "path": "/limits", "value": 2], "/limits"),
            (["op": "copy", "from": "/profile/attributes/none", "path": "/limits/x"], "/profile/attributes/none"),
        ] as [(JSONDocument, String)])
    func failing(action: JSONDocument, pointer: String) throws {
        let traveller = try traveller(doing: [["op": "add", "path": "/limits/a", "value": 1], action])
        guard case .actionFailed(let violation)? = traveller.refusal(of: "go") else {
            Issue.record("the action was done")
            return
        }
        #expect(violation.pointer == pointer)
    }

    @Test("a service that would not fit its schema refuses the step")
    func invalidService() throws {
        let traveller = try traveller(doing: [
            ["op": "add", "path": "/profile/name", "value": ["$from": "/event/name"]]
        ])
        #expect(
            traveller.refusal(of: "go", ["name": 7])
                == .serviceInvalid(
                    service: "profile", [JSONViolation(pointer: "/profile/name", detail: "must be a string")]))
    }

    @Test("a service may be unfit on the way, as long as it fits in the end")
    func unfitOnTheWay() throws {
        var traveller = try traveller(doing: [
            ["op": "remove", "path": "/profile/name"], ["op": "add", "path": "/profile/name", "value": "Ada"],
        ])
        try traveller.send("go")
        #expect(traveller.services["profile"][member: "name"] == "Ada")
    }

    @Test(
        "guards hold or say why not",
        arguments: [
            (["service": "limits", "schema": ["required": ["low"]]], nil),
            (["service": "limits", "schema": ["required": ["none"]]], "/limits/none"),
            (["event": true, "schema": ["required": ["n"]]], nil),
            (["event": true, "schema": ["required": ["none"]]], "/event/none"),
            (["input": true, "schema": ["required": ["given"]]], nil),
            (["input": true, "schema": ["required": ["none"]]], "/input/none"),
            (["compare": ["/limits/low", "<=", "/limits/high"]], nil),
            (["compare": ["/limits/low", ">", "/limits/high"]], "/limits/low"),
            (["compare": ["/limits/low", "==", ["value": 1.0]]], nil),
            (["compare": [["value": 2], "<", "/limits/low"]], "/limits/low"),
            (["compare": ["/limits/name", "<", ["value": "y"]]], nil),
            (["compare": ["/limits/name", "<", "/limits/low"]], "/limits/name"),
            (["compare": ["/limits/name", "!=", ["value": nil]]], nil),
            (["compare": ["/limits/none", "!=", ["value": 1]]], "/limits/none"),
            (["is": "/limits/on"], nil),
            (["is": "/limits/low"], "/limits/low"),
            (["is": "/limits/none"], "/limits/none"),
            (["not": ["is": "/limits/none"]], nil),
            (["not": ["is": "/limits/on"]], "/limits/on"),
            (["has": "/limits/low"], nil),
            (["has": "/limits/nothing"], "/limits/nothing"),
            (["has": "/limits/none"], "/limits/none"),
            (["not": ["has": "/limits/none"]], nil),
            (["not": ["has": "/limits/low"]], "/limits/low"),
            (["compare": [["$add": [["$from": "/limits/low"], 9]], "==", "/limits/high"]], nil),
            (["compare": ["/limits/high", "<", ["$multiply": [["$from": "/limits/low"], 10]]]], "/limits/high"),
            (["compare": [["$add": [["$from": "/limits/low"], 1]], ">", ["value": 2]]], "/limits/low"),
            (["compare": [["$count": ["$from": "/limits/name"]], "==", ["value": 1]]], nil),
            (["not": ["service": "limits", "schema": ["required": ["none"]]]], nil),
            (["not": "small"], "/limits/low"),
            (["all": ["small", ["compare": ["/limits/high", ">=", ["value": 10]]]]], nil),
            (["all": ["small", ["compare": ["/limits/high", ">", ["value": 10]]]]], "/limits/high"),
            (["any": [["not": "small"], ["compare": ["/limits/high", "!=", ["value": 3]]]]], nil),
            (["any": [["compare": ["/limits/high", "==", ["value": 3]]]]], "/limits/high"),
        ] as [(JSONDocument, String?)])
    func guards(guardian: JSONDocument, pointer: String?) throws {
        let flow = Flows.make(
            [
                "a": ["on": ["go": ["guard": guardian, "target": "b"], "use": ["guard": "small", "target": "b"]]],
                "b": .emptyObject,
            ]
        ).merging(["guards": ["small": ["compare": ["/limits/low", "<", ["value": 5]]]]])
        var services = TestServices()
        services["limits"] = ["low": 1, "high": 10, "name": "x", "on": true, "nothing": nil]
        let traveller = try Traveller(flow, input: ["given": 1], services: services)
        let refusal = traveller.refusal(of: "go", ["n": 1])
        guard let pointer else {
            #expect(refusal == nil)
            return
        }
        guard case .guardNotMet(let reasons)? = refusal else {
            Issue.record("the guard held")
            return
        }
        #expect(reasons.map(\.pointer) == [pointer])
    }

    @Test(
        "what must not be so is said",
        arguments: [
            (["compare": ["/limits/low", "<", ["value": 5]]], ["/limits/low must be at least 5"]),
            (["compare": ["/limits/low", "==", ["value": 1]]], ["/limits/low must be other than 1"]),
            (["compare": [["value": 1], "<=", "/limits/high"]], ["/limits/high must be less than 1"]),
            (
                ["compare": ["/limits/none", "!=", ["value": 7]]],
                ["/limits/none is needed here, and there is no value"]
            ),
            (
                ["compare": ["/limits/name", ">", ["value": 7]]],
                ["/limits/name is a string and cannot be compared with a number"]
            ),
            (["has": "/limits/name"], ["/limits/name must not be there"]),
            (
                ["compare": ["/limits/low", "<", "/limits/high"]],
                ["/limits/low must be at least the value at /limits/high"]
            ),
            (
                ["service": "limits", "schema": ["properties": ["name": ["const": "x"]]]],
                [#"/limits/name must not be "x""#]
            ),
            (
                [
                    "service": "limits",
                    "schema": ["required": ["name"], "properties": ["name": ["enum": ["x", "y"]]]],
                ],
                [#"/limits/name must not be one of "x", "y""#]
            ),
            (
                ["service": "limits", "schema": ["required": ["low", "high"]]],
                ["/limits/low must not be there", "/limits/high must not be there"]
            ),
            (
                ["service": "limits", "schema": ["properties": ["none": ["const": "x"]]]],
                [#"/limits/none must be there, and must not be "x""#]
            ),
            (
                [
                    "service": "limits",
                    "schema": ["properties": ["name": ["type": "string"], "low": ["type": ["integer", "null"]]]],
                ],
                ["/limits/low must not be an integer or null", "/limits/name must not be a string"]
            ),
            (
                ["service": "limits", "schema": ["properties": ["low": ["minimum": 1]]]],
                [#"/limits/low must not fit {"minimum":1}"#]
            ),
            (["service": "limits", "schema": true], ["/limits must not fit true"]),
            (["input": true, "schema": ["properties": ["given": ["const": 1]]]], ["/input/given must not be 1"]),
            (
                [
                    "all": [
                        ["compare": ["/limits/low", "==", ["value": 1]]],
                        ["compare": ["/limits/high", "==", ["value": 10]]],
                    ]
                ],
                ["/limits/low must be other than 1", "/limits/high must be other than 10"]
            ),
            (
                [
                    "any": [
                        ["compare": ["/limits/low", "==", ["value": 1]]],
                        ["compare": ["/limits/high", "==", ["value": 3]]],
                    ]
                ],
                ["/limits/low must be other than 1"]
            ),
            (["not": ["compare": ["/limits/low", "==", ["value": 2]]]], ["/limits/low must be equal to 2"]),
            ("small", ["/limits/low must be at least 5"]),
        ] as [(JSONDocument, [String])])
    func denials(guardian: JSONDocument, reasons: [String]) throws {
        let flow = Flows.make(
            [
                "a": [
                    "on": [
                        "go": ["guard": ["not": guardian], "target": "b"], "use": ["guard": "small", "target": "b"],
                    ]
                ],
                "b": .emptyObject,
            ]
        ).merging(["guards": ["small": ["compare": ["/limits/low", "<", ["value": 5]]]]])
        let refusal = try Traveller(flow, input: ["given": 1]).refusal(of: "go")
        #expect(refusal?.violations.map { "\($0.pointer) \($0.detail)" } == reasons)
    }

    @Test("the first transition whose guard holds is taken, and the screen's own event wins over the flow's")
    func firstMatch() throws {
        let flow = Flows.make([
            "a": [
                "on": [
                    "go": [
                        ["guard": ["compare": ["/limits/low", "==", ["value": 2]]], "target": "b"],
                        ["guard": ["compare": ["/limits/low", "==", ["value": 1]]], "target": "c"], ["target": "d"],
                    ],
                    "own": ["target": "c"],
                ]
            ],
            "b": .emptyObject, "c": .emptyObject, "d": .emptyObject,
        ]).merging(["on": ["own": ["target": "d"], "flow": ["target": "d"]]])
        var traveller = try Traveller(flow)
        try traveller.send("go")
        #expect(traveller.screen == "c")
        try traveller.send("flow")
        #expect(traveller.screen == "d")
        traveller = try Traveller(flow)
        try traveller.send("own")
        #expect(traveller.screen == "c")
    }

    @Test("an event that cannot be taken is shown with what is in the way; one that depends on its data is enabled")
    func why() throws {
        let flow = Flows.make([
            "a": [
                "on": [
                    "blocked": ["guard": ["compare": ["/limits/low", ">", ["value": 3]]], "target": "b"],
                    "depends": ["guard": ["event": true, "schema": ["required": ["n"]]], "target": "b"],
                    "strict": ["target": "c"],
                    "mends": ["target": "c", "actions": [["op": "add", "path": "/limits/ok", "value": true]]],
                ]
            ],
            "b": .emptyObject,
            "c": ["requires": [["service": "limits", "schema": ["required": ["ok"]]]]],
        ])
        var traveller = try Traveller(flow)
        #expect(
            try traveller.view().events == [
                EventView(
                    name: "blocked", label: nil, enabled: false,
                    why: [JSONViolation(pointer: "/limits/low", detail: "must be more than 3")]),
                EventView(name: "depends", label: nil, enabled: true, why: []),
                EventView(name: "mends", label: nil, enabled: true, why: []),
                EventView(
                    name: "strict", label: nil, enabled: false,
                    why: [JSONViolation(pointer: "/limits/ok", detail: "is required")]),
            ])
        try traveller.send("mends")
        #expect(traveller.screen == "c")
    }

    @Test("what a guard said of a service is forgotten when the service is written, and known again when it is not")
    func remembered() throws {
        let flow = Flows.make([
            "a": [
                "on": [
                    "in": [
                        "guard": "low", "target": "b", "actions": [["op": "add", "path": "/limits/low", "value": 9]],
                    ],
                    "stay": ["actions": [["op": "add", "path": "/log/lines/-", "value": "x"]]],
                ]
            ],
            "b": [
                "on": [
                    "in": ["guard": "low", "target": "a"],
                    "out": ["target": "a", "actions": [["op": "add", "path": "/limits/low", "value": 1]]],
                ]
            ],
        ]).merging([
            "guards": ["low": ["service": "limits", "schema": ["properties": ["low": ["maximum": 3]]]]]
        ])
        var traveller = try Traveller(flow)
        func isOpen(_ view: JourneyView) -> Bool? { view.events.first { $0.name == "in" }?.enabled }
        try traveller.send("stay")
        #expect(isOpen(try traveller.view()) == true)
        try traveller.send("in")
        #expect(isOpen(try traveller.view()) == false)
        #expect(traveller.refusal(of: "in") != nil)
        try traveller.send("out")
        #expect(isOpen(try traveller.view()) == true)
    }

    @Test("a choice hands the verb on, unless the branch that is taken has its own")
    func choices() throws {
        let flow = Flows.make([
            "a": ["on": ["go": ["target": "which", "nav": "present"]]],
            "which": [
                "type": "choice",
                "branches": [
                    ["guard": ["event": true, "schema": ["required": ["n"]]], "target": "b", "nav": "replace"],
                    ["target": "b"],
                ],
            ],
            "b": .emptyObject,
        ])
        var traveller = try Traveller(flow)
        try traveller.send("go")
        #expect(traveller.stack == ["a", "^b"])
        traveller = try Traveller(flow)
        try traveller.send("go", ["n": 1])
        #expect(traveller.stack == ["b"])
    }

    @Test("the data of an event of the flow has the flow's shape, where the screen says nothing of it")
    func shapesOfTheFlow() throws {
        let flow = Flows.make([
            "a": ["on": ["next": ["target": "b"]]],
            "b": ["accepts": ["go": ["maxProperties": 0]]],
        ]).merging(["on": ["go": ["actions": [Flows.note("gone")]]], "accepts": ["go": ["required": ["n"]]]])
        var traveller = try Traveller(flow)
        guard case .eventDataInvalid? = traveller.refusal(of: "go") else {
            Issue.record("accepted")
            return
        }
        #expect(traveller.refusal(of: "go", ["n": 1]) == nil)
        try traveller.send("next")
        #expect(traveller.refusal(of: "go") == nil)
        guard case .eventDataInvalid? = traveller.refusal(of: "go", ["n": 1]) else {
            Issue.record("accepted")
            return
        }
    }

    @Test("the input of the journey's own flow is checked when it starts")
    func input() throws {
        #expect(throws: JourneyRefusal.self) { _ = try Traveller(Flows.editQuote) }
        let traveller = try Traveller(Flows.editQuote, input: ["author": "Ada"])
        #expect(traveller.journey.coordinators[0].input == ["author": "Ada"])
    }
}
