import JSONDocument

extension FlowCheck {
    mutating func checkMigrations() {
        if flow.inFlight == .migrate, flow.migrations.isEmpty {
            report(["in_flight"], .missingKey, "in_flight is \"migrate\", and migrations says nothing of how")
        }
        for (index, migration) in flow.migrations.enumerated() {
            let place = ["migrations", String(index)]
            guard migration.from < flow.version else {
                report(place + ["from"], .badValue, "from is \(migration.from); it must be older than \(flow.version)")
                continue
            }
            // Journeys may run on a version whose file is gone: then there is nothing to hold this against.
            guard let old = catalog.flow(flow.id, version: migration.from) else { continue }
            for name in migration.states.keys.sorted() where old.place(of: name) == nil {
                report(
                    place + ["states", name], .unknownState, "version \(old.version) has no state \"\(name)\"",
                    guess: NearestName.of(name, among: old.states.prefix(1_000).map(\.id)))
            }
            for state in old.states where state.isScreen || state.childFlow != nil {
                let name = migration.state(for: state.id)
                if flow.state(name)?.typeName == state.typeName { continue }
                report(
                    place + ["states"], .migrationGap,
                    "the \(state.typeName) \"\(state.id)\" of version \(old.version) has no counterpart in this "
                        + "version; say which it is")
            }
        }
    }
}
