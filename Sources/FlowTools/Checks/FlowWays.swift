import Navigation

/// Which states lead to which, whatever the guards. Linear in the size of the flow and without recursion: a flow may
/// have 10,000 screens in a row.
struct FlowWays {
    private let flow: FlowDefinition
    /// The states that each state leads to by itself, without the events of the flow.
    private let own: [[Int]]
    /// The states that the events of the flow lead to, from every screen.
    private let everywhere: [Int]
    /// Whether an event of the flow stays on the screen or goes back.
    private let staysEverywhere: Bool

    init(_ flow: FlowDefinition) {
        self.flow = flow
        let transitions = flow.events.flatMap(\.transitions)
        everywhere = flow.causedTransitions.compactMap(\.transition.target)
        staysEverywhere = transitions.contains { $0.target == nil }
        own = flow.states.map(Self.ways)
    }

    private static func ways(from state: FlowState) -> [Int] {
        let targets = state.causedTransitions.compactMap(\.transition.target)
        if case .target(let target) = state.screen?.back { return targets + [target] }
        return targets
    }

    /// For each state whether it can be reached.
    var reached: [Bool] {
        var reached = [Bool](repeating: false, count: flow.states.count)
        var open = [flow.initial]
        // A migration may move a journey to a state that nothing else leads to.
        for migration in flow.migrations { open += migration.states.values.compactMap { flow.place(of: $0) } }
        var isFlowHeard = false
        while let place = open.popLast() {
            guard !reached[place] else { continue }
            reached[place] = true
            open += own[place]
            switch flow.states[place].kind {
            case .screen, .flow, .task:
                if !isFlowHeard { open += everywhere }
                isFlowHeard = true
            case .choice, .final: break
            }
        }
        return reached
    }

    /// Whether nothing leads on from a screen: no event of its own or of the flow, no timer.
    func hasNoWayOn(_ place: Int) -> Bool {
        guard let screen = flow.states[place].screen else { return false }
        if case .target = screen.back { return false }
        return screen.events.isEmpty && flow.events.isEmpty && screen.always.isEmpty && flow.always.isEmpty
            && !(screen.timers + flow.timers).contains { $0.transition?.moves == true }
    }

    /// The states from which neither a `final` nor a circle can be reached.
    var deadEnds: [Int] {
        var next = own
        var isEnd = [Bool](repeating: false, count: next.count)
        for (place, state) in flow.states.enumerated() {
            switch state.kind {
            case .final: isEnd[place] = true
            case .screen(let screen):
                // Going back and staying lead to a screen again.
                let stays = screen.events.contains { $0.transitions.contains { $0.target == nil } }
                let goesBack = screen.back == .allowed && place != flow.initial
                if stays || goesBack || (staysEverywhere && !flow.events.isEmpty) { isEnd[place] = true }
                next[place] += everywhere
            case .flow(let child):
                // After an outcome without a transition the journey is back where the child was started.
                let saysAll = child.ends.contains {
                    $0.outcome == nil && $0.transitions.allSatisfy { $0.target != nil }
                }
                if !saysAll { isEnd[place] = true }
                next[place] += everywhere
            case .task(let task):
                // After an end without a target the journey is back where the task was started.
                let isBack =
                    task.screen.back == .allowed || task.ends.contains { $0.transitions.contains { $0.target == nil } }
                if isBack { isEnd[place] = true }
                next[place] += everywhere
            case .choice: break
            }
        }
        var previous = [[Int]](repeating: [], count: next.count)
        for place in next.indices {
            if isEnd[place] { next[place].append(place) }
            for target in next[place] { previous[target].append(place) }
        }
        let isPeeled = Self.peeled(next, previous)
        return next.indices.filter { isPeeled[$0] }
    }

    /// Removes nodes that lead nowhere, then nodes that lead only to removed ones, and so on; true for removed nodes.
    /// The rest leads to a circle.
    static func peeled(_ next: [[Int]], _ previous: [[Int]]) -> [Bool] {
        var left = next.map(\.count)
        var isPeeled = left.map { $0 == 0 }
        var open = left.indices.filter { isPeeled[$0] }
        while let place = open.popLast() {
            for before in previous[place] {
                left[before] -= 1
                if left[before] == 0, !isPeeled[before] {
                    isPeeled[before] = true
                    open.append(before)
                }
            }
        }
        return isPeeled
    }

    /// The nodes in groups of which each leads to all others of its group: strongly connected components, by Kosaraju.
    static func components(_ next: [[Int]]) -> [[Int]] {
        var previous = [[Int]](repeating: [], count: next.count)
        for (place, targets) in next.enumerated() { for target in targets { previous[target].append(place) } }
        var isSeen = [Bool](repeating: false, count: next.count)
        var finished: [Int] = []
        for start in next.indices where !isSeen[start] {
            isSeen[start] = true
            var open = [(place: start, passed: 0)]
            while let (place, passed) = open.last {
                guard passed < next[place].count else {
                    finished.append(place)
                    open.removeLast()
                    continue
                }
                open[open.count - 1].passed += 1
                let target = next[place][passed]
                if !isSeen[target] {
                    isSeen[target] = true
                    open.append((target, 0))
                }
            }
        }
        var isGrouped = [Bool](repeating: false, count: next.count)
        return finished.reversed().compactMap { start in
            guard !isGrouped[start] else { return nil }
            isGrouped[start] = true
            var group = [start]
            var first = 0
            while first < group.count {
                for place in previous[group[first]] where !isGrouped[place] {
                    isGrouped[place] = true
                    group.append(place)
                }
                first += 1
            }
            return group
        }
    }
}
