/// What an event does: the first transition whose guard holds.
public struct EventRule: Sendable {
    public let event: String
    public let transitions: [Transition]
}

/// The shape that the data of an event must have.
public struct EventShape: Sendable {
    public let event: String
    public let shape: ShapeRule
}
