/// What an event does: the first transition whose guard holds.
public struct EventRule: Sendable {
    /// The name of the event.
    public let event: String
    /// Its transitions, in order; the first whose guard holds is taken.
    public let transitions: [Transition]
    /// How it is shown when it would do something.
    let enabledText: [UInt8]

    init(event: String, transitions: [Transition]) {
        self.event = event
        self.transitions = transitions
        enabledText = ScreenText.enabled([event])
    }
}

/// The shape that the data of an event must have.
public struct EventShape: Sendable {
    /// The name of the event.
    public let event: String
    /// What the data of the event must be.
    public let shape: ShapeRule
}
