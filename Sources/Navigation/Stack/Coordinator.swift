import JSONDocument

/// Runs one flow inside a journey. It lives exactly as long as it, or a child of it, has a frame or is entering one.
public struct Coordinator: Sendable, Equatable {
    /// Unique within the journey while it lives; 0 is the journey's own flow.
    public let id: Int
    public internal(set) var flow: String
    public internal(set) var version: Int
    /// The coordinator that started it; nil for the journey's own flow.
    public let parent: Int?
    /// The state of the parent's flow that it was started by.
    public internal(set) var startedBy: String?
    /// What the flow was given.
    public let input: JSONDocument
    /// Milliseconds since 1970.
    public let startedAt: Int64
}
