import JSONDocument
import Navigation

/// Plays a flow in all ways, those that are new first, until every transition was taken or the steps are used up.
struct FlowExplorer {
    /// The steps of the engine, taken or refused, of all explorations of a flow together: some seconds of one
    /// processor.
    static let mostSteps = 24_000
    /// Each keeps a journey.
    private static let mostSituations = 6_000
    /// They are asked in each situation; a flow of a thousand screens may have as many.
    private static let mostGuards = 200
    /// The service that has the session's user.
    static let userService = "user"
    /// After so many visits of situations that differ only in their data, only the likeliest data is tried.
    private static let usualVisits = 3

    let flow: FlowDefinition
    let now: Int64
    private let catalog: FlowCatalog
    private let services: any ServiceDocuments
    private let directory: ServiceDirectory
    /// The flow and each that it may start, with its guards in their parts, and what each of several transitions needs.
    private let guards: [(flow: FlowDefinition, parts: [Guard], turns: [Guard])]
    private let asksForUser: Bool

    private(set) var situations: [Situation] = []
    /// The first situation of each exploration.
    private(set) var roots: [Int] = []
    private(set) var missing: Set<String>
    private var attempts = Attempts()
    private var stepsLeft = mostSteps
    private var engine: FlowEngine

    /// A journey that was reached, and how.
    struct Situation {
        let journey: Journey
        let services: ScratchServices
        let now: Int64
        /// What the script begins with.
        let start: ScriptStart
        /// The number of the exploration.
        let root: Int
        /// The situation before; nil for the first.
        let origin: Int?
        /// The number of script entries that lead to it.
        let depth: Int
        let entry: FlowScript.Entry?
        /// The flow's transitions that the step took.
        let taken: [String]
    }

    init(
        _ flow: FlowDefinition, _ catalog: FlowCatalog, _ services: any ServiceDocuments, _ directory: ServiceDirectory,
        now: Int64
    ) {
        self.flow = flow
        self.directory = directory
        self.catalog = catalog
        self.services = services
        self.now = now
        engine = FlowEngine(catalog: catalog)
        missing = Set(flow.allTransitions.map(\.transition.place))
        var flows = [flow]
        var next = 0
        while next < flows.count {
            for child in flows[next].states.compactMap(\.childFlow) {
                guard let definition = catalog.flow(child.flow, version: child.version),
                    !flows.contains(where: { $0 === definition })
                else { continue }
                flows.append(definition)
            }
            next += 1
        }
        guards = flows.map { flow in
            (flow, Array(flow.guardParts.prefix(Self.mostGuards)), Array(flow.turns.prefix(Self.mostGuards)))
        }
        asksForUser = flows.contains { FlowUses($0).names.contains(Self.userService) }
    }

    /// Whether it matters when a script begins.
    var dependsOnTime: Bool { guards.contains { $0.flow.dependsOnTime } }

    /// What the flow sees where it begins; nil when it could not be started.
    var look: FlowLook? {
        guard let first = roots.first.map({ situations[$0] }) else { return nil }
        return looks(at: first).first { $0.flow === flow }
    }

    private func looks(at situation: Situation) -> [FlowLook] {
        engine.looks(at: situation.journey, services: situation.services, now: situation.now)
    }

    /// Reaches situations until every transition was taken.
    mutating func explore(from start: ScriptStart, atMost steps: Int) {
        guard !missing.isEmpty, stepsLeft > 0 else { return }
        let limit = max(0, stepsLeft - steps)
        engine = FlowEngine(
            catalog: catalog.trial(ending: start.children.mapValues { (outcome: $0.outcome, output: $0.output) }) { _ in
            })
        guard let first = try? begin(start) else {
            if roots.isEmpty { attempts.startRefused = true }
            return
        }
        attempts.startRefused = false
        roots.append(situations.count)
        missing.subtract(first.taken)
        situations.append(first)
        var seen: Set<String> = []
        // A situation waits in the row of as many visits as there have been of others that are like it.
        var rows: [[Int]] = [[situations.count - 1]]
        var places = [0]
        var visits: [String: Int] = [:]
        while !missing.isEmpty, stepsLeft > limit, situations.count < Self.mostSituations,
            let row = rows.indices.first(where: { places[$0] < rows[$0].count })
        {
            let next = rows[row][places[row]]
            places[row] += 1
            let key = likeness(of: situations[next])
            let count = visits[key, default: 0]
            guard count <= row else {
                while rows.count <= count {
                    rows.append([])
                    places.append(0)
                }
                rows[count].append(next)
                continue
            }
            visits[key] = count + 1
            for entry in entries(in: situations[next], isUsual: count < Self.usualVisits) where stepsLeft > limit {
                stepsLeft -= 1
                do throws(JourneyRefusal) {
                    guard let situation = try take(entry, in: situations[next], from: next) else { continue }
                    let isNew = seen.insert(signature(of: situation)).inserted
                    let takesMissing = !missing.isDisjoint(with: situation.taken)
                    guard isNew || takesMissing else { continue }
                    missing.subtract(situation.taken)
                    situations.append(situation)
                    // What is the user's goes with the user.
                    if case .user(nil) = entry { continue }
                    rows[0].append(situations.count - 1)
                } catch {
                    if case .event(let name, _) = entry { attempts.refused[name] = error }
                }
            }
        }
    }

    private func begin(_ start: ScriptStart) throws(JourneyRefusal) -> Situation {
        var changed = start.services
        if let user = start.user { changed[Self.userService] = Self.document(of: user) }
        let services = ScratchServices(over: services, changed: changed)
        let step = try engine.start(
            flow: flow.id, version: flow.version, id: "paths", input: start.input, services: services, now: now)
        return situation(after: step, services, now: now, start, origin: nil, depth: 0, entry: nil)
    }

    private static func document(of user: JSONDocument?) -> JSONDocument {
        [
            "id": user?[member: "user_id"] ?? .null, "authenticated": JSONDocument(user != nil),
            "claims": user?[member: "claims"] ?? .emptyObject,
        ]
    }

    private func take(
        _ entry: FlowScript.Entry, in situation: Situation, from origin: Int
    ) throws(JourneyRefusal) -> Situation? {
        let journey = situation.journey
        var (services, now) = (situation.services, situation.now)
        let step: Step?
        switch entry {
        case .event(let name, let data), .backendEvent(let name, let data):
            step = try engine.send(
                name, data: data == .emptyObject ? nil : data, to: journey, isFromBackend: true, services: services,
                now: now)
        case .task(_, let outcome, let output):
            step = try engine.endTask(
                journey.task?.number ?? 0, of: journey, outcome: outcome, output: output, services: services, now: now)
        case .wait(let milliseconds):
            now += milliseconds
            step = try engine.advance(journey, services: services, now: now)
        case .user(let name):
            services[Self.userService] = Self.document(of: name.map { ["user_id": JSONDocument($0)] })
            step = try engine.advance(journey, services: services, now: now)
            // Signing in changes the data, whether the journey moves or not.
            if step == nil {
                return Situation(
                    journey: journey, services: services, now: now, start: situation.start, root: situation.root,
                    origin: origin, depth: situation.depth + 1, entry: entry, taken: [])
            }
        }
        return step.map {
            self.situation(
                after: $0, services, now: now, situation.start, origin: origin, depth: situation.depth + 1, entry: entry
            )
        }
    }

    private func situation(
        after step: Step, _ services: ScratchServices, now: Int64, _ start: ScriptStart, origin: Int?, depth: Int,
        entry: FlowScript.Entry?
    ) -> Situation {
        var services = services
        services.perform(step.changes)
        let taken = step.taken.filter { $0.flow == flow.id && $0.version == flow.version }.map(\.place)
        return Situation(
            journey: step.journey, services: services, now: now, start: start,
            root: origin.map { situations[$0].root } ?? roots.count, origin: origin, depth: depth, entry: entry,
            taken: taken)
    }
}

extension FlowExplorer {
    /// What may be done in a situation.
    ///
    /// - Parameter isUsual: whether all data is tried, or only the likeliest.
    private mutating func entries(in situation: Situation, isUsual: Bool) -> [FlowScript.Entry] {
        let reactions = try? engine.reactions(
            of: situation.journey, isFromBackend: true, services: situation.services, now: situation.now)
        guard situation.journey.isActive, let reactions else { return [] }
        let looks = looks(at: situation)
        let aims = looks.first.map { wishes(by: $0) } ?? []
        var entries: [FlowScript.Entry] = []
        for reaction in reactions.rules {
            let samples = samples(for: reaction, looks, aims, now: situation.now)
            if samples.isEmpty { attempts.withoutData.insert(reaction.rule.event) }
            attempts.sent.insert(reaction.rule.event)
            entries += samples.prefix(isUsual ? samples.count : 4).map { data in
                reaction.rule.isBackend
                    ? .backendEvent(reaction.rule.event, data: data) : .event(reaction.rule.event, data: data)
            }
        }
        if let task = engine.taskState(of: situation.journey) {
            let others = task.ends.contains { $0.outcome == nil } && task.declared == nil ? ["other"] : []
            for outcome in Set(task.outcomes + task.reportable + others).sorted() where outcome != TaskState.timeout {
                var made: [JSONDocument] = [.null]
                if outcome != TaskState.failed {
                    made = outputs(
                        task.declared?[outcome], task.transitions(after: outcome) ?? [], looks, aims, now: situation.now
                    )
                }
                entries += made.map { FlowScript.Entry.task(task.task, outcome: outcome, output: $0) }
            }
        }
        if reactions.canGoBack {
            entries.append(.event(EventRule.back, data: .emptyObject))
            if let shape = reactions.shapeOfBack {
                entries += SampleData.samples(of: shape, now: situation.now).map { .event(EventRule.back, data: $0) }
            }
            attempts.sent.insert(EventRule.back)
        }
        if let dueAt = situation.journey.dueAt {
            if let top = situation.journey.top { attempts.waited.insert(top.state) }
            // A moment that has passed is due at once.
            entries.append(.wait(milliseconds: max(1, dueAt - situation.now)))
        }
        if asksForUser, let isIn = situation.services[Self.userService]?[member: "authenticated"]?.bool {
            if !isIn { entries.append(.user("ada")) }
            // Any other journey ends when its user signs out.
            if isIn, flow.ownership.isBoundToSession { entries.append(.user(nil)) }
        }
        return entries
    }

    /// Wishes about services: for each part of a guard to hold, and not to hold, and for each of several transitions to
    /// be taken.
    private func wishes(by look: FlowLook) -> [[Wish]] {
        let all = guards.flatMap { flow, parts, turns -> [[Wish]] in
            let finder = WishFinder(flow, look.value)
            return turns.flatMap { finder.ways(to: $0) }
                + parts.flatMap { finder.ways(to: $0) + finder.ways(to: $0, holds: false) }
        }
        return all.map { $0.filter(\.root.isService) }.filter { !$0.isEmpty }
    }

    private func samples(
        for reaction: Reaction, _ looks: [FlowLook], _ aims: [[Wish]], now: Int64
    ) -> [JSONDocument] {
        func finder(_ coordinator: Int) -> WishFinder? {
            looks.first { $0.coordinator == coordinator }.map { WishFinder($0) }
        }
        let rules = finder(reaction.rulesOf)?.ways(to: .all(reaction.rules.map(\.guard))) ?? [[]]
        let transitions = reaction.rule.transitions
        var wishes: [[Wish]] = []
        var before: [Guard] = []
        for transition in transitions {
            let wanted = before + [transition.guard].compactMap(\.self)
            wishes += finder(reaction.coordinator)?.ways(to: .all(wanted)) ?? []
            guard let guardian = transition.guard else { continue }
            if !before.isEmpty { wishes += finder(reaction.coordinator)?.ways(to: guardian) ?? [] }
            before.append(.not(guardian))
        }
        let writes = DataWrites(transitions.flatMap(\.actions))
        if !writes.isEmpty { wishes += aims.compactMap { writes.translated($0) } }
        let all = ([[]] + wishes).flatMap { wish in rules.prefix(2).map { $0 + wish } }
        let samples = SampleData.samples(
            of: reaction.shape, like: writes.schema(of: .event, in: directory), wishes: Self.about(.event, all),
            each: reaction.rules.isEmpty ? 1 : 6, now: now)
        let flow = looks.first { $0.coordinator == reaction.coordinator }?.flow
        return reaction.shape == nil ? samples + Self.needed(by: transitions, of: .event, in: flow) : samples
    }

    private func outputs(
        _ shape: ShapeRule?, _ transitions: [Transition], _ looks: [FlowLook], _ aims: [[Wish]], now: Int64
    ) -> [JSONDocument] {
        let writes = DataWrites(transitions.flatMap(\.actions))
        var wishes = writes.isEmpty ? [] : aims.compactMap { writes.translated($0) }
        if let finder = looks.first.map({ WishFinder($0) }) {
            wishes += transitions.compactMap(\.guard).flatMap {
                finder.ways(to: $0) + finder.ways(to: $0, holds: false)
            }
        }
        return outputs(of: shape, for: transitions, wishes, now: now)
    }

    /// What a task or a child flow may return.
    func outputs(
        of shape: ShapeRule?, for transitions: [Transition], _ wishes: [[Wish]], now: Int64
    ) -> [JSONDocument] {
        let like = DataWrites(transitions.flatMap(\.actions)).schema(of: .output, in: directory)
        let samples = SampleData.samples(of: shape, like: like, wishes: Self.about(.output, wishes), now: now)
        if shape != nil { return samples }
        // Without a schema it may also be nothing.
        return (like == nil ? [.null] + samples.dropFirst() : samples + [.null])
            + Self.needed(by: transitions, of: .output)
    }

    private static func about(_ root: DataPath.Root, _ wishes: [[Wish]]) -> [[Wish]] {
        wishes.map { $0.filter { $0.root == root } }.filter { !$0.isEmpty }
    }

    /// Data with the members that actions, params, tasks and child flows need, where no schema describes it.
    private static func needed(
        by transitions: [Transition], of root: DataPath.Root, in flow: FlowDefinition? = nil
    ) -> [JSONDocument] {
        let states = flow.map { flow in transitions.compactMap(\.target).map { flow.states[$0] } } ?? []
        let templates = transitions.compactMap(\.params) + states.compactMap { $0.task?.input ?? $0.childFlow?.input }
        let all = transitions.flatMap(\.actions).flatMap(\.neededPaths) + templates.flatMap(\.neededPaths)
        let paths = all.filter { $0.root == root && !$0.pointer.tokens.isEmpty }
        guard !paths.isEmpty else { return [] }
        return ["x", 1, true, .emptyObject, []].flatMap { value in
            SampleData.samples(
                of: nil, wishes: [paths.map { Wish(root: root, tokens: $0.pointer.tokens, wanted: .value(value)) }]
            ).dropFirst()
        }
    }

    /// What of a situation decides which transitions are possible: the coordinators, both ends of the stack, the data.
    private func signature(of situation: Situation) -> String {
        let services = situation.services.changed.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        let owned = situation.journey.owned.map { "\($0.coordinator) \($0.name) \($0.document)" }
        return "\(position(of: situation.journey)) \(services) \(owned) \(situation.journey.timers?.summary ?? "")"
    }

    /// The same with what guards say of the data instead of the data.
    private func likeness(of situation: Situation) -> String {
        let verdicts = looks(at: situation).map { look -> String in
            let parts = guards.first { $0.flow === look.flow }?.parts ?? []
            return parts.map { look.holds($0).map { $0 ? "1" : "0" } ?? "-" }.joined()
        }
        return "\(position(of: situation.journey)) \(verdicts)"
    }

    private func position(of journey: Journey) -> String {
        let frames = (journey.frames.prefix(1) + journey.frames.suffix(3)).map {
            "\($0.coordinator) \($0.state) \($0.presentation.rawValue) \($0.mark.rawValue)"
        }
        let coordinators = journey.coordinators.map { "\($0.id) \($0.flow) \($0.startedBy ?? "") \($0.input)" }
        return "\(frames) \(coordinators)"
    }
}

extension FlowExplorer {
    /// The attempts that failed.
    private struct Attempts {
        var startRefused = false
        var sent: Set<String> = []
        /// The screens, of any flow, on which a timeout was awaited.
        var waited: Set<String> = []
        var withoutData: Set<String> = []
        var refused: [String: JourneyRefusal] = [:]
    }

    /// Why a transition was not taken.
    func reason(for transition: CausedTransition) -> String {
        if attempts.startRefused { return "the flow could not be started with any input that was tried" }
        switch transition.cause {
        case .timer(let timer, let screen):
            guard screen.map({ attempts.waited.contains($0) }) ?? !attempts.waited.isEmpty else {
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
            if attempts.withoutData.contains(event) { return "no data was found that the schema of \(event) accepts" }
            guard attempts.sent.contains(event) else { return "no way to the screen was found" }
            guard let refusal = attempts.refused[event], let first = refusal.violations.first else {
                return "\(event) was sent and took another transition, or its screen was not reached"
            }
            return "\(event) was refused: \(first.pointer) \(first.detail)"
        }
    }
}
