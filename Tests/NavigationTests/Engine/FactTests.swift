import FlowTools
import JSONDocument
import Navigation
import Testing

/// What the outside says has happened: results of tasks, and events of back ends.
@Suite("Facts")
struct FactTests {
    /// A task whose result leads to a screen that asks for a name of two letters at least.
    private static func flow(_ paid: JSONDocument = .emptyObject, _ more: JSONDocument = .emptyObject) -> JSONDocument {
        let named: JSONDocument = [
            "service": "profile", "schema": ["properties": ["name": ["minLength": 2]]],
        ]
        let paying: JSONDocument = [
            "type": "task", "task": "charge", "timeout": "20s",
            "outcomes": [
                "paid": [
                    "type": "object", "required": ["reference"],
                    "properties": ["reference": ["type": "string"], "cents": ["type": "integer"]],
                ],
                "declined": .emptyObject,
            ],
            "on": [
                "done.paid": [
                    "target": "thanks",
                    "actions": [["op": "replace", "path": "/quote/text", "value": ["$from": "/output/reference"]]],
                ],
                "done.declined": ["target": "a", "nav": "pop_to"], "done.failed": ["target": "sorry"],
                "done.timeout": ["target": "thanks"],
            ],
        ]
        return Flows.make(
            [
                "a": ["on": ["pay": ["target": "paying"]]],
                "paying": paying.merging(paid),
                "thanks": [
                    "requires": [named], "on": ["go": ["target": "end"]], "entry": [Flows.note("entered")],
                    "exit": [Flows.note("left")],
                ],
                "sorry": ["on": ["go": ["target": "end"]]], "end": ["type": "final"],
            ]
        ).merging(more)
    }

    private func traveller(_ paid: JSONDocument = .emptyObject, _ more: JSONDocument = .emptyObject) throws -> Traveller
    {
        var traveller = try Traveller(Self.flow(paid, more))
        try traveller.send("pay")
        return traveller
    }

    private static let paid: JSONDocument = ["reference": "r1"]

    @Test("a result is taken though the next screen is closed: its actions are done, and the screen below is shown")
    func closedTarget() throws {
        var traveller = try traveller()
        try traveller.endTask("paid", Self.paid)
        #expect(traveller.services["quote"][member: "text"] == "r1")
        #expect(traveller.stack == ["a"] && traveller.journey.task == nil)
        // A screen that was not entered is not left, either.
        #expect(traveller.services.log.isEmpty)
    }

    @Test("the otherwise of the closed screen is taken")
    func otherwise() throws {
        var traveller = try traveller(
            .emptyObject, ["states": ["thanks": ["otherwise": ["target": "sorry", "nav": "replace"]]]])
        try traveller.endTask("paid", Self.paid)
        #expect(traveller.stack == ["a", "sorry"] && traveller.services.log.isEmpty)
    }

    @Test("a flow without a screen below is closed, with what the result has done")
    func nothingBelow() throws {
        var traveller = try traveller(
            ["on": ["done.paid": ["target": "thanks", "nav": "set_root"]]])
        try traveller.endTask("paid", Self.paid)
        #expect(traveller.journey.status == .finished && traveller.journey.outcome == "closed")
        #expect(traveller.services["quote"][member: "text"] == "r1")
    }

    @Test("nor does the timeout of a task, or an event that only a back end sends, fail for a closed screen")
    func othersOfTheKind() throws {
        var late = try traveller()
        try late.wait(20_000)
        #expect(late.stack == ["a"] && late.journey.isActive)
        var told = try Traveller(
            Self.flow(.emptyObject, ["states": ["a": ["backend": ["paid"], "on": ["paid": ["target": "thanks"]]]]]))
        let step = try told.engine.send(
            "paid", to: told.journey, isFromBackend: true, services: told.services, now: told.now)
        #expect(step.journey.top?.state == "a" && step.taken.count == 1)
        #expect(throws: JourneyRefusal.self) { try told.send("paid") }
    }

    @Test("a person's event is refused by a closed screen, as ever")
    func eventsOfPeople() throws {
        let traveller = try Traveller(
            Self.flow(.emptyObject, ["states": ["a": ["on": ["skip": ["target": "thanks"]]]]]))
        guard case .guardNotMet? = traveller.refusal(of: "skip") else {
            Issue.record("it was accepted")
            return
        }
    }

    @Test(
        "what is not declared, or does not fit, is refused with its place, also where a bare done would take it",
        arguments: [false, true])
    func declared(hasBareDone: Bool) throws {
        var traveller = try traveller(
            hasBareDone ? ["on": ["done.paid": nil, "done": ["target": "sorry"]]] : .emptyObject)
        #expect(throws: JourneyRefusal.unknownOutcome("payed", known: ["declined", "paid"])) {
            try traveller.endTask("payed", Self.paid)
        }
        #expect(throws: JourneyRefusal.unknownOutcome("failed", known: ["declined", "paid"])) {
            try traveller.endTask("failed")
        }
        let wrong: [(JSONDocument, String)] = [
            (.null, ""), (["reference": 7], "/reference"), (.emptyObject, "/reference"),
        ]
        for (output, pointer) in wrong {
            do {
                try traveller.endTask("paid", output)
                Issue.record("\(output) was taken")
            } catch JourneyRefusal.outputInvalid(let outcome, let violations) {
                #expect(outcome == "paid" && violations.map(\.pointer) == [pointer])
            }
        }
        try traveller.endTask("paid", Self.paid)
        #expect(traveller.journey.task == nil)
    }

    @Test("a result that is kept stops no time before the lease ends, and any time once it is held")
    func heldAndTime() throws {
        var traveller = try traveller(.emptyObject, ["timeout": ["total": "60s"]])
        var journey = traveller.journey
        var result = KeptResult(
            outcome: "payed", output: Self.paid, problem: ["code": "invalid_input"], isHeld: false, isReported: true)
        journey.noteOfTask { $0.result = result }
        #expect(journey.dueAt == traveller.journey.dueAt)
        traveller.journey = journey
        try traveller.wait(20_000)
        // The time of the task is over, and the work was done: it is held, and not over.
        #expect(traveller.screen == "paying" && traveller.journey.task?.isHeld == true)
        #expect(traveller.journey.dueAt == nil && traveller.journey.expiresAt == nil)
        try traveller.wait(600_000)
        #expect(traveller.screen == "paying")
        result.isHeld = true
        #expect(traveller.journey.task?.result == result)
        try traveller.endTask("paid", Self.paid)
        #expect(traveller.journey.task == nil && traveller.stack == ["a"])
    }

    @Test("notes of a task are read as they were written, and a task without them is written as ever")
    func coding() throws {
        let traveller = try traveller()
        #expect(traveller.journey.document[member: "task"]?.elements?.count == 3)
        var deep = JSONDocument("x")
        for _ in 0..<60 { deep = [deep] }
        var journey = traveller.journey
        journey.noteOfTask {
            $0.failure = "no answer"
            $0.formerVersion = 1
            $0.result = KeptResult(
                outcome: "paid", output: deep, problem: ["code": "x"], isHeld: true, isReported: false)
        }
        let text = journey.json
        var reader = try JSONReader(text)
        #expect(try Journey(reading: &reader) == journey)
        #expect(Journey(try JSONDocument(parsing: text)) == journey)
    }

    @Test("a worker that has the task from an older version reports the old outcome, however long ago that was")
    func renamedOutcome() throws {
        let states: JSONDocument = [
            "states": [
                "paying": [
                    "outcomes": ["paid": nil, "settled": .emptyObject],
                    "on": ["done.paid": nil, "done.settled": ["target": "sorry"]],
                ]
            ],
            "on": ["note": ["actions": [Flows.note("noted")]]],
        ]
        let newer = Self.flow(.emptyObject, states).merging([
            "version": 2, "in_flight": "migrate", "migrations": [["from": 1, "outcomes": ["paid": "settled"]]],
        ])
        for movesBefore in [false, true] {
            var traveller = try traveller()
            traveller.engine = FlowEngine(catalog: try Traveller.catalog([Self.flow(), newer]))
            if movesBefore {
                try traveller.send("note")
                #expect(traveller.journey.version == 2)
            }
            try traveller.endTask("paid", Self.paid)
            #expect(traveller.screen == "sorry")
        }
    }

    @Test("a version that starts journeys over does so after the result is taken, not in its place")
    func restartingVersion() throws {
        let newer = Self.flow().merging(["version": 2, "in_flight": "restart"])
        var traveller = try traveller()
        traveller.engine = FlowEngine(catalog: try Traveller.catalog([Self.flow(), newer]))
        try traveller.endTask("paid", Self.paid)
        #expect(traveller.services["quote"][member: "text"] == "r1" && traveller.journey.version == 1)
        try traveller.send("pay")
        #expect(traveller.journey.version == 2)
    }

    @Test("an action records a task with its input, in order, and only if its step is taken")
    func sideTasks() throws {
        let mail: JSONDocument = ["task": "send-mail", "with": ["to": ["$from": "/event/to"]]]
        let traveller = try Traveller(
            Flows.make([
                "a": [
                    "on": [
                        "go": ["target": "b", "actions": [mail, ["task": "log"]]],
                        "no": ["target": "c", "actions": [mail]],
                    ]
                ],
                "b": ["on": ["go": ["target": "a"]], "entry": [["task": "count"]]],
                "c": ["requires": [["is": "/limits/none"]], "on": ["go": ["target": "a"]]],
            ]))
        func send(_ event: String, _ data: JSONDocument) throws -> Step {
            try traveller.engine.send(
                event, data: data, to: traveller.journey, services: traveller.services, now: traveller.now)
        }
        let step = try send("go", ["to": "ada"])
        #expect(step.sideTasks.map(\.name) == ["send-mail", "log", "count"])
        #expect(step.sideTasks.first?.input == ["to": "ada"] && step.sideTasks.last?.input == .emptyObject)
        #expect(step.sideTasks.allSatisfy { $0.flow == "test" && $0.version == 1 })
        #expect(throws: JourneyRefusal.self) { try send("no", ["to": "ada"]) }
        #expect(throws: JourneyRefusal.self) { try send("go", .emptyObject) }
    }

    @Test("what a lenient list of actions has recorded goes with it, when one of them fails")
    func undone() throws {
        let traveller = try Traveller(
            Flows.make(
                [
                    "a": [
                        "on": ["go": ["target": "a"]],
                        "exit": [["task": "one"], ["op": "remove", "path": "/limits/none"]],
                    ]
                ],
                adding: ["exit": [["task": "two"]]]))
        let step = traveller.engine.abandon(traveller.journey, services: traveller.services, now: traveller.now)
        #expect(step.sideTasks.map(\.name) == ["two"])
    }
}
