import Navigation

/// How many moves without an event may follow each other, through the flows that a flow starts, and back.
///
/// Every guard is taken as one that may hold. A circle counts once: circles are reported as such.
final class AutomaticRuns {
    /// What is counted, with a limit of its own in the engine.
    enum Kind {
        /// Within one move: the choices, flows that start and end, and the screen at last.
        case hops
        /// The moves of `always`.
        case always
    }

    /// A run that is longer than a step takes.
    struct TooLong {
        /// Where it begins to be too long: the pointer of a state, or of the transition at the end of a child flow.
        let pointer: [String]
        let subject: String
    }

    /// How a state leads back to itself without a screen between.
    enum Circle {
        /// Through choices alone.
        case choices
        /// By starting flows, of these names, the last of which is that of the state.
        case starts([String])
        /// When its child flow has ended.
        case again(hasActions: Bool)
    }

    /// What may follow when a state is reached.
    private struct Run {
        /// The most until the journey rests.
        var rest = 0
        /// The most until the flow has ended, by outcome.
        var ends: [String: Int] = [:]
        /// Whether a part of it is too long already.
        var isTooLong = false

        var longest: Int { max(rest, ends.values.max() ?? 0) }

        mutating func include(_ next: Run, after length: Int) {
            rest = max(rest, length + next.rest)
            for (outcome, more) in next.ends { ends[outcome] = max(ends[outcome] ?? 0, length + more) }
            isTooLong = isTooLong || next.isTooLong
        }
    }

    private struct Place: Hashable {
        let flow: ObjectIdentifier
        let state: Int
    }

    /// What is longer is too long, or counts nothing on the way.
    private static let deepest = 4 * FlowEngine.maximumHops

    private let kind: Kind
    private let catalog: FlowCatalog
    private var known: [Place: Run] = [:]
    /// The states whose runs are being measured, and whether each was reached by starting its flow.
    private var open: [(place: Place, isStart: Bool)] = []
    private var tails: [ObjectIdentifier: [String: Int]] = [:]
    private var circles: [Place: Circle] = [:]

    init(_ kind: Kind, in catalog: FlowCatalog) {
        self.kind = kind
        self.catalog = catalog
    }

    /// The runs that are too long, each where it begins to be.
    func tooLong(in flow: FlowDefinition) -> [TooLong] {
        var found: [TooLong] = []
        for (place, state) in flow.states.enumerated() {
            let run = run(from: place, in: flow)
            if run.longest > FlowEngine.maximumHops {
                found.append(TooLong(pointer: ["states", state.id], subject: "from \"\(state.id)\" on"))
            }
            guard run.longest <= FlowEngine.maximumHops, !run.isTooLong, let child = state.childFlow,
                let definition = catalog.flow(child.flow, version: child.version)
            else { continue }
            for (outcome, length) in tails(of: definition).sorted(by: { $0.key < $1.key }) {
                let isTooLong = child.transitions(after: outcome, byFinal: true).compactMap(\.target).contains {
                    let next = self.run(from: $0, in: flow)
                    return !next.isTooLong && length + next.longest > FlowEngine.maximumHops
                }
                guard isTooLong else { continue }
                found.append(
                    TooLong(
                        pointer: ["states", state.id, "on"], subject: "when \(child.flow) ends with \"\(outcome)\""))
            }
        }
        return found
    }

    /// The states that lead back to themselves.
    func circles(in flow: FlowDefinition) -> [(state: Int, circle: Circle)] {
        for state in flow.states.indices { _ = run(from: state, in: flow) }
        return flow.states.indices.compactMap { state in
            circles[Place(flow: ObjectIdentifier(flow), state: state)].map { (state, $0) }
        }
    }

    /// Whether actions run where a child flow is left and entered again.
    private func hasActions(_ child: ChildFlow) -> Bool {
        let definition = catalog.flow(child.flow, version: child.version)
        let choices = (definition?.states ?? []).filter { if case .choice = $0.kind { true } else { false } }
        let transitions =
            child.ends.flatMap(\.transitions) + choices.flatMap(\.causedTransitions).map(\.transition)
        let actions = [definition?.entry, definition?.exit] + transitions.map(\.actions)
        return actions.contains { $0?.isEmpty == false }
    }

    /// - Returns: a run whose part is too long has no length, so that only that part is reported.
    private func run(from state: Int, in flow: FlowDefinition, isStart: Bool = false) -> Run {
        let place = Place(flow: ObjectIdentifier(flow), state: state)
        if let run = known[place] { return run }
        if let start = open.firstIndex(where: { $0.place == place }) {
            let entries = open[(start + 1)...].map(\.isStart) + [isStart]
            noteCircle(zip(open[start...], entries).map { (place: $0.place, starts: $1) })
            return Run()
        }
        guard open.count < Self.deepest else { return Run() }
        open.append((place, isStart))
        var run = measured(from: state, in: flow)
        open.removeLast()
        if run.isTooLong { run = Run(isTooLong: true) }
        // Reported here, so not again by those that lead here.
        if run.longest > FlowEngine.maximumHops { run.isTooLong = true }
        known[place] = run
        return run
    }

    private func measured(from state: Int, in flow: FlowDefinition) -> Run {
        let hop = kind == .hops ? 1 : 0
        var run = Run()
        switch flow.states[state].kind {
        case .screen, .task:
            run.rest = hop
            include(flow.states[state].screen?.always ?? [], of: flow, in: &run)
        case .choice(let branches):
            for target in branches.compactMap(\.target) { run.include(self.run(from: target, in: flow), after: hop) }
        case .final(let ending): run.ends[ending.outcome] = hop
        case .flow(let child):
            guard let definition = catalog.flow(child.flow, version: child.version) else { return run }
            let inner = self.run(from: definition.initial, in: definition, isStart: true)
            run.isTooLong = inner.isTooLong
            run.rest = hop + inner.rest
            for (outcome, length) in inner.ends {
                run.rest = max(run.rest, hop + length)
                for target in child.transitions(after: outcome, byFinal: true).compactMap(\.target) {
                    run.include(self.run(from: target, in: flow), after: hop + length)
                }
            }
            include([], of: flow, in: &run)
        }
        return run
    }

    /// Adds what `always` of a screen, and of its flow, leads to.
    private func include(_ own: [Transition], of flow: FlowDefinition, in run: inout Run) {
        guard kind == .always else { return }
        for target in (own + flow.always).compactMap(\.target) {
            run.include(self.run(from: target, in: flow), after: 1)
        }
    }

    /// The most that may come before a flow ends, wherever in it a move begins.
    private func tails(of flow: FlowDefinition) -> [String: Int] {
        let key = ObjectIdentifier(flow)
        if let known = tails[key] { return known }
        // Flows that start each other.
        tails[key] = [:]
        var run = Run()
        for (place, state) in flow.states.enumerated() {
            run.include(self.run(from: place, in: flow), after: 0)
            guard let child = state.childFlow, let definition = catalog.flow(child.flow, version: child.version) else {
                continue
            }
            for (outcome, length) in tails(of: definition) {
                for target in child.transitions(after: outcome, byFinal: true).compactMap(\.target) {
                    run.include(self.run(from: target, in: flow), after: length)
                }
            }
        }
        tails[key] = run.ends
        return run.ends
    }

    /// - Parameter circle: its places, and whether the next one is the beginning of the flow that it starts.
    private func noteCircle(_ circle: [(place: Place, starts: Bool)]) {
        guard kind == .hops else { return }
        func flow(_ index: Int) -> FlowDefinition? {
            catalog.flows.first { ObjectIdentifier($0) == circle[index % circle.count].place.flow }
        }
        for (index, (place, starts)) in circle.enumerated() where starts {
            let started = (index..<(index + circle.count)).filter { circle[$0 % circle.count].starts }
            circles[place] = .starts(([index] + started.map { $0 + 1 }).compactMap { flow($0)?.id })
        }
        guard !circle.contains(where: \.starts) else { return }
        for (index, (place, _)) in circle.enumerated() {
            guard let child = flow(index)?.states[place.state].childFlow else { continue }
            if circles[place] == nil { circles[place] = .again(hasActions: hasActions(child)) }
            return
        }
        for (place, _) in circle { circles[place] = .choices }
    }
}
