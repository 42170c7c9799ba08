import JSONDocument
import Navigation

/// What should be at a place of the data, so that a guard holds or does not.
struct Wish {
    /// A service, `event`, `input` or `output`.
    let root: DataPath.Root
    /// The tokens behind it.
    let tokens: [String]
    let wanted: Wanted

    enum Wanted {
        case value(JSONDocument)
        /// Anything but null.
        case present
        case absent
        /// What fits a schema.
        case fits(JSONDocument)
        /// What does not.
        case misfits(JSONDocument)
        /// A list, or a text, of that length.
        case count(Int)
    }

    /// The same for another place.
    func moved(to root: DataPath.Root, _ tokens: [String]) -> Wish { Wish(root: root, tokens: tokens, wanted: wanted) }
}

extension DataPath.Root {
    var isService: Bool { if case .service = self { true } else { false } }

    var isFromOutside: Bool { self == .event || self == .output || self == .input }
}

extension FlowDefinition {
    /// The guards of the flow in their parts: what its ways depend on.
    var guardParts: [Guard] {
        let screens = states.compactMap(\.screen)
        let whole = guards.map(\.guard) + allTransitions.compactMap(\.transition.guard) + screens.flatMap(\.requires)
        func parts(_ guardian: Guard) -> [Guard] {
            switch guardian {
            case .all(let list), .any(let list): list.flatMap(parts)
            case .not(let part): parts(part)
            // It is in the list by itself.
            case .named: []
            default: [guardian]
            }
        }
        return whole.flatMap(parts)
    }

    /// For each transition of a list, that it is taken: its guard holds, and those before it do not.
    var turns: [Guard] {
        let rules = events + states.flatMap { $0.screen?.events ?? [] }
        let ends = states.flatMap { $0.task?.ends ?? $0.childFlow?.ends ?? [] }
        var lists = rules.map(\.transitions) + ends.map(\.transitions)
        for state in states {
            if case .choice(let branches) = state.kind { lists.append(branches) }
        }
        return lists.flatMap { list -> [Guard] in
            var before: [Guard] = []
            return list.compactMap { transition -> Guard? in
                let wanted = before + [transition.guard].compactMap(\.self)
                if let guardian = transition.guard { before.append(.not(guardian)) }
                return wanted.count > 1 ? .all(wanted) : nil
            }
        }
    }

    /// Whether anything in the flow depends on what time it is when it starts.
    var dependsOnTime: Bool {
        guardParts.contains { $0.operands.contains { $0.contains { $0.root == .now } } }
            || (timers + states.flatMap { $0.screen?.timers ?? [] }).contains { $0.at != nil }
    }
}
