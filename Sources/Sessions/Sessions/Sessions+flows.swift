import Navigation

extension Sessions {
    /// Whether journeys in the store may need flows that are not loaded, so that ``runningJourneys()`` must go through
    /// them. Reads no session.
    package func needsCensus() async throws(SessionError) -> Bool {
        let used = try await environment.ask { store throws(StoreError) in try await store.usedFlows() }
        guard let used else { return true }
        let definitions = environment.definitions
        let catalog = definitions.journeys.engine.catalog
        let unchanged = used.filter { catalog.usedFlow($0.flow, version: $0.version) == $0 }
        guard unchanged.count == used.count else { return true }
        environment.knowFlows(unchanged, of: definitions)
        return false
    }

    /// Makes the store forget the flow versions that no journey needs.
    ///
    /// - Parameter census: of all running journeys, made before any further one could start.
    package func keepFlows(of census: [JourneyCensusRow]) async throws(SessionError) {
        let definitions = environment.definitions
        let catalog = definitions.journeys.engine.catalog
        let needed = Set(
            census.map { row in
                // A version that is not loaded differs from any that will be.
                catalog.usedFlow(row.flow, version: row.version)
                    ?? UsedFlow(flow: row.flow, version: row.version, states: "")
            })
        try await environment.ask { store throws(StoreError) in try await store.replaceUsedFlows(Array(needed)) }
        environment.knowFlows(needed.filter { !$0.states.isEmpty }, of: definitions)
    }

    /// The services of a session that has just begun, for flows without sessions.
    package var documentsOfNewSession: any ServiceDocuments {
        SessionDocuments([], environment, environment.definitions)
    }
}

extension SessionEnvironment {
    /// Versions that running journeys are on after a commit and that the store may not know.
    func newFlows(in commit: borrowing SessionCommit, _ pending: borrowing PendingState) -> [UsedFlow] {
        guard store.outlivesProcess, let coordinator = try? pending.definitions.coordinator,
            commit.changedServices.contains(coordinator.index),
            let document = commit.record.document(of: coordinator.index),
            let kept = pending.newMemory?.journeys(keptAs: document.bytes)
                ?? (try? KeptJourneys(reading: document.bytes))
        else { return [] }
        return usedFlows(of: kept, by: pending.definitions)
    }

    /// Versions that running journeys are on and that the store may not know.
    func usedFlows(of kept: KeptJourneys, by definitions: SessionDefinitions) -> [UsedFlow] {
        guard store.outlivesProcess else { return [] }
        let coordinators = kept.entries.lazy.filter(\.journey.isActive).flatMap(\.journey.coordinators)
        let catalog = definitions.journeys.engine.catalog
        return knownFlows.withLock { known in
            var new: Set<UsedFlow> = []
            for coordinator in coordinators
            where !known.contains(coordinator.flow, coordinator.version, of: definitions) {
                // A version that is not loaded was loaded when the store learned of it.
                if let flow = catalog.usedFlow(coordinator.flow, version: coordinator.version) { new.insert(flow) }
            }
            return Array(new)
        }
    }

    func knowFlows(_ flows: [UsedFlow], of definitions: SessionDefinitions) {
        knownFlows.withLock { $0.insert(flows, of: definitions) }
    }
}

/// Versions of flows that the store knows. After a reload they may have other states, of which it has to be told.
struct KnownFlows {
    private var number = 0
    private(set) var versions: [String: Set<Int>] = [:]

    func contains(_ flow: String, _ version: Int, of definitions: SessionDefinitions) -> Bool {
        definitions.number == number && versions[flow]?.contains(version) == true
    }

    /// What it was told by definitions that are no longer in force, it has to be told anew.
    mutating func insert(_ flows: [UsedFlow], of definitions: SessionDefinitions) {
        if definitions.number > number { (number, versions) = (definitions.number, [:]) }
        for flow in flows {
            if definitions.number == number {
                versions[flow.flow, default: []].insert(flow.version)
            } else {
                versions[flow.flow]?.remove(flow.version)
            }
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

/// How many running journeys need a state of a flow.
package struct JourneyCensusRow: Sendable, Equatable {
    package let flow: String
    package let version: Int
    package let state: String
    /// Journeys that show it.
    package let count: Int
    /// Journeys that have it anywhere: on the stack, or as the state whose child flow runs; those of ``count`` too.
    package let inUse: Int

    package init(flow: String, version: Int, state: String, count: Int, inUse: Int) {
        self.flow = flow
        self.version = version
        self.state = state
        self.count = count
        self.inUse = inUse
    }
}

extension Sessions {
    /// Which states of which versions running journeys need: what would be missed if they were gone. Sorted by flow,
    /// version and state.
    ///
    /// Goes through the whole store, page by page. What cannot be read is left out.
    package func runningJourneys() async throws(SessionError) -> [JourneyCensusRow] {
        var census = JourneyCensus()
        try await forEachSession { kept, _, _ in
            for journey in kept.journeys where journey.isActive { census.count(journey) }
        }
        return census.rows
    }

    /// The same, with what would become of each journey under the flows of an engine. Changes nothing.
    ///
    /// - Parameter services: the services that these flows would have; nil for those of now.
    /// - Returns: `isComplete` is false when something could not be read.
    package func runningJourneys(
        under engine: FlowEngine, with services: ServiceCatalog? = nil
    ) async throws(SessionError) -> (census: [JourneyCensusRow], trial: JourneyTrial, isComplete: Bool) {
        var census = JourneyCensus()
        var trial = JourneyTrial(of: engine, with: services ?? catalog)
        let isComplete = try await forEachSession { kept, record, now in
            for journey in kept.journeys where journey.isActive { census.count(journey) }
            trial.take(kept, record, self.environment, now: now)
        }
        return (census.rows, trial, isComplete)
    }

    /// - Returns: false when something could not be read.
    @discardableResult
    private func forEachSession(
        _ body: (KeptJourneys, SessionRecord, _ now: Int64) -> Void
    ) async throws(SessionError) -> Bool {
        guard let coordinator = catalog[CoordinatorService.name] else { return true }
        var next: SessionID?
        var isComplete = true
        repeat {
            let page = try await stored(after: next, limit: Self.pageSize)
            if page.skipped > 0 { isComplete = false }
            let now = environment.clock.now()
            for session in page.sessions.map(current) where session.end(environment.settings) > now {
                guard let document = session.record.document(of: coordinator.index),
                    let kept = try? KeptJourneys(reading: document.bytes)
                else { continue }
                body(kept, session.record, now)
            }
            next = page.next
            await Task.yield()
        } while next != nil
        return isComplete
    }

    private static let pageSize = 1_000
}

private struct JourneyCensus {
    private struct Place: Hashable {
        let flow: String
        let version: Int
        let state: String
    }
    private var shown: [Place: Int] = [:]
    private var inUse: [Place: Int] = [:]

    mutating func count(_ journey: Journey) {
        let frames = journey.frames.compactMap { frame in
            journey.coordinator(frame.coordinator).map {
                Place(flow: $0.flow, version: $0.version, state: frame.state)
            }
        }
        let children = journey.coordinators.compactMap { child in
            guard let parent = child.parent.flatMap(journey.coordinator), let state = child.startedBy else {
                return nil as Place?
            }
            return Place(flow: parent.flow, version: parent.version, state: state)
        }
        if let top = frames.last { shown[top, default: 0] += 1 }
        for place in Set(frames + children) { inUse[place, default: 0] += 1 }
    }

    var rows: [JourneyCensusRow] {
        inUse.sorted { ($0.key.flow, $0.key.version, $0.key.state) < ($1.key.flow, $1.key.version, $1.key.state) }
            .map { place, uses in
                JourneyCensusRow(
                    flow: place.flow, version: place.version, state: place.state, count: shown[place] ?? 0,
                    inUse: uses)
            }
    }
}
