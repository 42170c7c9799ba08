import JSONDocument

extension StepRun {
    /// Choices and child flows may hand on this often before a screen is come to. No sensible flow does so twenty times.
    static let maximumHops = 100

    /// Flows within flows within flows: no sensible one is ten deep.
    static let maximumCoordinators = 256

    /// What journeys keep of inputs and outputs is a part of documents, which are nested no deeper than 64 levels.
    static let maximumDepth = 48

    /// A stack of more frames is that of somebody going round in circles; a journey is stored with each step.
    static let maximumFrames = 16_384

    /// The first transition whose guard holds.
    mutating func choose(
        _ transitions: [Transition], of coordinator: Int
    ) throws(JourneyRefusal) -> Transition? {
        guard transitions.contains(where: { $0.guard != nil }) else { return transitions.first }
        let flow = try flow(of: coordinator)
        let scope = scope(of: coordinator)
        return transitions.first { $0.guard.map { scope.test($0, in: flow) == .holds } ?? true }
    }

    /// Does all that a transition says.
    ///
    /// - Parameter coordinator: whose flow the transition stands in.
    mutating func take(_ transition: Transition, of coordinator: Int) throws(JourneyRefusal) {
        if transition.moves { try leaveScreen() }
        note(transition.place, of: coordinator)
        try run(transition.actions, of: coordinator)
        guard transition.moves else { return }
        markHistory(transition.history)
        let hasArrived = try go(transition.nav ?? .push, to: transition.target, of: coordinator)
        try settle(isDirected: hasArrived)
    }

    /// Says of the top frame what going back will find.
    mutating func markHistory(_ policy: HistoryPolicy) {
        guard let top = journey.frames.indices.last else { return }
        switch policy {
        case .preserve: if journey.frames[top].mark == .discarded { journey.frames[top].mark = .none }
        case .discard: if journey.frames[top].mark == .none { journey.frames[top].mark = .discarded }
        case .invalidate: for place in journey.frames.indices { journey.frames[place].mark = .invalidated }
        }
    }

    /// Changes the stack, and goes through choices, child flows and ends until a screen is come to.
    ///
    /// - Returns: whether one is that a target led to. Otherwise the screen is one that showed itself when others left,
    ///   or there is none.
    mutating func go(
        _ verb: NavigationVerb, to target: Int?, of coordinator: Int
    ) throws(JourneyRefusal) -> Bool {
        guard var target else {
            try uncover(verb)
            return false
        }
        var verb = verb
        var coordinator = coordinator
        for _ in 0..<Self.maximumHops {
            let flow = try flow(of: coordinator)
            let state = flow.states[target]
            switch state.kind {
            case .screen:
                try place(state.id, target, of: coordinator, by: verb)
                return true
            case .choice(let branches):
                let scope = scope(of: coordinator)
                let taken = branches.first { $0.guard.map { scope.test($0, in: flow) == .holds } ?? true }
                guard let taken else { throw .endless(flow: flow.id, state: state.id) }
                note(taken.place, of: coordinator)
                try run(taken.actions, of: coordinator)
                verb = taken.nav ?? verb
                target = taken.target
            case .flow(let child):
                coordinator = try start(child, by: state.id, of: coordinator)
                target = try self.flow(of: coordinator).initial
            case .final(let ending):
                guard let (parent, transition) = try end(coordinator, ending) else { return false }
                note(transition.place, of: parent)
                try run(transition.actions, of: parent)
                guard transition.moves else { return false }
                markHistory(transition.history)
                guard let next = transition.target else {
                    try uncover(transition.nav ?? .pop)
                    return false
                }
                verb = transition.nav ?? .push
                coordinator = parent
                target = next
            }
        }
        let flow = try flow(of: coordinator)
        throw .endless(flow: flow.id, state: flow.states[target].id)
    }

    /// Puts a screen where the verb says.
    private mutating func place(
        _ state: String, _ place: Int, of coordinator: Int, by verb: NavigationVerb
    ) throws(JourneyRefusal) {
        var frame = Frame(coordinator: coordinator, state: state, presentation: .push)
        frame.knownPlace = Int32(clamping: place)
        isUncovered = false
        switch verb {
        case .push: break
        case .present: frame.presentation = .modal
        case .replace:
            if let top = journey.frames.last {
                frame.presentation = top.presentation
                removeFrames(from: journey.frames.count - 1)
            }
        case .setRoot: removeFrames(from: 0)
        case .popTo:
            guard let landing = try landing(where: { $0.coordinator == coordinator && $0.state == state }) else {
                throw Self.noWayBack("there is no screen \"\(state)\" to go back to")
            }
            return uncover(upTo: landing)
        case .pop, .dismiss, .popToRoot:
            try uncover(verb)
            if let top = journey.frames.last, top.coordinator == coordinator, top.state == state { return }
            isUncovered = false
        }
        if journey.frames.isEmpty { frame.presentation = .root }
        guard journey.frames.count < Self.maximumFrames else { throw .stackFull }
        journey.frames.append(frame)
    }

    static func noWayBack(_ detail: String) -> JourneyRefusal {
        .guardNotMet([JSONViolation(pointer: "", detail: detail)])
    }

    /// A child coordinator, ready to enter its first state.
    private mutating func start(
        _ child: ChildFlow, by state: String, of parent: Int
    ) throws(JourneyRefusal) -> Int {
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
        engine.catalog.tellPlaces(to: &journey)
        record(.childStarted(flow: flow.id, by: state))
        try run(flow.entry, of: id)
        return id
    }
}
