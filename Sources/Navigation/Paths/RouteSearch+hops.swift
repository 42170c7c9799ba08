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
        for arrival in back(from: top, screen) { insert(arrival, from: place, event: "back") }
        for reaction in screen.reactions(in: flows(from: frame.coordinator)) where !reaction.rule.isBackend {
            send(reaction, from: place)
        }
    }

    /// The flow of a coordinator, the flow that started it, and so on.
    private func flows(from coordinator: Int) -> [(coordinator: Int, flow: FlowDefinition)] {
        sequence(first: coordinator) { coordinators[$0].parent }.map { ($0, coordinators[$0].flow) }
    }

    private mutating func insert(_ arrival: Arrival, from origin: Int, event: String) {
        var obstacle = arrival.obstacle
        if obstacle == nil, !refused.isEmpty, refused.contains(key(event, from: origin)) { obstacle = .refused }
        var distance = places[origin].distance
        distance.blocked += obstacle == nil ? 0 : 1
        distance.events += event == "back" ? 0 : 1
        distance.hops += 1
        insert(Place(top: arrival.top, origin: origin, event: event, obstacle: obstacle, distance: distance))
    }

    private mutating func send(_ reaction: Reaction, from origin: Int) {
        let obstacle = reaction.shape.flatMap { $0.accepts(.emptyObject) ? nil : RouteObstacle.data($0) }
        for (transition, first) in alternatives(reaction.rule.transitions, of: reaction.coordinator)
        where transition.moves {
            var arrivals: [Arrival] = []
            crossings.removeAll(keepingCapacity: true)
            follow(
                transition, of: reaction.coordinator, on: places[origin].top,
                first ?? obstacle ?? missingData(for: transition), hops: 0, into: &arrivals)
            for arrival in arrivals { insert(arrival, from: origin, event: reaction.rule.event) }
        }
    }

    private mutating func back(from top: Int, _ screen: Screen) -> [Arrival] {
        let blocked = stacks.below(top).map { [Arrival(top: $0, obstacle: .noWayBack)] } ?? []
        switch screen.back {
        case .forbidden: return blocked
        case .allowed:
            guard let landing = move(top, by: .pop, to: nil)?.landing else { return blocked }
            return uncovered(landing, leaving: top)
        case .target(let target):
            let coordinator = stacks[top].coordinator
            let move = move(top, by: .popTo, to: frame(of: target, coordinator))
            if let landing = move?.landing { return [arrival(on: landing)] }
            var arrivals: [Arrival] = []
            go(.replace, to: target, of: coordinator, on: top, nil, hops: 0, into: &arrivals)
            return arrivals
        }
    }

    // MARK: - Guards

    /// Whether the `requires` of a frame's screen hold.
    func isOpen(_ frame: Frame) -> Bool {
        guard let screen = coordinators[frame.coordinator].flow.screen(of: frame) else { return false }
        return services.meet(screen.requires, seenBy: owners(of: frame.coordinator)) { scope(of: frame.coordinator) }
    }

    /// All transitions of a list, with nil as the obstacle of the one that would be taken: the first whose guard holds.
    func alternatives(_ list: [Transition], of coordinator: Int) -> [(Transition, RouteObstacle?)] {
        var isTaken = false
        return list.map { transition in
            guard !isTaken else { return (transition, .shadowed) }
            guard let guardian = transition.guard else {
                isTaken = true
                return (transition, nil)
            }
            switch scope(of: coordinator).test(guardian) {
            case .holds:
                isTaken = true
                return (transition, nil)
            case .fails, .undecided: break
            case .unknown:
                // The hop sends the event without data. If that takes this transition, it cannot take a later one.
                isTaken = scope(of: coordinator, event: .data(.emptyObject)).test(guardian) == .holds
            }
            return (transition, .guardian(guardian, of: coordinator))
        }
    }

    /// What the actions need of an event, which the hop sends without data.
    func missingData(for transition: Transition) -> RouteObstacle? {
        for action in transition.actions {
            if let path = action.neededPaths.first(where: { $0.root == .event }) { return .value(path.text) }
        }
        return nil
    }

    /// Says an obstacle in words. Pointers begin with a service, `event` or `input`.
    func explain(_ obstacle: RouteObstacle) -> [JSONViolation] {
        switch obstacle {
        case .guardian(let guardian, let coordinator):
            let reasons = scope(of: coordinator).reasons(against: guardian)
            return reasons.isEmpty
                ? [JSONViolation(pointer: "/event", detail: "is needed, and navigation sends no data")] : reasons
        case .shadowed: return [JSONViolation(pointer: "", detail: "another way is taken with the data as it is")]
        case .requires(let screen, let coordinator): return scope(of: coordinator).obstacles(to: screen.requires)
        case .data(let shape): return shape.violations(in: .emptyObject).within("/event")
        case .value(let path): return [JSONViolation(pointer: path, detail: "is needed, and there is no value")]
        case .violations(let violations): return violations
        case .noWayBack: return [JSONViolation(pointer: "", detail: "cannot be gone back to")]
        case .refused: return [JSONViolation(pointer: "", detail: "was refused")]
        }
    }
}
