import JSONDocument
import Navigation

extension ModelFlow {
    /// The services that the files name.
    static let directory = ServiceDirectory(
        ["d", "k", "log"].map {
            ServiceDirectory.Entry(
                name: $0, commands: [ServiceDirectory.Command(name: "turn", input: ["required": ["flag"]])])
        })

    /// The flow as a file.
    func json(among flows: [ModelFlow]) -> JSONDocument {
        var members: [(name: String, value: JSONDocument)] = [
            ("id", JSONDocument(id)), ("version", 1), ("initial", JSONDocument(Self.name(initial))),
            ("entry", Self.json(entry)), ("exit", Self.json(exit)),
            (
                "states",
                JSONDocument(
                    members: states.enumerated().map { (Self.name($0.offset), json($0.element, among: flows)) })
            ),
        ]
        if !owns.isEmpty { members.append(("owns", JSONDocument(owns.map { JSONDocument($0) }))) }
        if !always.isEmpty { members.append(("always", JSONDocument(always.map(Self.json)))) }
        if !events.isEmpty { members.append(("on", Self.json(events))) }
        if !timers.isEmpty { members.append(("timers", JSONDocument(timers.map(Self.json)))) }
        let limit = [("idle", limit.idle), ("total", limit.total)].compactMap { name, time in
            time.map { (name: name, value: Self.json($0)) }
        }
        if !limit.isEmpty { members.append(("timeout", JSONDocument(members: limit))) }
        return JSONDocument(members: members)
    }

    private func json(_ state: State, among flows: [ModelFlow]) -> JSONDocument {
        switch state {
        case .screen(let screen):
            var members: [(name: String, value: JSONDocument)] = [
                ("on", Self.json(screen.events)), ("entry", Self.json(screen.entry)), ("exit", Self.json(screen.exit)),
                ("requires", JSONDocument(screen.requires.map(Self.json))), ("data", ["d", "k"]),
            ]
            if let otherwise = screen.otherwise { members.append(("otherwise", Self.json(otherwise))) }
            if !screen.always.isEmpty { members.append(("always", JSONDocument(screen.always.map(Self.json)))) }
            if let answers = screen.answers {
                members.append(("answers", JSONDocument(answers.map(Self.path))))
            }
            if !screen.timers.isEmpty { members.append(("timers", JSONDocument(screen.timers.map(Self.json)))) }
            if let timeout = screen.timeout { members.append(("timeout", Self.json(timeout))) }
            switch screen.back {
            case .allowed: break
            case .forbidden: members.append(("back", false))
            case .target(let target): members.append(("back", ["target": JSONDocument(Self.name(target))]))
            }
            return JSONDocument(members: members)
        case .choice(let branches):
            return ["type": "choice", "branches": JSONDocument(branches.map(Self.json))]
        case .flow(let child, let done):
            return ["type": "flow", "flow": JSONDocument(flows[child].id), "on": Self.json(ends: done)]
        case .task(let task):
            var state: JSONDocument = [
                "type": "task", "task": "work", "back": JSONDocument(task.mayGoBack), "on": Self.json(ends: task.done),
                "input": ["flag": ["$from": Self.path(of: task.flag)]], "retry": ["attempts": 3],
            ]
            if !task.timers.isEmpty { state = state.merging(["timers": JSONDocument(task.timers.map(Self.json))]) }
            return task.timeout.map { state.merging(["timeout": Self.json($0)]) } ?? state
        case .final(let outcome):
            return ["type": "final", "outcome": JSONDocument(outcome)]
        }
    }

    private static func path(of flag: String) -> JSONDocument { JSONDocument("/\(service(of: flag))/\(flag)") }

    private static func json(ends: [String: [Move]]) -> JSONDocument {
        json(Dictionary(uniqueKeysWithValues: ends.map { ($0.key.isEmpty ? "done" : "done.\($0.key)", $0.value) }))
    }

    private static func json(_ events: [String: [Move]]) -> JSONDocument {
        JSONDocument(members: events.map { ($0.key, JSONDocument($0.value.map(json))) })
    }

    private static func json(_ move: Move) -> JSONDocument {
        var members: [(name: String, value: JSONDocument)] = []
        if let condition = move.condition { members.append(("guard", json(condition))) }
        if let target = move.target { members.append(("target", JSONDocument(name(target)))) }
        if let verb = move.verb { members.append(("nav", JSONDocument(verb.rawValue))) }
        if !move.effects.isEmpty { members.append(("actions", json(move.effects))) }
        if let number = move.number { members.append(("params", ["number": JSONDocument(number)])) }
        if let link = move.link { members.append(("link", JSONDocument(link))) }
        if move.history != .preserve { members.append(("history", JSONDocument(move.history.rawValue))) }
        return JSONDocument(members: members)
    }

    private static func json(_ timer: Timer) -> JSONDocument {
        var members: [(name: String, value: JSONDocument)] = []
        switch timer.start {
        case .after(let time): members.append(("after", json(time)))
        case .at(let flag, let up, let down):
            let moments = [up, down].map { moment -> JSONDocument in
                moment.map { JSONDocument("\(Timestamp(millisecondsSince1970: $0))") } ?? ["$from": "/log/none"]
            }
            members.append(("at", ["$if": [["is": path(of: flag)], moments[0], moments[1]]]))
        }
        if let every = timer.every { members.append(("every", json(every))) }
        if let times = timer.times { members.append(("times", JSONDocument(times))) }
        if let id = timer.id { members.append(("id", JSONDocument(id))) }
        return json(timer.move).merging(JSONDocument(members: members))
    }

    private static func json(_ timeout: Timeout) -> JSONDocument {
        guard let move = timeout.move else { return json(timeout.after) }
        return json(move).merging(["after": json(timeout.after)])
    }

    /// A duration of so many milliseconds.
    private static func json(_ time: Int64) -> JSONDocument { JSONDocument("\(time / 1_000)s") }

    private static func json(_ condition: Condition) -> JSONDocument {
        switch condition {
        case .flag(let name, let wanted):
            let flag: JSONDocument = ["const": true]
            let schema: JSONDocument = ["properties": JSONDocument(members: [(name, flag)])]
            let isUp: JSONDocument = ["service": JSONDocument(service(of: name)), "schema": schema]
            // The same in two forms.
            return wanted ? isUp : ["not": ["is": path(of: name)]]
        case .isSmall: return ["compare": ["/k/n", "<", ["value": 5]]]
        case .isLarge: return ["compare": [["$subtract": [["$from": "/k/n"], 5]], ">=", ["value": 0]]]
        case .not(let part): return ["not": json(part)]
        case .all(let parts): return ["all": JSONDocument(parts.map(json))]
        case .any(let parts): return ["any": JSONDocument(parts.map(json))]
        }
    }

    private static func json(_ effects: [Effect]) -> JSONDocument {
        JSONDocument(
            effects.flatMap { effect -> [JSONDocument] in
                switch effect {
                case .set(let flag, let value):
                    [["op": "replace", "path": path(of: flag), "value": JSONDocument(value)]]
                case .take(let flag):
                    [["op": "replace", "path": path(of: flag), "value": ["$from": "/output/flag", "default": false]]]
                case .clear(let service): [["clear": JSONDocument(service)]]
                case .remove(let service): [["remove": JSONDocument(service)]]
                case .reckon:
                    [
                        [
                            "merge": "/k",
                            "value": [
                                "n": ["$if": [["is": "/d/a"], ["$add": [["$count": "ab"], 1.5]], ["$concat": ["?"]]]]
                            ],
                        ]
                    ]
                case .turn(let flag):
                    [
                        ["call": JSONDocument("\(service(of: flag))/turn"), "with": ["flag": JSONDocument(flag)]],
                        ["op": "replace", "path": path(of: "c"), "value": ["$from": "/result"]],
                    ]
                case .give(let value): [["op": "add", "path": path(of: value), "value": true]]
                case .empty(let value): [["op": "add", "path": path(of: value), "value": nil]]
                case .note(let word):
                    [
                        [
                            "op": "add", "path": "/log/notes/-",
                            "value": ["$concat": [JSONDocument("\(word) "), ["$from": "/now"]]],
                        ]
                    ]
                }
            })
    }
}
