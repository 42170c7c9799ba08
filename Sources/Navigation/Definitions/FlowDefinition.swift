import JSONDocument

/// One version of a flow as it runs: checked, with names resolved to indices and schemas compiled.
///
/// ``FlowLoader`` makes it from the flow's file, and it never changes. States refer to each other by their index in
/// ``states``, so a flow of 10,000 states looks them up as fast as one of ten.
public final class FlowDefinition: Sendable {
    /// The name of the flow.
    public let id: String
    /// The number of this version.
    public let version: Int
    /// The `description` in the file.
    public let summary: String?
    /// The file as it was read, for tools that show or draw it.
    public let document: JSONDocument
    /// The states, sorted by id.
    public let states: [FlowState]
    /// The names of its tasks.
    package var taskNames: [String] { states.compactMap(\.task?.task) }

    /// The index of the state that a new run begins with.
    public let initial: Int
    /// The named guards; a ``Guard/named(_:)`` is an index in this list.
    public let guards: [NamedGuard]
    /// The events that every screen of the flow and of its children accepts, sorted by name.
    public let events: [EventRule]
    /// The schemas for the data of events, for screens that have none of their own; sorted by name.
    public let accepts: [EventShape]
    /// The actions that run when the flow starts.
    public let entry: [Action]
    /// The actions that run when the flow ends, in whatever way.
    public let exit: [Action]
    /// The schema of the input; nil accepts any input.
    public let input: ShapeRule?
    /// How long the flow may run.
    public let timeout: FlowTimeout
    /// What this version does with journeys that run on older ones.
    public let inFlight: InFlightPolicy
    /// How journeys get from older versions to this one.
    public let migrations: [Migration]
    /// The services that each run of the flow has for itself, and to whom a journey belongs.
    public let ownership: FlowOwnership
    /// The transitions that are taken without an event on every screen of the flow and of its children, as soon as
    /// their guards hold.
    public let always: [Transition]
    /// Which values are set back when another changes.
    public let invalidates: [Invalidation]

    /// The rules for the data of events, for screens that have none of their own; sorted by event.
    public let forms: [EventForm]
    /// The texts that are written in several languages.
    public let texts: FlowTexts

    /// Whether a guard compares with the time, so that the possible events of a screen may change at any moment.
    public let looksAtTime: Bool

    /// Each of the states prepared as a screen; nil for other states.
    let screens: [PreparedScreen?]

    private let places: [String: Int]

    init(
        id: String, version: Int, summary: String?, document: JSONDocument, states: [FlowState], initial: Int,
        guards: [NamedGuard], events: [EventRule], accepts: [EventShape], entry: [Action], exit: [Action],
        input: ShapeRule?,
        timeout: FlowTimeout, inFlight: InFlightPolicy, migrations: [Migration], ownership: FlowOwnership = .none,
        always: [Transition] = [], invalidates: [Invalidation] = [], forms: [EventForm], texts: FlowTexts
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
        self.ownership = ownership
        self.always = always
        self.invalidates = invalidates
        self.forms = forms
        self.texts = texts
        screens = states.map { state in
            state.screen.map {
                PreparedScreen(
                    $0, id: state.id, flow: id, states: states, events: events, named: guards,
                    isBusy: state.task != nil)
            }
        }
        looksAtTime = Self.looksAtTime(states, guards, events, always)
        places = Dictionary(uniqueKeysWithValues: states.enumerated().map { ($0.element.id, $0.offset) })
    }

    /// The index of a state; nil when the flow has none of that id.
    public func place(of state: String) -> Int? { places[state] }

    /// The state of that id; nil when the flow has none.
    public func state(_ id: String) -> FlowState? { places[id].map { states[$0] } }

    /// The index of a frame's state. The frame may know it from an earlier step: comparing one name is cheaper than
    /// hashing it.
    func place(of frame: Frame) -> Int? {
        let known = Int(frame.knownPlace)
        if known >= 0, known < states.count, states[known].id == frame.state { return known }
        return places[frame.state]
    }

    /// The screen of a frame; nil when this version of the flow does not have it.
    func screen(of frame: Frame) -> PreparedScreen? {
        guard let place = place(of: frame) else { return nil }
        return screens[place]
    }

    /// What the flow does about an event on every screen.
    public func rule(for event: String) -> EventRule? { events.first { $0.event == event } }

    /// Why a document cannot be the flow's input, with pointers within it; empty when it can.
    public func violations(in input: JSONDocument) -> [JSONViolation] {
        if let violation = input.nestingViolation() { return [violation] }
        guard let rule = self.input, !rule.accepts(input) else { return [] }
        return rule.violations(in: input)
    }

    /// The flow's schema for the data of an event; nil when it has none.
    public func shape(of event: String) -> ShapeRule? { accepts.first { $0.event == event }?.shape }
}

extension FlowDefinition {
    static func looksAtTime(
        _ states: [FlowState], _ guards: [NamedGuard], _ events: [EventRule], _ always: [Transition]
    ) -> Bool {
        let screens = states.compactMap(\.screen)
        let rules = events + screens.flatMap(\.events)
        let guards =
            guards.map(\.guard) + screens.flatMap(\.requires)
            + (rules.flatMap(\.transitions) + always + screens.flatMap(\.always)).compactMap(\.guard)
        return guards.contains(where: \.looksAtTime)
    }
}

extension Guard {
    fileprivate var looksAtTime: Bool { operands.contains { $0.contains { $0.root == .now } } }
}

/// How long a flow may run, in milliseconds.
///
/// When the time of a journey's own flow is over, the journey expires. When the time of a child is over, the child ends
/// and its parent takes `done.expired`.
public struct FlowTimeout: Sendable, Equatable {
    /// Since the journey last moved.
    public let idle: Int64?
    /// Since the flow started.
    public let total: Int64?

    /// No time limit.
    public static let none = FlowTimeout(idle: nil, total: nil)
}

/// What a new version does with journeys that run on an older one, at their next event.
public enum InFlightPolicy: String, Sendable, CaseIterable {
    /// Leaves them on their version.
    case pin
    /// Moves them to the new version where a migration leads to it.
    case migrate
    /// Starts them over on the new version; the services are kept.
    case restart
}

/// Values that depend on another: when it changes, they are set back to the defaults of their services.
public struct Invalidation: Sendable {
    /// The value that changes.
    public let key: DataPath
    /// The values that are set back.
    public let dependents: [DataPath]
}

/// How a journey gets from an older version of a flow to the version of this file.
public struct Migration: Sendable {
    /// The older version.
    public let from: Int
    /// New state ids by old ones; a state that is missing here keeps its id.
    public let states: [String: String]
    /// The changes of services.
    public let patch: [Action]

    /// The new id of a state.
    public func state(for old: String) -> String { states[old] ?? old }
}
