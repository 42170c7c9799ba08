extension FlowCheck {
    /// What each transition says of itself.
    mutating func checkTransitions() {
        for rule in flow.events { checkTransitions(rule.transitions, at: ["on", rule.event]) }
        for state in flow.states {
            let place = ["states", state.id]
            switch state.kind {
            case .screen(let screen):
                for rule in screen.events { checkTransitions(rule.transitions, at: place + ["on", rule.event]) }
                if let transition = screen.timeout?.transition {
                    checkTransition(transition, at: place + ["timeout"])
                }
                for (index, guardian) in screen.requires.enumerated() where needsEvent(guardian) {
                    report(
                        place + ["requires", String(index)], .guardWithoutEvent,
                        "one may be on a screen without an event having come")
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

    private func needsEvent(_ guardian: Guard) -> Bool {
        switch guardian {
        case .shape(let subject, _): subject == .event
        case .all(let parts), .any(let parts): parts.contains(where: needsEvent)
        case .not(let part): needsEvent(part)
        // A circle of guards has been found before.
        case .named(let place): !isCircular(place) && needsEvent(flow.guards[place].guard)
        case .compare(let left, _, let right):
            [left, right].contains { if case .path(let path) = $0 { path.root == .event } else { false } }
        }
    }

    private func isCircular(_ place: Int, below: Set<Int> = []) -> Bool {
        if below.contains(place) { return true }
        func visit(_ guardian: Guard) -> Bool {
            switch guardian {
            case .shape, .compare: false
            case .all(let parts), .any(let parts): parts.contains(where: visit)
            case .not(let part): visit(part)
            case .named(let next): isCircular(next, below: below.union([place]))
            }
        }
        return visit(flow.guards[place].guard)
    }
}
