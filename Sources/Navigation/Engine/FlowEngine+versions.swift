/// What a step must do first because of the versions that a journey runs on.
enum Renewal {
    case none
    case migrate([VersionMove])
    case restart(FlowDefinition)
    case orphaned(flow: String, version: Int)
}

/// The move of one coordinator to a newer version.
struct VersionMove {
    let coordinator: Int
    /// The migrations in order; the coordinator then runs the flow of the last one.
    let hops: [(flow: FlowDefinition, migration: Migration)]

    func state(for old: String) -> String { hops.reduce(old) { $1.migration.state(for: $0) } }
}

extension FlowEngine {
    /// Whether every version that the journey runs on is loaded and has the top screen.
    func isLoaded(_ journey: Journey) -> Bool {
        for place in journey.coordinators.indices {
            guard let flow = catalog.flow(of: journey.coordinators, at: place) else { return false }
            if let top = journey.frames.last, top.coordinator == journey.coordinators[place].id,
                flow.screen(of: top) == nil
            {
                return false
            }
        }
        return true
    }

    /// What newer versions of the flows ask of the journey, and what versions that are gone make necessary.
    func renewal(of journey: Journey) -> Renewal {
        var moves: [VersionMove] = []
        for place in journey.coordinators.indices {
            // The usual case: the newest version.
            if let flow = catalog.newestFlow(of: journey.coordinators, at: place), stands(journey, place, on: flow) {
                continue
            }
            let coordinator = journey.coordinators[place]
            let versions = catalog.versions(of: coordinator.flow)
            guard let newest = versions.last else { return orphan(coordinator, newest: nil) }
            let own = versions.last { $0.version == coordinator.version }
            let isThere = own.map { stands(journey, place, on: $0) } ?? false
            if newest.version == coordinator.version, isThere { continue }
            if newest.version > coordinator.version, !isHeld(coordinator, in: journey) {
                switch newest.inFlight {
                case .pin: break
                case .restart: if coordinator.parent == nil { return .restart(newest) }
                case .migrate:
                    if let hops = hops(from: coordinator.version, to: newest, among: versions) {
                        let move = VersionMove(coordinator: coordinator.id, hops: hops)
                        if stands(journey, place, on: newest, renaming: move.state) {
                            moves.append(move)
                            continue
                        }
                    }
                }
            }
            guard isThere else { return orphan(coordinator, newest: versions.last, in: journey) }
        }
        return moves.isEmpty ? .none : .migrate(moves)
    }

    /// Why an imported journey cannot continue here; nil when it can. Migrations, and the policy for a version that is
    /// gone, are applied at its next step, as for any other journey.
    package func flaw(of journey: Journey) -> JourneyFlaw? {
        if let flaw = journey.flaw { return flaw }
        guard case .orphaned(let flow, let version) = renewal(of: journey) else { return nil }
        let place = journey.coordinators.firstIndex { $0.flow == flow && $0.version == version }
        return JourneyFlaw(
            pointer: place.map { "/who/\($0)" } ?? "",
            detail: "needs version \(version) of flow '\(flow)', and what it stands on is not loaded")
    }

    private func orphan(_ coordinator: Coordinator, newest: FlowDefinition?, in journey: Journey? = nil) -> Renewal {
        if orphans == .restart, let root = journey?.coordinators.first, let newest = catalog.flow(root.flow) {
            return .restart(newest)
        }
        return .orphaned(flow: coordinator.flow, version: coordinator.version)
    }

    /// Whether the parent's flow names the version of the child, so that the child stays on it.
    private func isHeld(_ coordinator: Coordinator, in journey: Journey) -> Bool {
        guard let parent = coordinator.parent.flatMap({ journey.coordinator($0) }), let state = coordinator.startedBy
        else { return false }
        return catalog.flow(parent.flow, version: parent.version)?.state(state)?.childFlow?.version != nil
    }

    /// Whether a flow has all states that a coordinator and its children need.
    ///
    /// - Parameter place: the index of the coordinator.
    private func stands(
        _ journey: Journey, _ place: Int, on flow: FlowDefinition, renaming: ((String) -> String)? = nil
    ) -> Bool {
        let id = journey.coordinators[place].id
        // On the same version, going back skips a lower frame whose screen is missing. A migration must map all frames.
        let isSame = flow.version == journey.coordinators[place].version
        let frames = isSame ? journey.frames.indices.suffix(1) : journey.frames.indices
        for place in frames where journey.frames[place].coordinator == id {
            let isScreen =
                if let renaming {
                    flow.state(renaming(journey.frames[place].state))?.isScreen ?? false
                } else {
                    flow.screen(of: journey.frames[place]) != nil
                }
            guard isScreen else { return false }
        }
        for place in journey.coordinators.indices where journey.coordinators[place].parent == id {
            guard let state = journey.coordinators[place].startedBy else { continue }
            guard flow.state(renaming?(state) ?? state)?.childFlow?.flow == journey.coordinators[place].flow else {
                return false
            }
        }
        return true
    }

    /// The migrations to the newest version, each time taking the one that leads highest.
    package func hops(
        from version: Int, to newest: FlowDefinition, among versions: [FlowDefinition]
    ) -> [(flow: FlowDefinition, migration: Migration)]? {
        if version == newest.version { return [] }
        for next in versions.reversed() where next.version > version {
            guard let migration = next.migrations.first(where: { $0.from == version }),
                let rest = hops(from: next.version, to: newest, among: versions)
            else { continue }
            return [(next, migration)] + rest
        }
        return nil
    }
}

extension StepRun {
    /// Moves coordinators to newer versions. Their screens stay on the stack, renamed where the migration says so, and
    /// are neither left nor entered.
    mutating func migrate(_ moves: [VersionMove]) throws(JourneyRefusal) {
        for move in moves {
            guard let newest = move.hops.last?.flow,
                let place = journey.place(of: move.coordinator)
            else { continue }
            let old = journey.coordinators[place].version
            journey.coordinators[place].version = newest.version
            if move.coordinator == journey.coordinators[0].id { journey.version = newest.version }
            for frame in journey.frames.indices where journey.frames[frame].coordinator == move.coordinator {
                journey.frames[frame].state = move.state(for: journey.frames[frame].state)
                journey.frames[frame].knownPlace = -1
            }
            for child in journey.coordinators.indices where journey.coordinators[child].parent == move.coordinator {
                journey.coordinators[child].startedBy = journey.coordinators[child].startedBy.map(move.state)
            }
            renameScreen()
            record(.migrated(flow: newest.id, from: old, to: newest.version))
            for hop in move.hops { try run(hop.migration.patch, of: move.coordinator) }
        }
    }
}
