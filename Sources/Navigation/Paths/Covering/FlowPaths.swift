import JSONDocument

/// Finds scripts that together take every transition of a flow.
///
/// ```swift
/// let coverage = FlowPaths(definition, in: catalog).coveringScripts(services: documents)
/// print(coverage.json, coverage.curl(base: "http://localhost:8080"))
/// ```
///
/// It plays the flow, with the engine itself: from each situation it has come to, every event that is waited for, with
/// data made from the event's schema, `back`, and waiting until something is due, nearest situations first. So a script that it gives works, and what
/// it does not cover is either not possible or needs data or services that it could not think of.
public struct FlowPaths {
    /// Flows have no more situations that differ in what is possible, and one that counts something has too many.
    private static let maximumSituations = 3000

    private let flow: FlowDefinition
    private let engine: FlowEngine

    /// The paths of one flow; the catalog has its child flows.
    public init(_ flow: FlowDefinition, in catalog: FlowCatalog) {
        self.flow = flow
        engine = FlowEngine(catalog: catalog)
    }

    /// A journey that was come to, and how.
    private struct Situation {
        let journey: Journey
        let services: ScratchServices
        let now: Int64
        /// The situation before; nil for the first.
        let origin: Int?
        /// How many entries of a script lead to it.
        let depth: Int
        let entry: FlowScript.Entry?
        /// The flow's transitions that the step took.
        let taken: [String]
    }

    /// - Parameters:
    ///   - services: as each script finds them.
    ///   - input: what the flow is started with; nil makes some that fits.
    public func coveringScripts(services: any ServiceDocuments, input: JSONDocument? = nil) -> FlowCoverage {
        let transitions = FlowTransitions(flow).all
        var attempts = Attempts()
        let situations = explore(Set(transitions.map(\.place)), services, input, &attempts)
        var uncovered = Set(transitions.map(\.place))
        var scripts: [FlowScript] = []
        let given = flow.input == nil ? nil : situations.first?.journey.coordinators.first?.input
        // Long ways first: they take in passing what others are for. Of equally long ones, that with the simplest data.
        let ends = situations.indices.sorted { situations[$0].depth > situations[$1].depth }
        for last in ends where !uncovered.isDisjoint(with: situations[last].taken) {
            let way = way(to: last, in: situations)
            let taken = way.flatMap { situations[$0].taken }
            scripts.append(
                FlowScript(
                    input: given,
                    entries: way.compactMap { situations[$0].entry },
                    takes: taken.reduce(into: []) { takes, place in
                        if uncovered.remove(place) != nil { takes.append(place) }
                    }))
        }
        let rest = transitions.filter { uncovered.contains($0.place) }
            .map { FlowCoverage.Uncovered(transition: $0.place, reason: attempts.reason(for: $0)) }
        return FlowCoverage(flow: flow.id, version: flow.version, scripts: scripts, uncovered: rest)
    }

    private func way(to last: Int, in situations: [Situation]) -> [Int] {
        sequence(first: last) { situations[$0].origin }.reversed()
    }

    /// All situations, nearest first, until every transition was taken.
    private func explore(
        _ wanted: Set<String>, _ services: any ServiceDocuments, _ input: JSONDocument?, _ attempts: inout Attempts
    ) -> [Situation] {
        var situations: [Situation] = []
        var seen: Set<String> = []
        var missing = wanted
        for input in input.map({ [$0] }) ?? SampleData.samples(of: flow.input) {
            let services = ScratchServices(over: services)
            guard let first = try? begin(input, services) else { continue }
            situations.append(first)
            missing.subtract(first.taken)
            break
        }
        if situations.isEmpty { attempts.startRefused = true }
        var next = 0
        while next < situations.count, !missing.isEmpty, situations.count < Self.maximumSituations {
            for entry in entries(in: situations[next], &attempts) {
                do throws(JourneyRefusal) {
                    let situation = try take(entry, in: situations[next], from: next)
                    let isNew = seen.insert(signature(of: situation)).inserted
                    if isNew || !missing.isDisjoint(with: situation.taken) { situations.append(situation) }
                    missing.subtract(situation.taken)
                } catch {
                    if case .event(let name, _) = entry { attempts.refused[name] = error }
                }
            }
            next += 1
        }
        return situations
    }

    private func begin(_ input: JSONDocument, _ services: ScratchServices) throws(JourneyRefusal) -> Situation {
        var run = StepRun(engine, Journey(id: "paths", flow: flow, now: 0), services, now: 0)
        run.trace = []
        try run.begin(flow, input: input)
        return try situation(&run, services, origin: nil, depth: 0, entry: nil)
    }

    private func take(
        _ entry: FlowScript.Entry, in situation: Situation, from origin: Int
    ) throws(JourneyRefusal) -> Situation {
        var run: StepRun
        switch entry {
        case .event(let name, let data):
            run = StepRun(engine, situation.journey, situation.services, now: situation.now, event: .data(data))
            run.trace = []
            run.journey.movedAt = situation.now
            try run.react(to: name)
        case .wait(let milliseconds):
            let now = situation.now + milliseconds
            run = StepRun(engine, situation.journey, situation.services, now: now)
            run.trace = []
            try run.catchUp(to: now)
        }
        return try self.situation(&run, situation.services, origin: origin, depth: situation.depth + 1, entry: entry)
    }

    private func situation(
        _ run: inout StepRun, _ services: ScratchServices, origin: Int?, depth: Int, entry: FlowScript.Entry?
    ) throws(JourneyRefusal) -> Situation {
        let step = try run.finish()
        var services = services
        services.perform(step.changes)
        let taken = (run.trace ?? []).filter { $0.flow == flow.id && $0.version == flow.version }
        return Situation(
            journey: step.journey, services: services, now: run.now, origin: origin, depth: depth, entry: entry,
            taken: taken.map(\.place))
    }

    private func entries(in situation: Situation, _ attempts: inout Attempts) -> [FlowScript.Entry] {
        guard situation.journey.isActive else { return [] }
        var run = StepRun(engine, situation.journey, situation.services, now: situation.now, event: .unknown)
        guard let reactions = try? run.reactions() else { return [] }
        var entries: [FlowScript.Entry] = []
        for reaction in reactions {
            let samples = SampleData.samples(of: (try? run.shape(of: reaction)) ?? nil)
            if samples.isEmpty { attempts.withoutData.insert(reaction.rule.event) }
            attempts.sent.insert(reaction.rule.event)
            entries += samples.map { .event(reaction.rule.event, data: $0) }
        }
        if let canGoBack = try? run.canGoBack(), canGoBack { entries.append(.event("back", data: .emptyObject)) }
        if let dueAt = situation.journey.dueAt {
            if let top = situation.journey.top { attempts.waited.insert(top.state) }
            entries.append(.wait(milliseconds: dueAt - situation.now))
        }
        return entries
    }

    /// What decides about what is possible: the services, the coordinators, and the ends of the stack.
    private func signature(of situation: Situation) -> String {
        let journey = situation.journey
        let frames = (journey.frames.prefix(1) + journey.frames.suffix(3)).map {
            "\($0.coordinator) \($0.state) \($0.presentation.rawValue) \($0.mark.rawValue)"
        }
        let coordinators = journey.coordinators.map { "\($0.id) \($0.flow) \($0.startedBy ?? "") \($0.input)" }
        let services = situation.services.changed.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        return "\(frames) \(coordinators) \(services)"
    }
}

extension FlowPaths {
    /// What was tried in vain.
    fileprivate struct Attempts {
        var startRefused = false
        var sent: Set<String> = []
        /// On which screens, whichever flow's, time was let pass.
        var waited: Set<String> = []
        var withoutData: Set<String> = []
        var refused: [String: JourneyRefusal] = [:]

        func reason(for transition: FlowTransitions.Entry) -> String {
            if startRefused { return "the flow could not be started with any input that was made" }
            switch transition.cause {
            case .time(let screen):
                return waited.contains(screen)
                    ? "time was let pass where the screen was come to, and its guard did not hold"
                    : "no way that was found leads to the screen"
            case .choice: return "no way that was found leads to the choice and through this branch"
            case .end: return "no way that was found ends the child flow like this"
            case .event(let event):
                if withoutData.contains(event) { return "no data could be made that the schema of \(event) accepts" }
                guard sent.contains(event) else { return "no way that was found leads to the screen" }
                guard let refusal = refused[event], let first = refusal.violations.first else {
                    return "\(event) was sent and another transition was taken, or the screen was not come to"
                }
                return "\(event) was refused: \(first.pointer) \(first.detail)"
            }
        }
    }
}
