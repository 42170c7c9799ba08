import JSONDocument

extension RouteSearch {
    /// Where a hop leads: a stack, and what is in the way.
    struct Arrival {
        let top: Int
        var obstacle: RouteObstacle?
    }

    /// Finds the places that are one hop away.
    mutating func expand(_ place: Int) {
        let top = places[place].top
        let frame = stack[top]
        guard let state = frame.state, let screen = coordinators[frame.coordinator].flow.states[state].screen else {
            return
        }
        for arrival in back(from: top, screen) {
            insert(arrival, from: place, event: "back")
        }
        for rule in screen.events {
            let shape = screen.shape(of: rule.event) ?? coordinators[frame.coordinator].flow.shape(of: rule.event)
            send(rule, shape, of: frame.coordinator, from: place)
        }
        // The nearest flow's first.
        var seen: [String] = []
        var owner: Int? = frame.coordinator
        while let coordinator = owner {
            let flow = coordinators[coordinator].flow
            for rule in flow.events where screen.rule(for: rule.event) == nil && !seen.contains(rule.event) {
                seen.append(rule.event)
                send(rule, screen.shape(of: rule.event) ?? flow.shape(of: rule.event), of: coordinator, from: place)
            }
            owner = coordinators[coordinator].parent
        }
    }

    private mutating func insert(_ arrival: Arrival, from origin: Int, event: String) {
        let top = stack[places[origin].top]
        let key = Route.Key(coordinator: top.coordinator, state: top.state ?? 0, event: event)
        let obstacle = arrival.obstacle ?? (!refused.isEmpty && refused.contains(key) ? .refused : nil)
        var distance = places[origin].distance
        distance.blocked += obstacle == nil ? 0 : 1
        distance.events += event == "back" ? 0 : 1
        distance.hops += 1
        insert(Place(top: arrival.top, origin: origin, event: event, obstacle: obstacle, distance: distance))
    }

    private mutating func send(_ rule: EventRule, _ shape: ShapeRule?, of coordinator: Int, from origin: Int) {
        let obstacle = shape.flatMap { $0.accepts(.emptyObject) ? nil : RouteObstacle.data($0) }
        for (transition, inTheWay) in alternatives(rule.transitions, of: coordinator, guardian: \.guard)
        where transition.moves {
            var arrivals: [Arrival] = []
            let first = inTheWay ?? obstacle ?? missingData(for: transition.actions)
            crossings.removeAll(keepingCapacity: true)
            follow(transition, of: coordinator, on: places[origin].top, first, hops: 0, into: &arrivals)
            for arrival in arrivals {
                insert(arrival, from: origin, event: rule.event)
            }
        }
    }

    private mutating func back(from top: Int, _ screen: Screen) -> [Arrival] {
        let frame = stack[top]
        switch screen.back {
        case .forbidden: return stack[top].below.map { [Arrival(top: $0, obstacle: .noWayBack)] } ?? []
        case .allowed:
            if let landing = landing(below: top) { return uncovered(landing, leaving: top) }
            return stack[top].below.map { [Arrival(top: $0, obstacle: .noWayBack)] } ?? []
        case .target(let target):
            let landing = landing(below: top) { $0.coordinator == frame.coordinator && $0.state == target }
            if let landing { return [arrival(on: landing)] }
            var arrivals: [Arrival] = []
            go(.replace, to: target, of: frame.coordinator, on: top, nil, hops: 0, into: &arrivals)
            return arrivals
        }
    }
}

extension RouteSearch {
    /// Whether a guard holds with the data as it is.
    mutating func test(_ guardian: Guard, of coordinator: Int) -> Verdict {
        // Many screens ask for the same few things.
        guard case .named(let name) = guardian else {
            return scope(of: coordinator).test(guardian, in: coordinators[coordinator].flow)
        }
        if let known = coordinators[coordinator].verdicts[name] { return known }
        let verdict = scope(of: coordinator).test(guardian, in: coordinators[coordinator].flow)
        coordinators[coordinator].verdicts[name] = verdict
        return verdict
    }

    mutating func mayBe(on state: Int, of coordinator: Int) -> Bool {
        guard let screen = coordinators[coordinator].flow.states[state].screen else { return false }
        for guardian in screen.requires where test(guardian, of: coordinator) != .holds { return false }
        return true
    }

    /// All of a list, of which the first whose guard holds is the one that is taken; nil as its obstacle.
    mutating func alternatives<Alternative>(
        _ list: [Alternative], of coordinator: Int, guardian: (Alternative) -> Guard?
    ) -> [(Alternative, RouteObstacle?)] {
        var isTaken = false
        var result: [(Alternative, RouteObstacle?)] = []
        for alternative in list {
            guard !isTaken else {
                result.append((alternative, .shadowed))
                continue
            }
            guard let guardian = guardian(alternative) else {
                isTaken = true
                result.append((alternative, nil))
                continue
            }
            switch test(guardian, of: coordinator) {
            case .holds:
                isTaken = true
                result.append((alternative, nil))
            case .fails: result.append((alternative, .guardian(guardian, of: coordinator)))
            case .unknown:
                // Sent without data, the event may take this one: then it cannot be used for those that follow.
                var scope = scope(of: coordinator)
                scope.event = .data(.emptyObject)
                isTaken = scope.test(guardian, in: coordinators[coordinator].flow) == .holds
                result.append((alternative, .guardian(guardian, of: coordinator)))
            }
        }
        return result
    }

    /// What actions need of an event that comes without data.
    func missingData(for actions: [Action]) -> RouteObstacle? {
        for case .patch(let operation) in actions {
            for path in operation.value?.neededPaths ?? [] where path.root == .event { return .value(path.text) }
        }
        return nil
    }

    /// What is in the way, in words, with pointers that begin with a service, `event` or `input`.
    func explain(_ obstacle: RouteObstacle) -> [JSONViolation] {
        switch obstacle {
        case .guardian(let guardian, let coordinator):
            let reasons = scope(of: coordinator).reasons(against: guardian, in: coordinators[coordinator].flow)
            return reasons.isEmpty
                ? [JSONViolation(pointer: "/event", detail: "is looked at, and there is none")] : reasons
        case .shadowed: return [JSONViolation(pointer: "", detail: "another way is taken with the data as it is")]
        case .requires(let state, let coordinator):
            let flow = coordinators[coordinator].flow
            let scope = scope(of: coordinator)
            return (flow.states[state].screen?.requires ?? []).filter { scope.test($0, in: flow) != .holds }
                .flatMap { scope.reasons(against: $0, in: flow) }
        case .data(let shape):
            return shape.violations(in: .emptyObject).map {
                JSONViolation(pointer: "/event" + $0.pointer, detail: $0.detail)
            }
        case .value(let path): return [JSONViolation(pointer: path, detail: "is needed, and there is no value")]
        case .violations(let violations): return violations
        case .noWayBack: return [JSONViolation(pointer: "", detail: "cannot be gone back to")]
        case .refused: return [JSONViolation(pointer: "", detail: "was refused")]
        }
    }
}
