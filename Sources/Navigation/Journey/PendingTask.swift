import JSONDocument

/// Work outside that a journey waits for. The top frame is that of its state for as long as it is there.
public struct PendingTask: Sendable, Equatable {
    /// The number of the step that began it: unique within the journey, and it never comes back.
    public internal(set) var number: UInt64
    /// The name of the task.
    public let name: String
    /// What the work is done with.
    public let input: JSONDocument
}
