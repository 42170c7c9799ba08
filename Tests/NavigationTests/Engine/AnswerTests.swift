import JSONDocument
import Navigation
import Testing

@Suite("Answers")
struct AnswerTests {
    /// A question that keeps its answer and goes on to the summary, and the one that usually follows it.
    private static func question(_ name: String, then next: String) -> JSONDocument {
        let path = JSONDocument("/limits/\(name)")
        return [
            "answers": [path], "entry": [Flows.note("+\(name)")],
            "on": [
                "submit": [
                    "target": "summary", "nav": "resume",
                    "actions": [["op": "add", "path": path, "value": ["$from": "/event/value"]]],
                ],
                "next": ["target": JSONDocument(next)],
            ],
        ]
    }

    private static let summary: JSONDocument = [
        "on": [
            "change_age": ["target": "age"], "change_school": ["target": "school"], "change_work": ["target": "work"],
            "send": ["target": "sent", "history": "invalidate"],
        ]
    ]

    /// Minors have a guardian and a school, others have work.
    private static let application: JSONDocument = {
        let states: JSONDocument = [
            "begin": ["on": ["start": ["target": "age"]]],
            "age": question("age", then: "minor"),
            "minor": [
                "type": "choice",
                "branches": [
                    ["guard": ["compare": ["/limits/age", "<", ["value": 18]]], "target": "guardian"],
                    ["target": "work"],
                ],
            ],
            "guardian": question("guardian", then: "school"), "school": question("school", then: "summary"),
            "work": question("work", then: "summary"), "summary": summary, "sent": ["type": "final"],
        ]
        return [
            "id": "application", "version": 1, "initial": "begin", "states": states,
            "invalidates": [
                "/limits/age": ["/limits/guardian", "/limits/work"], "/limits/guardian": ["/limits/school"],
            ],
        ]
    }()

    private func applied(_ answers: JSONDocument...) throws -> Traveller {
        var traveller = try Traveller(Self.application)
        traveller.services["limits"] = .emptyObject
        try traveller.send("start")
        for answer in answers { try traveller.send("submit", ["value": answer]) }
        return traveller
    }

    private func limits(_ traveller: Traveller) -> JSONDocument { traveller.services["limits"] }

    @Test("resume goes forward past every screen that is answered, and stops on the first that is not")
    func forward() throws {
        #expect(try applied().stack == ["begin", "age"])
        #expect(try applied(17).stack == ["begin", "age", "guardian"])
        #expect(try applied(17, "Bob").stack == ["begin", "age", "guardian", "school"])
        #expect(try applied(17, "Bob", "Eton").stack == ["begin", "age", "guardian", "school", "summary"])
        #expect(try applied(18).stack == ["begin", "age", "work"])
        #expect(try applied(18, "mine").stack == ["begin", "age", "work", "summary"])
    }

    @Test("resume stops on a screen that is not answered, even if only a back end or a task leads on from it")
    func waiting() throws {
        let states: JSONDocument = [
            "a": [
                "answers": ["/limits/age"],
                "on": [
                    "submit": [
                        "target": "z", "nav": "resume",
                        "actions": [["op": "add", "path": "/limits/age", "value": 1]],
                    ], "next": ["target": "code"],
                ],
            ],
            "code": [
                "answers": ["/limits/code"], "backend": ["verified"],
                "on": ["verified": ["target": "pay"]],
            ],
            "pay": ["answers": ["/limits/paid"], "on": ["pay": ["target": "paying"]]],
            "paying": ["type": "task", "task": "charge", "timeout": "1m", "on": ["done": ["target": "z"]]],
            "z": .emptyObject,
        ]
        let flow: JSONDocument = ["id": "buy", "version": 1, "initial": "a", "states": states]
        var traveller = try Traveller(flow)
        traveller.services["limits"] = .emptyObject
        #expect(throws: JourneyRefusal.self) {
            try traveller.engine.navigate(traveller.journey, to: "z", services: traveller.services, now: traveller.now)
        }
        try traveller.send("submit")
        #expect(traveller.stack == ["a", "code"])
        traveller = try Traveller(flow)
        traveller.services["limits"] = ["code": 1]
        try traveller.send("submit")
        #expect(traveller.stack == ["a", "code"], "no transition gives the code")
    }

    @Test(
        "a change link from the summary comes back to it after one screen, with the stack of a person who walked there")
    func change() throws {
        var traveller = try applied(17, "Bob", "Eton")
        try traveller.send("change_school")
        #expect(traveller.stack == ["begin", "age", "guardian", "school", "summary", "school"])
        try traveller.send("submit", ["value": "Harrow"])
        #expect(traveller.stack == ["begin", "age", "guardian", "school", "summary"])
        try traveller.back()
        #expect(traveller.screen == "school")
    }

    @Test("a change asks exactly the questions that became open again")
    func opened() throws {
        var traveller = try applied(17, "Bob", "Eton")
        try traveller.send("change_age")
        try traveller.send("submit", ["value": 16])
        #expect(traveller.stack == ["begin", "age", "guardian"])
        try traveller.send("submit", ["value": "Eve"])
        #expect(traveller.stack == ["begin", "age", "guardian", "school"])
        try traveller.send("submit", ["value": "Eton"])
        #expect(traveller.screen == "summary")
        // The branch is another one now, and its screens are not on the stack.
        try traveller.send("change_age")
        try traveller.send("submit", ["value": 40])
        #expect(traveller.stack == ["begin", "age", "work"])
        #expect(limits(traveller) == ["age": 40])
        try traveller.send("submit", ["value": "mine"])
        #expect(traveller.stack == ["begin", "age", "work", "summary"])
    }

    @Test("an answer that does not change invalidates nothing")
    func unchanged() throws {
        var traveller = try applied(17, "Bob", "Eton")
        try traveller.send("change_age")
        try traveller.send("submit", ["value": 17])
        #expect(traveller.stack == ["begin", "age", "guardian", "school", "summary"])
    }

    @Test("invalidates sets the others back to their defaults in the same step, and what those invalidate in turn")
    func transitive() throws {
        var traveller = try applied(17, "Bob", "Eton")
        try traveller.send("change_age")
        try traveller.send("submit", ["value": 12])
        #expect(traveller.changes.count { $0.service == "limits" } == 1)
        #expect(limits(traveller) == ["age": 12])
    }

    @Test("a value is set back to the default of its service")
    func defaults() throws {
        let flow = Flows.make(
            [
                "a": [
                    "on": [
                        "set": [
                            "actions": [
                                ["op": "add", "path": "/limits/high", "value": 99],
                                ["op": "add", "path": "/limits/extra", "value": 1],
                            ]
                        ],
                        "rename": [
                            "actions": [["op": "add", "path": "/profile/name", "value": ["$from": "/event/name"]]]
                        ],
                    ]
                ]
            ], adding: ["invalidates": ["/profile/name": ["/limits/high", "/limits/extra", "/limits/none"]]])
        var traveller = try Traveller(flow)
        try traveller.send("set")
        try traveller.send("rename", ["name": ""])
        #expect(limits(traveller)[member: "high"] == 99)
        try traveller.send("rename", ["name": "Ada"])
        #expect(limits(traveller) == ["low": 1, "high": 10, "name": "x"])
    }

    @Test("where nothing else leads to its screen, resume leads there by itself")
    func straight() throws {
        let flow = Flows.make([
            "a": ["on": ["change": ["target": "b"]]],
            "b": ["answers": ["/limits/low"], "on": ["submit": ["target": "a", "nav": "resume"]]],
        ])
        var traveller = try Traveller(flow)
        try traveller.send("change")
        try traveller.send("submit")
        #expect(traveller.stack == ["a"])
    }

    @Test("resume goes through child flows, past what is answered in them", arguments: [false, true])
    func children(isAnswered: Bool) throws {
        func ask(_ name: String, then next: String) -> JSONDocument {
            let giving: JSONDocument = [["op": "add", "path": JSONDocument("/limits/\(name)"), "value": 1]]
            return [
                "answers": [JSONDocument("/limits/\(name)")],
                "on": ["submit": ["target": JSONDocument(next), "actions": giving]],
            ]
        }
        let flow = Flows.make([
            "a": ask("name", then: "address").merging(["on": ["again": ["target": "end", "nav": "resume"]]]),
            "address": [
                "type": "flow", "flow": "address",
                "on": ["done": [["target": "end", "nav": "resume"], ["target": "phone"]]],
            ],
            "phone": ask("phone", then: "end"), "end": ["on": ["change": ["target": "a"]]],
        ])
        let address = Flows.make(["a": ask("street", then: "z"), "z": ["type": "final"]], id: "address")
        var traveller = try Traveller(flow, address)
        try traveller.send("submit")
        #expect(traveller.stack == ["a", "a"] && traveller.flows == ["test", "address"])
        try traveller.send("submit")
        #expect(traveller.stack == ["a", "phone"] && traveller.flows == ["test"])
        try traveller.send("submit")
        try traveller.send("change")
        if !isAnswered { traveller.services["limits"] = ["name": 1, "phone": 1] }
        try traveller.send("again")
        #expect(traveller.stack == (isAnswered ? ["a", "phone", "end"] : ["a", "a"]))
    }

    @Test(
        "resume takes the other transitions of its own event as the way, without their actions where there are answers")
    func listed() throws {
        func ask(_ name: String, then next: String) -> JSONDocument {
            let giving: JSONDocument = [
                ["op": "add", "path": JSONDocument("/limits/\(name)"), "value": ["$from": "/event/v"]]
            ]
            return [
                "answers": [JSONDocument("/limits/\(name)")],
                "on": [
                    "submit": [
                        [
                            "guard": ["service": "limits", "schema": ["required": ["seen"]]], "target": "end",
                            "nav": "resume", "actions": giving,
                        ],
                        ["target": JSONDocument(next), "actions": giving],
                    ]
                ],
            ]
        }
        let flow = Flows.make([
            "a": ask("one", then: "b"), "b": ask("two", then: "c"), "c": ask("three", then: "end"),
            "end": [
                "entry": [["op": "add", "path": "/limits/seen", "value": true]],
                "on": [
                    "change": ["target": "a"],
                    "forget": ["target": "a", "actions": [["op": "remove", "path": "/limits/two"]]],
                ],
            ],
        ])
        var traveller = try Traveller(flow)
        for _ in 0..<3 { try traveller.send("submit", ["v": 1]) }
        #expect(traveller.stack == ["a", "b", "c", "end"])
        try traveller.send("change")
        try traveller.send("submit", ["v": 2])
        #expect(traveller.stack == ["a", "b", "c", "end"])
        #expect(limits(traveller)[member: "one"] == 2 && limits(traveller)[member: "two"] == 1)
        try traveller.send("forget")
        try traveller.send("submit", ["v": 3])
        #expect(traveller.stack == ["a", "b"])
        try traveller.send("submit", ["v": 4])
        #expect(traveller.stack == ["a", "b", "c", "end"])
    }
}

@Suite("Answers of several persons")
struct PersonAnswerTests {
    private static let name: JSONDocument = ["$pointer": ["limits", "people", ["$from": "/frame/index"], "name"]]

    private static let flow = Flows.make([
        "a": ["on": ["start": ["target": "person", "params": ["index": 0]]]],
        "person": [
            "answers": [name],
            "on": [
                "submit": [
                    "target": "summary", "nav": "resume",
                    "actions": [["set": name, "value": ["$from": "/event/name"]]],
                ],
                "next": [
                    [
                        "guard": ["compare": [["$add": ["/frame/index", 1]], "<", ["$count": "/limits/people"]]],
                        "target": "person", "params": ["index": ["$add": ["/frame/index", 1]]],
                    ], ["target": "summary"],
                ],
            ],
        ],
        "summary": [
            "on": [
                "change": ["target": "person", "params": ["index": ["$from": "/event/index"]]], "send": ["target": "z"],
            ]
        ],
        "z": ["type": "final"],
    ])

    private func traveller(_ names: String?...) throws -> Traveller {
        let people = names.map { name -> JSONDocument in
            if let name { ["name": JSONDocument(name)] } else { .emptyObject }
        }
        var traveller = try Traveller(Self.flow)
        traveller.services["limits"] = ["people": JSONDocument(people)]
        try traveller.send("start")
        return traveller
    }

    /// The index of each screen of a person on the stack.
    private func shown(_ traveller: Traveller) -> [Int] {
        traveller.journey.frames.compactMap { $0.params?[member: "index"]?.int }
    }

    @Test("each screen has the answers of the person that its params name")
    func each() throws {
        var traveller = try traveller(nil, nil, nil)
        for (index, name) in ["Ada", "Bob", "Eve"].enumerated() {
            #expect(shown(traveller) == Array(0...index))
            try traveller.send("submit", ["name": JSONDocument(name)])
        }
        #expect(traveller.screen == "summary")
        #expect(shown(traveller) == [0, 1, 2])
        #expect(traveller.services["limits"] == ["people": [["name": "Ada"], ["name": "Bob"], ["name": "Eve"]]])
    }

    @Test("resume passes the persons who are known, and stops at the first who is not")
    func passed() throws {
        var traveller = try traveller(nil, "Bob", nil, "Eve")
        try traveller.send("submit", ["name": "Ada"])
        #expect(shown(traveller) == [0, 1, 2])
        #expect(traveller.screen == "person")
    }

    @Test("a change of one comes back to the summary over the screens of those behind")
    func changed() throws {
        var traveller = try traveller(nil, "Bob", "Eve")
        try traveller.send("submit", ["name": "Ada"])
        #expect(traveller.screen == "summary")
        try traveller.send("change", ["index": 1])
        #expect(shown(traveller) == [0, 1, 2, 1])
        try traveller.send("submit", ["name": "Rob"])
        #expect(traveller.screen == "summary")
        #expect(shown(traveller) == [0, 1, 2])
        #expect(traveller.services["limits"].value(at: JSONPointer(["people", "1", "name"])) == "Rob")
    }

    @Test("a link leads over the screens of all")
    func link() throws {
        let traveller = try traveller("Ada", "Bob", "Eve")
        let way = try traveller.engine.navigate(
            traveller.journey, to: "summary", services: traveller.services, now: traveller.now)
        #expect(way.path == ["person", "person", "summary"])
    }

    @Test("where screens count on without end, resume still leads straight to its screen")
    func another() throws {
        var traveller = try Traveller(
            Flows.make([
                "a": ["on": ["start": ["target": "person", "params": ["index": 0]]]],
                "person": [
                    "answers": [["$pointer": ["limits", "people", ["$from": "/frame/index"], "name"]]],
                    "on": [
                        "another": ["target": "person", "params": ["index": ["$add": ["/frame/index", 1]]]],
                        "done": ["target": "summary", "nav": "resume"],
                    ],
                ],
                "summary": ["on": ["on": ["target": "a"]]],
            ]))
        traveller.services["limits"] = ["people": [["name": "Ada"]]]
        try traveller.send("start")
        try traveller.send("done")
        #expect(traveller.stack == ["a", "person", "summary"])
    }

    @Test("a flow that counts without end leads nowhere, and is not searched without end")
    func counting() throws {
        let flow = Flows.make([
            "a": [
                "on": [
                    "more": ["target": "a", "params": ["n": ["$add": [["$from": "/frame/n", "default": 0], 1]]]],
                    "done": ["guard": ["is": "/limits/done"], "target": "z"],
                ]
            ],
            "z": ["on": ["on": ["target": "a"]]],
        ])
        let traveller = try Traveller(flow)
        #expect(throws: JourneyRefusal.self) {
            try traveller.engine.navigate(
                traveller.journey, to: "z", services: traveller.services, now: traveller.now)
        }
    }
}

@Suite("Values that depend on others under a condition")
struct ConditionalInvalidationTests {
    private func changed(to age: JSONDocument) throws -> JSONDocument {
        let dependents: JSONDocument = [
            ["path": "/limits/guardian", "guard": ["compare": ["/limits/age", ">=", 18]]], "/limits/school",
        ]
        var traveller = try Traveller(
            Flows.make(
                ["a": ["on": ["go": ["actions": [["set": "/limits/age", "value": ["$from": "/event"]]]]]]],
                adding: ["invalidates": ["/limits/age": dependents]]))
        traveller.services["limits"] = ["age": 12, "guardian": "Ada", "school": "Eton"]
        try traveller.send("go", age)
        return traveller.services["limits"]
    }

    @Test("a value stays as it is while its guard fails with the data after the change")
    func kept() throws {
        #expect(try changed(to: 13) == ["age": 13, "guardian": "Ada"])
        #expect(try changed(to: 18) == ["age": 18])
    }

    @Test("where the guard cannot be decided the value is set back")
    func undecided() throws {
        #expect(try changed(to: "old") == ["age": "old"])
        #expect(try changed(to: 12) == ["age": 12, "guardian": "Ada", "school": "Eton"])
    }
}
