import JSONDocument

/// Moves the stack: transitions, choices, child flows that start, and going back. ``StackMove`` has the rules.
extension StepRun {
    /// The first transition whose guard holds. See ``DataScope/first(of:)``.
    mutating func choose(_ transitions: [Transition], of coordinator: Int) throws(JourneyRefusal) -> Transition? {
        guard let first = transitions.first, !first.isUnconditional else { return transitions.first }
        return try scope(of: coordinator).first(of: transitions)
    }

    /// Does everything that a transition says.
    ///
    /// - Parameter coordinator: the one whose flow has the transition.
    mutating func take(_ transition: Transition, of coordinator: Int) throws(JourneyRefusal) {
        if transition.nav == .resume, case .event = purpose, !hasEnded, journey.task == nil {
            return try resume(by: transition, of: coordinator)
        }
        if transition.moves { try leaveScreen() }
        try perform(transition, of: coordinator)
        try move(by: transition, of: coordinator)
    }

    /// Does the move of a transition, without its actions.
    mutating func move(by transition: Transition, of coordinator: Int) throws(JourneyRefusal) {
        guard transition.moves else { return }
        let params = try params(of: transition, coordinator)
        markHistory(transition.history)
        let isDirected = try go(
            transition.nav ?? .push, to: transition.target, with: params, of: coordinator, by: transition)
        try settle(isDirected: isDirected)
    }

    /// The values that a transition gives to the new frame; nil for none.
    mutating func params(of transition: Transition, _ coordinator: Int) throws(JourneyRefusal) -> JSONDocument? {
        guard let template = transition.params else { return nil }
        let params = try scope(of: coordinator).value(of: template)
        try params.checkNesting(at: "/frame")
        return params
    }

    /// Runs the actions of a transition, and says what it says; the caller does the move.
    mutating func perform(_ transition: Transition, of coordinator: Int) throws(JourneyRefusal) {
        switch purpose {
        case .link(false), .resume: if !transition.isOpenToLinks { throw .guardNotMet([.damage]) }
        case .event, .release, .link(true): break
        }
        note(transition, of: coordinator)
        let (areDone, result) = try run(transition.actions, of: coordinator)
        guard areDone, let say = transition.say else { return }
        switch purpose {
        case .event, .release:
            var scope = try scope(of: coordinator)
            scope.result = result
            said = scope.said(say)
        // The person has not done what the transition speaks of.
        case .link, .resume: break
        }
    }

    /// Marks the top frame for going back later.
    mutating func markHistory(_ policy: HistoryPolicy) {
        guard let top = journey.frames.indices.last else { return }
        let mark = journey.frames[top].mark.after(policy)
        if mark != journey.frames[top].mark { journey.frames[top].mark = mark }
        if policy == .invalidate {
            for place in journey.frames.indices { journey.frames[place].mark = .invalidated }
        }
    }

    /// Moves the stack, and passes choices, child flows and ends until the journey reaches a screen.
    ///
    /// - Parameters:
    ///   - params: the values that the new frame keeps.
    ///   - transition: the one that leads there; nil for none.
    /// - Returns: whether a target led to the screen. Otherwise it was uncovered when others left, or there is none.
    mutating func go(
        _ verb: NavigationVerb, to target: Int?, with params: JSONDocument? = nil, of coordinator: Int,
        by transition: Transition? = nil
    ) throws(JourneyRefusal) -> Bool {
        var (verb, target, params, coordinator, transition) = (verb, target, params, coordinator, transition)
        for _ in 0..<FlowEngine.maximumHops {
            guard let state = target else {
                try place(nil, by: verb)
                return false
            }
            let flow = try flow(of: coordinator)
            switch flow.states[state].kind {
            case .screen:
                let frame = Frame(of: state, in: flow, coordinator, with: params)
                if verb == .resume, !isResuming {
                    try resume(to: frame, by: transition, of: coordinator)
                } else {
                    try place(frame, by: verb)
                }
                return true
            case .task(let task):
                try begin(task, on: Frame(of: state, in: flow, coordinator), by: verb, of: coordinator)
                return true
            case .choice(let branches):
                guard let taken = try choose(branches, of: coordinator) else {
                    throw .endless(flow: flow.id, state: flow.states[state].id)
                }
                try perform(taken, of: coordinator)
                if taken.params != nil { params = try self.params(of: taken, coordinator) }
                (verb, target, transition) = (taken.nav ?? verb, taken.target, taken)
            case .flow(let child):
                coordinator = try start(child, by: flow.states[state].id, of: coordinator)
                target = try self.flow(of: coordinator).initial
            case .final(let ending):
                guard let (parent, told) = try end(coordinator, ending) else { return false }
                try perform(told, of: parent)
                guard told.moves else { return false }
                params = try self.params(of: told, parent)
                markHistory(told.history)
                (verb, target, coordinator, transition) = (told.nav ?? .push, told.target, parent, told)
            }
        }
        let flow = try flow(of: coordinator)
        throw .endless(flow: flow.id, state: target.map { flow.states[$0].id } ?? "")
    }

    /// How a verb would move the stack.
    mutating func move(
        by verb: NavigationVerb, to target: Frame?
    ) throws(JourneyRefusal) -> Result<StackMove<Int>, StackObstacle> {
        let frames = journey.frames
        return try frames.move(
            by: verb, to: target, isUncovered: isUncovered,
            isOpen: { (frame) throws(JourneyRefusal) in try isOpen(frame) }
        ).map { leavingTask($0) }
    }

    /// Moves the stack by a verb: to a frame, or with nil back.
    mutating func place(_ target: Frame?, by verb: NavigationVerb) throws(JourneyRefusal) {
        switch try move(by: isResuming ? .resume : verb, to: target) {
        case .failure(let obstacle): throw .guardNotMet([obstacle.violation])
        case .success(let move):
            uncover(upTo: move.landing ?? -1)
            guard var frame = target, let presentation = move.presentation else { return }
            guard journey.frames.count < Self.maximumFrames else { throw .stackFull }
            isUncovered = false
            frame.presentation = presentation
            journey.frames.append(frame)
        }
    }

    /// Starts a child coordinator, which has not entered its first state yet.
    private mutating func start(_ child: ChildFlow, by state: String, of parent: Int) throws(JourneyRefusal) -> Int {
        guard let flow = engine.catalog.flow(child.flow, version: child.version) else {
            throw .unknownFlow(child.flow, version: child.version)
        }
        var input = JSONDocument.emptyObject
        if let template = child.input { input = try scope(of: parent).value(of: template) }
        let violations = flow.violations(in: input)
        guard violations.isEmpty else { throw .inputInvalid(flow: flow.id, violations) }
        guard journey.coordinators.count < Self.maximumCoordinators else { throw .stackFull }
        output = nil
        let id = journey.coordinators.reduce(0) { max($0, $1.id) } + 1
        journey.coordinators.append(
            Coordinator(
                id: id, flow: flow.id, version: flow.version, parent: parent, startedBy: state, input: input,
                startedAt: now))
        try run(flow.entry, of: id)
        return id
    }
}
