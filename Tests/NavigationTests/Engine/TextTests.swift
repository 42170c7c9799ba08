import FlowTools
import JSONDocument
import Navigation
import Testing

@Suite("Texts with values, labels and messages")
struct TextTests {
    private func text(_ title: JSONDocument, _ prepare: (inout TestServices) -> Void = { _ in }) throws -> String? {
        var traveller = try Traveller(Flows.make(["a": ["title": title, "on": ["go": ["target": "a"]]]]))
        prepare(&traveller.services)
        return try traveller.view().screen?.title
    }

    private func tag(_ traveller: Traveller) throws -> UInt64 {
        try traveller.engine.textAndMemory(
            traveller.journey, services: traveller.services, now: traveller.now, knowing: GuardMemory(),
            timesMovedBy: 0
        ).text.tag
    }

    @Test("back has the label of its screen, else that of its flow, and is listed with it while it is possible")
    func backLabels() throws {
        let flow = Flows.make(
            [
                "a": ["on": ["go": ["target": "b"]]],
                "b": ["labels": ["back": "Back to {/limits/low}"], "on": ["go": ["target": "c"]]],
                "c": ["on": ["go": ["target": "d"]]], "d": ["back": false, "on": ["go": ["target": "a"]]],
            ], adding: ["labels": ["back": "Back"]])
        var traveller = try Traveller(flow)
        var shown: [[String]] = []
        for _ in 0..<4 {
            shown.append(try traveller.view().events.map { "\($0.name) \($0.label ?? "-")" })
            try traveller.send("go")
        }
        #expect(shown == [["go -"], ["go -", "back Back to 1"], ["go -", "back Back"], ["go -"]])
        traveller = try Traveller(flow)
        try traveller.send("go")
        let schemas = try traveller.engine.eventSchemas(
            of: traveller.journey, services: traveller.services, now: traveller.now)
        #expect(schemas["back"]?.schema == .emptyObject)
        try traveller.back()
        #expect(traveller.screen == "a")
    }

    @Test("what a step says, or its refusal, may show the time of the step")
    func time() throws {
        let flow = Flows.make([
            "a": [
                "on": ["go": ["say": "At {/now}"], "on": ["target": "a"]],
                "timers": [["after": "1m", "actions": [], "say": "Since {/now}"]],
                "rules": ["go": [["guard": ["compare": ["/event/x", "!=", 1]], "at": "/x", "say": "Not at {/now}"]]],
            ]
        ])
        var traveller = try Traveller(flow)
        try traveller.send("go", ["x": 2])
        for _ in 0..<2 {
            #expect(try traveller.view().message == "At 2026-01-01T00:00:00.000Z")
            traveller.now += 1_000
        }
        guard case .eventDataInvalid(let violations)? = traveller.refusal(of: "go", ["x": 1]) else {
            Issue.record("not refused")
            return
        }
        #expect(violations.map(\.description) == ["/x Not at 2026-01-01T00:00:02.000Z"])
        try traveller.wait(58_000)
        #expect(try traveller.view().message == "Since 2026-01-01T00:01:00.000Z")
    }

    @Test(
        "strings are shown bare, numbers as written, booleans, and nothing for null, lists, objects and what is missing",
        arguments: [
            ("Ada \"1\"", "Ada \"1\""), (12.5, "12.5"), (-3, "-3"), (1e21, "1e+21"), (true, "true"), (false, "false"),
            (nil, ""), ([1], ""), (["a": 1], ""),
        ] as [(JSONDocument, String)])
    func values(value: JSONDocument, shown: String) throws {
        #expect(try text("<{/limits/x}>") { $0["limits"] = ["x": value] } == "<\(shown)>")
        #expect(try text("<{/limits/gone/x}>") { $0["limits"] = ["x": value] } == "<>")
    }

    @Test(
        "{{ is a brace, and what is not a path stays as it is",
        arguments: [
            ("a {{b}", "a {b}"), ("{{{/limits/low}}", "{1}"), ("{{", "{"), ("}", "}"), ("{name}", "{name}"),
            ("{{name}}", "{name}}"), ("a {", "a {"), ("{/limits/low}{/limits/high}", "110"), ("{}", "{}"),
        ])
    func braces(written: String, shown: String) throws {
        #expect(try text(JSONDocument(written)) == shown)
    }

    @Test("a long value is cut, between characters")
    func long() throws {
        let name = String(repeating: "ä", count: 4_000)
        let shown = try text("{/limits/x}.") { $0["limits"] = ["x": JSONDocument(name)] }
        #expect(shown == String(repeating: "ä", count: 1_000) + "….")
    }

    @Test("the input of the flow, the params of the screen and what a coordinator owns are shown")
    func documents() throws {
        let flow = Flows.make(
            [
                "a": [
                    "title": "{/input/x} {/memo/x}{/frame/id}",
                    "on": [
                        "go": [
                            "target": "a", "params": ["id": 7],
                            "actions": [["op": "add", "path": "/memo/x", "value": "mine"]],
                        ]
                    ],
                ]
            ], adding: ["owns": ["memo"], "input": ["properties": ["x": ["type": "string"]]]])
        var traveller = try Traveller(flow, input: ["x": "in"])
        traveller.services["memo"] = ["x": "the session's"]
        #expect(try traveller.view().screen?.title == "in ")
        try traveller.send("go")
        #expect(try traveller.view().screen?.title == "in mine7")
    }

    @Test(
        "the entity tag changes with a value in a title, a label or a reason, of a service that the screen does not show"
    )
    func tags() throws {
        let go: JSONDocument = ["go": ["target": "a", "guard": "much"]]
        let much: JSONDocument = ["much": ["is": "/limits/no", "say": "Not {/limits/low}"]]
        for screen in [
            ["title": "{/limits/low}", "on": ["go": ["target": "a"]]],
            ["title": ["be": "A", "de": "{/limits/low}"], "on": ["go": ["target": "a"]]],
            ["labels": ["go": "{/limits/low}"], "on": ["go": ["target": "a"]]], ["on": go],
        ] as [JSONDocument] {
            let guards: JSONDocument = screen[member: "on"] == go ? ["guards": much] : .emptyObject
            var traveller = try Traveller(Flows.make(["a": screen], adding: guards))
            let before = try tag(traveller)
            traveller.services["limits"] = ["low": 1, "high": 11]
            #expect(try tag(traveller) == before)
            traveller.services["limits"] = ["low": 2]
            #expect(try tag(traveller) != before)
        }
    }

    // MARK: - Labels

    @Test("an event has the label of its screen, else that of its flow, also where events are refused or hold values")
    func labels() throws {
        let flow = Flows.make(
            [
                "a": [
                    "labels": ["go": "Continue", "stop": "Not now"],
                    "on": ["go": ["target": "b"], "shut": ["target": "b", "guard": ["is": "/limits/no"]]],
                ],
                "b": [
                    "labels": ["more": "More than {/limits/low}"],
                    "on": ["more": ["target": "a"], "bare": ["target": "a"], "go": ["target": "a"]],
                ], "end": ["type": "final"],
            ], adding: ["on": ["stop": ["target": "end"]], "labels": ["stop": "Stop", "go": "Go"]])
        var traveller = try Traveller(flow)
        func shown() throws -> [String] { try traveller.view().events.map { "\($0.name) \($0.label ?? "-")" } }
        #expect(try shown() == ["go Continue", "shut -", "stop Not now"])
        try traveller.send("go")
        #expect(try shown() == ["bare -", "go Go", "more More than 1", "stop Stop"])
    }

    // MARK: - Messages

    private static let adding = Flows.make([
        "a": [
            "on": [
                "add": [
                    "actions": [["op": "add", "path": "/limits/name", "value": ["$from": "/event/name"]]],
                    "say": ["be": "{/event/name} is {/limits/name}.", "de": "{/limits/name} ist {/event/name}."],
                ],
                "buy": [
                    "actions": [["call": "cart/add", "with": ["id": "low", "count": 3]]],
                    "say": "That makes {/result/total}.",
                ], "look": ["target": "b"], "over": ["target": "c"], "end": ["target": "end", "say": "Goodbye"],
            ]
        ], "b": ["on": ["on": ["target": "a"]]],
        "c": [
            "type": "choice",
            "branches": [
                ["guard": ["is": "/limits/yes"], "target": "b", "say": "Yes"],
                ["target": "b", "say": "{/limits/low} lows"],
            ],
        ], "end": ["type": "final"],
    ])

    @Test("what a transition says is the view's message after its actions, and is gone with the next step")
    func messages() throws {
        var traveller = try Traveller(Self.adding)
        #expect(try traveller.view().message == nil)
        try traveller.send("add", ["name": "Ada"])
        for _ in 0..<2 { #expect(try traveller.view().message == "Ada is Ada.") }
        #expect(traveller.journey.message?.translations == ["be": "Ada is Ada.", "de": "Ada ist Ada."])
        // It is what was said then.
        traveller.services["limits"] = ["low": 1, "name": "Bob"]
        #expect(try traveller.view().message == "Ada is Ada.")
        _ = traveller.refusal(of: "nothing")
        #expect(try traveller.view().message == "Ada is Ada.")
        try traveller.send("buy")
        #expect(try traveller.view().message == "That makes 3.")
        try traveller.send("look")
        #expect(try traveller.view().message == nil)
        #expect(!String(decoding: traveller.journey.json, as: UTF8.self).contains("say"))
    }

    @Test("of several transitions of a step the last one that says something counts, and the end says its own")
    func last() throws {
        var traveller = try Traveller(Self.adding)
        try traveller.send("over")
        #expect(try traveller.view().message == "1 lows")
        try traveller.back()
        #expect(try traveller.view().message == nil)
        try traveller.send("end")
        #expect(try traveller.view().status == .finished && traveller.view().message == "Goodbye")
        try traveller.restart("test")
        #expect(try traveller.view().message == nil)
    }

    @Test("timers, tasks and children say something, links nothing")
    func others() throws {
        let flow = Flows.make([
            "a": [
                "timers": [["after": "1m", "actions": [], "say": "A minute"]],
                "on": ["go": ["target": "b", "say": "Went"], "child": ["target": "child", "say": "Started"]],
            ], "b": ["on": ["work": ["target": "task"]]],
            "task": ["type": "task", "task": "work", "on": ["done": ["target": "a", "say": "Made {/output/n}"]]],
            "child": ["type": "flow", "flow": "child", "on": ["done": ["target": "a", "say": "Child {/output/n}"]]],
        ])
        let child = Flows.make(
            ["a": ["on": ["go": ["target": "end"]]], "end": ["type": "final", "output": ["n": 4]]], id: "child")
        var traveller = try Traveller(flow, child)
        let linked = try traveller.engine.navigate(
            traveller.journey, to: "b", services: traveller.services, now: traveller.now)
        #expect(linked.step.journey.top?.state == "b" && linked.step.journey.message == nil)
        try traveller.wait(60_000)
        #expect(try traveller.view().message == "A minute")
        try traveller.send("go")
        try traveller.send("work")
        #expect(try traveller.view().message == nil)
        try traveller.endTask("ok", ["n": 3])
        #expect(try traveller.view().message == "Made 3")
        try traveller.send("child")
        #expect(try traveller.view().message == "Started")
        try traveller.send("go")
        #expect(try traveller.view().message == "Child 4")
    }

    @Test("a step that is refused says nothing, and a transition that only says something is useful")
    func refused() throws {
        let flow = Flows.make([
            "a": ["on": ["go": ["say": "Hm"], "no": ["target": "b", "say": "No"]]],
            "b": ["requires": [["is": "/limits/no"]], "on": ["on": ["target": "a", "nav": "pop_to"]]],
        ])
        let problems = FlowLoader(services: TestServices.directory).load([
            FlowFile(name: "a.json", bytes: flow.serialized())
        ]).problems
        #expect(problems == [])
        var traveller = try Traveller(flow)
        try traveller.send("go")
        #expect(traveller.refusal(of: "no") != nil)
        #expect(try traveller.view().message == "Hm" && traveller.stack == ["a"])
    }

    // MARK: - Rules and schemas

    @Test("rules and x-say hold values of the event")
    func said() throws {
        let flow = Flows.make([
            "a": [
                "accepts": [
                    "go": [
                        "properties": [
                            "n": ["type": "integer", "x-say": ["be": "Not {/event/n}", "de": "Nicht {/event/n}"]],
                            "m": .emptyObject,
                        ]
                    ]
                ],
                "rules": [
                    "go": [
                        [
                            "guard": ["compare": ["/event/m", "<", "/limits/high"]], "at": "/m",
                            "say": "{/event/m} is more than {/limits/high}",
                        ]
                    ]
                ], "on": ["go": ["target": "a"]],
            ]
        ])
        let traveller = try Traveller(flow)
        guard case .eventDataInvalid(let violations)? = traveller.refusal(of: "go", ["n": "x", "m": 12]) else {
            Issue.record("not refused")
            return
        }
        #expect(violations.map(\.description) == ["/n Not x", "/m 12 is more than 10"])
        #expect(violations[0].translations == ["be": "Not x", "de": "Nicht x"])
    }

    @Test("a task's screen shows data")
    func task() throws {
        let flow = Flows.make([
            "a": ["on": ["go": ["target": "t"]]],
            "t": [
                "type": "task", "task": "work", "title": "One moment, {/quote/author}", "data": ["limits"],
                "on": ["done": ["target": "a"]],
            ],
        ])
        var traveller = try Traveller(flow)
        try traveller.send("go")
        let screen = try #require(try traveller.view().screen)
        #expect(screen.isBusy && screen.title == "One moment, Nobody" && screen["limits"]?[member: "low"] == 1)
    }
}
