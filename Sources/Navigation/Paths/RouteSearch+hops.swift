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
