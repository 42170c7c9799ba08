import JSONDocument

/// One version of a flow as it runs: checked, with names resolved to places and schemas compiled.
///
/// Made by ``FlowLoader`` from a flow's file and never changed. Screens of 10,000 states are looked up as fast as
/// those of ten: states refer to each other by their place in ``states``.
public final class FlowDefinition: Sendable {
    public let id: String
    public let version: Int
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
    public let timeout: FlowTimeout
    /// What a newer version says about journeys that run on older ones.
    public let inFlight: InFlightPolicy
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

    public func shape(of event: String) -> ShapeRule? { accepts.first { $0.event == event }?.shape }
}

extension FlowDefinition {
    static func looksAtTime(_ states: [FlowState], _ guards: [NamedGuard], _ events: [EventRule]) -> Bool {
        let screens = states.compactMap(\.screen)
        let rules = events + screens.flatMap(\.events)
        let guards =
            guards.map(\.guard) + screens.flatMap(\.requires) + rules.flatMap(\.transitions).compactMap(\.guard)
        return guards.contains(where: \.looksAtTime)
    }
}

extension Guard {
    fileprivate var looksAtTime: Bool {
        switch self {
        case .shape, .named: false
        case .all(let parts), .any(let parts): parts.contains(where: \.looksAtTime)
        case .not(let part): part.looksAtTime
        case .compare(let left, _, let right): left.looksAtTime || right.looksAtTime
        }
    }
}

extension Guard.Operand {
    fileprivate var looksAtTime: Bool {
        if case .path(let path) = self { path.root == .now } else { false }
    }
}

/// How long a flow may run, in milliseconds.
///
/// A journey whose own flow has run out of time is expired. A child that has is ended, and its parent told
/// `done.expired`.
public struct FlowTimeout: Sendable, Equatable {
    /// Since the journey last moved.
    public let idle: Int64?
    /// Since the flow started.
    public let total: Int64?

    public static let none = FlowTimeout(idle: nil, total: nil)
}

/// What becomes of journeys that run on an older version, at their next event.
public enum InFlightPolicy: String, Sendable, CaseIterable {
    /// They stay on theirs.
    case pin
    /// They move to this one, where a migration leads here.
    case migrate
    /// They start over on this one; the services are kept.
    case restart
}

/// How a journey gets from an older version of a flow to the one that this stands in.
public struct Migration: Sendable {
    public let from: Int
    /// Old state ids to new ones; a state that is not named keeps its id.
    public let states: [String: String]
    /// What is done to the services.
    public let patch: [Action]

    public func state(for old: String) -> String { states[old] ?? old }
}
