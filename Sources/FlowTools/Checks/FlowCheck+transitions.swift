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
            if let nav = transition.nav, nav == .popTo || nav == .resume,
                let state = transition.target.map({ flow.states[$0] }), !state.isScreen
            {
                report(
                    place + ["target"], .misplacedVerb,
                    "\(nav.rawValue) goes \(nav == .popTo ? "back" : "forward") to a screen, and \"\(state.id)\" is a "
                        + state.typeName)
            }
            // An empty transition for the end of a child means: stay where the child was started. One for `back` goes
            // back all the same.
            switch caused.cause {
            case .end, .event(EventRule.back): continue
            default: break
            }
            // An action that is wrong is missing here.
            if isWhole, !transition.moves, transition.actions.isEmpty, transition.say == nil {
                report(place, .uselessTransition, "the transition has neither a target nor actions")
            }
        }
    }

    private func needsEvent(_ guardian: Guard, _ named: [Bool]) -> Bool {
        switch guardian {
        case .shape(let path, _): path.root == .event
        case .named(let place): named[place]
        default:
            guardian.operands.contains { $0.contains { $0.root == .event } }
                || guardian.inner.contains { needsEvent($0, named) }
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

    /// Testing a guard recurses into its parts.
    private static let maximumGuardDepth = 64

    /// Reports guards that contain themselves, and guards that are nested too deep.
    mutating func checkGuards() {
        let parts = flow.guards.map { $0.guard.names }
        var users = [[Int]](repeating: [], count: parts.count)
        for (place, parts) in parts.enumerated() { for part in parts { users[part].append(place) } }
        let isSound = FlowWays.peeled(parts, users)
        var depths = [Int](repeating: 0, count: parts.count)
        for _ in 0...Self.maximumGuardDepth {
            for place in parts.indices where isSound[place] {
                depths[place] = (parts[place].map { depths[$0] }.max() ?? 0) + 1
            }
        }
        for (place, named) in flow.guards.enumerated() {
            if !isSound[place] {
                report(
                    ["guards", named.name], .guardCycle,
                    "the guard \"\(named.name)\" refers to itself through other guards")
            } else if depths[place] > Self.maximumGuardDepth {
                report(
                    ["guards", named.name], .guardCycle,
                    "the guard \"\(named.name)\" nests other guards more than \(Self.maximumGuardDepth) levels deep")
            }
        }
    }
}

extension Guard {
    /// The indices of the named guards in it.
    fileprivate var names: [Int] {
        if case .named(let place) = self { [place] } else { inner.flatMap(\.names) }
    }
}
