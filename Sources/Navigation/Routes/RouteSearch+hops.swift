import JSONDocument

/// The hops from a screen: its events and `back`, and what is in their way.
extension RouteSearch {
    /// Where a hop leads: a stack, and why the hop is not possible.
    struct Arrival {
        let top: Int
        var obstacle: RouteObstacle?
    }

    /// Finds the places that are one hop away.
    mutating func expand(_ place: Int) {
        let top = places[place].top
        let frame = stacks[top]
        guard let screen = coordinators[frame.coordinator].flow.screen(of: frame)?.screen else { return }
        if forward == nil { goBack(from: place, screen) }
        let isAsked = isOpen(place)
        let answers = screen.answers ?? []
        let isAnswered = scope(of: frame.coordinator, with: frame.params).isAnswered(answers)
        for reaction in screen.reactions(in: flows(from: frame.coordinator)) {
            if isAsked {
                leadOn(by: reaction, from: place)
            } else {
                if isAnswered, !answers.isEmpty { pass(answers, by: reaction, from: place) }
                if !reaction.rule.isBackend || forward != nil { send(reaction, from: place) }
                if !reaction.rule.isBackend, params != nil { sendForParams(reaction, from: place) }
            }
            if forward != nil { goStraight(by: reaction, from: place) }
        }
    }

    /// The flow of a coordinator, the flow that started it, and so on.
    private func flows(from coordinator: Int) -> [(coordinator: Int, flow: FlowDefinition)] {
        sequence(first: coordinator) { coordinators[$0].parent }.map { ($0, coordinators[$0].flow) }
    }

    mutating func insert(
        _ arrival: Arrival, from origin: Int, event: String, _ data: JSONDocument? = nil,
        _ kind: Route.Hop.Kind = .sent, detour: Int = 0, doesDamage: Bool = false, undoes: Bool = false
    ) {
        let arrival = settled(arrival)
        var obstacle = arrival.obstacle
        let hasUndone = places[origin].undoes
        if obstacle == nil, hasUndone, event != EventRule.back, !isByOperator { obstacle = .damage }
        if obstacle == nil, !refused.isEmpty, refused.contains(key(event, from: origin)) { obstacle = .refused }
        var distance = places[origin].distance
        distance.blocked += detour
        if case .unanswered = obstacle {
            distance.open += 1
        } else if obstacle != nil, distance.open > 0 || isOpen(origin) {
            distance.open += 1
        } else if obstacle != nil {
            distance.blocked += 1
        }
        // Of an operator's ways those are better that do no damage.
        distance.events += doesDamage ? Self.detour : event == EventRule.back ? 0 : 1
        distance.hops += 1
        insert(
            Place(
                top: arrival.top, origin: origin, event: event, data: data, kind: kind,
                undoes: undoes || hasUndone, obstacle: obstacle,
                distance: distance))
    }

    private mutating func send(_ reaction: Reaction, from origin: Int) {
        // A `resume` stops where only a back end leads on.
        let obstacle =
            reaction.rule.isBackend
            ? .unanswered : reaction.shape.flatMap { $0.accepts(.emptyObject) ? nil : RouteObstacle.data($0) }
        let transitions = reaction.rule.transitions(forward: forward != nil)
        let params = stacks[places[origin].top].params
        for (transition, first) in alternatives(transitions, of: reaction.coordinator, with: params)
        where transition.moves {
            let obstacle = first ?? obstacle ?? self.obstacle(to: transition)
            for arrival in arrivals(by: transition, of: reaction.coordinator, on: places[origin].top, obstacle) {
                insert(
                    arrival, from: origin, event: reaction.rule.event,
                    doesDamage: isByOperator && !transition.isOpenToLinks)
            }
        }
    }

    /// Finds where a transition leads from the top of a stack.
    mutating func arrivals(
        by transition: Transition, of coordinator: Int, on top: Int, sending data: JSONDocument? = nil,
        _ obstacle: RouteObstacle?
    ) -> [Arrival] {
        var arrivals: [Arrival] = []
        crossings.removeAll(keepingCapacity: true)
        follow(transition, of: coordinator, on: top, obstacle, hops: 0, sending: data, into: &arrivals)
        return arrivals
    }

    /// Where the journey comes to rest after an arrival: an `always` may lead on.
    private mutating func settled(_ arrival: Arrival) -> Arrival {
        guard forward == nil else { return arrival }
        var arrival = arrival
        for _ in 0..<FlowEngine.maximumHops {
            guard arrival.obstacle == nil, let next = unprompted(on: arrival.top) else { return arrival }
            arrival = next
        }
        return arrival
    }

    /// Where the first `always` leads that can be taken on a screen; nil when there is none.
    private mutating func unprompted(on top: Int) -> Arrival? {
        let frame = stacks[top]
        var own = coordinators[frame.coordinator].flow.screen(of: frame)?.screen.always ?? []
        var here = state(of: frame)
        var next: Int? = frame.coordinator
        while let coordinator = next {
            for transition in own + coordinators[coordinator].flow.always
            where transition.target.map({ $0 != here }) ?? true {
                let scope = scope(of: coordinator, with: frame.params)
                guard scope.test(transition) == .holds else { continue }
                let reached = arrivals(by: transition, of: coordinator, on: top, nil).first { $0.obstacle == nil }
                if let reached { return reached }
            }
            own = []
            here = coordinators[coordinator].startedBy
            next = coordinators[coordinator].parent
        }
        return nil
    }

    /// Passes a screen whose answers are there, without the actions of the event.
    private mutating func pass(_ answers: [DataPath], by reaction: Reaction, from origin: Int) {
        let params = stacks[places[origin].top].params
        let passage = scope(of: reaction.coordinator, with: params).passage(
            reaction.rule.transitions, answers, forward: forward != nil)
        guard let passage, passage.moves else { return }
        let arrivals = arrivals(
            by: passage, of: reaction.coordinator, on: places[origin].top,
            passage.mayBePassed || isByOperator ? nil : .damage)
        for arrival in arrivals {
            insert(
                arrival, from: origin, event: reaction.rule.event, nil, .passed,
                detour: passage.nav == .resume ? Self.detour : 0)
        }
    }

    /// Adds the way back, with what the screen says about it.
    private mutating func goBack(from origin: Int, _ screen: Screen) {
        let frame = stacks[places[origin].top]
        let undoing = screen.onBack.flatMap {
            scope(of: frame.coordinator, with: frame.params).undoing($0.transitions)
        }
        let undoes = !(undoing?.isOpenToLinks ?? true)
        // Back alone undoes what the person could undo by going back one by one. On a way that leads forward, too, that
        // would be damage.
        let isBlocked = undoes && (undoing?.link == false || places[origin].distance.events > 0)
        for arrival in back(from: places[origin].top, screen) {
            insert(
                Arrival(top: arrival.top, obstacle: isBlocked && !isByOperator ? .damage : arrival.obstacle),
                from: origin, event: EventRule.back, doesDamage: isByOperator && undoes, undoes: undoes)
        }
    }

    private mutating func back(from top: Int, _ screen: Screen) -> [Arrival] {
        let blocked = stacks.below(top).map { [Arrival(top: $0, obstacle: .noWayBack)] } ?? []
        switch screen.back {
        case .forbidden where !isByOperator: return blocked
        case .allowed, .forbidden:
            guard let landing = move(top, by: .pop, to: nil)?.landing else { return blocked }
            return uncovered(landing, leaving: top)
        case .target(let target):
            let coordinator = stacks[top].coordinator
            let frame = Frame(of: target, in: coordinators[coordinator].flow, coordinator)
            let landing = stacks.stack(top).landing(where: { frame.showsSame(as: $0) }, isOpen: { isOpen($0) })
            if let landing { return [arrival(on: landing)] }
            var arrivals: [Arrival] = []
            go(.replace, to: target, of: coordinator, on: top, nil, hops: 0, into: &arrivals)
            return arrivals
        }
    }

    // MARK: - Guards

    /// Whether the `requires` of a frame's screen hold.
    func isOpen(_ frame: Frame) -> Bool {
        guard let screen = coordinators[frame.coordinator].flow.screen(of: frame) else { return false }
        return services.meet(screen.requires, seenBy: coordinators[frame.coordinator].owners) {
            scope(of: frame.coordinator, with: frame.params)
        }
    }

    /// All transitions of a list, with nil as the obstacle of the one that would be taken: the first whose guard holds.
    ///
    /// - Parameters:
    ///   - params: of the frame that is left.
    ///   - data: of the event, if it is sent with any.
    func alternatives(
        _ list: [Transition], of coordinator: Int, with params: JSONDocument? = nil, sending data: JSONDocument? = nil
    ) -> [(Transition, RouteObstacle?)] {
        var isTaken = false
        let event = data.map { DataScope.EventData.data($0) } ?? .unknown
        return list.map { transition in
            guard !isTaken else { return (transition, .shadowed) }
            switch transition.isUnconditional
                ? .holds : scope(of: coordinator, event: event, with: params).test(transition)
            {
            case .holds:
                isTaken = true
                return (transition, nil)
            case .fails: break
            // The step would be refused.
            case .undecided: isTaken = true
            case .unknown:
                // The hop sends the event without data. If that takes this transition, it cannot take a later one.
                isTaken = scope(of: coordinator, event: .data(.emptyObject), with: params).test(transition) == .holds
            }
            return (transition, .conditions(transition, of: coordinator, with: params))
        }
    }

    /// Whether a link may take the transition, and what its actions need of an event, which the hop sends without data.
    func obstacle(to transition: Transition) -> RouteObstacle? {
        if !transition.isOpenToLinks, !isByOperator { return .damage }
        for action in transition.actions {
            if let path = action.neededPaths.first(where: { $0.root == .event }) { return .value(path.text) }
        }
        return nil
    }

    /// Says an obstacle in words. Pointers begin with a service, `event` or `input`.
    func explain(_ obstacle: RouteObstacle) -> [JSONViolation] {
        switch obstacle {
        case .conditions(let transition, let coordinator, let params):
            let reasons = scope(of: coordinator, with: params).reasons(against: transition)
            return reasons.isEmpty
                ? [JSONViolation(pointer: "/event", detail: "is needed, and navigation sends no data")] : reasons
        case .shadowed: return [JSONViolation(pointer: "", detail: "another way is taken with the data as it is")]
        case .requires(let screen, let coordinator, let params):
            return scope(of: coordinator, with: params).obstacles(to: screen.requires)
        case .data(let shape): return shape.violations(in: .emptyObject).within("/event")
        case .damage: return [.damage]
        case .unanswered: return [JSONViolation(pointer: "", detail: "is not answered yet")]
        case .value(let path): return [JSONViolation(pointer: path, detail: "is needed, and there is no value")]
        case .violations(let violations): return violations
        case .noWayBack: return [JSONViolation(pointer: "", detail: "cannot be gone back to")]
        case .refused: return [JSONViolation(pointer: "", detail: "was refused")]
        }
    }
}
