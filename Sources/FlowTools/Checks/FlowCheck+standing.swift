import JSONDocument
import Navigation

/// Checks what moves a journey without an event, and where it goes back to.
extension FlowCheck {
    /// Checks that every run of automatic moves comes to an end, and soon enough.
    mutating func checkStandingRules() {
        for run in all.hops.tooLong(in: flow) {
            report(
                run.pointer, .endlessChoice,
                "\(run.subject) more than \(FlowEngine.maximumHops) automatic moves may follow each other, which refuses the step; "
                    + "put a screen between")
        }
        for run in all.moves.tooLong(in: flow) {
            report(
                run.pointer, .endlessAlways,
                "\(run.subject) always may move the journey more than \(FlowEngine.maximumHops) times, which refuses the step; "
                    + "go to the last screen directly")
        }
        for (place, circle) in all.hops.circles(in: flow) {
            let state = flow.states[place]
            switch circle {
            case .choices:
                report(
                    ["states", state.id], .endlessChoice,
                    "the choice \"\(state.id)\" may lead back to itself without a screen")
            case .starts(let flows):
                report(
                    ["states", state.id, "flow"], .endlessChildren,
                    "without a screen between, \(flows.joined(separator: " starts "))")
            case .again(let hasActions):
                // An action may end what the guards ask for.
                report(
                    ["states", state.id, "on"], .endlessChildren,
                    "without a screen between, \"\(state.id)\" may be entered again when \(state.childFlow?.flow ?? "") has ended",
                    severity: hasActions ? .warning : nil)
            }
        }
        for circle in AlwaysCircles(flow).circles {
            let states = circle.states.map { flow.states[$0].id }.joined(separator: ", ")
            // An action may end what the guards ask for.
            report(
                JSONPointer(parsing: circle.place)?.tokens ?? [], .endlessAlways,
                "the journey may move in a circle, through \(states)",
                severity: circle.hasActions ? .warning : nil)
        }
    }

    /// Reports a `pop_to` that never goes back.
    mutating func checkWaysBack() {
        let ways = WaysBack(flow)
        var known: [Int: [Bool]] = [:]
        func check(_ transition: Transition, from origin: Int?) -> Bool {
            guard transition.nav == .popTo, let target = transition.target, flow.states[target].isScreen else {
                return true
            }
            guard known[target] != nil || known.count < WaysBack.maximumTargets else { return true }
            let above = known[target] ?? ways.above(target)
            known[target] = above
            return origin.map { above[$0] } ?? above.contains(true)
        }
        let own = flow.states.enumerated().flatMap { place, state in
            state.causedTransitions.map { (transition: $0.transition, origin: Int?.some(place)) }
        }
        for (transition, origin) in own + flow.causedTransitions.map({ ($0.transition, nil) })
        where !check(transition, from: origin) {
            let target = transition.target.map { flow.states[$0].id } ?? ""
            report(
                (JSONPointer(parsing: transition.place)?.tokens ?? []) + ["nav"], .misplacedVerb,
                "pop_to never finds \"\(target)\" below, and always pushes it", severity: .warning)
        }
    }
}

/// Which screens may be on a stack above which.
private struct WaysBack {
    /// More screens that are gone back to are not looked at: each takes a walk through the flow.
    static let maximumTargets = 256

    private let flow: FlowDefinition
    /// All that may follow a state on the same stack.
    private let next: [[Int]]
    /// What may follow a state that stays on the stack.
    private let pushed: [[Int]]

    init(_ flow: FlowDefinition) {
        self.flow = flow
        let everywhere = flow.causedTransitions.map(\.transition)
        func targets(_ state: FlowState, where isWanted: (Transition) -> Bool) -> [Int] {
            var transitions = state.causedTransitions.map(\.transition)
            if state.isScreen || state.childFlow != nil { transitions += everywhere }
            return transitions.filter(isWanted).compactMap(\.target)
        }
        next = flow.states.map { state in
            var next = targets(state) { $0.nav != .setRoot }
            if case .target(let target) = state.screen?.back { next.append(target) }
            return next
        }
        pushed = flow.states.map { state in
            targets(state) { transition in
                // A choice may have its own verb.
                guard let target = transition.target, case .choice = flow.states[target].kind else {
                    return transition.nav != .setRoot && transition.nav != .replace
                }
                return true
            }
        }
    }

    /// For each state whether a frame of a screen may be below it.
    func above(_ screen: Int) -> [Bool] {
        var above = [Bool](repeating: false, count: flow.states.count)
        var open = pushed[screen]
        while let place = open.popLast() {
            guard !above[place] else { continue }
            above[place] = true
            open += next[place]
        }
        return above
    }
}

/// Finds screens that `always` leads through in a circle, with guards that can all hold with the same data.
private struct AlwaysCircles {
    struct Circle {
        let states: [Int]
        /// The first `always` on it.
        let place: String
        let hasActions: Bool
    }

    private struct Edge {
        let to: Int
        let facts: [String: Bool]
        let transition: Transition
        let isAlways: Bool
    }

    /// Usual flows have a handful of such transitions.
    private static let maximumSteps = 10_000

    private let flow: FlowDefinition
    private let edges: [[Edge]]
    private(set) var circles: [Circle] = []
    private var steps = 0

    init(_ flow: FlowDefinition) {
        self.flow = flow
        let always = (flow.states.compactMap(\.screen).flatMap(\.always) + flow.always)
        guard !always.isEmpty else {
            edges = []
            return
        }
        edges = flow.states.enumerated().map { place, state in
            func edge(_ transition: Transition, isAlways: Bool) -> Edge? {
                guard let target = transition.target, target != place else { return nil }
                return Edge(
                    to: target, facts: transition.guard.map { flow.facts(of: $0) } ?? [:], transition: transition,
                    isAlways: isAlways)
            }
            switch state.kind {
            case .screen(let screen): return (screen.always + flow.always).compactMap { edge($0, isAlways: true) }
            case .flow: return flow.always.compactMap { edge($0, isAlways: true) }
            case .choice(let branches): return branches.compactMap { edge($0, isAlways: false) }
            default: return []
            }
        }
        var previous = [[Int]](repeating: [], count: edges.count)
        for place in edges.indices { for edge in edges[place] { previous[edge.to].append(place) } }
        let next = edges.map { $0.map(\.to) }
        let leadsToCircle = FlowWays.peeled(next, previous)
        let followsCircle = FlowWays.peeled(previous, next)
        for place in edges.indices where !leadsToCircle[place] && !followsCircle[place] {
            search(from: place, at: place, [], [:])
        }
    }

    /// Each circle is found from its first state.
    private mutating func search(from start: Int, at place: Int, _ way: [Edge], _ facts: [String: Bool]) {
        for edge in edges[place] where edge.to >= start {
            steps += 1
            // A longer one is reported as too many moves in a row.
            guard steps < Self.maximumSteps, way.count < FlowEngine.maximumHops,
                !way.contains(where: { $0.to == edge.to })
            else { continue }
            guard edge.facts.allSatisfy({ facts[$0.key] ?? $0.value == $0.value }) else { continue }
            let way = way + [edge]
            guard edge.to == start else {
                search(from: start, at: edge.to, way, facts.merging(edge.facts) { $1 })
                continue
            }
            guard let first = way.first(where: \.isAlways) else { continue }
            circles.append(
                Circle(
                    states: [start] + way.dropLast().map(\.to), place: first.transition.place,
                    hasActions: way.contains { !$0.transition.actions.isEmpty }
                        || way.contains { edge in
                            guard let screen = flow.states[edge.to].screen else { return false }
                            return !screen.entry.isEmpty || !screen.exit.isEmpty
                        }))
        }
    }
}

extension FlowDefinition {
    /// What certainly holds, or does not, when a guard holds.
    fileprivate func facts(of guardian: Guard, holds: Bool = true) -> [String: Bool] {
        switch guardian {
        case .shape(let path, let rule): return ["\(path.text) \(rule.document)": holds]
        case .all(let parts) where holds: return facts(of: parts, hold: true)
        case .any(let parts) where !holds: return facts(of: parts, hold: false)
        case .not(let part): return facts(of: part, holds: !holds)
        case .named(let place): return facts(of: guards[place].guard, holds: holds)
        default: return [String(describing: guardian): holds]
        }
    }

    private func facts(of parts: [Guard], hold: Bool) -> [String: Bool] {
        parts.reduce(into: [:]) { facts, part in facts.merge(self.facts(of: part, holds: hold)) { first, _ in first } }
    }
}
