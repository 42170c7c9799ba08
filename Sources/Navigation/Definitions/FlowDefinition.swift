import JSONDocument

/// One version of a flow as it runs: checked, with names resolved to places and schemas compiled.
///
/// Made by ``FlowLoader`` from a flow's file and never changed. Screens of 10,000 states are looked up as fast as
/// those of ten: states refer to each other by their place in ``states``.
public final class FlowDefinition: Sendable {
    /// The id of the flow, the same for all of its versions.
    public let id: String
    /// The version of the flow, from 1.
    public let version: Int
    /// The `description` of the file.
    public let summary: String?
    /// The file as it was read, for those who show or draw it.
    public let document: JSONDocument
    /// Sorted by id.
    public let states: [FlowState]
    /// The place in ``states`` of the state that a new run begins with.
    public let initial: Int
    /// What is tested under a name; a ``Guard/named(_:)`` is a place in here.
    public let guards: [NamedGuard]
    /// What may happen on every screen of the flow and of its children, sorted by name.
    public let events: [EventRule]
    /// The shapes of the data of events, where the screen says nothing of them, sorted by name.
    public let accepts: [EventShape]
    /// What is done when the flow starts.
    public let entry: [Action]
    /// What is done when the flow ends, in whatever way.
    public let exit: [Action]
    /// The shape of the input; nil when anything will do.
    public let input: ShapeRule?
    /// When a journey of this flow expires.
    public let timeout: FlowTimeout
    /// What a newer version says about journeys that run on older ones.
    public let inFlight: InFlightPolicy
    /// How journeys of older versions continue in this one.
    public let migrations: [Migration]

    /// Whether a guard compares with the time: then what is possible on a screen may change at any moment.
    public let looksAtTime: Bool

    /// Each of the states as a screen; nil for others.
    let screens: [PreparedScreen?]
    /// The head of a journey's view.
    let headText: [UInt8]

    private let places: [String: Int]

    init(
        id: String, version: Int, summary: String?, document: JSONDocument, states: [FlowState], initial: Int,
        guards: [NamedGuard], events: [EventRule], accepts: [EventShape], entry: [Action], exit: [Action],
        input: ShapeRule?,
        timeout: FlowTimeout, inFlight: InFlightPolicy, migrations: [Migration]
    ) {
        self.id = id
        self.version = version
        self.summary = summary
        self.document = document
        self.states = states
        self.initial = initial
        self.guards = guards
        self.events = events
        self.accepts = accepts
        self.entry = entry
        self.exit = exit
        self.input = input
        self.timeout = timeout
        self.inFlight = inFlight
        self.migrations = migrations
        screens = states.map { state in
            guard let screen = state.screen else { return nil }
            let others = events.filter { rule in !screen.events.contains { $0.event == rule.event } }
            let offers = (screen.events + others).map { Offer($0, on: screen, among: states, named: guards) }
            return PreparedScreen(screen, id: state.id, flow: id, offers: offers, named: guards)
        }
        headText = ScreenText.head(id, version)
        looksAtTime = Self.looksAtTime(states, guards, events)
        places = Dictionary(uniqueKeysWithValues: states.enumerated().map { ($0.element.id, $0.offset) })
    }

    /// The place of a state in ``states``; nil when the flow has none of that id.
    public func place(of state: String) -> Int? { places[state] }

    /// The state of that id, if there is one.
    public func state(_ id: String) -> FlowState? { places[id].map { states[$0] } }

    /// The place of a frame's state. The frame may know it from before, which is seen with one look and no hashing: a
    /// place that is not that of its state is no good.
    func place(of frame: Frame) -> Int? {
        let known = Int(frame.knownPlace)
        if known >= 0, known < states.count, states[known].id == frame.state { return known }
        return places[frame.state]
    }

    /// The screen that a frame shows; nil when the flow has none of that id.
    func screen(of frame: Frame) -> PreparedScreen? {
        guard let place = place(of: frame) else { return nil }
        return screens[place]
    }

    /// What the flow does on every screen when the event comes.
    public func rule(for event: String) -> EventRule? { events.first { $0.event == event } }

    /// What is wrong with a document as the flow's input; empty when nothing.
    public func violations(in input: JSONDocument) -> [JSONViolation] {
        if input.depth > StepRun.maximumDepth {
            return [JSONViolation(pointer: "", detail: "is nested more than \(StepRun.maximumDepth) levels deep")]
        }
        guard let rule = self.input, !rule.accepts(input) else { return [] }
        return rule.violations(in: input)
    }

    /// What the data of an event of the whole flow must be; `nil` when anything is accepted.
    public func shape(of event: String) -> ShapeRule? { accepts.first { $0.event == event }?.shape }
}
