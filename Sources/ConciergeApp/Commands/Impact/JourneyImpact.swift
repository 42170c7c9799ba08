import Navigation
import Sessions

/// What a set of flows means for journeys that run already.
///
/// Used at start, where journeys that are left without their version keep the server from starting, and by
/// `concierge check --against`, which says so before anybody starts it.
struct JourneyImpact {
    /// What becomes of the journeys of one row of the census.
    enum Fate: Equatable {
        /// They go on as they are.
        case stay
        /// At their next event they go on in a newer version, on that state of it.
        case migrate(toVersion: Int, state: String)
        /// At their next event they begin anew.
        case restart
        /// The version is not loaded, and no migration leads from it.
        case orphaned
        /// The version is loaded, or there is a migration, but the state is in neither.
        case stateGone(version: Int, state: String)

        var isLost: Bool {
            switch self {
            case .stay, .migrate, .restart: false
            case .orphaned, .stateGone: true
            }
        }
    }

    let rows: [(row: JourneyCensusRow, fate: Fate)]

    init(of catalog: FlowCatalog, on census: [JourneyCensusRow]) {
        rows = census.map { ($0, Self.fate(of: $0, in: catalog)) }
    }

    /// How many flows run in a way that cannot go on: a journey for each, and one more for each child flow in it.
    func lost(flow: String, version: Int) -> Int {
        rows.filter { $0.fate.isLost && $0.row.flow == flow && $0.row.version == version }.map(\.row.count).reduce(0, +)
    }

    /// Versions that are needed and cannot be had, in the order of the census.
    var missing: [(flow: String, version: Int, count: Int)] {
        var missing: [(flow: String, version: Int, count: Int)] = []
        for (row, fate) in rows where fate.isLost {
            guard !missing.contains(where: { $0.flow == row.flow && $0.version == row.version }) else { continue }
            missing.append((row.flow, row.version, lost(flow: row.flow, version: row.version)))
        }
        return missing
    }

    private static func fate(of row: JourneyCensusRow, in catalog: FlowCatalog) -> Fate {
        let own = catalog.flow(row.flow, version: row.version)
        if let newest = catalog.flow(row.flow), newest.version > row.version {
            switch newest.inFlight {
            case .restart: return .restart
            case .migrate:
                guard let migration = newest.migrations.first(where: { $0.from == row.version }) else { break }
                let state = migration.state(for: row.state)
                return newest.state(state) == nil
                    ? .stateGone(version: newest.version, state: state)
                    : .migrate(toVersion: newest.version, state: state)
            case .pin: break
            }
        }
        guard let own else { return .orphaned }
        return own.state(row.state) == nil ? .stateGone(version: own.version, state: row.state) : .stay
    }
}
