import JSONDocument

/// All flows in all their versions.
///
/// A class, because each step passes it on, and copying its arrays and dictionaries would count references.
public final class FlowCatalog: Sendable {
    /// All flows, sorted by id, then version.
    public let flows: [FlowDefinition]
    private let versions: [String: [FlowDefinition]]
    /// The index in ``flows`` of the lowest version of each flow; its other versions follow.
    private let firstPlaces: [String: Int]
    /// For each of ``flows`` whether it is the highest version of its flow.
    private let isNewest: [Bool]

    /// The texts of flows that are written in several languages, by flow; empty when no flow has any.
    public let texts: [String: FlowTexts]

    /// Whether any flow owns services.
    let ownsServices: Bool

    /// The number of states of the largest flow, in which a way takes longest to find.
    public let mostStates: Int
    /// The same of those with a transition that resumes, which finds a way as well; 0 when there is none.
    public let mostStatesToResume: Int

    /// Is told what steps do, also steps that are refused in the end; for tools. Nil costs nothing.
    let recorder: (@Sendable (TraceEvent) -> Void)?

    /// A catalog without flows.
    public static let empty = FlowCatalog([])

    package init(_ flows: [FlowDefinition], recorder: (@Sendable (TraceEvent) -> Void)? = nil) {
        self.recorder = recorder
        self.flows = flows.sorted { ($0.id, $0.version) < ($1.id, $1.version) }
        let versions = Dictionary(grouping: self.flows, by: \.id)
        self.versions = versions
        texts = versions.mapValues { $0.reversed().reduce(.none) { $0.merging($1.texts) } }.filter { !$0.value.isEmpty }
        firstPlaces = Dictionary(
            self.flows.enumerated().map { ($0.element.id, $0.offset) }, uniquingKeysWith: { first, _ in first })
        ownsServices = flows.contains { !$0.ownership.services.isEmpty }
        mostStates = flows.map(\.states.count).max() ?? 0
        mostStatesToResume =
            flows.filter { flow in
                flow.allTransitions.contains { $0.transition.nav == .resume }
            }.map(\.states.count).max() ?? 0
        isNewest = self.flows.map { versions[$0.id]?.last === $0 }
    }

    /// The ids of all flows, sorted.
    public var ids: [String] { versions.keys.sorted() }

    /// The loaded versions of a flow, lowest first; empty when there is none.
    public func versions(of flow: String) -> [FlowDefinition] { versions[flow] ?? [] }

    /// A version of a flow, or the highest, which new journeys get; nil when it is not loaded.
    public func flow(_ id: String, version: Int? = nil) -> FlowDefinition? {
        guard let loaded = versions[id] else { return nil }
        guard let version else { return loaded.last }
        return loaded.last { $0.version == version }
    }

    /// The flow that a coordinator runs. The coordinator may know its index from an earlier step: comparing one name is
    /// cheaper than hashing it.
    ///
    /// - Parameter place: the index of the coordinator in the list; passing the list is cheaper than copying an
    ///   element.
    func flow(of coordinators: [Coordinator], at place: Int) -> FlowDefinition? {
        if let known = self.place(of: coordinators, at: place) { return flows[known] }
        return flow(coordinators[place].flow, version: coordinators[place].version)
    }

    /// The flow that a coordinator runs, if its known index is that of the highest version.
    func newestFlow(of coordinators: [Coordinator], at place: Int) -> FlowDefinition? {
        guard let known = self.place(of: coordinators, at: place), isNewest[known] else { return nil }
        return flows[known]
    }

    private func place(of coordinators: [Coordinator], at place: Int) -> Int? {
        let known = Int(coordinators[place].knownPlace)
        guard known >= 0, known < flows.count, flows[known].version == coordinators[place].version,
            flows[known].id == coordinators[place].flow
        else { return nil }
        return known
    }

    private func knowsPlaces(_ journey: Journey) -> Bool {
        for place in journey.coordinators.indices where self.place(of: journey.coordinators, at: place) == nil {
            return false
        }
        for place in journey.frames.indices.suffix(2) where journey.frames[place].knownPlace < 0 { return false }
        return true
    }

    /// Notes in a journey the indices of its flows, and of the states that a step needs first.
    func tellPlaces(to journey: inout Journey) {
        // Tested apart from the loops below, which copy the arrays even when they write nothing.
        if knowsPlaces(journey) { return }
        for place in journey.coordinators.indices where self.place(of: journey.coordinators, at: place) == nil {
            let coordinator = journey.coordinators[place]
            let version = versions[coordinator.flow]?.lastIndex { $0.version == coordinator.version }
            guard let version, let first = firstPlaces[coordinator.flow] else { continue }
            journey.coordinators[place].knownPlace = Int32(clamping: first + version)
        }
        // The top screen, and the one that going back usually reaches.
        for place in journey.frames.indices.suffix(2) where journey.frames[place].knownPlace < 0 {
            let frame = journey.frames[place]
            guard let coordinator = journey.coordinators.place(of: frame.coordinator) else { continue }
            guard let known = flow(of: journey.coordinators, at: coordinator)?.place(of: frame) else { continue }
            journey.frames[place].knownPlace = Int32(clamping: known)
        }
    }
}

/// Catalogs for tests of flows.
extension FlowCatalog {
    /// The catalog with flows that end at once and a recorder of every step.
    ///
    /// - Parameter ends: the outcome and the output of each flow that is replaced.
    package func trial(
        ending ends: [String: (outcome: String, output: JSONDocument)],
        recorder: @escaping @Sendable (TraceEvent) -> Void
    ) -> FlowCatalog {
        let replaced = flows.map { flow in ends[flow.id].map { flow.ending($0.outcome, $0.output) } ?? flow }
        return FlowCatalog(replaced, recorder: recorder)
    }
}

extension FlowDefinition {

    /// A flow of that name and version that ends at once.
    fileprivate func ending(_ outcome: String, _ output: JSONDocument) -> FlowDefinition {
        FlowDefinition(
            id: id, version: version, summary: summary, document: document,
            states: [FlowState(id: "end", kind: .final(Ending(outcome: outcome, output: .literal(output))))],
            initial: 0,
            guards: [], events: [], accepts: [], entry: [], exit: [], input: input, timeout: .none, inFlight: .pin,
            migrations: [], forms: [], texts: .none)
    }
}
