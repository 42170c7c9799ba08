import JSONDocument

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
        journey.coordinators.indices.allSatisfy { place in
            guard let flow = catalog.flow(of: journey.coordinators, at: place) else { return false }
            let top = journey.frames.indices.last
            guard let top, journey.frames[top].coordinator == journey.coordinators[place].id else { return true }
            return flow.screen(of: journey.frames[top]) != nil
        }
    }

    /// What newer versions of the flows ask of the journey, and what versions that are gone make necessary.
    func renewal(of journey: Journey) -> Renewal {
        var moves: [VersionMove] = []
        for place in journey.coordinators.indices {
            let versions = catalog.versions(of: journey.coordinators[place].flow)
            let own = versions.last { $0.version == journey.coordinators[place].version }
            let isThere = own.map { stands(journey, place, on: $0) } ?? false
            // The usual case: the newest version.
            if isThere, own === versions.last { continue }
            let coordinator = journey.coordinators[place]
            guard let newest = versions.last else { return orphan(coordinator) }
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
            guard isThere else { return orphan(coordinator, in: journey) }
        }
        return moves.isEmpty ? .none : .migrate(moves)
    }

    /// Why the journey cannot go on: a version is gone, or it cannot move to a newer one. Nil when it can.
    package func obstacle(
        to journey: Journey, services: any ServiceDocuments, now: Int64
    ) -> JourneyRefusal? {
        do throws(JourneyRefusal) {
            _ = try renewed(journey, services: services, now: now)
            return nil
        } catch {
            return error
        }
    }

    /// The step that moves a journey to newer versions, or starts it over on one; nil when it stays as it is.
    package func renewed(
        _ journey: Journey, services: any ServiceDocuments, now: Int64
    ) throws(JourneyRefusal) -> Step? {
        guard journey.isActive else { return nil }
        let renewal = renewal(of: journey)
        if case .none = renewal { return nil }
        var run = StepRun(self, journey, services, now: now)
        try run.renew(renewal)
        return try run.finish()
    }

    /// A version that is loaded and does not have a screen of the journey, wherever on the stack; nil when there is
    /// none.
    package func changedVersion(under journey: Journey) -> (flow: String, version: Int)? {
        for frame in journey.frames {
            guard let place = journey.coordinators.place(of: frame.coordinator) else { continue }
            let coordinator = journey.coordinators[place]
            guard let flow = catalog.flow(coordinator.flow, version: coordinator.version) else { continue }
            if flow.screen(of: frame) == nil { return (coordinator.flow, coordinator.version) }
        }
        return nil
    }

    /// A version that the journey runs on and that is not loaded.
    package func missingVersion(under journey: Journey) -> (flow: String, version: Int)? {
        journey.coordinators.first { catalog.flow($0.flow, version: $0.version) == nil }.map { ($0.flow, $0.version) }
    }

    /// Whether an event must say what its sender saw.
    package func isFirstWrite(_ journey: Journey) -> Bool {
        journey.coordinators.indices.contains { place in
            catalog.flow(of: journey.coordinators, at: place)?.ownership.isFirstWrite ?? false
        }
    }

    /// Whether the journey goes on when its user signs out.
    package func isBoundToSession(_ journey: Journey) -> Bool {
        catalog.flow(journey.flow, version: journey.version)?.ownership.isBoundToSession ?? false
    }

    /// Whether the journey may move to another session.
    package func isPortable(_ journey: Journey) -> Bool {
        catalog.flow(journey.flow, version: journey.version)?.ownership.isPortable ?? false
    }

    /// Why an imported journey cannot continue here, with a pointer into its document; nil when it can. Migrations, and
    /// the policy for a version that is gone, are applied at its next step, as for any other journey.
    package func flaw(of journey: Journey) -> JSONViolation? {
        if let flaw = journey.flaw { return flaw }
        guard case .orphaned(let flow, let version) = renewal(of: journey) else { return nil }
        if let top = journey.frames.last, let owner = journey.coordinator(top.coordinator),
            catalog.flow(owner.flow, version: owner.version)?.state(top.state) != nil,
            (journey.task != nil) != isOnTask(journey)
        {
            return JSONViolation(
                pointer: "/task", detail: "must be there where the top screen is that of a task, and only there")
        }
        let place = journey.coordinators.firstIndex { $0.flow == flow && $0.version == version }
        return JSONViolation(
            pointer: place.map { "/who/\($0)" } ?? "",
            detail: "needs version \(version) of flow '\(flow)', and what it stands on is not loaded")
    }

    private func orphan(_ coordinator: Coordinator, in journey: Journey? = nil) -> Renewal {
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
            let frame = journey.frames[place]
            let state = renaming.map { flow.state($0(frame.state)) } ?? flow.place(of: frame).map { flow.states[$0] }
            guard let state, state.screen != nil else { return false }
            // A task begins and ends only by steps.
            let isBusy = journey.task != nil && place == journey.frames.count - 1
            if (state.task != nil) != isBusy { return false }
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
                let place = journey.coordinators.place(of: move.coordinator)
            else { continue }
            if journey.frames.last?.coordinator == move.coordinator {
                let former = journey.coordinators[place].version
                // A worker that has the task knows the outcomes of the version that began it.
                journey.noteOfTask { $0.formerVersion = $0.formerVersion ?? former }
            }
            journey.coordinators[place].version = newest.version
            forgetFlow(of: move.coordinator)
            if move.coordinator == journey.coordinators[0].id { journey.version = newest.version }
            let names = journey.frames.map(\.state)
            for frame in journey.frames.indices where journey.frames[frame].coordinator == move.coordinator {
                journey.frames[frame].state = move.state(for: journey.frames[frame].state)
                journey.frames[frame].knownPlace = -1
            }
            for child in journey.coordinators.indices where journey.coordinators[child].parent == move.coordinator {
                journey.coordinators[child].startedBy = journey.coordinators[child].startedBy.map(move.state)
            }
            joinFrames(of: move.coordinator, formerly: names)
            // The screen has another name, and is neither left nor entered.
            before = journey.frames.last
            for hop in move.hops { try patch(by: hop.migration, to: hop.flow, of: move.coordinator) }
            services.dispose {
                $0.coordinator == move.coordinator && !newest.ownership.services.contains($0.name)
            }
        }
        if let overwork = services.overwork { throw .actionFailed(overwork.reason) }
    }

    /// Runs the patch of a migration: on what the flow owns each time, on the session's services once a session.
    private mutating func patch(
        by migration: Migration, to flow: FlowDefinition, of coordinator: Int
    ) throws(JourneyRefusal) {
        guard !migration.patch.isEmpty else { return }
        let owners = owners(of: coordinator)
        let patch = ServicePatch(flow: flow.id, version: flow.version)
        func isOfSession(_ action: Action) -> Bool { owners.owner(of: action.service) == ServiceOwners.session }
        if patches.contains(patch) || services.source.isPatched(patch) {
            try run(migration.patch.filter { !isOfSession($0) }, of: coordinator)
            return
        }
        if migration.patch.contains(where: isOfSession) { patches.append(patch) }
        try run(migration.patch, of: coordinator)
    }

    /// Makes frames that a migration has given the name of the frame below one with that.
    private mutating func joinFrames(of coordinator: Int, formerly names: [String]) {
        for place in journey.frames.indices.dropFirst().reversed() {
            let (below, frame) = (journey.frames[place - 1], journey.frames[place])
            guard frame.coordinator == coordinator, names[place] != names[place - 1], frame.presentation == .push
            else { continue }
            var joined = frame
            joined.presentation = below.presentation
            joined.mark = below.mark
            if joined == below { journey.frames.remove(at: place) }
        }
    }
}
