import JSONDocument
import Navigation

/// Checks flows when all are read: the ways through each, and their references to each other.
struct CatalogCheck {
    let catalog: FlowCatalog
    /// The files of all flows by id and version, including flows that are too wrong for the catalog.
    let known: [String: [Int: String]]
    let services: ServiceDirectory
    let span: SessionSpan
    /// For each flow, what its file may mean by a service.
    let uses: [FlowUses]
    let hops: AutomaticRuns
    let moves: AutomaticRuns

    init(catalog: FlowCatalog, known: [String: [Int: String]], services: ServiceDirectory, span: SessionSpan) {
        self.span = span
        self.catalog = catalog
        self.known = known
        self.services = services
        hops = AutomaticRuns(.hops, in: catalog)
        moves = AutomaticRuns(.always, in: catalog)
        uses = services.ownable.isEmpty ? [] : catalog.flows.map(FlowUses.init)
    }

    func problems(of flow: FlowDefinition, in file: ReadFlow) -> [FlowProblem] {
        var check = FlowCheck(file: file.file, flow: flow, all: self)
        // The ways through a flow with errors would only report the same errors in other words.
        let hasErrors = file.problems.contains { $0.severity == .error }
        check.checkGuards()
        let isWhole = !hasErrors && check.problems.isEmpty
        check.checkOwnership()
        check.checkPortability()
        check.checkChildren()
        check.checkMigrations()
        check.checkTimes()
        check.checkTransitions(isWhole: !hasErrors)
        check.checkLives()
        if isWhole {
            check.checkWays()
            check.checkStandingRules()
            check.checkResumes()
            check.checkWaysBack()
            check.checkPushes()
            check.checkFacts()
        }
        return check.problems
    }
}

/// Checks one flow among the others.
struct FlowCheck {
    let file: String
    let flow: FlowDefinition
    let all: CatalogCheck
    var problems: [FlowProblem] = []

    mutating func report(
        _ place: [String], _ code: FlowProblemCode, _ message: String, guess: String? = nil,
        severity: FlowProblem.Severity? = nil
    ) {
        problems.append(
            FlowProblem(
                file: file, pointer: JSONPointer(place).description, code: code, message: message, guess: guess,
                severity: severity))
    }
}

extension FlowCheck {
    /// Checks the ways through the flow: states that are never reached, and states that are never left.
    mutating func checkWays() {
        let ways = FlowWays(flow)
        let reached = ways.reached
        for (place, state) in flow.states.enumerated() where !reached[place] {
            report(
                ["states", state.id], .unreachableState, "nothing leads to the \(state.typeName) \"\(state.id)\"")
        }
        var stuck: Set<Int> = []
        for (place, state) in flow.states.enumerated() where reached[place] {
            guard state.isScreen, let screen = state.screen, ways.hasNoWayOn(place) else { continue }
            stuck.insert(place)
            let mayGoBack = screen.back != .forbidden && place != flow.initial
            report(
                ["states", state.id], .screenWithoutWayOn,
                mayGoBack
                    ? "the screen \"\(state.id)\" has no event but back"
                    : "the screen \"\(state.id)\" has no event",
                severity: mayGoBack ? .warning : .error)
        }
        for place in ways.deadEnds where reached[place] && !stuck.contains(place) {
            report(
                ["states", flow.states[place].id], .deadEnd,
                "from \"\(flow.states[place].id)\" neither an end nor a screen with events can be reached")
        }
    }
}

extension FlowCheck {
    /// Reports `lives` where there is nothing that a session would be kept for: work of somebody outside, or a time.
    mutating func checkLives() {
        guard flow.lives != nil, flow.taskNames.isEmpty, flow.timers.isEmpty, flow.timeout == .none,
            !flow.states.contains(where: { $0.childFlow != nil || $0.screen?.timers.isEmpty == false })
        else { return }
        report(
            ["lives"], .badValue,
            "lives says how long tasks and times outlive the session; this flow has neither")
    }

    mutating func checkMigrations() {
        if flow.inFlight == .migrate, flow.migrations.isEmpty {
            report(["in_flight"], .missingKey, "in_flight is \"migrate\", and there are no migrations")
        }
        for (index, migration) in flow.migrations.enumerated() {
            let place = ["migrations", String(index)]
            guard migration.from < flow.version else {
                report(
                    place + ["from"], .badValue,
                    "from is \(migration.from); expected a version older than \(flow.version)")
                continue
            }
            // Journeys may run on a version whose file is gone; then nothing can be compared.
            guard let old = all.catalog.flow(flow.id, version: migration.from) else { continue }
            for name in migration.states.keys.sorted() where old.place(of: name) == nil {
                report(
                    place + ["states", name], .unknownState, "version \(old.version) has no state \"\(name)\"",
                    guess: NearestName.of(name, among: old.states.prefix(1_000).map(\.id)))
            }
            for state in old.states where state.screen != nil || state.childFlow != nil {
                let name = migration.state(for: state.id)
                let new = flow.state(name)
                if new?.typeName == state.typeName { continue }
                let old = "the \(state.typeName) \"\(state.id)\" of version \(old.version)"
                report(
                    place + ["states"], .migrationGap,
                    new.map {
                        "\(old) would become the \($0.typeName) \"\(name)\"; it can only become another \(state.typeName)"
                    }
                        ?? "\(old) has no counterpart in this version; name one in states")
            }
            checkOutcomes(of: old, migration, at: place)
        }
    }
}

extension FlowCheck {
    /// A worker may have a task of the older version, and reports an outcome of that.
    private mutating func checkOutcomes(of old: FlowDefinition, _ migration: Migration, at place: [String]) {
        let former = Set(old.states.compactMap(\.task).flatMap(\.reportable))
        for name in migration.outcomes.keys.sorted() where !former.contains(name) {
            report(
                place + ["outcomes", name], .unknownOutcome,
                "no task of version \(old.version) has the outcome \"\(name)\"",
                guess: NearestName.of(name, among: former.sorted()))
        }
        for lost in flow.lostOutcomes(of: old, by: migration) {
            report(
                place + ["outcomes"], .migrationGap,
                "the task \"\(lost.state)\" of version \(old.version) may end with \"\(lost.outcome)\", and this version does "
                    + "not know that outcome; name its successor in outcomes")
        }
    }

    /// Reports services that the flow writes, does not own and shares with no other flow: two of its journeys would
    /// overwrite each other's data.
    mutating func checkOwnership() {
        for service in writtenServices where all.services.ownable.contains(service) {
            guard !flow.ownership.services.contains(service),
                !all.uses.contains(where: { $0.flow != flow.id && $0.names.contains(service) })
            else { continue }
            report(
                [], .sharedData,
                "two journeys of the flow overwrite each other's \"\(service)\", which no other flow uses; write "
                    + "\"owns\": [\"\(service)\"] to give each its own")
        }
    }

    /// The services that actions change, each once, in the order of the file's states.
    private var writtenServices: [String] {
        var actions = flow.entry + flow.exit + flow.causedTransitions.flatMap(\.transition.actions)
        for state in flow.states {
            if let screen = state.screen { actions += screen.entry + screen.exit }
            actions += state.causedTransitions.flatMap(\.transition.actions)
        }
        var services: [String] = []
        for action in actions where !services.contains(action.service) { services.append(action.service) }
        return services
    }
}
