import API
import Configuration
import JSONDocument
import Navigation
import Operations
import Sessions

/// The report of `concierge check --against`: which journeys of a running server would change or be lost.
struct ImpactReport {
    /// One line for each state that does not stay as it is.
    let lines: [String]
    let summary: String
    let losesJourneys: Bool

    /// - Parameter orphans: what is done with journeys whose version or state is gone.
    init(_ impact: JourneyImpact, _ trial: TriedFlows, orphans: FlowEngine.OrphanPolicy) {
        let states = impact.rows.compactMap { row, fate in
            Self.sentence(fate, orphans).map { sentence in
                "\(row.flow) \(row.version), \(row.state): \(Program.counted(row.inUse, "journey")) \(sentence)"
            }
        }
        let restarted = orphans == .restart
        let stuck = trial.losses.compactMap { loss in
            loss.detail.map {
                "\(loss.flow) \(loss.version): \(Program.counted(loss.count, "journey")) would be stuck: \($0)"
            }
        }
        lines = states + stuck
        // What starts over is not lost.
        let lost = trial.losses.filter { !restarted || $0.detail != nil }.map(\.count).reduce(0, +)
        summary =
            "\(Program.counted(trial.running, "journey")) running, \(trial.staying) on screens that stay as they are"
            + (lost > 0 ? ", \(lost) would be lost" : "")
        losesJourneys = lost > 0
    }

    /// What a running server says of flows that it has tried on its journeys.
    struct TriedFlows {
        let running: Int
        let staying: Int
        /// - detail: nil when a version is not loaded, or lacks a screen.
        let losses: [(flow: String, version: Int, count: Int, detail: String?)]
        var misfits: [Misfit] = []
    }

    /// Journeys whose data does not fit the schema of a service.
    struct Misfit {
        let flow: String
        let version: Int
        let service: String
        let pointer: String
        let detail: String
        let count: Int

        /// - Parameter files: the service files, to find the place of the schema.
        func problem(in files: [ServiceFile], with reader: FileReader) -> ConfigurationProblem {
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
                "\(Program.counted(count, "journey")) of \(flow) \(version) would not fit: /\(service)\(pointer) \(detail), and a step that writes "
                    + "it would be refused; write \"in_flight\": \"migrate\" and \"migrations\": [{\"from\": \(version), "
                    + "\"patch\": [\(patch)]}] in a new version of \(flow)")
        }
    }

    /// Has a running server try flows on its journeys.
    static func tried(
        _ flows: FlowCatalog, with services: [ServiceFile], at listener: AdminListener
    ) throws(CommandFailure) -> TriedFlows {
        let body: JSONDocument = [
            "flows": JSONDocument(flows.flows.map(\.document)),
            "services": JSONDocument(
                services.map { service -> JSONDocument in
                    [
                        "name": JSONDocument(service.name), "schema": service.schemaDocument,
                        "default": service.defaultState,
                    ]
                }),
        ]
        let answer = try listener.send("POST", "/v1/journeys/trial", type: MediaType.json, body: body.serialized())
        let document = try? JSONDocument(parsing: answer.body)
        guard answer.status == 200, let document, let running = document[member: "running"]?.int,
            let staying = document[member: "staying"]?.int, let lost = document[member: "lost"]?.elements
        else {
            let detail = document?[member: "detail"]?.string ?? "it responds with status \(answer.status)"
            throw CommandFailure("the server at \(listener.place) cannot try these flows: \(detail)")
        }
        return TriedFlows(
            running: running, staying: staying,
            losses: lost.map {
                (
                    $0[member: "flow"]?.string ?? "", $0[member: "version"]?.int ?? 0, $0[member: "count"]?.int ?? 0,
                    $0[member: "detail"]?.string
                )
            },
            misfits: (document[member: "misfits"]?.elements ?? []).map {
                Misfit(
                    flow: $0[member: "flow"]?.string ?? "", version: $0[member: "version"]?.int ?? 0,
                    service: $0[member: "service"]?.string ?? "", pointer: $0[member: "pointer"]?.string ?? "",
                    detail: $0[member: "detail"]?.string ?? "", count: $0[member: "count"]?.int ?? 0)
            })
    }

    /// The admin listener of a running server, which may have many journeys to look at.
    /// - Parameter configuration: that of the server, for its admin key and its certificate.
    static func listener(at url: String, _ configuration: Configuration) throws(CommandFailure) -> AdminListener {
        if let listener = AdminListener(at: url, configuration, timeoutSeconds: 60) { return listener }
        throw CommandFailure(
            "--against is \(url.quoted); allowed is the address of an admin listener, as in http://127.0.0.1:8081")
    }

    /// Asks a running server where its journeys are.
    static func census(at listener: AdminListener) throws(CommandFailure) -> [JourneyCensusRow] {
        let answer = try listener.send("GET", "/v1/journeys/census")
        guard answer.status == 200 else { throw CommandFailure(listener.refusal(answer)) }
        guard let census = (try? JSONDocument(parsing: answer.body)).flatMap(rows(of:)) else {
            throw CommandFailure(
                "the server at \(listener.place) is not the admin listener of a \(BuildInformation.name)")
        }
        return census
    }

    private static func rows(of document: JSONDocument) -> [JourneyCensusRow]? {
        guard let items = document[member: "items"]?.elements else { return nil }
        let rows = items.compactMap { item -> JourneyCensusRow? in
            guard let flow = item[member: "flow"]?.string, let version = item[member: "version"]?.int,
                let state = item[member: "state"]?.string, let count = item[member: "count"]?.int,
                let inUse = item[member: "in_use"]?.int
            else { return nil }
            return JourneyCensusRow(flow: flow, version: version, state: state, count: count, inUse: inUse)
        }
        return rows.count == items.count ? rows : nil
    }

    private static func sentence(
        _ fate: JourneyImpact.Fate, _ orphans: FlowEngine.OrphanPolicy
    ) -> String? {
        let end = orphans == .restart ? "; they restart, as orphaned_journeys says" : ""
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
/// Used by `concierge check --against`: where the states of journeys lead. Which journeys would be lost is tried on
/// each of them: ``JourneyTrial``.
struct JourneyImpact {
    /// What happens to the journeys of a row of the census.
    enum Fate: Equatable {
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
    }

    let rows: [(row: JourneyCensusRow, fate: Fate)]

    init(of engine: FlowEngine, on census: [JourneyCensusRow]) {
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
