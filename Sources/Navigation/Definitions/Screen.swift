/// What a client draws, and what may happen there.
public final class Screen: Sendable {
    /// The client's name for the screen; the state's id unless the file says otherwise.
    public let name: String
    /// The title for people.
    public let title: String?
    /// The services whose documents are shown with the screen.
    public let data: [String]
    /// The events of this screen, sorted by name.
    public let events: [EventRule]
    /// The shapes of the data of events, including the flow's own events, sorted by name.
    public let accepts: [EventShape]
    /// The rules for the data of events, including the flow's own events, sorted by event.
    public let forms: [EventForm]
    /// The guards that must hold to be on the screen.
    public let requires: [Guard]
    /// The transitions of a screen whose ``requires`` do not hold any more; empty uncovers a screen below.
    public let otherwise: [Transition]
    /// The transitions that are taken without an event, as soon as their guards hold.
    public let always: [Transition]
    /// The values that the screen asks for.
    public let answers: [DataPath]
    /// The actions that run each time the screen comes to the top.
    public let entry: [Action]
    /// The actions that run each time the journey moves to another screen, whether this one stays on the stack or not.
    public let exit: [Action]
    /// What going back from the screen does.
    public let back: BackRule
    /// The time limit of the screen, if it has one.
    public let timeout: ScreenTimeout?

    init(
        name: String, title: String?, data: [String], events: [EventRule], accepts: [EventShape], requires: [Guard],
        entry: [Action], exit: [Action], back: BackRule, timeout: ScreenTimeout?, otherwise: [Transition] = [],
        always: [Transition] = [], answers: [DataPath] = [], forms: [EventForm] = []
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
        self.otherwise = otherwise
        self.always = always
        self.answers = answers
        self.forms = forms
    }

    /// The screen's own rule for an event; nil when it has none.
    public func rule(for event: String) -> EventRule? { events.first { $0.event == event } }

    /// The screen's own schema for the data of an event; nil when it has none.
    public func shape(of event: String) -> ShapeRule? { accepts.first { $0.event == event }?.shape }
}

/// What going back from a screen does.
public enum BackRule: Sendable, Equatable {
    /// Uncovers the nearest frame below that history and its `requires` allow.
    case allowed
    /// The event `back` is refused.
    case forbidden
    /// Uncovers the nearest frame of that state, given by its index; without one, the state replaces the screen.
    case target(Int)
}

/// How long a screen may stay on top, counted from when the journey reached it.
public struct ScreenTimeout: Sendable {
    /// Milliseconds.
    public let after: Int64
    /// The transition that is taken then; nil expires the journey.
    public let transition: Transition?
}
