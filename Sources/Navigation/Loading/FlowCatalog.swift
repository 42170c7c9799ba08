import JSONDocument

/// All flows in all their versions.
///
/// A class, because each step passes it on, and copying its arrays and dictionaries would count references.
public final class FlowCatalog: Sendable {
    /// All flows, sorted by id, then version.
    public let flows: [FlowDefinition]
    /// The versions of each flow, lowest first, sorted by id. Comparing a few names is cheaper than hashing one, and an
    /// event looks up half a dozen.
    private let versions: [(id: String, all: [FlowDefinition])]

    /// The languages of each flow that is written in any, in all its versions; empty when no flow is.
    public let languages: [String: [String]]

    /// Whether any flow owns services.
    let ownsServices: Bool
    /// Whether any flow has ``FlowDefinition/lives``.
    package let hasLives: Bool
    /// Whether any flow has ``FlowDefinition/hasLastingExit``.
    package let hasLastingExits: Bool

    /// The services whose writes may change when journeys are due, because timers or standing rules about the time read
    /// them.
    package let clockedServices: Set<String>
    /// Whether the data may change when a journey is due.
    let isClocked: Bool

    /// The number of states of the largest flow, in which a way takes longest to find.
    public let mostStates: Int
    /// The same of those with a transition that resumes, which finds a way as well; 0 when there is none.
    public let mostStatesToResume: Int

    /// Is told what steps take, also steps that are refused in the end; for tools. Nil costs nothing.
    let recorder: (@Sendable (TakenTransition) -> Void)?

    /// A catalog without flows.
    public static let empty = FlowCatalog([])

    package init(_ flows: [FlowDefinition], recorder: (@Sendable (TakenTransition) -> Void)? = nil) {
        self.recorder = recorder
        self.flows = flows.sorted { ($0.id, $0.version) < ($1.id, $1.version) }
        let versions = Dictionary(grouping: self.flows, by: \.id)
        self.versions = versions.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        languages = versions.mapValues { versions in
            versions.reversed().flatMap(\.languages).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
        }.filter { !$0.value.isEmpty }
        ownsServices = flows.contains { !$0.ownership.services.isEmpty }
        clockedServices = flows.reduce(into: []) { $0.formUnion($1.clock.services) }
        isClocked = flows.contains { $0.clock.isNeeded }
        hasLives = flows.contains { $0.lives != nil }
        hasLastingExits = flows.contains(where: \.hasLastingExit)
        mostStates = flows.map(\.states.count).max() ?? 0
        mostStatesToResume =
            flows.filter { flow in
                flow.allTransitions.contains { $0.transition.nav == .resume }
            }.map(\.states.count).max() ?? 0
    }

    /// The ids of all flows, sorted.
    public var ids: [String] { versions.map(\.id) }

    /// The loaded versions of a flow, lowest first; empty when there is none.
    public func versions(of flow: String) -> [FlowDefinition] {
        var places = versions.indices
        while !places.isEmpty {
            let middle = places.lowerBound + places.count / 2
            if versions[middle].id == flow { return versions[middle].all }
            places = versions[middle].id < flow ? middle + 1..<places.upperBound : places.lowerBound..<middle
        }
        return []
    }

    /// A version of a flow, or the highest, which new journeys get; nil when it is not loaded.
    public func flow(_ id: String, version: Int? = nil) -> FlowDefinition? {
        let loaded = versions(of: id)
        guard let version else { return loaded.last }
        return loaded.last { $0.version == version }
    }

    /// The flow that a coordinator runs.
    ///
    /// - Parameter place: the index of the coordinator in the list; passing the list is cheaper than copying an
    ///   element.
    func flow(of coordinators: [Coordinator], at place: Int) -> FlowDefinition? {
        flow(coordinators[place].flow, version: coordinators[place].version)
    }

    /// Which services the coordinators own that a coordinator sees: its own ones first.
    func owners(of coordinator: Int, among coordinators: [Coordinator]) -> ServiceOwners {
        var owners = ServiceOwners()
        guard ownsServices else { return owners }
        var next: Int? = coordinator
        while let id = next, let place = coordinators.place(of: id) {
            if let flow = flow(of: coordinators, at: place), !flow.ownership.services.isEmpty {
                owners.levels.append(.init(coordinator: id, flow: flow.id, names: flow.ownership.services))
            }
            next = coordinators[place].parent
        }
        return owners
    }
}

/// Catalogs for tests of flows.
extension FlowCatalog {
    /// The catalog with flows that end at once and a recorder of what steps take.
    ///
    /// - Parameter ends: the outcome and the output of each flow that is replaced.
    package func trial(
        ending ends: [String: (outcome: String, output: JSONDocument)],
        recorder: @escaping @Sendable (TakenTransition) -> Void
    ) -> FlowCatalog {
        let replaced = flows.map { flow in ends[flow.id].flatMap { flow.ending($0.outcome, $0.output) } ?? flow }
        return FlowCatalog(replaced, recorder: recorder)
    }
}

extension FlowDefinition {
    /// A flow of that name and version that ends at once.
    fileprivate func ending(_ outcome: String, _ output: JSONDocument) -> FlowDefinition? {
        let end: JSONDocument = ["type": "final", "outcome": JSONDocument(outcome), "output": output]
        let members: [(name: String, value: JSONDocument)] = [
            ("id", JSONDocument(id)), ("version", JSONDocument(version)), ("initial", "end"), ("states", ["end": end]),
        ]
        var reader = FlowReader(file: "", services: ServiceDirectory([]), isLiteral: true)
        let input = input.map { [(name: "input", value: $0.document)] } ?? []
        return reader.read(JSONDocument(members: members + input)).flow
    }
}
