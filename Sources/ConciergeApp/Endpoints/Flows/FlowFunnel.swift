import Navigation
import Sessions

/// How many journeys have taken each transition of a flow, between the states where a journey can stand: a choice is
/// passed, and a child flow is the state that runs it.
struct FlowFunnel {
    struct Transition: Hashable {
        let from: String
        let to: String
    }

    struct Count: Equatable {
        /// Those of every version.
        var all = 0
        /// Those of each version that was asked for, as far as there are some.
        var versions: [Int: Int] = [:]
        /// Those of today in the versions that were asked for.
        var today = 0
    }

    static let (start, finished) = ("(start)", "(finished)")

    /// Those where a journey can stand, in the order in which they can be reached, the newest version first.
    private(set) var states: [FlowState] = []
    /// Those of the files first, from state to state, taken or not; then what else was taken: back, by navigation, by
    /// the flow's own events.
    private(set) var transitions: [Transition] = []
    private(set) var counts: [Transition: Count] = [:]
    private var known: Set<String> = []
    /// For each state that runs a child flow, the flows that can run below it.
    private var below: [(state: String, flows: Set<String>)] = []

    /// - Parameters:
    ///   - version: nil for all that are loaded.
    ///   - counted: all ways that were counted.
    init(
        of id: String, version: Int?, in catalog: FlowCatalog, counted: [(way: JourneyWay, all: Int, today: Int)]
    ) {
        for flow in catalog.versions(of: id).reversed() where version.map({ $0 == flow.version }) ?? true {
            add(flow, catalog)
        }
        let taken = counted.compactMap { counted in
            transition(counted.way, of: id).map {
                (transition: $0, version: $1, all: counted.all, today: counted.today)
            }
        }
        func isWanted(_ taken: Int) -> Bool { version.map { $0 == taken } ?? true }
        let others = taken.filter { isWanted($0.version) }.map(\.transition)
        for transition in others.sorted(by: { ($0.from, $0.to) < ($1.from, $1.to) }) { add(transition) }
        for (transition, version, all, today) in taken where counts[transition] != nil {
            counts[transition]?.all += all
            guard isWanted(version) else { continue }
            counts[transition]?.versions[version, default: 0] += all
            counts[transition]?.today += today
        }
    }

    private mutating func add(_ transition: Transition) {
        guard counts[transition] == nil else { return }
        counts[transition] = Count()
        transitions.append(transition)
    }

    private mutating func add(_ flow: FlowDefinition, _ catalog: FlowCatalog) {
        for target in Self.stands([flow.initial], in: flow) { add(Transition(from: Self.start, to: target)) }
        for state in Self.reached(in: flow).map({ flow.states[$0] }) {
            switch state.kind {
            case .choice, .final: continue
            case .screen, .task, .flow: break
            }
            if known.insert(state.id).inserted { states.append(state) }
            if let child = state.childFlow {
                below.append((state.id, Self.flows(below: child.flow, in: catalog)))
            }
            for target in Self.stands(Self.targets(of: state), in: flow) {
                add(Transition(from: state.id, to: target))
            }
        }
    }

    private static func targets(of state: FlowState) -> [Int] {
        let targets = state.causedTransitions.compactMap(\.transition.target)
        if case .target(let target) = state.screen?.back { return targets + [target] }
        return targets
    }

    /// All places of a flow, breadth first.
    private static func reached(in flow: FlowDefinition) -> [Int] {
        var (order, seen, next) = ([flow.initial], Set([flow.initial]), 0)
        while next < order.count {
            order += targets(of: flow.states[order[next]]).filter { seen.insert($0).inserted }
            next += 1
        }
        return order + flow.states.indices.filter { !seen.contains($0) }
    }

    /// Where a journey stands after it has gone to these places.
    private static func stands(_ targets: [Int], in flow: FlowDefinition) -> [String] {
        var (open, seen, stands) = (Array(targets.reversed()), Set<Int>(), [String]())
        while let place = open.popLast() {
            guard seen.insert(place).inserted else { continue }
            let state = flow.states[place]
            switch state.kind {
            case .choice: open += Self.targets(of: state).reversed()
            case .final: stands.append(finished)
            case .screen, .task, .flow: stands.append(state.id)
            }
        }
        return stands
    }

    private static func flows(below id: String, in catalog: FlowCatalog) -> Set<String> {
        var (open, seen) = ([id], Set<String>())
        while let id = open.popLast() {
            guard seen.insert(id).inserted else { continue }
            open += catalog.versions(of: id).flatMap(\.states).compactMap(\.childFlow?.flow)
        }
        return seen
    }

    /// What a way is for the flow, and in which version; nil when it is a way of other flows.
    private func transition(_ way: JourneyWay, of id: String) -> (Transition, version: Int)? {
        if let left = way.left, left.flow == id {
            let to: String
            if let entered = way.entered {
                // The end of a child flow leads to its parent.
                to =
                    entered.flow == id
                    ? entered.state
                    : host(of: entered.flow) { Transition(from: left.state, to: $0) } ?? Self.finished
            } else {
                to = way.to
            }
            return (Transition(from: left.state, to: to), left.version)
        }
        guard let entered = way.entered, entered.flow == id else { return nil }
        let from = way.left.flatMap { left in host(of: left.flow) { Transition(from: $0, to: entered.state) } }
        return (Transition(from: from ?? Self.start, to: entered.state), entered.version)
    }

    /// The state below which a flow runs. Where several come into question, one that has the transition.
    private func host(of flow: String, _ transition: (String) -> Transition) -> String? {
        let states = below.filter { $0.flows.contains(flow) }.map(\.state)
        return states.first { counts[transition($0)] != nil } ?? states.first
    }
}
