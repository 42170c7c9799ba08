/// All flows in all their versions.
///
/// A class, for it is handed on with each step, and copies of what it holds are counted.
public final class FlowCatalog: Sendable {
    /// Sorted by id, then version.
    public let flows: [FlowDefinition]
    private let versions: [String: [FlowDefinition]]
    /// The place in ``flows`` of the lowest version of each flow; the others follow.
    private let firstPlaces: [String: Int]
    /// For each of ``flows`` whether it is the highest version of its flow.
    private let isNewest: [Bool]

    public static let empty = FlowCatalog([])

    init(_ flows: [FlowDefinition]) {
        self.flows = flows.sorted { ($0.id, $0.version) < ($1.id, $1.version) }
        let versions = Dictionary(grouping: self.flows, by: \.id)
        self.versions = versions
        firstPlaces = Dictionary(
            self.flows.enumerated().map { ($0.element.id, $0.offset) }, uniquingKeysWith: { first, _ in first })
        isNewest = self.flows.map { versions[$0.id]?.last === $0 }
    }

    public var ids: [String] { versions.keys.sorted() }

    /// The versions of a flow that are loaded, lowest first; empty for a flow that is not.
    public func versions(of flow: String) -> [FlowDefinition] { versions[flow] ?? [] }

    /// A version, or the highest, which is what new journeys get; nil when it is not loaded.
    public func flow(_ id: String, version: Int? = nil) -> FlowDefinition? {
        guard let loaded = versions[id] else { return nil }
        guard let version else { return loaded.last }
        return loaded.last { $0.version == version }
    }

    /// The flow that a coordinator runs. The coordinator may know its place here from before, which is seen with one
    /// look and no hashing: a place where another flow stands is no good.
    func flow(of coordinator: Coordinator) -> FlowDefinition? {
        if let place = place(of: coordinator) { return flows[place] }
        return flow(coordinator.flow, version: coordinator.version)
    }

    /// The flow that a coordinator runs, if that is known to be the highest version.
    func newestFlow(of coordinator: Coordinator) -> FlowDefinition? {
        guard let place = place(of: coordinator), isNewest[place] else { return nil }
        return flows[place]
    }

    private func place(of coordinator: Coordinator) -> Int? {
        let known = Int(coordinator.knownPlace)
        guard known >= 0, known < flows.count, flows[known].version == coordinator.version,
            flows[known].id == coordinator.flow
        else { return nil }
        return known
    }

    private func knowsPlaces(_ journey: Journey) -> Bool {
        journey.coordinators.allSatisfy { place(of: $0) != nil }
            && journey.frames.suffix(2).allSatisfy { $0.knownPlace >= 0 }
    }

    /// Tells a journey where its flows, and the states that a step looks at first, stand.
    func tellPlaces(to journey: inout Journey) {
        // Asked apart: in one loop with the writing, the arrays are made ready for it, which copies them, each time.
        if knowsPlaces(journey) { return }
        for place in journey.coordinators.indices where self.place(of: journey.coordinators[place]) == nil {
            let coordinator = journey.coordinators[place]
            let version = versions[coordinator.flow]?.lastIndex { $0.version == coordinator.version }
            guard let version, let first = firstPlaces[coordinator.flow] else { continue }
            journey.coordinators[place].knownPlace = Int32(clamping: first + version)
        }
        // The screen that is looked at, and the one that going back comes to.
        for place in journey.frames.indices.suffix(2) where journey.frames[place].knownPlace < 0 {
            let frame = journey.frames[place]
            guard let coordinator = journey.coordinator(frame.coordinator) else { continue }
            guard let known = flow(of: coordinator)?.place(of: frame) else { continue }
            journey.frames[place].knownPlace = Int32(clamping: known)
        }
    }
}
