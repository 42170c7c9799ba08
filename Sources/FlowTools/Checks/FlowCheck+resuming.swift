import JSONDocument
import Navigation

extension FlowCheck {
    /// Each screen to which something resumes costs a search through the whole flow.
    private static let maximumTargets = 64

    /// Reports events that resume and never reach their screen, because every way to it leads past something where a
    /// `resume` stops whatever the answers are. Where no way leads there at all, it leads there by itself.
    mutating func checkResumes() {
        var targets: [Int: (any: [Bool], open: [Bool])] = [:]
        let ways = ForwardWays(flow)
        for (place, state) in flow.states.enumerated() {
            for caused in state.causedTransitions {
                guard case .event = caused.cause, caused.transition.nav == .resume,
                    let target = caused.transition.target, flow.states[target].isScreen
                else { continue }
                guard targets[target] != nil || targets.count < Self.maximumTargets else { return }
                let leading =
                    targets[target] ?? (ways.leading(to: target), ways.leading(to: target, past: ways.isPassed))
                targets[target] = leading
                guard leading.any[place], !leading.open[place] else { continue }
                let stop = ways.firstStop(from: place, to: target, along: leading.any).map { flow.states[$0] }
                let reason =
                    stop.map {
                        $0.isScreen
                            ? "it stops on \"\($0.id)\", which has no `answers`; \"answers\": [] marks a screen that may be "
                                + "passed"
                            : "it stops before the \($0.typeName) \"\($0.id)\""
                    } ?? "no way leads there without the person"
                report(
                    JSONPointer(parsing: caused.transition.place)?.tokens ?? [], .blockedResume,
                    "this never leads to \"\(flow.states[target].id)\" at once: \(reason)")
            }
        }
    }
}

/// The ways that a `resume` may go, whatever guards and answers are.
private struct ForwardWays {
    private let flow: FlowDefinition
    private let next: [[Int]]
    private let previous: [[Int]]
    /// What the events of the flow lead to, from every screen.
    private let everywhere: Set<Int>
    /// Whether a `resume` may pass the state.
    let isPassed: [Bool]

    init(_ flow: FlowDefinition) {
        self.flow = flow
        func targets(_ list: [CausedTransition]) -> [Int] {
            list.map(\.transition).filter { $0.nav != .resume }.compactMap(\.target)
        }
        next = flow.states.map { targets($0.causedTransitions) }
        everywhere = Set(flow.events.flatMap(\.transitions).filter { $0.nav != .resume }.compactMap(\.target))
        var previous = [[Int]](repeating: [], count: next.count)
        for (place, targets) in next.enumerated() { for target in targets { previous[target].append(place) } }
        self.previous = previous
        isPassed = flow.states.map { state in
            switch state.kind {
            case .screen(let screen): screen.answers != nil
            case .choice, .flow: true
            case .task, .final: false
            }
        }
    }

    /// The states from which a way leads to a screen.
    ///
    /// - Parameter isPassed: whether the way may lead past a state; nil for any.
    func leading(to target: Int, past isPassed: [Bool]? = nil) -> [Bool] {
        var isLeading = [Bool](repeating: false, count: next.count)
        var open = [target]
        var isEverywhere = false
        while let place = open.popLast() {
            var before = previous[place]
            if !isEverywhere, everywhere.contains(place) {
                isEverywhere = true
                before += flow.states.indices.filter { flow.states[$0].isScreen }
            }
            for place in before where !isLeading[place] {
                isLeading[place] = true
                if place != target, isPassed?[place] ?? true { open.append(place) }
            }
        }
        return isLeading
    }

    /// The nearest state on a way that is not passed.
    func firstStop(from origin: Int, to target: Int, along isLeading: [Bool]) -> Int? {
        var seen: Set<Int> = [origin]
        var row = [origin]
        while !row.isEmpty {
            let following = row.flatMap { next[$0] }.filter {
                isLeading[$0] && $0 != target && seen.insert($0).inserted
            }
            if let stop = following.first(where: { !isPassed[$0] }) { return stop }
            row = following
        }
        return nil
    }
}
