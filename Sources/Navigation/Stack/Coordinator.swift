import JSONDocument

/// Runs one flow inside a journey. It lives exactly as long as it, or a child of it, has a frame or is entering one.
public struct Coordinator: Sendable {
    /// Unique within the journey while it lives; 0 is the journey's own flow.
    public let id: Int
    /// The id of the flow that it runs.
    public internal(set) var flow: String
    /// The version of that flow.
    public internal(set) var version: Int
    /// The coordinator that started it; nil for the journey's own flow.
    public let parent: Int?
    /// The state of the parent's flow that it was started by.
    public internal(set) var startedBy: String?
    /// What the flow was given.
    public let input: JSONDocument
    /// Milliseconds since 1970.
    public let startedAt: Int64
    /// Where the flow stood in a catalog when somebody looked: see ``FlowCatalog/flow(of:at:)``.
    var knownPlace: Int32 = -1
}

extension Coordinator: Equatable {
    public static func == (one: Coordinator, other: Coordinator) -> Bool {
        one.id == other.id && one.flow == other.flow && one.version == other.version && one.parent == other.parent
            && one.startedBy == other.startedBy && one.input == other.input && one.startedAt == other.startedAt
    }
}
