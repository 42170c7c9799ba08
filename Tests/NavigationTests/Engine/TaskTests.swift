import FlowTools
import JSONDocument
import Navigation
import Testing

@Suite("Tasks")
struct TaskTests {
    private static let second: Int64 = 1_000

    /// A screen that leads to a task, and one for each of its ends.
    private static func flow(_ task: JSONDocument = .emptyObject, _ more: JSONDocument = .emptyObject) -> JSONDocument {
        let check: JSONDocument = [
            "type": "task", "task": "check", "input": ["name": ["$from": "/event/name"]], "title": "One moment",
            "timeout": "20s", "retry": ["attempts": 3, "after": "1s", "factor": 2],
            "on": [
                "done.ok": [
                    "target": "home",
                    "actions": [["op": "replace", "path": "/profile/name", "value": ["$from": "/output/name"]]],
                ],
                "done.wrong": ["target": "a", "nav": "pop_to"], "done.failed": ["target": "sorry"],
                "done.timeout": ["target": "late"],
            ],
        ]
        return Flows.make(
            [
                "a": [
                    "on": ["go": ["target": "check"], "show": ["target": "check", "nav": "present"]],
                    "exit": [Flows.note("left")],
                ],
                "check": check.merging(task), "home": ["on": ["go": ["target": "check"]]],
                "sorry": ["on": ["go": ["target": "end"]]], "late": ["on": ["go": ["target": "end"]]],
                "end": ["type": "final"],
            ],
            adding: ["on": ["cancel": ["target": "end"], "help": ["target": "sorry"]]]
        ).merging(more)
    }

    private func traveller(_ task: JSONDocument = .emptyObject, _ more: JSONDocument = .emptyObject) throws -> Traveller
    {
        var traveller = try Traveller(Self.flow(task, more))
        try traveller.send("go", ["name": "Ada"])
        return traveller
    }

    @Test("entering it shows a busy screen with its title, and the journey waits for the task with its input")
    func entering() throws {
        let traveller = try traveller()
        #expect(traveller.stack == ["a", "check"])
        let view = try traveller.view()
        #expect(view.screen?.isBusy == true && view.screen?.title == "One moment")
        #expect(view.events.map(\.name) == ["cancel", "help"])
        #expect(!view.canGoBack)
        let task = try #require(traveller.journey.task)
        #expect(task.name == "check" && task.input == ["name": "Ada"])
        #expect(task.number == traveller.journey.step)
        let state = try #require(traveller.engine.taskState(of: traveller.journey))
        #expect((1...4).map { state.retry.delay(afterAttempt: $0) } == [1_000, 2_000, 4_000, 8_000])
        #expect(state.retry.delay(afterAttempt: 100) == 86_400_000)
    }

    @Test("a journey that waits for no task says nothing of being busy")
    func notBusy() throws {
        let traveller = try Traveller(Self.flow())
        #expect(try traveller.view().screen?.isBusy == false)
        #expect(!String(decoding: try traveller.view().json, as: UTF8.self).contains("busy"))
        #expect(!traveller.journey.document.description.contains("task"))
    }

    @Test("its end is a step like any other: done.<outcome>, with /output")
    func ending() throws {
        var traveller = try traveller()
        try traveller.endTask("ok", ["name": "Grace"])
        #expect(traveller.screen == "home" && traveller.journey.task == nil)
        #expect(traveller.services["profile"][member: "name"] == "Grace")
        #expect(traveller.journey.step == 3)
    }

    @Test("going back never finds the busy screen, whichever way the journey left it", arguments: ["ok", "failed"])
    func back(outcome: String) throws {
        var traveller = try traveller()
        try traveller.endTask(outcome, ["name": "Grace"])
        #expect(!traveller.stack.contains("check"))
        try traveller.back()
        #expect(traveller.stack == ["a"])
    }

    @Test("pop_to finds the screen below the busy one")
    func popTo() throws {
        var traveller = try traveller()
        try traveller.endTask("wrong")
        #expect(traveller.stack == ["a"] && traveller.journey.task == nil)
    }

    @Test("a task in a modal context hands its place in it to the next screen")
    func modal() throws {
        var traveller = try Traveller(Self.flow())
        try traveller.send("show", ["name": "Ada"])
        #expect(traveller.stack == ["a", "^check"])
        try traveller.endTask("ok", ["name": "Grace"])
        #expect(traveller.stack == ["a", "^home"])
    }

    @Test("pop_to_root from a task that is the first of its context leaves it, too", arguments: [true, false])
    func popToRoot(hasTarget: Bool) throws {
        let end: JSONDocument =
            hasTarget ? ["target": "home", "nav": "pop_to_root"] : ["target": nil, "nav": "pop_to_root"]
        var traveller = try Traveller(Self.flow(["on": ["done.ok": end, "done.home": ["target": "home"]]]))
        try traveller.send("show", ["name": "Ada"])
        try traveller.endTask("ok", ["name": "Grace"])
        #expect(traveller.stack == (hasTarget ? ["a", "^home"] : ["a"]) && traveller.journey.task == nil)
    }

    @Test("pop_to a screen that is not below takes the place of the busy one", arguments: ["go", "show"])
    func popToNothing(event: String) throws {
        var traveller = try Traveller(
            Self.flow(["on": ["done.ok": ["target": "sorry", "nav": "pop_to"], "done.home": ["target": "home"]]]))
        try traveller.send(event, ["name": "Ada"])
        try traveller.endTask("ok", ["name": "Grace"])
        #expect(traveller.stack == ["a", event == "show" ? "^sorry" : "sorry"] && traveller.journey.task == nil)
    }

    @Test("a task may be the first state of a flow, and lead to another task")
    func first() throws {
        var traveller = try Traveller(
            Flows.make([
                "a": ["type": "task", "task": "one", "on": ["done": ["target": "b", "nav": "present"]]],
                "b": ["type": "task", "task": "two", "on": ["done": ["target": "c"]]],
                "c": ["on": ["go": ["target": "c"]]],
            ]))
        #expect(traveller.stack == ["a"] && traveller.journey.task?.number == 1)
        try traveller.endTask("whatever")
        #expect(
            traveller.stack == ["b"] && traveller.journey.task?.number == 2 && traveller.journey.task?.name == "two")
        try traveller.endTask("failed")
        #expect(traveller.stack == ["c"])
    }

    @Test("an end without a target is back where the task was started")
    func staying() throws {
        var traveller = try traveller([
            "on": ["done.ok": nil, "done.home": ["target": "home"], "done": ["actions": [Flows.note("back")]]]
        ])
        try traveller.endTask("ok")
        #expect(traveller.stack == ["a"] && traveller.services.log == ["left", "back"])
    }

    @Test("with back: true going back cancels the task; without it the event is refused")
    func backRule() throws {
        var traveller = try traveller(["back": true])
        let number = try #require(traveller.journey.task?.number)
        #expect(try traveller.view().canGoBack)
        try traveller.back()
        #expect(traveller.stack == ["a"] && traveller.journey.task == nil)
        #expect(throws: JourneyRefusal.taskOver) { try traveller.endTask("ok", number: number) }
        let other = try self.traveller()
        guard case .eventNotAccepted? = other.refusal(of: "back") else {
            Issue.record("back was accepted")
            return
        }
    }

    @Test("whatever leads away from the busy screen ends the task", arguments: ["cancel", "help"])
    func leaving(event: String) throws {
        var traveller = try traveller()
        try traveller.send(event)
        #expect(traveller.journey.task == nil)
        #expect(traveller.stack == (event == "help" ? ["a", "sorry"] : []))
    }

    @Test("a result for a task that is over is refused, and a later task of the state has another number")
    func over() throws {
        var traveller = try traveller()
        let first = try #require(traveller.journey.task?.number)
        try traveller.endTask("wrong")
        #expect(throws: JourneyRefusal.taskOver) { try traveller.endTask("ok", number: first) }
        try traveller.send("go", ["name": "Ada"])
        let second = try #require(traveller.journey.task?.number)
        #expect(second > first)
        #expect(throws: JourneyRefusal.taskOver) { try traveller.endTask("ok", number: first) }
    }

    @Test("an outcome without a transition is refused with those that there are, and the task goes on")
    func unknownOutcome() throws {
        var traveller = try traveller()
        #expect(throws: JourneyRefusal.unknownOutcome("perhaps", known: ["failed", "ok", "timeout", "wrong"])) {
            try traveller.endTask("perhaps")
        }
        #expect(traveller.journey.task != nil)
    }

    @Test("done.timeout is taken when the time is over, also when nobody looked")
    func timeout() throws {
        var traveller = try traveller()
        #expect(traveller.journey.dueAt == Traveller.start + 20 * Self.second)
        try traveller.wait(19 * Self.second)
        #expect(traveller.screen == "check")
        try traveller.wait(Self.second)
        #expect(traveller.screen == "late" && traveller.journey.task == nil)
        #expect(traveller.journey.isActive)
    }

    @Test("a task of a child ends with the child, and its parent is told as ever")
    func child() throws {
        let child = Flows.make(
            ["a": ["type": "task", "task": "work", "on": ["done": ["target": "end"]]], "end": ["type": "final"]],
            id: "child")
        var traveller = try Traveller(
            Flows.make([
                "a": ["on": ["go": ["target": "c"]]],
                "c": [
                    "type": "flow", "flow": "child", "on": ["done": ["target": "b"], "done.expired": ["target": "b"]],
                ],
                "b": ["on": ["go": ["target": "a"]]],
            ]), child.merging(["timeout": ["total": "1m"]]))
        try traveller.send("go")
        #expect(traveller.stack == ["a", "a"] && traveller.flows == ["test", "child"])
        try traveller.endTask("ok")
        #expect(traveller.stack == ["a", "b"] && traveller.flows == ["test"])
        try traveller.back()
        try traveller.send("go")
        try traveller.wait(60 * Self.second)
        #expect(traveller.stack == ["a", "b"] && traveller.journey.task == nil)
    }

    @Test("navigation starts no task, and does not stand on one")
    func navigation() throws {
        let traveller = try Traveller(Self.flow())
        for screen in ["check", "home"] {
            #expect(throws: JourneyRefusal.self) {
                try traveller.engine.navigate(
                    traveller.journey, to: screen, services: traveller.services, now: traveller.now)
            }
        }
    }

    @Test("starting over and giving up end the task")
    func givingUp() throws {
        var traveller = try traveller()
        try traveller.restart("test")
        #expect(traveller.journey.task == nil && traveller.stack == ["a"])
        try traveller.send("go", ["name": "Ada"])
        traveller.abandon()
        #expect(traveller.journey.task == nil)
    }

    @Test("the value that the input needs must be there")
    func missingInput() throws {
        let traveller = try Traveller(Self.flow())
        guard case .actionFailed(let place)? = traveller.refusal(of: "go") else {
            Issue.record("it was accepted")
            return
        }
        #expect(place.pointer == "/event/name")
    }

    @Test("scripts cover every end of a task, and simulate can play them")
    func paths() throws {
        let flow = Self.flow(["input": nil])
        let catalog = try Traveller.catalog([flow])
        let definition = try #require(catalog.flow("test"))
        let coverage = FlowPaths(definition, in: catalog).coveringScripts(services: TestServices())
        #expect(coverage.uncovered == [])
        let entries = coverage.scripts.flatMap(\.entries).map(\.json)
        // Actions need members of an output that no schema describes.
        #expect(entries.contains { $0[member: "outcome"] == "ok" && ($0[member: "output"]?.count ?? 0) > 0 })
        #expect(entries.contains(["task": "check", "outcome": "failed"]))
        let curl = coverage.curl(base: "http://localhost:8080")
        #expect(curl.contains(#"curl -sf -X POST "$ADMIN/v1/tasks/$TASK/result""#))
    }

    @Test("a drawing marks tasks")
    func drawing() throws {
        let catalog = try Traveller.catalog([Self.flow()])
        let graph = FlowGraph(try #require(catalog.flow("test")))
        #expect(graph.graphviz.contains("⚙ check<BR/>◷ 20s"))
        #expect(graph.mermaid.contains("taskNode"))
    }
}

@Suite("Events of back ends")
struct BackendEventTests {
    private static let flow = Flows.make(
        [
            "a": [
                "backend": ["verified"], "accepts": ["verified": ["required": ["by"]]],
                "on": ["verified": ["target": "b"], "again": ["actions": [Flows.note("again")]]],
            ],
            "b": ["on": ["next": ["target": "c"]]], "c": ["on": ["next": ["target": "b", "nav": "pop_to"]]],
            "locked": ["type": "final"],
        ],
        adding: ["backend": ["locked", "next"], "on": ["locked": ["target": "locked"]]])

    private func send(_ event: String, to traveller: inout Traveller, _ data: JSONDocument = .emptyObject) throws {
        let step = try traveller.engine.send(
            event, data: data, to: traveller.journey, isFromBackend: true, services: traveller.services,
            now: traveller.now)
        traveller.journey = step.journey
    }

    @Test("clients are not offered them, and sending one is not accepted", arguments: ["verified", "locked"])
    func clients(event: String) throws {
        let traveller = try Traveller(Self.flow)
        #expect(try traveller.view().events.map(\.name) == ["again"])
        #expect(
            traveller.refusal(of: event, ["by": "x"]) == .eventNotAccepted(event: event, accepted: ["again"]))
    }

    @Test("a back end sends them, and everything else")
    func backends() throws {
        var traveller = try Traveller(Self.flow)
        #expect(throws: JourneyRefusal.self) { try send("verified", to: &traveller) }
        try send("again", to: &traveller)
        try send("verified", to: &traveller, ["by": "x"])
        #expect(traveller.screen == "b")
        try send("locked", to: &traveller)
        #expect(traveller.journey.outcome == "locked")
    }

    @Test("those of a flow are those of its screens, too")
    func ofScreens() throws {
        var traveller = try Traveller(Self.flow)
        try send("verified", to: &traveller, ["by": "x"])
        #expect(try traveller.view().events == [])
        #expect(traveller.refusal(of: "next") == .eventNotAccepted(event: "next", accepted: ["back"]))
        try send("next", to: &traveller)
        #expect(traveller.screen == "c")
    }

    @Test("navigation takes no way over them")
    func navigation() throws {
        let traveller = try Traveller(Self.flow)
        #expect(throws: JourneyRefusal.self) {
            try traveller.engine.navigate(
                traveller.journey, to: "b", services: traveller.services, now: traveller.now)
        }
    }

    @Test("scripts send them as a back end does")
    func paths() throws {
        let catalog = try Traveller.catalog([Self.flow])
        let coverage = FlowPaths(try #require(catalog.flow("test")), in: catalog)
            .coveringScripts(services: TestServices())
        #expect(coverage.uncovered == [])
        let entries = coverage.scripts.flatMap(\.entries).map(\.json)
        #expect(entries.contains { $0[member: "event"] == "verified" && $0[member: "backend"] == true })
        #expect(coverage.curl(base: "x").contains(#"curl -sf -X POST "$ADMIN/v1/sessions/$ID/journeys/main/events""#))
    }
}
