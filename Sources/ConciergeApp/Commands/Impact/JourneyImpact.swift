import Navigation
import Sessions

/// What a set of flows means for existing journeys.
///
/// The server uses it at start: journeys without their version prevent the start. `concierge check --against` reports
/// the same beforehand.
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

        var isLost: Bool {
            switch self {
            case .stay, .migrate, .restart: false
            case .orphaned, .stateGone: true
            }
        }
    }

    let rows: [(row: JourneyCensusRow, fate: Fate)]

    init(of engine: FlowEngine, on census: [JourneyCensusRow]) {
        rows = census.map { ($0, Self.fate(of: $0, engine)) }
    }

    /// Missing versions, with the number of journeys that need each, in the order of the census.
    ///
    /// A missing state of a loaded version matters only to journeys that show it: below the top of a stack it is
    /// skipped on the way back.
    var missing: [(flow: String, version: Int, count: Int)] {
        var missing: [(flow: String, version: Int, count: Int)] = []
        for (row, fate) in rows where fate.isLost {
            let needing = fate == .orphaned ? row.inUse : row.count
            guard needing > 0 else { continue }
            // A journey may be in several rows. There are at least as many journeys as one row has.
            if let place = missing.firstIndex(where: { $0.flow == row.flow && $0.version == row.version }) {
                missing[place].count = max(missing[place].count, needing)
            } else {
                missing.append((row.flow, row.version, needing))
            }
        }
        return missing
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

/// Journeys in the store need flows, or states of flows, that are not loaded.
package struct OrphanedJourneysError: Error, CustomStringConvertible {
    /// - count: how many journeys. A journey that runs the version more than once counts as often.
    package let versions: [(flow: String, version: Int, count: Int)]

    package var description: String {
        let needs = versions.map { needed in
            "\(needed.count) journey\(needed.count == 1 ? " needs" : "s need") version \(needed.version) of flow "
                + "\(needed.flow)"
        }
        return "\(needs.joined(separator: ", ")), which is not loaded: load it, add a migration from it, "
            + "or set orphaned_journeys to restart."
    }
}
