extension FlowCheck {
    /// Checks each transition by itself.
    mutating func checkTransitions() {
        let guardsWithEvent = guardsWithEvent
        for rule in flow.events { checkTransitions(rule.transitions, at: ["on", rule.event]) }
        for state in flow.states {
            let place = ["states", state.id]
            switch state.kind {
            case .screen(let screen):
                for rule in screen.events { checkTransitions(rule.transitions, at: place + ["on", rule.event]) }
                if let transition = screen.timeout?.transition {
                    checkTransition(transition, at: place + ["timeout"])
                }
                for (index, guardian) in screen.requires.enumerated() where needsEvent(guardian, guardsWithEvent) {
                    report(
                        place + ["requires", String(index)], .guardWithoutEvent,
                        "the requires of a screen are tested without an event")
                }
            case .choice(let branches):
                for (index, branch) in branches.enumerated() {
                    checkVerb(branch.nav, branch.target, at: place + ["branches", String(index)])
                }
            case .flow(let child):
                for end in child.ends {
                    let name = end.outcome.map { "done.\($0)" } ?? "done"
                    checkTransitions(end.transitions, at: place + ["on", name], mayBeEmpty: true)
                }
            case .final: break
            }
        }
    }

    private mutating func checkTransitions(
        _ transitions: [Transition], at place: [String], mayBeEmpty: Bool = false
    ) {
        for (index, transition) in transitions.enumerated() {
            checkTransition(
                transition, at: transitions.count == 1 ? place : place + [String(index)], mayBeEmpty: mayBeEmpty)
        }
    }

    private mutating func checkTransition(_ transition: Transition, at place: [String], mayBeEmpty: Bool = false) {
        checkVerb(transition.nav, transition.target, at: place)
        if !transition.moves, transition.actions.isEmpty, !mayBeEmpty {
            report(place, .uselessTransition, "the transition has neither a target nor actions")
        }
    }

    private mutating func checkVerb(_ verb: NavigationVerb?, _ target: Int?, at place: [String]) {
        guard verb == .popTo, let target, !flow.states[target].isScreen else { return }
        let state = flow.states[target]
        report(
            place + ["target"], .misplacedVerb,
            "pop_to goes back to a screen, and \"\(state.id)\" is a \(state.typeName)")
    }

    private func needsEvent(_ guardian: Guard, _ named: [Bool]) -> Bool {
        switch guardian {
        case .shape(let subject, _): subject == .event
        case .all(let parts), .any(let parts): parts.contains { needsEvent($0, named) }
        case .not(let part): needsEvent(part, named)
        case .named(let place): named[place]
        case .compare(let left, _, let right):
            [left, right].contains { if case .path(let path) = $0 { path.root == .event } else { false } }
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
