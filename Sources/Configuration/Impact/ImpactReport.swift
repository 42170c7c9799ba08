import JSONDocument
import Navigation
import Sessions

/// The report of `concierge check --against`, and of a reload: which journeys of a running server would change or be
/// lost.
package struct ImpactReport {
    /// One line for each state that does not stay as it is.
    package let lines: [String]
    package let summary: String
    package let losesJourneys: Bool

    /// - Parameter orphans: what is done with journeys whose version or state is gone.
    package init(_ impact: JourneyImpact, _ trial: TriedFlows, orphans: FlowEngine.OrphanPolicy) {
        let states = impact.rows.compactMap { row, fate in
            Self.sentence(fate, orphans).map { sentence in
                "\(row.flow) \(row.version), \(row.state): \(String(counting: row.inUse, "journey")) \(sentence)"
            }
        }
        let restarted = orphans == .restart
        let counted = Set(impact.rows.filter(\.fate.isLoss).map { "\($0.row.flow) \($0.row.version)" })
        let changed = trial.losses.filter { $0.detail == nil && !counted.contains("\($0.flow) \($0.version)") }.map {
            "\($0.flow) \($0.version): \(String(counting: $0.count, "journey")) would be lost: what they stand on is no longer "
                + "a screen, a task or a child flow as it was\(Self.end(orphans))"
        }
        let stuck = trial.losses.compactMap { loss in
            loss.detail.map {
                "\(loss.flow) \(loss.version): \(String(counting: loss.count, "journey")) would be stuck: \($0)"
            }
        }
        lines = states + changed + stuck
        // What starts over is not lost.
        let lost = trial.losses.filter { !restarted || $0.detail != nil }.map(\.count).reduce(0, +)
        summary =
            "\(String(counting: trial.running, "journey")) running, \(trial.staying) on screens that stay as they are"
            + (lost > 0 ? ", \(lost) would be lost" : "")
        losesJourneys = lost > 0
    }

    /// What a running server says of flows that it has tried on its journeys.
    package struct TriedFlows {
        let running: Int
        let staying: Int
        /// - detail: nil when a version is not loaded, or lacks a screen.
        let losses: [(flow: String, version: Int, count: Int, detail: String?)]
        package var misfits: [Misfit] = []

        package init(
            running: Int, staying: Int, losses: [(flow: String, version: Int, count: Int, detail: String?)],
            misfits: [Misfit] = []
        ) {
            (self.running, self.staying, self.losses, self.misfits) = (running, staying, losses, misfits)
        }

        package init(_ trial: JourneyTrial) {
            self.init(
                running: trial.running, staying: trial.staying,
                losses: trial.lost.map { ($0.loss.flow, $0.loss.version, $0.count, $0.loss.detail) },
                misfits: trial.misfits.map { Misfit($0.misfit, count: $0.count) })
        }
    }

    /// Journeys whose data does not fit the schema of a service.
    package struct Misfit {
        private let misfit: JourneyTrial.Misfit
        private let count: Int

        package init(_ misfit: JourneyTrial.Misfit, count: Int) { (self.misfit, self.count) = (misfit, count) }

        /// - Parameter files: the service files, to find the place of the schema.
        package func problem(in files: [ServiceFile], with reader: FileReader) -> ConfigurationProblem {
            let (flow, version, service) = (misfit.flow, misfit.version, misfit.service)
            let (pointer, detail) = (misfit.pointer, misfit.detail)
            let file = files.first { $0.name == service }
            let place = JSONPointer(parsing: pointer)?.tokens ?? []
            let isMissing = detail == "is required"
            var tokens = ["schema"] + (isMissing ? place.dropLast() : place[...]).flatMap { ["properties", $0] }
            if isMissing {
                tokens.append("required")
                let required = file?.schemaDocument.value(at: JSONPointer(Array(tokens.dropFirst())))
                tokens += (required?.elements?.firstIndex { $0.string == place.last }).map { [String($0)] } ?? []
            }
            let source = file.flatMap { try? JSONFile(reading: $0.path, with: reader) }
            let patch =
                #"{"op": "\#(isMissing ? "add" : "replace")", "path": "/\#(service)\#(pointer)", "value": …}"#
            return ConfigurationProblem(
                at: source?.origin(of: JSONPointer(tokens)) ?? .builtIn, pointer: JSONPointer(tokens).description,
                code: "unfit_journeys",
                "\(String(counting: count, "journey")) of \(flow) \(version) would not fit: /\(service)\(pointer) \(detail), and a step that writes "
                    + "it would be refused; write \"in_flight\": \"migrate\" and \"migrations\": [{\"from\": \(version), "
                    + "\"patch\": [\(patch)]}] in a new version of \(flow)")
        }
    }

    private static func end(_ orphans: FlowEngine.OrphanPolicy) -> String {
        orphans == .restart ? "; they restart, as orphaned_journeys says" : ""
    }

    private static func sentence(
        _ fate: JourneyImpact.Fate, _ orphans: FlowEngine.OrphanPolicy
    ) -> String? {
        let end = end(orphans)
        switch fate {
        case .stay: return nil
        case .migrate(let version, let state): return "would go on in version \(version), on \(state)"
        case .restart: return "would start over"
        case .orphaned: return "would be lost: this version is not loaded, and no migration leads from it\(end)"
        case .stateGone(let version, let state):
            return "would be lost: version \(version) has no state \(state.quoted)\(end)"
        }
    }
}

/// What a set of flows means for existing journeys.
///
/// Used by `concierge check --against` and by reloads: where the states of journeys lead. Which journeys would be lost
/// is tried on each of them: ``JourneyTrial``.
package struct JourneyImpact {
    /// What happens to the journeys of a row of the census.
    package enum Fate: Equatable {
        /// They continue unchanged.
        case stay
        /// At their next event they continue in a newer version, in this state.
        case migrate(toVersion: Int, state: String)
        /// At their next event they start over.
        case restart
        /// The version is not loaded, and no migration leads from it.
        case orphaned
        /// The version is loaded, or there is a migration, but neither has the state.
        case stateGone(version: Int, state: String)

        var isLoss: Bool {
            switch self {
            case .stay, .migrate, .restart: false
            case .orphaned, .stateGone: true
            }
        }
    }

    package let rows: [(row: JourneyCensusRow, fate: Fate)]

    package init(of engine: FlowEngine, on census: [JourneyCensusRow]) {
        rows = census.map { ($0, Self.fate(of: $0, engine)) }
    }

    private static func fate(of row: JourneyCensusRow, _ engine: FlowEngine) -> Fate {
        let catalog = engine.catalog
        let own = catalog.flow(row.flow, version: row.version)
        var gone: (version: Int, state: String)?
        if let newest = catalog.flow(row.flow), newest.version > row.version {
            if newest.inFlight == .restart { return .restart }
            if newest.inFlight == .migrate,
                let hops = engine.hops(
                    from: row.version, to: newest, among: catalog.versions(of: row.flow))
            {
                let state = hops.reduce(row.state) { $1.migration.state(for: $0) }
                if newest.state(state) != nil { return .migrate(toVersion: newest.version, state: state) }
                gone = (newest.version, state)
            }
        }
        // A state without a migration stays where it is, if it still exists.
        if let own {
            return own.state(row.state) == nil ? .stateGone(version: own.version, state: row.state) : .stay
        }
        return gone.map { .stateGone(version: $0.version, state: $0.state) } ?? .orphaned
    }
}

extension String {
    /// "1 journey", "2 journeys"
    package init(counting count: Int, _ noun: String) { self = "\(count) \(noun)\(count == 1 ? "" : "s")" }
}
