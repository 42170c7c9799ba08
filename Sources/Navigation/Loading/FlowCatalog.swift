/// All flows in all their versions.
public struct FlowCatalog: Sendable {
    /// Sorted by id, then version.
    public let flows: [FlowDefinition]
    private let versions: [String: [FlowDefinition]]

    public static let empty = FlowCatalog([])

    init(_ flows: [FlowDefinition]) {
        self.flows = flows.sorted { ($0.id, $0.version) < ($1.id, $1.version) }
        versions = Dictionary(grouping: self.flows, by: \.id)
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
}
