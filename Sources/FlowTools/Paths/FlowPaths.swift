import JSONDocument
import Navigation

/// Finds scripts that together take every transition of a flow.
///
/// ```swift
/// let coverage = FlowPaths(definition, in: catalog).coveringScripts(services: documents)
/// print(coverage.json, coverage.curl(base: "http://localhost:8080"))
/// ```
///
/// It plays the flow with the engine itself. In each situation that it has reached, nearest first, it tries every event
/// that is accepted, with data made from the event's schema, and `back`, and waiting until something is due. So every
/// script works. A transition that no script covers is impossible, or needs data or services that could not be made up.
public struct FlowPaths {
    /// Usual flows have fewer situations that differ in what is possible; a flow that counts something has no end of
    /// them.
    private static let maximumSituations = 3000

    private let flow: FlowDefinition
    private let engine: FlowEngine

    /// - Parameter catalog: has the flow and its children.
    public init(_ flow: FlowDefinition, in catalog: FlowCatalog) {
        self.flow = flow
        // The scripts are for this version, so journeys must not move on to a newer one.
        engine = FlowEngine(catalog: FlowCatalog(catalog.flows.filter { $0.id != flow.id || $0 === flow }))
    }

    /// A journey that was reached, and how.
    private struct Situation {
        let journey: Journey
        let services: ScratchServices
        let now: Int64
        /// The situation before; nil for the first.
        let origin: Int?
        /// The number of script entries that lead to it.
        let depth: Int
        let entry: FlowScript.Entry?
        /// The flow's transitions that the step took.
        let taken: [String]
    }

    /// Scripts that together take every transition of the flow that can be taken.
    ///
    /// - Parameters:
    ///   - services: the services at the start of each script.
    ///   - input: the input of the flow; nil makes one that fits.
    public func coveringScripts(services: any ServiceDocuments, input: JSONDocument? = nil) -> FlowCoverage {
        let transitions = flow.allTransitions
        let places = Set(transitions.map(\.transition.place))
        var attempts = Attempts()
        let situations = explore(places, services, input, &attempts)
        var uncovered = places
        var scripts: [FlowScript] = []
        let given = flow.input == nil ? nil : situations.first?.journey.coordinators.first?.input
        // Long ways first: they also take what shorter ones are for. Of equally long ones, the one with the simplest
        // data.
        let ends = situations.indices.sorted { situations[$0].depth > situations[$1].depth }
        for last in ends where !uncovered.isDisjoint(with: situations[last].taken) {
            let way = sequence(first: last) { situations[$0].origin }.reversed()
            let taken = way.flatMap { situations[$0].taken }
            scripts.append(
                FlowScript(
                    input: given,
                    entries: way.compactMap { situations[$0].entry },
                    takes: taken.reduce(into: []) { takes, place in
                        if uncovered.remove(place) != nil { takes.append(place) }
                    }))
        }
        let rest = transitions.filter { uncovered.contains($0.transition.place) }
            .map { FlowCoverage.Uncovered(transition: $0.transition.place, reason: attempts.reason(for: $0)) }
        return FlowCoverage(flow: flow.id, version: flow.version, scripts: scripts, uncovered: rest)
    }

    /// Reaches situations, nearest first, until every transition was taken.
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
                    guard let situation = try take(entry, in: situations[next], from: next) else { continue }
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
        let step = try engine.start(
            flow: flow.id, version: flow.version, id: "paths", input: input, services: services, now: 0)
        return situation(after: step, services, now: 0, origin: nil, depth: 0, entry: nil)
    }

    private func take(
        _ entry: FlowScript.Entry, in situation: Situation, from origin: Int
    ) throws(JourneyRefusal) -> Situation? {
        let (journey, services) = (situation.journey, situation.services)
        var now = situation.now
        let step: Step?
        switch entry {
        case .event(let name, let data), .backendEvent(let name, let data):
            step = try engine.send(
                name, data: data == .emptyObject ? nil : data, to: journey, isFromBackend: true, services: services,
                now: now)
        case .task(_, let outcome):
            step = try engine.endTask(
                journey.task?.number ?? 0, of: journey, outcome: outcome, services: services, now: now)
        case .wait(let milliseconds):
            now += milliseconds
            step = try engine.advance(journey, services: services, now: now)
        }
        return step.map {
            self.situation(
                after: $0, services, now: now, origin: origin, depth: situation.depth + 1, entry: entry)
        }
    }

    private func situation(
        after step: Step, _ services: ScratchServices, now: Int64, origin: Int?, depth: Int, entry: FlowScript.Entry?
    ) -> Situation {
        var services = services
        services.perform(step.changes)
        let taken = step.taken.filter { $0.flow == flow.id && $0.version == flow.version }.map(\.place)
        return Situation(
            journey: step.journey, services: services, now: now, origin: origin, depth: depth, entry: entry,
            taken: taken)
    }

    private func entries(in situation: Situation, _ attempts: inout Attempts) -> [FlowScript.Entry] {
        let reactions = try? engine.reactions(
            of: situation.journey, isFromBackend: true, services: situation.services, now: situation.now)
        guard situation.journey.isActive, let reactions else { return [] }
        var entries: [FlowScript.Entry] = []
        for reaction in reactions.rules {
            let samples = SampleData.samples(of: reaction.shape)
            if samples.isEmpty { attempts.withoutData.insert(reaction.rule.event) }
            attempts.sent.insert(reaction.rule.event)
            entries += samples.map { data in
                reaction.rule.isBackend
                    ? .backendEvent(reaction.rule.event, data: data) : .event(reaction.rule.event, data: data)
            }
        }
        if let task = engine.taskState(of: situation.journey) {
            let others = task.ends.contains { $0.outcome == nil } ? ["other"] : []
            entries += (task.outcomes + others).filter { $0 != TaskState.timeout }.map {
                .task(task.task, outcome: $0)
            }
        }
        if reactions.canGoBack {
            entries.append(.event(EventRule.back, data: .emptyObject))
            if let shape = reactions.shapeOfBack {
                entries += SampleData.samples(of: shape).map { .event(EventRule.back, data: $0) }
            }
            attempts.sent.insert(EventRule.back)
        }
        if let dueAt = situation.journey.dueAt {
            if let top = situation.journey.top { attempts.waited.insert(top.state) }
            // A moment that has passed is due at once.
            entries.append(.wait(milliseconds: max(1, dueAt - situation.now)))
        }
        return entries
    }

    /// What decides which transitions are possible: the services, the coordinators, and both ends of the stack.
    private func signature(of situation: Situation) -> String {
        let journey = situation.journey
        let frames = (journey.frames.prefix(1) + journey.frames.suffix(3)).map {
            "\($0.coordinator) \($0.state) \($0.presentation.rawValue) \($0.mark.rawValue)"
        }
        let coordinators = journey.coordinators.map { "\($0.id) \($0.flow) \($0.startedBy ?? "") \($0.input)" }
        let services = situation.services.changed.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        let owned = journey.owned.map { "\($0.coordinator) \($0.name) \($0.document)" }
        return "\(frames) \(coordinators) \(services) \(owned) \(journey.timers?.summary ?? "")"
    }
}

extension FlowPaths {
    /// The attempts that failed.
    fileprivate struct Attempts {
        var startRefused = false
        var sent: Set<String> = []
        /// The screens, of any flow, on which a timeout was awaited.
        var waited: Set<String> = []
        var withoutData: Set<String> = []
        var refused: [String: JourneyRefusal] = [:]

        func reason(for transition: CausedTransition) -> String {
            if startRefused { return "the flow could not be started with any input that was tried" }
            switch transition.cause {
            case .timer(let timer, let screen):
                guard screen.map({ waited.contains($0) }) ?? !waited.isEmpty else {
                    return timer.at == nil
                        ? "no way to the screen was found" : "no way was found on which its time was known"
                }
                if timer.isTimeout { return "the timeout passed on the screen, and its guard did not hold" }
                return "its time came, and it was refused"
            case .choice: return "no way to the choice and through this branch was found"
            case .end: return "no way to this end of the child flow or task was found"
            case .closed: return "its screen was never closed by a step"
            case .always: return "its guard never held after a step"
            case .event(let event):
                if withoutData.contains(event) { return "no data was found that the schema of \(event) accepts" }
                guard sent.contains(event) else { return "no way to the screen was found" }
                guard let refusal = refused[event], let first = refusal.violations.first else {
                    return "\(event) was sent and took another transition, or its screen was not reached"
                }
                return "\(event) was refused: \(first.pointer) \(first.detail)"
            }
        }
    }
}
