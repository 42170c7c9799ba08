import JSONDocument
import Navigation
import Testing

@Suite("Where a resume stops")
struct ResumeTests {
    /// A screen that asks for a value, keeps it and goes on to `end`, or with `next` to what follows.
    private static func ask(_ name: String, then next: String, more: JSONDocument = .emptyObject) -> JSONDocument {
        let path = JSONDocument("/limits/\(name)")
        let give: JSONDocument = [["op": "add", "path": path, "value": ["$from": "/event/value", "default": 1]]]
        let screen: JSONDocument = [
            "answers": [path], "entry": [Flows.note("+\(name)")], "exit": [Flows.note("-\(name)")],
            "on": [
                "submit": ["target": "end", "nav": "resume", "actions": give], "next": ["target": JSONDocument(next)],
            ],
        ]
        return screen.merging(more)
    }

    private static let end: JSONDocument = ["on": ["change": ["target": "a"]]]

    private func notes(_ traveller: Traveller) -> [String] {
        (traveller.services["log"][member: "lines"]?.elements ?? []).compactMap(\.string)
    }

    private func traveller(_ states: JSONDocument, _ others: JSONDocument...) throws -> Traveller {
        let flow = Flows.make(states.merging(["end": Self.end]))
        var traveller =
            switch others.count {
            case 0: try Traveller(flow)
            default: try Traveller(flow, others[0])
            }
        traveller.services["limits"] = .emptyObject
        return traveller
    }

    @Test("on a screen without answers, whatever leads on from it: nothing is agreed to for anybody")
    func terms() throws {
        let agree: JSONDocument = [
            "agree": ["target": "end", "actions": [["op": "add", "path": "/limits/agreed", "value": true]]]
        ]
        for on: JSONDocument in [agree, ["agree": ["target": "end"]]] {
            var traveller = try traveller(["a": Self.ask("a", then: "terms"), "terms": ["on": on]])
            try traveller.send("submit")
            #expect(traveller.stack == ["a", "terms"])
            #expect(traveller.services["limits"] == ["a": 1])
        }
    }

    @Test("not on a screen whose answers are an empty array")
    func passed() throws {
        let page: JSONDocument = ["answers": [], "on": ["go": ["target": "end"]]]
        var traveller = try traveller(["a": Self.ask("a", then: "page"), "page": page])
        try traveller.send("submit")
        #expect(traveller.stack == ["a", "page", "end"])
    }

    @Test(
        "on the page itself when half of it is missing: what was sent is kept, and it is neither left nor entered again"
    )
    func half() throws {
        let page = Self.ask(
            "a", then: "end",
            more: ["answers": ["/limits/a", "/limits/b"], "timeout": ["after": "1m", "target": "end"]])
        var traveller = try traveller(["a": page])
        let due = traveller.journey.dueAt
        traveller.now += 1_000
        try traveller.send("submit")
        #expect(traveller.stack == ["a"] && traveller.services["limits"] == ["a": 1])
        #expect(notes(traveller) == ["+a"])
        #expect(traveller.journey.dueAt == due, "its time runs on")
        traveller.services["limits"] = ["b": 2]
        try traveller.send("submit")
        #expect(traveller.stack == ["a", "end"])
        #expect(notes(traveller) == ["+a", "-a"])
    }

    /// What lies between the first screen and the end, and where it then stops.
    static let obstacles: [(String, JSONDocument, JSONDocument)] = [
        ("a requirement", ["b": ask("b", then: "end", more: ["requires": [["has": "/limits/key"]]])], ["b": 1]),
        (
            "an entry that fails",
            ["b": ask("b", then: "end", more: ["entry": [["op": "remove", "path": "/limits/none"]]])], ["b": 1]
        ),
        (
            "an entry that its service does not allow",
            [
                "b": ask(
                    "b", then: "end",
                    more: ["entry": [["op": "add", "path": "/profile/name", "value": ["$from": "/limits/b"]]]])
            ],
            ["b": 1]
        ),
        ("work outside", ["b": ["type": "task", "task": "work", "on": ["done": ["target": "end"]]]], .emptyObject),
        (
            "a choice that is undecided",
            [
                "b": [
                    "type": "choice",
                    "branches": [
                        ["guard": ["compare": ["/limits/a", "<", ["value": "x"]]], "target": "end"], ["target": "end"],
                    ],
                ]
            ],
            .emptyObject
        ),
        (
            "a child that does not take its input",
            [
                "b": [
                    "type": "flow", "flow": "child", "input": ["n": ["$from": "/limits/word"]],
                    "on": ["done": ["target": "end"]],
                ]
            ],
            ["word": "?"]
        ),
        (
            "a child whose start fails", ["b": ["type": "flow", "flow": "failing", "on": ["done": ["target": "end"]]]],
            .emptyObject
        ),
    ]

    @Test("before what cannot be gone: the event that was sent is taken", arguments: 0..<7)
    func stopping(place: Int) throws {
        let (name, states, answers) = Self.obstacles[place]
        let child: JSONDocument = ["a": ["answers": [], "on": ["go": ["target": "z"]]], "z": ["type": "final"]]
        let flow = Flows.make(states.merging(["a": Self.ask("a", then: "b"), "end": Self.end]))
        let strict = Flows.make(child, id: "child", adding: ["input": ["properties": ["n": ["type": "integer"]]]])
        let failing = Flows.make(child, id: "failing", adding: ["entry": [["op": "remove", "path": "/limits/none"]]])
        var traveller = try Traveller(flow, strict, failing)
        traveller.services["limits"] = answers
        try traveller.send("submit")
        #expect(traveller.stack == ["a"], "\(name)")
        #expect(traveller.services["limits"] == answers.merging(["a": 1]))
        #expect(!notes(traveller).contains("-a"))
    }

    @Test("not because of what its own actions do wrong: that refuses the event")
    func own() throws {
        let wrong: JSONDocument = [
            "target": "end", "nav": "resume",
            "actions": [["op": "add", "path": "/profile/name", "value": ["$from": "/limits/b"]]],
        ]
        var traveller = try traveller(["a": Self.ask("a", then: "end", more: ["on": ["submit": wrong]])])
        traveller.services["limits"] = ["a": 1, "b": 1]
        guard case .serviceInvalid? = traveller.refusal(of: "submit") else {
            Issue.record("it was taken")
            return
        }
    }

    @Test("on the way past several, on the last before the obstacle")
    func farther() throws {
        let closed: JSONDocument = ["requires": [["has": "/limits/key"]]]
        var traveller = try traveller([
            "a": Self.ask("a", then: "b"), "b": Self.ask("b", then: "c"), "c": Self.ask("c", then: "d"),
            "d": Self.ask("d", then: "end", more: closed),
        ])
        traveller.services["limits"] = ["b": 1, "c": 1, "d": 1]
        try traveller.send("submit")
        #expect(traveller.stack == ["a", "b", "c"])
        traveller.services["limits"] = ["a": 1, "b": 1, "c": 1, "d": 1, "key": 1]
        try traveller.send("submit")
        #expect(traveller.stack == ["a", "b", "c", "d", "end"])
    }

    @Test("not in the child that has just ended, whose parent resumes")
    func children() throws {
        let child = Flows.make(["a": ["on": ["ok": ["target": "z"]]], "z": ["type": "final"]], id: "child")
        let done: JSONDocument = ["type": "flow", "flow": "child", "on": ["done": ["target": "end", "nav": "resume"]]]
        var traveller = try traveller(["a": ["on": ["go": ["target": "kid"]]], "kid": done], child)
        try traveller.send("go")
        try traveller.send("ok")
        #expect(traveller.stack == ["a", "end"])
    }

    @Test("after a task on the next screen, and before it where that may not be shown", arguments: [true, false])
    func tasks(isOpen: Bool) throws {
        let done: JSONDocument = [["target": "end", "nav": "resume"], ["target": "b"]]
        let closed: JSONDocument = ["requires": [["has": "/limits/key"]]]
        var traveller = try traveller([
            "a": ["on": ["go": ["target": "work"]]],
            "work": ["type": "task", "task": "work", "on": ["done": done]],
            "b": Self.ask("b", then: "end", more: closed),
        ])
        if isOpen { traveller.services["limits"] = ["key": 1, "b": 1] }
        try traveller.send("go")
        try traveller.endTask("ok")
        #expect(traveller.stack == (isOpen ? ["a", "b", "end"] : ["a"]))
    }

    @Test("where it stands when that is its target, whatever else its list leads to")
    func there() throws {
        let on: JSONDocument = ["submit": [["target": "a", "nav": "resume"], ["target": "b"]]]
        var traveller = try traveller([
            "a": ["answers": [], "entry": [Flows.note("+a")], "on": on], "b": ["on": ["go": ["target": "end"]]],
        ])
        try traveller.send("submit")
        #expect(traveller.stack == ["a"] && notes(traveller) == ["+a"])
    }

    @Test("never on a screen that a verb of its own list goes back to", arguments: ["pop", "pop_to_root", "dismiss"])
    func back(verb: String) throws {
        let on: JSONDocument = ["submit": [["target": "end", "nav": "resume"], ["nav": JSONDocument(verb)]]]
        var traveller = try traveller([
            "a": ["on": ["open": ["target": "b", "nav": "present"]]], "b": ["answers": [], "on": on],
        ])
        try traveller.send("open")
        try traveller.send("submit")
        #expect(traveller.stack == ["a", "^b", "end"])
    }

    @Test("behind a page that its own list leads to, though one of other params is on the stack")
    func params() throws {
        let on: JSONDocument = [
            "submit": [["target": "end", "nav": "resume"], ["target": "a", "params": ["id": 2]]],
            "next": ["target": "end"],
        ]
        var traveller = try traveller(["a": ["answers": [], "on": on]])
        try traveller.send("submit")
        #expect(traveller.stack == ["a", "a", "end"])
    }

    @Test("a standing rule that resumes and cannot go on is not taken, and a time limit that does is tried again")
    func unprompted() throws {
        let page = Self.ask(
            "a", then: "end",
            more: [
                "always": [["guard": ["has": "/limits/go"], "target": "end", "nav": "resume"]],
                "timeout": ["after": "10s", "target": "end", "nav": "resume"],
            ])
        var traveller = try traveller(["a": page])
        traveller.services["limits"] = ["go": 1]
        try traveller.wait(1_000)
        #expect(traveller.stack == ["a"])
        try traveller.wait(20_000)
        #expect(traveller.stack == ["a"] && traveller.journey.isActive)
        traveller.services["limits"] = ["go": 1, "a": 1]
        try traveller.wait(1)
        #expect(traveller.stack == ["a", "end"])
    }
}
