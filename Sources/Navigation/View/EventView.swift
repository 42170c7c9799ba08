import JSONDocument

/// An event that the screen has, and whether it would do something now.
public struct EventView: Sendable, Equatable {
    /// The name of the event.
    public let name: String
    /// Whether it would be accepted now.
    public let enabled: Bool
    /// What is in the way of an event that is not enabled. Pointers begin with a service or `input`; an empty one means
    /// the stack.
    public let why: [JSONViolation]

    /// An event as a client sees it.
    public init(name: String, enabled: Bool = true, why: [JSONViolation] = []) {
        self.name = name
        self.enabled = enabled
        self.why = why
    }
}
