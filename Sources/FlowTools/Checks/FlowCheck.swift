import JSONDocument
import Navigation

/// Checks flows when all are read: the ways through each, and their references to each other.
struct CatalogCheck {
    let catalog: FlowCatalog
    /// The files of all flows by id and version, including flows that are too wrong for the catalog.
    let known: [String: [Int: String]]
    let services: ServiceDirectory
    private let uses: [FlowUses]
    private let hops: AutomaticRuns
    private let moves: AutomaticRuns

    init(catalog: FlowCatalog, known: [String: [Int: String]], services: ServiceDirectory) {
        self.catalog = catalog
        self.known = known
        self.services = services
        hops = AutomaticRuns(.hops, in: catalog)
        moves = AutomaticRuns(.always, in: catalog)
        uses = services.ownable.isEmpty ? [] : catalog.flows.map(FlowUses.init)
    }

    func problems(of loaded: LoadedFlow) -> [FlowProblem] {
        var check = FlowCheck(
            file: loaded.file, flow: loaded.flow, catalog: catalog, known: known, services: services)
        check.checkOwnership(uses)
        check.checkChildren()
        check.checkMigrations()
        check.checkTransitions(isWhole: loaded.isWhole)
        // The ways through a flow with errors would only report the same errors in other words.
        if loaded.isWhole {
            check.checkWays()
            check.checkStandingRules(hops, moves)
            check.checkWaysBack()
        }
        return check.problems
    }
}

/// Checks one flow among the others.
struct FlowCheck {
    let file: String
    let flow: FlowDefinition
    let catalog: FlowCatalog
    let known: [String: [Int: String]]
    let services: ServiceDirectory
    private(set) var problems: [FlowProblem] = []

    init(
        file: String, flow: FlowDefinition, catalog: FlowCatalog, known: [String: [Int: String]],
        services: ServiceDirectory
    ) {
        self.services = services
        self.file = file
        self.flow = flow
        self.catalog = catalog
        self.known = known
    }

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
    /// Checks the ways through the flow: states that are never reached, states that are never left, endless circles.
    mutating func checkWays() {
        let ways = FlowWays(flow)
        let reached = ways.reached
        for (place, state) in flow.states.enumerated() where !reached[place] {
            report(
                ["states", state.id], .unreachableState, "nothing leads to the \(state.typeName) \"\(state.id)\"")
        }
        for place in ways.choiceCircles {
            report(
                ["states", flow.states[place].id], .endlessChoice,
                "the choice \"\(flow.states[place].id)\" may lead back to itself without a screen")
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
            guard let old = catalog.flow(flow.id, version: migration.from) else { continue }
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
        }
    }
}
