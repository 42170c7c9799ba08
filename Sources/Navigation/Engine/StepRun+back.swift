import JSONDocument

/// Going back: the event `back`, and what else uncovers frames.
extension StepRun {
    /// The nearest frame below the top that can be gone back to; nil when there is none.
    ///
    /// - Parameter target: the frame that is wanted; nil for any.
    mutating func landing(on target: Frame? = nil) throws(JourneyRefusal) -> Int? {
        let frames = journey.frames
        return try frames.landing(
            where: { target?.showsSame(as: $0) ?? true },
            isOpen: { (frame) throws(JourneyRefusal) in try isOpen(frame) })
    }

    /// Whether the event `back` is accepted here.
    mutating func canGoBack() throws(JourneyRefusal) -> Bool {
        guard let top = journey.frames.last else { return false }
        switch try screen(of: top).screen.back {
        case .forbidden: return false
        case .target: return true
        case .allowed: return try landing() != nil
        }
    }

    /// Does what the event `back` does.
    ///
    /// - Parameter hasData: whether the sender gave data.
    /// - Returns: false when the event is not accepted here.
    mutating func goBack(hasData: Bool) throws(JourneyRefusal) -> Bool {
        guard let top = journey.frames.last else { return false }
        let screen = try screen(of: top).screen
        switch screen.back {
        case .forbidden where !isByOperator: return false
        case .allowed, .forbidden:
            guard let landing = try landing() else { return false }
            try leave(screen, of: top, hasData: hasData)
            uncover(upTo: landing)
            try settle(isDirected: false)
        case .target(let target):
            let frame = Frame(of: target, in: try flow(of: top.coordinator), top.coordinator)
            try leave(screen, of: top, hasData: hasData)
            // What was done may have changed what is open.
            if let landing = try landing(on: frame) {
                uncover(upTo: landing)
                try settle(isDirected: true)
            } else {
                let isDirected = try go(.replace, to: target, of: top.coordinator)
                try settle(isDirected: isDirected)
            }
        }
        return true
    }

    /// Runs the `exit` of the top screen, and before the frame goes what the screen says about `back`.
    ///
    /// With data, `back` is an event like any other, so nothing that was sent is dropped unsaid. Without data it only
    /// leads back: what does not hold, or cannot be done, is left out, and keeps nobody on the screen.
    private mutating func leave(_ screen: Screen, of top: Frame, hasData: Bool) throws(JourneyRefusal) {
        guard let rule = screen.onBack else { return try leaveScreen() }
        guard hasData else {
            let scope = try scope(of: top.coordinator)
            let undoing = services.withoutOverwork { services.apart { scope.undoing(rule.transitions) } }
            try leaveScreen()
            guard let undoing else { return }
            return try undo(undoing, of: top.coordinator)
        }
        let flow = try flow(of: top.coordinator)
        try checkData(for: Reaction(rule, of: top.coordinator, in: flow, on: screen, of: top.coordinator))
        guard let transition = try choose(rule.transitions, of: top.coordinator) else {
            let scope = try scope(of: top.coordinator)
            throw .guardNotMet(rule.transitions.flatMap { scope.reasons(against: $0) })
        }
        try leaveScreen()
        try perform(transition, of: top.coordinator)
    }

    /// Does all actions of a transition of `back`, or none of them when one fails.
    ///
    /// - Throws: where a link must not take the transition.
    private mutating func undo(_ transition: Transition, of coordinator: Int) throws(JourneyRefusal) {
        if case .link(false) = purpose, !(transition.link ?? (isGoingBack || transition.isOpenToLinks)) {
            throw .guardNotMet([.damage])
        }
        let former = purpose
        purpose = .release(isClosing: false)
        defer { purpose = former }
        try perform(transition, of: coordinator)
    }

    /// Removes the frames above a place, so that the frame there is on top again.
    mutating func uncover(upTo place: Int) {
        isUncovered = true
        guard place + 1 < journey.frames.count else { return }
        journey.task = nil
        for frame in journey.frames[(place + 1)...] where !losers.contains(frame.coordinator) {
            losers.append(frame.coordinator)
        }
        journey.frames.removeSubrange((place + 1)...)
    }
}

extension DataScope {
    /// What `back` does without data: the first transition whose guard holds and that reads nothing of an event. Nil
    /// for nothing.
    func undoing(_ transitions: [Transition]) -> Transition? {
        for transition in transitions where !definition.readsEvent(transition) {
            switch test(transition) {
            case .holds: return transition
            case .fails: continue
            case .unknown, .undecided: return nil
            }
        }
        return nil
    }
}

extension DataScope.Definition {
    /// Whether the guard or an action of a transition reads the data of the event.
    func readsEvent(_ transition: Transition) -> Bool {
        transition.guard.map(readsEvent) ?? false
            || transition.actions.contains { action in
                action.templates.contains { template in
                    template.contains { $0.root == .event } || template.guards.contains(where: readsEvent)
                }
            }
    }

    /// Guards are not nested without end: the flow was checked.
    private func readsEvent(_ guardian: Guard) -> Bool {
        switch guardian {
        case .shape(let path, _): path.root == .event
        case .named(let place): readsEvent(guards[place].guard)
        default:
            guardian.operands.contains { $0.contains { $0.root == .event } }
                || guardian.inner.contains(where: readsEvent)
        }
    }
}
