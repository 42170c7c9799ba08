import JSONDocument
import Navigation

extension FlowCheck {
    /// Checks each transition by itself.
    ///
    /// - Parameter isWhole: whether nothing of the flow was left out because it is wrong.
    mutating func checkTransitions(isWhole: Bool) {
        let guardsWithEvent = guardsWithEvent
        check(flow.causedTransitions, isWhole)
        for state in flow.states {
            check(state.causedTransitions, isWhole)
            for (index, guardian) in (state.screen?.requires ?? []).enumerated()
            where needsEvent(guardian, guardsWithEvent) {
                report(
                    ["states", state.id, "requires", String(index)], .guardWithoutEvent,
                    "requires are evaluated without an event")
            }
        }
    }

    private mutating func check(_ list: [CausedTransition], _ isWhole: Bool) {
        for caused in list {
            let transition = caused.transition
            let place = JSONPointer(parsing: transition.place)?.tokens ?? []
            if transition.nav == .popTo, let state = transition.target.map({ flow.states[$0] }), !state.isScreen {
                report(
                    place + ["target"], .misplacedVerb,
                    "pop_to goes back to a screen, and \"\(state.id)\" is a \(state.typeName)")
            }
            if transition.nav == .resume, let state = transition.target.map({ flow.states[$0] }), !state.isScreen {
                report(
                    place + ["target"], .misplacedVerb,
                    "resume goes forward to a screen, and \"\(state.id)\" is a \(state.typeName)")
            }
            // An empty transition for the end of a child means: stay where the child was started.
            if case .end = caused.cause { continue }
            // An action that is wrong is missing here.
            if isWhole, !transition.moves, transition.actions.isEmpty {
                report(place, .uselessTransition, "the transition has neither a target nor actions")
            }
        }
    }

    private func needsEvent(_ guardian: Guard, _ named: [Bool]) -> Bool {
        switch guardian {
        case .shape(let subject, _): subject == .event
        case .all(let parts), .any(let parts): parts.contains { needsEvent($0, named) }
        case .not(let part): needsEvent(part, named)
        case .named(let place): named[place]
        case .compare, .isTrue, .has: guardian.operands.contains { $0.contains { $0.root == .event } }
        }
    }

    /// For each named guard whether it needs the data of an event, by itself or by another named guard.
    private var guardsWithEvent: [Bool] {
        var named = [Bool](repeating: false, count: flow.guards.count)
        var isChanged = true
        while isChanged {
            isChanged = false
            for (place, guardian) in flow.guards.enumerated() where !named[place] {
                named[place] = needsEvent(guardian.guard, named)
                isChanged = isChanged || named[place]
            }
        }
        return named
    }
}
