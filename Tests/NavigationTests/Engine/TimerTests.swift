import JSONDocument
import Navigation
import Testing

@Suite("Timers")
struct TimerTests {
    private static let hour: Int64 = 3_600_000
    private static let start = Traveller.start

    /// An action that notes a word and the time of the step.
    private static func note(_ word: String) -> JSONDocument {
        ["op": "add", "path": "/log/lines/-", "value": ["$concat": [JSONDocument("\(word) "), ["$from": "/now"]]]]
    }

    /// A timer that notes a word.
    private static func reminder(_ word: String, _ members: JSONDocument) -> JSONDocument {
        members.merging(["actions": [note(word)]])
    }

    /// A flow that begins on a screen with these members and an event that leads to `b`.
    private static func flow(_ screen: JSONDocument, adding members: JSONDocument = .emptyObject) -> JSONDocument {
        let on: JSONDocument = ["on": ["next": ["target": "b"], "stay": ["actions": [Flows.note("stay")]]]]
        return Flows.make(["a": on.merging(screen), "b": ["on": ["next": ["target": "a"]]]], adding: members)
    }

    /// As the notes have it: a word and hours after the start.
    private static func noted(_ word: String, _ hours: Int64) -> String {
        let time = start + hours * hour
        let day = time / 86_400_000 - start / 86_400_000 + 1
        let clock = time % 86_400_000 / hour
        return "\(word) 2026-01-\(day < 10 ? "0" : "")\(day)T\(clock < 10 ? "0" : "")\(clock):00:00.000Z"
    }

    /// Looks whenever something is due, as a server does.
    private static func wait(_ traveller: inout Traveller, hours: Int64) throws {
        let end = traveller.now + hours * hour
        while let due = traveller.journey.dueAt, due <= end {
            try traveller.wait(max(0, due - traveller.now))
            try #require(traveller.journey.dueAt ?? .max > traveller.now, "what was due has not happened")
        }
        try traveller.wait(end - traveller.now)
    }

    @Test("a timer without a target interrupts nothing")
    func reminder() throws {
        var traveller = try Traveller(
            Self.flow(
                [
                    "timers": [Self.reminder("r", ["after": "2h"])], "timeout": ["after": "5h", "target": "b"],
                    "entry": [Flows.note("entry")], "exit": [Flows.note("exit")],
                ], adding: ["timeout": ["idle": "9h"]]))
        let before = traveller.journey
        #expect(try traveller.view().dueAt == Self.start + 2 * Self.hour)
        try traveller.wait(3 * Self.hour)
        #expect(traveller.services.log == ["entry", Self.noted("r", 2)])
        #expect(traveller.journey.step == before.step + 1)
        #expect(traveller.journey.frames == before.frames)
        #expect(traveller.journey.enteredAt == before.enteredAt && traveller.journey.movedAt == before.movedAt)
        #expect(traveller.journey.expiresAt == before.expiresAt)
        #expect(try traveller.view().dueAt == Self.start + 5 * Self.hour)
        try traveller.wait(2 * Self.hour)
        #expect(traveller.stack == ["a", "b"])
    }

    @Test("a timer with every is taken as often as it says, each time at its time")
    func every() throws {
        var traveller = try Traveller(
            Self.flow(["timers": [Self.reminder("r", ["after": "72h", "every": "24h", "times": 3])]]))
        try Self.wait(&traveller, hours: 300)
        #expect(traveller.services.log == [72, 96, 120].map { Self.noted("r", $0) })
        #expect(traveller.journey.dueAt == nil)
    }

    @Test("what was missed while no server ran happens once, at the time of the first; the next one counts")
    func missed() throws {
        var traveller = try Traveller(
            Self.flow([
                "timers": [Self.reminder("r", ["after": "1h", "every": "1h"]), Self.reminder("s", ["after": "3h"])]
            ]))
        try traveller.wait(200 * Self.hour + 1)
        #expect(traveller.services.log == [Self.noted("r", 1), Self.noted("s", 3)])
        #expect(traveller.journey.dueAt == Self.start + 201 * Self.hour)
        #expect(traveller.journey.enteredAt == Self.start)
    }

    @Test("missed times count for times")
    func missedTimes() throws {
        var traveller = try Traveller(
            Self.flow(["timers": [Self.reminder("r", ["after": "1h", "every": "1h", "times": 3])]]))
        try traveller.wait(2 * Self.hour)
        #expect(traveller.journey.dueAt == Self.start + 3 * Self.hour)
        try traveller.wait(50 * Self.hour)
        #expect(traveller.services.log == [Self.noted("r", 1), Self.noted("r", 3)])
        #expect(traveller.journey.dueAt == nil)
    }

    @Test("timers of a screen begin anew when it is entered again, and end when it is left")
    func entering() throws {
        var traveller = try Traveller(
            Self.flow(["timers": [Self.reminder("r", ["after": "2h", "every": "2h", "times": 2])]]))
        try traveller.wait(2 * Self.hour)
        try traveller.send("stay")
        #expect(traveller.journey.dueAt == Self.start + 4 * Self.hour)
        try traveller.send("next")
        #expect(traveller.journey.dueAt == nil)
        try traveller.wait(10 * Self.hour)
        try traveller.back()
        #expect(traveller.journey.dueAt == Self.start + 14 * Self.hour)
        try Self.wait(&traveller, hours: 100)
        #expect(
            traveller.services.log == [Self.noted("r", 2), "stay", Self.noted("r", 14), Self.noted("r", 16)])
    }

    @Test("timers of one time are taken in the order of the file, before the timeout")
    func order() throws {
        var traveller = try Traveller(
            Self.flow(
                [
                    "timers": [Self.reminder("r", ["after": "2h"]), Self.reminder("s", ["after": "2h"])],
                    "timeout": ["after": "2h", "target": "b"],
                ], adding: ["timers": [Self.reminder("f", ["after": "2h"])]]))
        try traveller.wait(2 * Self.hour)
        #expect(traveller.services.log == ["f", "r", "s"].map { Self.noted($0, 2) })
        #expect(traveller.stack == ["a", "b"])
    }

    // MARK: - Refusals

    @Test("a timer that is refused passes, and the next time counts", arguments: [true, false])
    func refusedReminder(byGuard: Bool) throws {
        let action: JSONDocument = [
            "op": "replace", "path": "/quote/text", "value": ["$from": "/limits/name"],
        ]
        var timer = Self.reminder("r", ["after": "1h", "every": "1h", "times": 3])
        timer =
            byGuard
            ? timer.merging(["guard": ["compare": ["/limits/name", "==", ["value": "x"]]]])
            : timer.merging(["actions": [action, Self.note("r")]])
        var traveller = try Traveller(Self.flow(["timers": [timer]]))
        // A number is no text, and the guard does not hold either.
        traveller.services["limits"] = ["name": 7]
        let before = traveller.journey
        try Self.wait(&traveller, hours: 1)
        #expect(traveller.journey.step == before.step && traveller.journey.isActive)
        #expect(traveller.journey.dueAt == Self.start + 2 * Self.hour)
        traveller.services["limits"] = ["name": "x"]
        try Self.wait(&traveller, hours: 9)
        #expect(traveller.services.log == [Self.noted("r", 2), Self.noted("r", 3)])
    }

    @Test("a timer whose move is refused is asked again after the same time", arguments: [true, false])
    func refusedMove(byGuard: Bool) throws {
        let isOpen: JSONDocument = ["is": "/limits/open"]
        let timer: JSONDocument = ["after": "2h", "target": "b"]
        var flow = Flows.make([
            "a": ["timers": [byGuard ? timer.merging(["guard": isOpen]) : timer], "on": ["next": ["target": "b"]]],
            "b": ["on": ["next": ["target": "a"]]],
        ])
        if !byGuard { flow = flow.merging(["states": ["b": ["requires": [isOpen]]]]) }
        var traveller = try Traveller(flow)
        traveller.services["limits"] = ["open": false]
        try Self.wait(&traveller, hours: 5)
        #expect(traveller.stack == ["a"])
        #expect(traveller.journey.dueAt == Self.start + 6 * Self.hour)
        traveller.services["limits"] = ["open": true]
        try Self.wait(&traveller, hours: 1)
        #expect(traveller.stack == ["a", "b"])
    }

    // MARK: - Moments

    private static let departure = flow([
        "timers": [
            reminder("r", ["at": ["$time": ["from": "/limits/departs_at", "plus": "-PT1H"]]])
        ]
    ])

    private static func time(_ hours: Int64) -> JSONDocument {
        JSONDocument(String(noted("", hours).dropFirst()))
    }

    @Test("without a value there is no moment; with one there is, and with another one another")
    func moments() throws {
        var traveller = try Traveller(Self.departure)
        #expect(traveller.journey.dueAt == nil)
        traveller.services["limits"] = ["departs_at": Self.time(10)]
        let redated = try #require(
            traveller.engine.redated(traveller.journey, services: traveller.services, now: traveller.now))
        #expect(redated.dueAt == Self.start + 9 * Self.hour && redated.step == traveller.journey.step)
        // Also when nobody has told the journey.
        try Self.wait(&traveller, hours: 3)
        #expect(traveller.journey.dueAt == Self.start + 9 * Self.hour)
        traveller.services["limits"] = ["departs_at": Self.time(6)]
        try traveller.wait(0)
        #expect(try traveller.view().dueAt == Self.start + 5 * Self.hour)
        try Self.wait(&traveller, hours: 20)
        #expect(traveller.services.log == [Self.noted("r", 5)])
        traveller.services["limits"] = ["departs_at": "soon"]
        try Self.wait(&traveller, hours: 1)
        traveller.services["limits"] = ["departs_at": Self.time(30)]
        try traveller.wait(0)
        try Self.wait(&traveller, hours: 20)
        #expect(traveller.services.log == [Self.noted("r", 5), Self.noted("r", 29)])
    }

    @Test("a moment that has passed is due at once, and once")
    func passedMoment() throws {
        var traveller = try Traveller(Self.departure)
        try traveller.wait(8 * Self.hour)
        traveller.services["limits"] = ["departs_at": Self.time(3)]
        let redated = traveller.engine.redated(traveller.journey, services: traveller.services, now: traveller.now)
        #expect(redated?.dueAt == traveller.now)
        try traveller.wait(0)
        try Self.wait(&traveller, hours: 1)
        try traveller.send("stay")
        try Self.wait(&traveller, hours: 5)
        #expect(traveller.services.log == [Self.noted("r", 8), "stay"])
        #expect(traveller.journey.dueAt == nil)
    }

    @Test("an action that writes what a moment depends on moves it")
    func writtenByStep() throws {
        let write: JSONDocument = [
            "op": "add", "path": "/limits/departs_at", "value": ["$time": ["from": "/now", "plus": "PT3H"]],
        ]
        var traveller = try Traveller(
            Self.flow([
                "timers": [Self.reminder("r", ["at": "/limits/departs_at"])], "on": ["book": ["actions": [write]]],
            ]))
        try traveller.send("book")
        #expect(traveller.journey.dueAt == Self.start + 3 * Self.hour)
        try Self.wait(&traveller, hours: 3)
        #expect(traveller.services.log == [Self.noted("r", 3)])
    }

    @Test("a day begins at midnight in UTC")
    func day() throws {
        var traveller = try Traveller(Self.flow(["timers": [Self.reminder("r", ["at": "2026-01-03"])]]))
        try Self.wait(&traveller, hours: 48)
        #expect(traveller.services.log == [Self.noted("r", 48)])
    }

    // MARK: - Flows, children, tasks

    @Test("a timer of a flow runs on all screens, those of children too, and ends with the flow")
    func ofFlow() throws {
        let child = Flows.make(["a": ["on": ["end": ["target": "b"]]], "b": ["type": "final"]], id: "child").merging([
            "timers": [Self.reminder("child", ["after": "2h", "every": "2h"])]
        ])
        let parent = Flows.make(
            [
                "a": ["on": ["go": ["target": "c"]]],
                "c": ["type": "flow", "flow": "child", "on": ["done": ["target": "d"]]],
                "d": ["on": ["go": ["target": "a", "nav": "set_root"]]],
            ], id: "parent"
        ).merging(["timers": [Self.reminder("parent", ["after": "5h"])]])
        var traveller = try Traveller(parent, child)
        try traveller.wait(Self.hour)
        try traveller.send("go")
        try Self.wait(&traveller, hours: 5)
        #expect(
            traveller.services.log == [Self.noted("child", 3), Self.noted("parent", 5), Self.noted("child", 5)])
        try traveller.send("end")
        #expect(traveller.journey.dueAt == nil)
        try Self.wait(&traveller, hours: 50)
        #expect(traveller.services.log.count == 3)
    }

    @Test("a timer of a flow with a target leads there from any screen, once")
    func targetOfFlow() throws {
        var traveller = try Traveller(
            Self.flow(.emptyObject, adding: ["timers": [["after": "2h", "target": "b", "nav": "set_root"]]]))
        try Self.wait(&traveller, hours: 2)
        #expect(traveller.stack == ["b"])
        try traveller.send("next")
        try Self.wait(&traveller, hours: 50)
        #expect(traveller.stack == ["b", "a"])
    }

    @Test("a timer of a task runs while the work is done, and does not end it")
    func ofTask() throws {
        let flow = Flows.make([
            "a": ["on": ["go": ["target": "t"]]],
            "t": [
                "type": "task", "task": "work", "timeout": "9h",
                "timers": [Self.reminder("r", ["after": "2h"]), ["after": "4h", "target": "slow", "nav": "present"]],
                "on": ["done": ["target": "a"]],
            ], "slow": ["on": ["next": ["target": "a"]]],
        ])
        var traveller = try Traveller(flow)
        try traveller.send("go")
        let number = traveller.journey.task?.number
        try Self.wait(&traveller, hours: 3)
        #expect(traveller.services.log == [Self.noted("r", 2)])
        #expect(traveller.journey.task?.number == number)
        try Self.wait(&traveller, hours: 1)
        #expect(traveller.screen == "slow" && traveller.journey.task == nil)
    }

    // MARK: - Versions and storing

    private static func version(_ number: Int, _ timers: JSONDocument, _ state: String = "a") -> JSONDocument {
        let screen: JSONDocument = ["timers": timers, "on": ["x": ["actions": [Flows.note("x")]]]]
        let states = JSONDocument(members: [(name: state, value: screen)])
        return Flows.make(states, version: number, adding: ["initial": JSONDocument(state)])
    }

    @Test("a migration keeps what was taken: by the id of a timer, else by its place")
    func migration() throws {
        let old = Self.version(
            1, [Self.reminder("one", ["after": "1h"]), Self.reminder("two", ["after": "2h", "id": "second"])])
        let new = Self.version(
            2,
            [
                Self.reminder("one", ["after": "1h"]), Self.reminder("new", ["after": "5h"]),
                Self.reminder("two", ["after": "2h", "id": "second"]),
            ], "home"
        ).merging(["in_flight": "migrate", "migrations": [["from": 1, "states": ["a": "home"]]]])
        var traveller = try Traveller(old)
        try Self.wait(&traveller, hours: 3)
        #expect(traveller.services.log == [Self.noted("one", 1), Self.noted("two", 2)])
        traveller.engine = FlowEngine(catalog: try Traveller.catalog([old, new]))
        try traveller.send("x")
        #expect(traveller.stack == ["home"] && traveller.journey.version == 2)
        try Self.wait(&traveller, hours: 20)
        #expect(traveller.services.log == [Self.noted("one", 1), Self.noted("two", 2), "x", Self.noted("new", 5)])
    }

    @Test("a journey keeps nothing of timers that were not due, and little of those that were")
    func stored() throws {
        let timers: JSONDocument = [
            Self.reminder("r", ["after": "2h", "every": "2h"]),
            Self.reminder("s", ["at": "2026-01-01T03:00:00Z", "id": "at"]),
        ]
        var traveller = try Traveller(Self.flow(["timers": timers]))
        #expect(traveller.journey.document[member: "timers"] == nil)
        try Self.wait(&traveller, hours: 5)
        #expect(
            traveller.journey.document[member: "timers"]?.description
                == #"[[-1,"0",2],[-1,"at",1,\#(Self.start + 3 * Self.hour)]]"#)
        try traveller.send("next")
        #expect(traveller.journey.document[member: "timers"] == nil)
    }

    @Test(
        "an imported journey whose timers make no sense is refused",
        arguments: [#"[[3,"0",1]]"#, #"[[-1,"0",-1]]"#, #"[[-1,"0",1],[-1,"0",2]]"#])
    func imported(text: String) throws {
        let timers = try JSONDocument(parsing: Array(text.utf8))
        let traveller = try Traveller(Self.flow(["timers": [Self.reminder("r", ["after": "2h"])]]))
        let journey = try #require(Journey(traveller.journey.document.merging(["timers": timers])))
        #expect(traveller.engine.flaw(of: journey)?.pointer.hasPrefix("/timers") == true)
    }
}
