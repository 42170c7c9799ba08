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
    public let summary: TextTemplate?
    /// The file as it was read, for tools that show or draw it.
    public let document: JSONDocument
    /// The states, sorted by id.
    public let states: [FlowState]
    /// The names of its tasks, those for which no journey waits among them.
    package let taskNames: [String]
    /// How tasks are done for which no journey waits, by their names; a task may have none.
    package let sideTasks: [String: SideTaskPolicy]

    /// The index of the state that a new run begins with.
    public let initial: Int
    /// The named guards; a ``Guard/named(_:)`` is an index in this list.
    public let guards: [NamedGuard]
    /// The events that every screen of the flow and of its children accepts, sorted by name.
    public let events: [EventRule]
    /// The schemas for the data of events, for screens that have none of their own.
    public let accepts: [String: ShapeRule]
    /// The actions that run when the flow starts.
    public let entry: [Action]
    /// The actions that run when the flow ends, in whatever way.
    public let exit: [Action]
    /// The schema of the input; nil accepts any input.
    public let input: ShapeRule?
    /// How long the flow may run.
    public let timeout: FlowTimeout
    /// What happens by itself while the flow runs, on whatever screen.
    public let timers: [FlowTimer]
    /// For how many milliseconds a session stays for a journey of the flow that only waits for a time or for work; nil
    /// for not beyond the session's own expiry. See ``FlowEngine/keptUntil(of:otherwise:)``.
    public let lives: Int64?
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

    /// What people call events, for screens that have no word of their own; values are still in braces.
    public let labels: [String: TextTemplate]
    /// The rules for the data of events, for screens that have none of their own.
    public let forms: [String: [FormRule]]
    /// The languages of the flow's texts (BCP 47), in the order of the file; empty where they are in no language.
    public let languages: [String]

    /// The services that no client may know of, whether the flow uses them or not.
    let hiddenServices: Set<String>
    /// Whether a guard compares with the time, so that the possible events of a screen may change at any moment.
    public let looksAtTime: Bool
    /// What of the data decides when something happens by itself.
    let clock: FlowClock
    /// Whether anything ever happens by itself: a time limit, a timer, or a standing rule about the time. In most flows
    /// nothing does, and then no step looks for the next time.
    let isTimed: Bool
    /// Whether an `exit` of the flow, or of one of its screens, does what stays when the session is gone.
    let hasLastingExit: Bool

    /// See ``waysOn(besides:)``.
    let waysOn: [String: [Transition]]

    /// The services of which the flow's own ``accepts`` show parts: their values in texts, and choices.
    let formServices: [String]
    /// Each of the states prepared as a screen; nil for other states.
    let screens: [PreparedScreen?]
    /// Another one when the file says anything else, or has the languages of a text in another order.
    package let tag: UInt64

    private let places: [String: Int]

    package static let keys = FlowKeys(
        [
            "id": .name, "version": .positive, "description": .text, "initial": .name, "input": .jsonSchema,
            "guards": .map(of: .ref("namedGuard")), "accepts": .map(of: .jsonSchema),
            "rules": .map(of: .list(of: .ref("rule"))), "on": .map(of: .ref("transitions")), "entry": .ref("actions"),
            "exit": .ref("actions"), "timeout": .ref("flowTimeout"), "timers": .list(of: .ref("timer")),
            "lives": .duration, "in_flight": .choice(InFlightPolicy.self),
            "migrations": .list(of: .ref("migration")), "states": .map(of: .ref("state"), least: 1),
            "backend": .list(of: .name), "owns": .list(of: .service),
            "concurrency": .choice(FlowOwnership.Concurrency.self), "bound_to": .choice(FlowOwnership.Binding.self),
            "always": .ref("transitions"),
            "invalidates": .map(of: .list(of: ["anyOf": [.plainPath, .ref("dependent")]])),
            "tasks": .map(of: .ref("sideTask")), "portable": ["type": "boolean"], "labels": .map(of: .text),
        ], required: ["id", "version", "initial", "states"])

    /// Nil when an essential part is missing.
    init?(reading node: FlowNode, _ heading: (id: String, version: Int)?, by reader: inout FlowReader) {
        let written = reader.members(reader.required("states", in: node), notEmpty: true)
        let namedGuards = reader.members(node["guards"])
        reader.stateNames = written.map(\.name)
        for (place, state) in written.enumerated() { reader.statePlaces[state.name] = place }
        for (place, guardian) in namedGuards.enumerated() { reader.guardPlaces[guardian.name] = place }
        reader.flowEvents = (node["on"]?.members?.map(\.name) ?? []).filter { $0 != EventRule.back }
        if node.has("backend") {
            // Asked for only where a flow has the key: it looks at every state.
            let events = written.flatMap { $0.node["on"]?.members?.map(\.name) ?? [] }
            reader.flowBackend = reader.backend(node["backend"], among: reader.flowEvents + events)
        }
        input = reader.shape(node["input"])
        reader.inputSchema = input?.document
        accepts = reader.shapes(node["accepts"], ofEvents: true)
        reader.flowShapes = accepts
        guards = namedGuards.map { reader.namedGuard($0.name, $0.node) }
        states = written.map { FlowState(reading: $0.node, id: $0.name, by: &reader) }
        (events, _, forms) = reader.events(of: node, accepts)
        labels = node.has("labels") ? reader.labels(of: node, states.flatMap { $0.screen?.events ?? [] }) : [:]
        entry = reader.actions(node["entry"], .maybeEvent)
        exit = reader.actions(node["exit"], .maybeEvent)
        timeout = node["timeout"].flatMap { FlowTimeout(reading: $0, by: &reader) } ?? .none
        timers = reader.timers(node["timers"])
        lives = reader.milliseconds(node["lives"])
        inFlight = reader.choice(node["in_flight"]) ?? .pin
        migrations = reader.elements(node["migrations"]).compactMap { Migration(reading: $0, by: &reader) }
        summary = reader.localText(node["description"])
        let initial = reader.state(reader.required("initial", in: node))
        always = reader.always(node["always"])
        invalidates = reader.invalidations(node["invalidates"])
        sideTasks = reader.sideTaskPolicies(node["tasks"])
        taskNames = states.compactMap(\.task?.task) + reader.sideTasks.sorted()
        reader.checkGuards(guards)
        let shownRules = (events + states.flatMap { $0.screen?.events ?? [] }).filter { !$0.isBackend }
        reader.checkReasons(
            guards,
            shown: shownRules.flatMap(\.transitions).compactMap(\.guard) + states.flatMap { $0.screen?.requires ?? [] })
        reader.checkFrameReads(states, initial, events.flatMap(\.transitions) + always)
        ownership = FlowOwnership(reading: node, by: &reader)
        guard let heading, let initial, !states.isEmpty else { return nil }
        id = heading.id
        version = heading.version
        self.initial = initial
        document = node.value
        languages = reader.languages
        tag = ViewTag.of(document, then: reader.languagesOfTexts)
        formServices = accepts.shownServices(guards)
        screens = states.map { [states, events, guards, labels] state in
            state.screen.map {
                PreparedScreen(
                    $0, id: state.id, flow: heading.id, states: states, events: events, named: guards, labels: labels,
                    isBusy: state.task != nil)
            }
        }
        looksAtTime = Self.looksAtTime(states, guards, events, always)
        clock = FlowClock(timers, states, always, named: guards)
        isTimed =
            clock.isNeeded || timeout != .none || !timers.isEmpty
            || states.contains { $0.screen?.timers.isEmpty == false }
        hasLastingExit = (exit + states.flatMap { $0.screen?.exit ?? [] }).contains(where: \.isLasting)
        waysOn = Self.waysOn(states, events, always)
        places = reader.statePlaces
        hiddenServices = reader.services.hidden
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
    var looksAtTime: Bool { operands.contains { $0.contains { $0.root == .now } } }
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

    static let keys = FlowKeys(["idle": .duration, "total": .duration])
}

extension FlowTimeout {
    fileprivate init?(reading node: FlowNode, by reader: inout FlowReader) {
        guard node.isObject else {
            reader.report(node, expecting: "an object with idle, total or both")
            return nil
        }
        reader.checkKeys(of: node, Self.keys, "the timeout of a flow")
        self.init(idle: reader.milliseconds(node["idle"]), total: reader.milliseconds(node["total"]))
    }
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
    /// The values that are set back, in the order of the file.
    public let dependents: [Dependent]

    /// A value that depends on another.
    public struct Dependent: Sendable {
        /// The value.
        public let path: DataPath
        /// The value stays as it is while this fails, with the data after the change. Nil always sets it back.
        public let `guard`: Guard?
    }

    static let dependentKeys = FlowKeys(["path": .plainPath, "guard": .ref("guard")], required: ["path"])
}

/// How a journey gets from an older version of a flow to the version of this file.
public struct Migration: Sendable {
    /// The older version.
    public let from: Int
    /// New state ids by old ones; a state that is missing here keeps its id.
    public let states: [String: String]
    /// New outcomes of tasks by old ones, for workers that have a task of the older version; an outcome that is missing
    /// here keeps its name.
    public let outcomes: [String: String]
    /// The changes of services.
    public let patch: [Action]

    static let keys = FlowKeys(
        ["from": .positive, "states": .map(of: .name), "outcomes": .map(of: .name), "patch": .ref("actions")],
        required: ["from"])

    /// The new id of a state.
    public func state(for old: String) -> String { states[old] ?? old }

    /// The new name of an outcome.
    public func outcome(for old: String) -> String { outcomes[old] ?? old }
}

extension Migration {
    fileprivate init?(reading node: FlowNode, by reader: inout FlowReader) {
        guard let node = reader.object(node, Self.keys, "a migration") else { return nil }
        var states: [String: String] = [:]
        for (old, new) in reader.members(node["states"]) where reader.state(new) != nil { states[old] = new.string }
        let outcomes = reader.members(node["outcomes"]).reduce(into: [:]) { outcomes, outcome in
            outcomes[outcome.name] = reader.name(outcome.node)
        }
        let patch = reader.actions(node["patch"], DataContext(event: .never, withoutCalls: "the patch of a migration"))
        let written = reader.required("from", in: node, ": the version to migrate from")
        guard let from = reader.wholeNumber(written) else { return nil }
        self.init(from: from, states: states, outcomes: outcomes, patch: patch)
    }
}

extension FlowReader {
    fileprivate mutating func invalidations(_ node: FlowNode?) -> [Invalidation] {
        guard let node else { return [] }
        guard let members = node.members else { return refuse(node, expecting: "an object") ?? [] }
        let rules = members.compactMap { name, node -> Invalidation? in
            let key = readServicePath(FlowNode(value: JSONDocument(name), place: node.place), isWritten: false)
            guard let list = node.elements else {
                return refuse(
                    node, .wrongType, "the dependents of a value are an array of paths, not \(node.kind)")
            }
            let dependents = list.compactMap { dependent($0) }
            return key.map { Invalidation(key: $0, dependents: dependents) }
        }
        for rule in rules where rule.leadsBack(among: rules) {
            report(
                node.place.appending(rule.key.text), .badValue,
                "a change of \(rule.key.text) would reset \(rule.key.text) itself: its dependents lead back to it")
        }
        return rules
    }

    private mutating func dependent(_ node: FlowNode) -> Invalidation.Dependent? {
        guard node.isObject else {
            return readServicePath(node, isWritten: true).map { Invalidation.Dependent(path: $0, guard: nil) }
        }
        checkKeys(of: node, Invalidation.dependentKeys, "a dependent value")
        let path = required("path", in: node).flatMap { readServicePath($0, isWritten: true) }
        let guardian = node["guard"].flatMap { readGuard($0, .noEvent) }
        // Without its guard it would be set back always.
        guard let path, guardian != nil || !node.has("guard") else { return nil }
        return Invalidation.Dependent(path: path, guard: guardian)
    }
}

extension Invalidation {
    /// Whether its dependents, with theirs, include its key.
    fileprivate func leadsBack(among rules: [Invalidation]) -> Bool {
        var seen: Set<String> = []
        var open = dependents.map(\.path)
        while let path = open.popLast() {
            guard seen.insert(path.text).inserted else { continue }
            if path.overlaps(key) { return true }
            open += rules.filter { $0.key.overlaps(path) }.flatMap { $0.dependents.map(\.path) }
        }
        return false
    }
}
