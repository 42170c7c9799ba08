import Navigation

extension Sessions {
    /// Whether journeys in the store may need flows that are not loaded, so that ``runningJourneys()`` must go through
    /// them. Reads no session.
    package func needsCensus() async throws(SessionError) -> Bool {
        let used: [UsedFlow]?
        do {
            used = try await environment.store.usedFlows()
        } catch {
            throw SessionError(error)
        }
        guard let used else { return true }
        let catalog = environment.journeys.engine.catalog
        let unchanged = used.filter { catalog.usedFlow($0.flow, version: $0.version) == $0 }
        guard unchanged.count == used.count else { return true }
        environment.knowFlows(unchanged)
        return false
    }

    /// Makes the store forget the flow versions that no journey needs.
    ///
    /// - Parameter census: of all running journeys, made before any further one could start.
    package func keepFlows(of census: [JourneyCensusRow]) async throws(SessionError) {
        let catalog = environment.journeys.engine.catalog
        let needed = Set(
            census.map { row in
                // A version that is not loaded differs from any that will be.
                catalog.usedFlow(row.flow, version: row.version)
                    ?? UsedFlow(flow: row.flow, version: row.version, states: "")
            })
        do {
            try await environment.store.replaceUsedFlows(Array(needed))
        } catch {
            throw SessionError(error)
        }
        environment.knowFlows(needed.filter { !$0.states.isEmpty })
    }
}

extension SessionEnvironment {
    /// Versions that running journeys are on after a commit and that the store may not know.
    func newFlows(in commit: borrowing SessionCommit, _ pending: borrowing PendingState) -> [UsedFlow] {
        guard store.outlivesProcess, let coordinator = try? coordinator,
            commit.changedServices.contains(coordinator.index),
            let document = commit.record.document(of: coordinator.index),
            let kept = pending.newMemory?.journeys(keptAs: document.bytes)
                ?? (try? KeptJourneys(reading: document.bytes))
        else { return [] }
        return usedFlows(of: kept)
    }

    /// Versions that running journeys are on and that the store may not know.
    func usedFlows(of kept: KeptJourneys) -> [UsedFlow] {
        guard store.outlivesProcess else { return [] }
        let coordinators = kept.entries.lazy.filter(\.journey.isActive).flatMap(\.journey.coordinators)
        let catalog = journeys.engine.catalog
        return knownFlows.withLock { known in
            var new: Set<UsedFlow> = []
            for coordinator in coordinators where known[coordinator.flow]?.contains(coordinator.version) != true {
                // A version that is not loaded was loaded when the store learned of it.
                if let flow = catalog.usedFlow(coordinator.flow, version: coordinator.version) { new.insert(flow) }
            }
            return Array(new)
        }
    }

    func knowFlows(_ flows: [UsedFlow]) {
        knownFlows.withLock { known in
            for flow in flows { known[flow.flow, default: []].insert(flow.version) }
        }
    }
}

extension FlowCatalog {
    fileprivate func usedFlow(_ id: String, version: Int) -> UsedFlow? {
        flow(id, version: version).map { flow in
            UsedFlow(
                flow: flow.id, version: flow.version,
                states: flow.states.map(\.id).sorted().reduce(into: "") { $0 += "\($1) " })
        }
    }
}
