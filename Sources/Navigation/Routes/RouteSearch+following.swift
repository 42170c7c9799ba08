import JSONDocument

/// Follows transitions through choices, child flows and ends, as ``StepRun`` does, but along all alternatives and
/// without their actions. The stack moves by the same rules: ``StackMove``.
extension RouteSearch {
    mutating func follow(
        _ transition: Transition, of coordinator: Int, on top: Int?, _ obstacle: RouteObstacle?, hops: Int,
        sending data: JSONDocument? = nil, into arrivals: inout [Arrival]
    ) {
        var params: JSONDocument?
        var obstacle = obstacle
        if let template = transition.params {
            do throws(JourneyRefusal) {
                let event = data.map { DataScope.EventData.data($0) } ?? .unknown
                params = try scope(of: coordinator, event: event, with: top.flatMap { stacks[$0].params })
                    .value(of: template)
            } catch {
                obstacle = obstacle ?? .violations(error.violations)
            }
        }
        let top = top.map { stacks.marked($0, transition.history) }
        go(
            transition.nav ?? .push, to: transition.target, with: params, of: coordinator, on: top, obstacle,
            hops: hops, into: &arrivals)
    }

    /// Finds the screens that a verb and a target lead to.
    mutating func go(
        _ verb: NavigationVerb, to target: Int?, with params: JSONDocument? = nil, of coordinator: Int, on top: Int?,
        _ obstacle: RouteObstacle?, hops: Int, into arrivals: inout [Arrival]
    ) {
        guard hops < FlowEngine.maximumHops else { return }
        guard let target else {
            guard forward == nil, let top,
                let landing = stacks.uncovered(move(top, by: verb, to: nil)?.landing, from: top)
            else {
                return
            }
            arrivals += uncovered(landing, leaving: top).map { Arrival(top: $0.top, obstacle: obstacle ?? $0.obstacle) }
            return
        }
        if let closed, closed == (coordinator, target) { return }
        switch coordinators[coordinator].flow.states[target].kind {
        case .screen:
            let frame = Frame(of: target, in: coordinators[coordinator].flow, coordinator, with: params)
            guard let placed = placed(frame, by: verb, on: top) else { return }
            arrivals.append(Arrival(top: placed, obstacle: arrival(on: placed).obstacle ?? obstacle))
        case .choice(let branches):
            let crossing = Crossing(
                coordinator: coordinator, state: target, verb: verb, top: top, isFree: obstacle == nil)
            guard crossings.insert(crossing).inserted else { return }
            let shown = top.flatMap { stacks[$0].params }
            for (branch, first) in alternatives(branches, of: coordinator, with: shown) {
                var given = params
                if let template = branch.params { given = try? scope(of: coordinator, with: shown).value(of: template) }
                go(
                    branch.nav ?? verb, to: branch.target, with: given, of: coordinator, on: top,
                    obstacle ?? first ?? self.obstacle(to: branch), hops: hops + 1, into: &arrivals)
            }
        case .flow(let child):
            guard let (started, first) = start(child, by: target, of: coordinator, from: top) else { return }
            go(
                verb, to: coordinators[started].flow.initial, with: params, of: started, on: top, obstacle ?? first,
                hops: hops + 1, into: &arrivals)
        case .final(let ending):
            end(coordinator, ending, on: top, obstacle, hops: hops, into: &arrivals)
        case .task(let task):
            // A link starts no work outside. A `resume` stops before it.
            guard forward != nil else { return }
            for transition in task.ends.flatMap(\.transitions) {
                follow(transition, of: coordinator, on: top, obstacle ?? .unanswered, hops: hops + 1, into: &arrivals)
            }
        }
    }

    /// The child coordinator that a state starts; the same one each time.
    private mutating func start(
        _ child: ChildFlow, by state: Int, of parent: Int, from top: Int?
    ) -> (coordinator: Int, obstacle: RouteObstacle?)? {
        guard let flow = catalog.flow(child.flow, version: child.version), mayStart(flow, of: parent) else {
            return nil
        }
        var input = JSONDocument.emptyObject
        var obstacle: RouteObstacle?
        do throws(JourneyRefusal) {
            if let template = child.input {
                input = try scope(of: parent, with: top.flatMap { stacks[$0].params }).value(of: template)
            }
            let violations = flow.violations(in: input)
            if !violations.isEmpty { obstacle = .violations(violations.within("/input")) }
        } catch {
            obstacle = .violations(error.violations)
        }
        let known = coordinators.firstIndex {
            $0.parent == parent && $0.startedBy == state && $0.flow === flow && $0.input == input
        }
        return (known ?? add(flow, parent: parent, startedBy: state, input: input), obstacle)
    }

    /// A flow that runs within itself has no screen that it would not have outside.
    private func mayStart(_ flow: FlowDefinition, of parent: Int) -> Bool {
        let outer = sequence(first: parent) { coordinators[$0].parent }
        return coordinators.count < Self.maximumCoordinators
            && !outer.contains { $0 >= standing && coordinators[$0].flow === flow }
    }

    /// Follows what the parent does about a `final`. The end of the journey's own flow leads nowhere.
    private mutating func end(
        _ coordinator: Int, _ ending: Ending, on top: Int?, _ obstacle: RouteObstacle?, hops: Int,
        into arrivals: inout [Arrival]
    ) {
        guard let parent = coordinators[coordinator].parent, let child = childFlow(of: coordinator) else { return }
        let rest = top.flatMap { stacks.without(family(of: coordinator), $0) }
        func stay(_ obstacle: RouteObstacle?) {
            guard let rest else {
                return abandon(parent, obstacle, hops: hops + 1, into: &arrivals)
            }
            let arrival = uncovered(rest)
            arrivals.append(Arrival(top: arrival.top, obstacle: obstacle ?? arrival.obstacle))
        }
        var told = child.transitions(after: ending.outcome, byFinal: true)
        if forward != nil { told = told.leadingOn }
        for (transition, first) in alternatives(told, of: parent) {
            let first = obstacle ?? first ?? self.obstacle(to: transition)
            if transition.moves {
                follow(transition, of: parent, on: rest, first, hops: hops + 1, into: &arrivals)
            } else {
                stay(first)
            }
        }
        if told.isEmpty { stay(obstacle) }
    }

    /// Follows what the parent does about a child that has no frame any more: where a flow stays after the end of its
    /// child, and nothing is left on the stack, it ends, too.
    private mutating func abandon(
        _ coordinator: Int, _ obstacle: RouteObstacle?, hops: Int, into arrivals: inout [Arrival]
    ) {
        guard hops < FlowEngine.maximumHops, let parent = coordinators[coordinator].parent,
            let child = childFlow(of: coordinator)
        else { return }
        guard let taken = taken(afterAbandoning: child, of: parent) else {
            return abandon(parent, obstacle, hops: hops + 1, into: &arrivals)
        }
        follow(taken, of: parent, on: nil, obstacle ?? self.obstacle(to: taken), hops: hops + 1, into: &arrivals)
    }

    /// Where the parent leads on after a child that has no frame any more; nil where it stays.
    private func taken(afterAbandoning child: ChildFlow, of parent: Int) -> Transition? {
        let told = child.transitions(after: ChildFlow.abandoned, byFinal: false)
        return alternatives(told, of: parent).first { $0.1 == nil && $0.0.moves }?.0
    }

    /// The state of the parent's flow that started a coordinator.
    private func childFlow(of coordinator: Int) -> ChildFlow? {
        guard let parent = coordinators[coordinator].parent, let state = coordinators[coordinator].startedBy else {
            return nil
        }
        return coordinators[parent].flow.states[state].childFlow
    }

    /// A coordinator and all that it started.
    private func family(of coordinator: Int) -> Set<Int> {
        var family: Set = [coordinator]
        for (place, other) in coordinators.enumerated() {
            if let parent = other.parent, family.contains(parent) { family.insert(place) }
        }
        return family
    }

    // MARK: - Stacks

    /// How a verb would move a stack; nil when the stack does not allow that.
    func move(_ top: Int?, by verb: NavigationVerb, to target: Frame?) -> StackMove<Int>? {
        try? stacks.stack(top).move(by: verb, to: target, isOpen: { isOpen($0) }).get()
    }

    /// The stack after a verb has led to a frame; nil when the stack does not allow that.
    private func placed(_ target: Frame, by verb: NavigationVerb, on top: Int?) -> Int? {
        guard let move = move(top, by: verb, to: target) else { return nil }
        let rest = stacks.uncovered(move.landing, from: top)
        guard let presentation = move.presentation else { return rest }
        var frame = target
        frame.presentation = presentation
        return stacks.put(frame, on: rest)
    }

    /// An arrival at the top frame of a stack, and whether its `requires` hold.
    func arrival(on top: Int) -> Arrival {
        let frame = stacks[top]
        guard !isOpen(frame), let screen = coordinators[frame.coordinator].flow.screen(of: frame) else {
            return Arrival(top: top)
        }
        return Arrival(top: top, obstacle: .requires(screen, of: frame.coordinator, with: frame.params))
    }

    /// An arrival at a frame that was uncovered; frames whose `requires` do not hold are skipped.
    private func uncovered(_ top: Int) -> Arrival {
        var top = top
        while let below = stacks.below(top), !isOpen(stacks[top]) { top = below }
        return arrival(on: top)
    }

    /// The arrival at a frame that is uncovered because those above it leave. When a child loses its last frame by
    /// that, its parent may lead elsewhere.
    mutating func uncovered(_ landing: Int, leaving top: Int) -> [Arrival] {
        let stayed = uncovered(landing)
        for lost in lost(leaving: top, stayed.top) {
            guard let parent = coordinators[lost].parent, let child = childFlow(of: lost) else { continue }
            guard let taken = taken(afterAbandoning: child, of: parent) else { continue }
            var arrivals: [Arrival] = []
            follow(taken, of: parent, on: stayed.top, obstacle(to: taken), hops: 1, into: &arrivals)
            return arrivals
        }
        return [stayed]
    }

    /// The coordinators that lose their last frame when the frames above `rest` leave, children first.
    private func lost(leaving top: Int, _ rest: Int) -> [Int] {
        guard stacks[top].coordinator != stacks[rest].coordinator else { return [] }
        var present: Set<Int> = []
        for place in stacks.places(from: rest) {
            var coordinator: Int? = stacks[place].coordinator
            while let current = coordinator, present.insert(current).inserted {
                coordinator = coordinators[current].parent
            }
        }
        var lost: [Int] = []
        for place in stacks.places(from: top) {
            if place == rest { break }
            var coordinator: Int? = stacks[place].coordinator
            while let current = coordinator, !present.contains(current), !lost.contains(current) {
                lost.append(current)
                coordinator = coordinators[current].parent
            }
        }
        return lost
    }
}
