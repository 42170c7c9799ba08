/// What a client draws, and what may happen there.
public final class Screen: Sendable {
    /// What the client knows the screen by; the state's id unless the file says otherwise.
    public let name: String
    /// What a client may show above it.
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
    /// Where the event `back` leads.
    public let back: BackRule
    /// What happens when nobody acts for a while.
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

    /// The rule of the screen itself for an event, if it has one.
    public func rule(for event: String) -> EventRule? { events.first { $0.event == event } }

    /// What the data of an event must be; `nil` when anything is accepted.
    public func shape(of event: String) -> ShapeRule? { accepts.first { $0.event == event }?.shape }
}
