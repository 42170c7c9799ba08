/// What a client draws, and what may happen there.
public final class Screen: Sendable {
    /// What the client knows the screen by; the state's id unless the file says otherwise.
    public let name: String
    public let title: String?
    /// The services whose documents are shown with the screen.
    public let data: [String]
    /// What may happen here, sorted by name.
    public let events: [EventRule]
    /// The shapes of the data of events, also of the flow's own, sorted by name.
    public let accepts: [EventShape]
    /// What must hold to be here.
    public let requires: [Guard]
    /// What is done each time that this becomes the screen one looks at.
    public let entry: [Action]
    /// What is done each time that it is left for another, whether it stays on the stack or not.
    public let exit: [Action]
    public let back: BackRule
    public let timeout: ScreenTimeout?

    init(
        name: String, title: String?, data: [String], events: [EventRule], accepts: [EventShape], requires: [Guard],
        entry: [Action], exit: [Action], back: BackRule, timeout: ScreenTimeout?
    ) {
        self.name = name
        self.title = title
        self.data = data
        self.events = events
        self.accepts = accepts
        self.requires = requires
        self.entry = entry
        self.exit = exit
        self.back = back
        self.timeout = timeout
    }

    public func rule(for event: String) -> EventRule? { events.first { $0.event == event } }

    public func shape(of event: String) -> ShapeRule? { accepts.first { $0.event == event }?.shape }
}

/// What going back from a screen does.
public enum BackRule: Sendable, Equatable {
    /// To the nearest frame below that can be gone back to.
    case allowed
    case forbidden
    /// To the nearest frame of that state, a place in the flow's states; the screen takes its place when there is none.
    case target(Int)
}

/// How long a screen may be looked at, counted from when it was come to.
public struct ScreenTimeout: Sendable {
    /// In milliseconds.
    public let after: Int64
    /// What happens then; nil: the journey is expired.
    public let transition: Transition?
}
