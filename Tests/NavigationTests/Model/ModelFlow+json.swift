import JSONDocument
import Navigation

extension ModelFlow {
    /// The flow as a file. All conditions and effects are about one service, `d`.
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
        if !events.isEmpty { members.append(("on", Self.json(events))) }
        return JSONDocument(members: members)
    }

    private func json(_ state: State, among flows: [ModelFlow]) -> JSONDocument {
        switch state {
        case .screen(let screen):
            var members: [(name: String, value: JSONDocument)] = [
                ("on", Self.json(screen.events)), ("entry", Self.json(screen.entry)), ("exit", Self.json(screen.exit)),
                ("requires", JSONDocument(screen.requires.map(Self.json))),
            ]
            switch screen.back {
            case .allowed: break
            case .forbidden: members.append(("back", false))
            case .target(let target): members.append(("back", ["target": JSONDocument(Self.name(target))]))
            }
            return JSONDocument(members: members)
        case .choice(let branches):
            return ["type": "choice", "branches": JSONDocument(branches.map(Self.json))]
        case .flow(let child, let done):
            let rules = done.map { ($0.key.isEmpty ? "done" : "done.\($0.key)", $0.value) }
            return [
                "type": "flow", "flow": JSONDocument(flows[child].id),
                "on": Self.json(Dictionary(uniqueKeysWithValues: rules)),
            ]
        case .task(let done):
            let rules = done.map { ($0.key.isEmpty ? "done" : "done.\($0.key)", $0.value) }
            return ["type": "task", "task": "work", "on": Self.json(Dictionary(uniqueKeysWithValues: rules))]
        case .final(let outcome):
            return ["type": "final", "outcome": JSONDocument(outcome)]
        }
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
        if move.history != .preserve { members.append(("history", JSONDocument(move.history.rawValue))) }
        return JSONDocument(members: members)
    }

    private static func json(_ condition: Condition) -> JSONDocument {
        let flag: JSONDocument = ["const": true]
        let schema: JSONDocument = ["properties": JSONDocument(members: [(condition.flag, flag)])]
        let isUp: JSONDocument = ["service": "d", "schema": schema]
        return condition.wanted ? isUp : ["not": isUp]
    }

    private static func json(_ effects: [Effect]) -> JSONDocument {
        JSONDocument(
            effects.map { effect in
                switch effect {
                case .set(let flag, let value):
                    ["op": "replace", "path": JSONDocument("/d/\(flag)"), "value": JSONDocument(value)]
                case .note(let word): ["op": "add", "path": "/d/notes/-", "value": JSONDocument(word)]
                }
            })
    }
}
