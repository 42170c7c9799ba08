import JSONDocument

/// How transitions change a stack, as ``StepRun`` does it, on stacks that share their frames.
extension RouteSearch {
    mutating func follow(
        _ transition: Transition, of coordinator: Int, on top: Int, _ obstacle: RouteObstacle?, hops: Int,
        into arrivals: inout [Arrival]
    ) {
        let top = stack.marked(top, transition.history)
        if let target = transition.target {
            go(
                transition.nav ?? .push, to: target, of: coordinator, on: top, obstacle, hops: hops, into: &arrivals)
        } else if let landing = landing(of: transition.nav ?? .pop, from: top) {
            arrivals += uncovered(landing, leaving: top).map { Arrival(top: $0.top, obstacle: obstacle ?? $0.obstacle) }
        }
    }

    /// Goes through choices, child flows and ends until a screen is come to.
    mutating func go(
        _ verb: NavigationVerb, to target: Int, of coordinator: Int, on top: Int?, _ obstacle: RouteObstacle?,
        hops: Int, into arrivals: inout [Arrival]
    ) {
        guard hops < StepRun.maximumHops else { return }
        switch coordinators[coordinator].flow.states[target].kind {
        case .screen:
            guard let placed = placed(target, of: coordinator, by: verb, on: top) else { return }
            let arrival = arrival(on: placed)
            arrivals.append(Arrival(top: placed, obstacle: arrival.obstacle ?? obstacle))
        case .choice(let branches):
            let crossing = Crossing(
                coordinator: coordinator, state: target, verb: verb, top: top, isFree: obstacle == nil)
            guard crossings.insert(crossing).inserted else { return }
            for (branch, inTheWay) in alternatives(branches, of: coordinator, guardian: \.guard) {
                let first = obstacle ?? inTheWay ?? missingData(for: branch.actions)
                go(
                    branch.nav ?? verb, to: branch.target, of: coordinator, on: top, first, hops: hops + 1,
                    into: &arrivals)
            }
        case .flow(let child):
            guard let (started, inTheWay) = start(child, by: target, of: coordinator) else { return }
            go(
                verb, to: coordinators[started].flow.initial, of: started, on: top, obstacle ?? inTheWay,
                hops: hops + 1, into: &arrivals)
        case .final(let ending):
            end(coordinator, ending, on: top, obstacle, hops: hops, into: &arrivals)
        }
    }

    /// The child coordinator that a state starts; the same each time.
    private mutating func start(
        _ child: ChildFlow, by state: Int, of parent: Int
    ) -> (coordinator: Int, obstacle: RouteObstacle?)? {
        guard let flow = catalog.flow(child.flow, version: child.version), mayStart(flow, of: parent) else {
            return nil
        }
        var input = JSONDocument.emptyObject
        var obstacle: RouteObstacle?
        do throws(JourneyRefusal) {
            if let template = child.input { input = try scope(of: parent).value(of: template) }
            if let rule = flow.input, !rule.accepts(input) {
                let violations = rule.violations(in: input)
                obstacle = .violations(
                    violations.map { JSONViolation(pointer: "/input" + $0.pointer, detail: $0.detail) })
            }
        } catch {
            obstacle = .violations(error.violations)
        }
        let known = coordinators.firstIndex {
            $0.parent == parent && $0.startedBy == state && $0.flow === flow && $0.input == input
        }
        return (known ?? add(flow, parent: parent, startedBy: state, input: input), obstacle)
    }

    /// A flow within itself has no screen that it would not have outside.
    private func mayStart(_ flow: FlowDefinition, of parent: Int) -> Bool {
        let outer = sequence(first: parent) { coordinators[$0].parent }
        return coordinators.count < Self.maximumCoordinators
            && !outer.contains { $0 >= standing && coordinators[$0].flow === flow }
    }

    /// A child has come to a `final`. The journey's own flow leads nowhere then.
    private mutating func end(
        _ coordinator: Int, _ ending: Ending, on top: Int?, _ obstacle: RouteObstacle?, hops: Int,
        into arrivals: inout [Arrival]
    ) {
        guard let parent = coordinators[coordinator].parent, let startedBy = coordinators[coordinator].startedBy,
            let child = coordinators[parent].flow.states[startedBy].childFlow
        else { return }
        let rest = top.flatMap { stack.without(family(of: coordinator), $0) }
        let told = child.transitions(after: ending.outcome, byFinal: true)
        for (transition, inTheWay) in alternatives(told, of: parent, guardian: \.guard) {
            let first = obstacle ?? inTheWay ?? missingData(for: transition.actions)
            if transition.moves, let rest {
                follow(transition, of: parent, on: rest, first, hops: hops + 1, into: &arrivals)
            } else if transition.moves, let target = transition.target {
                go(
                    transition.nav ?? .push, to: target, of: parent, on: nil, first, hops: hops + 1, into: &arrivals)
            } else if let rest {
                arrivals += stayed(on: rest).map { Arrival(top: $0.top, obstacle: first ?? $0.obstacle) }
            }
        }
        if told.isEmpty, let rest {
            arrivals += stayed(on: rest).map { Arrival(top: $0.top, obstacle: obstacle ?? $0.obstacle) }
        }
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

    private mutating func placed(_ state: Int, of coordinator: Int, by verb: NavigationVerb, on top: Int?) -> Int? {
        var presentation = Frame.Presentation.push
        var below = top
        switch verb {
        case .push: break
        case .present: presentation = .modal
        case .replace:
            if let top {
                presentation = stack[top].presentation
                below = stack.below(top)
            }
        case .setRoot: below = nil
        case .popTo:
            return top.flatMap { landing(below: $0) { $0.coordinator == coordinator && $0.state == state } }
        case .pop, .dismiss, .popToRoot:
            guard let top, let landing = landing(of: verb, from: top) else { return nil }
            if stack[landing].coordinator == coordinator, stack[landing].state == state { return landing }
            below = landing
        }
        return stack.add(
            RouteStack.Frame(
                coordinator: coordinator, state: state, presentation: below == nil ? .root : presentation, mark: .none,
                below: below))
    }

    /// The nearest frame below that can be gone back to.
    mutating func landing(below top: Int, where isWanted: (RouteStack.Frame) -> Bool = { _ in true }) -> Int? {
        guard stack[top].mark != .invalidated else { return nil }
        var place = stack[top].below
        while let current = place {
            let frame = stack[current]
            if frame.mark == .invalidated { return nil }
            if frame.mark == .none, isWanted(frame), let state = frame.state, mayBe(on: state, of: frame.coordinator) {
                return current
            }
            place = frame.below
        }
        return nil
    }

    /// Where a verb without a screen of its own leads.
    private mutating func landing(of verb: NavigationVerb, from top: Int) -> Int? {
        switch verb {
        case .dismiss:
            guard let modal = stack.downwards(from: top).first(where: { $0.frame.presentation == .modal }) else {
                return nil
            }
            return stack[modal.place].below
        case .popToRoot:
            guard let root = stack.downwards(from: top).first(where: { $0.frame.presentation != .push }) else {
                return nil
            }
            guard root.place != top else { return top }
            let isMarked = stack.downwards(from: top).first { $0.place == root.place || $0.frame.mark == .invalidated }
            guard isMarked?.place == root.place, root.frame.mark == .none, let state = root.frame.state,
                mayBe(on: state, of: root.frame.coordinator)
            else { return nil }
            return root.place
        case .pop, .popTo, .push, .replace, .present, .setRoot:
            return landing(below: top)
        }
    }

    /// The screen of a frame, and whether one may be on it.

    mutating func arrival(on top: Int) -> Arrival {
        let frame = stack[top]
        guard let state = frame.state, !mayBe(on: state, of: frame.coordinator) else { return Arrival(top: top) }
        return Arrival(top: top, obstacle: .requires(state: state, of: frame.coordinator))
    }

    /// A frame that shows itself again after a child has ended; those that one may not be on leave, too.
    private mutating func stayed(on top: Int) -> [Arrival] {
        var top = top
        while let below = stack[top].below, !isReachable(stack[top]) { top = below }
        return [arrival(on: top)]
    }

    /// A frame that shows itself again since those above it have left. When a child is gone with them, its parent may
    /// lead elsewhere.
    mutating func uncovered(_ landing: Int, leaving top: Int) -> [Arrival] {
        let stayed = stayed(on: landing)
        guard let rest = stayed.first?.top else { return [] }
        for lost in lost(leaving: top, rest) {
            guard let parent = coordinators[lost].parent, let startedBy = coordinators[lost].startedBy,
                let child = coordinators[parent].flow.states[startedBy].childFlow
            else { continue }
            let told = child.transitions(after: ChildFlow.abandoned, byFinal: false)
            let taken = alternatives(told, of: parent, guardian: \.guard).first { $0.1 == nil }?.0
            guard let taken, taken.moves else { continue }
            var arrivals: [Arrival] = []
            follow(taken, of: parent, on: rest, missingData(for: taken.actions), hops: 1, into: &arrivals)
            return arrivals
        }
        return stayed
    }

    /// The coordinators that have no frame any more, children first, as far as their parents go on.
    private func lost(leaving top: Int, _ rest: Int) -> [Int] {
        guard stack[top].coordinator != stack[rest].coordinator else { return [] }
        var present: Set<Int> = []
        for (_, frame) in stack.downwards(from: rest) {
            var coordinator: Int? = frame.coordinator
            while let current = coordinator, present.insert(current).inserted {
                coordinator = coordinators[current].parent
            }
        }
        var lost: [Int] = []
        for (place, frame) in stack.downwards(from: top) {
            if place == rest { break }
            var coordinator: Int? = frame.coordinator
            while let current = coordinator, !present.contains(current), !lost.contains(current) {
                lost.append(current)
                coordinator = coordinators[current].parent
            }
        }
        return lost
    }

    private mutating func isReachable(_ frame: RouteStack.Frame) -> Bool {
        frame.state.map { mayBe(on: $0, of: frame.coordinator) } ?? false
    }
}
