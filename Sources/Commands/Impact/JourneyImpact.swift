import Navigation
import Sessions

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
