import JSONDocument

/// Runs one flow inside a journey. It lives exactly as long as it, or a child of it, has a frame or is entering one.
public struct Coordinator: Sendable, Equatable {
    /// Unique within the journey while the coordinator lives; 0 is the journey's own flow.
    public let id: Int
    /// The id of the flow.
    public internal(set) var flow: String
    /// The version of the flow.
    public internal(set) var version: Int
    /// The coordinator that started it; nil for the journey's own flow.
    public let parent: Int?
    /// The state of the parent's flow that started it.
    public internal(set) var startedBy: String?
    /// The input of the flow.
    public let input: JSONDocument
    /// Milliseconds since 1970.
    public let startedAt: Int64
}

extension [Coordinator] {
    /// The index of a coordinator. On the list, because a call on a journey that is being changed copies the journey.
    func place(of coordinator: Int) -> Int? { firstIndex { $0.id == coordinator } }
}
