import JSONDocument

/// What a client draws, and what may happen there.
public final class Screen: Sendable {
    /// The client's name for the screen; the state's id unless the file says otherwise.
    public let name: String
    /// The title for people.
    public let title: TextTemplate?
    /// The services whose documents are shown with the screen.
    public let data: [String]
    /// The events of this screen, sorted by name.
    public let events: [EventRule]
    /// The shapes of the data of events, including the flow's own events.
    public let accepts: [String: ShapeRule]
    /// The rules for the data of events, including the flow's own events; all of an event's rules must hold.
    public let forms: [String: [FormRule]]
    /// What people call events, by their names; including the flow's own events.
    public let labels: [String: TextTemplate]
    /// The guards that must hold to be on the screen.
    public let requires: [Guard]
    /// The transitions of a screen whose ``requires`` do not hold any more; empty uncovers a screen below.
    public let otherwise: [Transition]
    /// The transitions that are taken without an event, as soon as their guards hold.
    public let always: [Transition]
    /// The values that the screen asks for. Empty asks for nothing, so the screen may be passed for the person. Nil
    /// where the file does not say: only the person leads on.
    public let answers: [DataPath]?
    /// The actions that run each time the screen comes to the top.
    public let entry: [Action]
    /// The actions that run each time the journey moves to another screen, whether this one stays on the stack or not.
    public let exit: [Action]
    /// What going back from the screen does.
    public let back: BackRule
    /// What happens before the journey goes back, where the file says that: transitions that lead nowhere themselves.
    public let onBack: EventRule?
    /// What happens by itself while the journey is on the screen: the timers as the file lists them, then the timeout.
    public let timers: [FlowTimer]
    /// The time limit of the screen, if it has one, counted from when the journey reached it.
    public var timeout: FlowTimer? { timers.last.flatMap { $0.isTimeout ? $0 : nil } }

    static let keys = FlowKeys([
        "type": ["const": "screen"], "screen": ["type": "string"], "title": .text, "data": .list(of: .service),
        "accepts": .map(of: .jsonSchema), "rules": .map(of: .list(of: .ref("rule"))),
        "on": [
            "type": "object", "properties": ["back": .ref("backTransitions")],
            "additionalProperties": .ref("transitions"),
        ],
        "requires": .list(of: .ref("guard")), "otherwise": .ref("transitions"),
        "always": .ref("transitions"), "answers": .list(of: .path), "entry": .ref("actions"),
        "exit": .ref("actions"),
        "back": ["anyOf": [["type": "boolean"], .ref("back")]],
        "timeout": ["anyOf": [.duration, .ref("screenTimeout")]], "timers": .list(of: .ref("timer")),
        "backend": .list(of: .name), "labels": .map(of: .text),
    ])

    /// - Parameter id: of the state.
    init(reading node: FlowNode, id: String, by reader: inout FlowReader) {
        reader.checkKeys(of: node, Self.keys, "a screen")
        accepts = reader.shapes(node["accepts"], ofEvents: true)
        (events, onBack, forms) = reader.events(of: node, accepts)
        labels = reader.labels(of: node, events)
        name = reader.text(node["screen"]) ?? id
        title = reader.localText(node["title"], .noEvent)
        data = reader.shownServices(node["data"])
        requires = reader.elements(node["requires"]).compactMap { reader.readGuard($0, .noEvent) }
        entry = reader.actions(node["entry"], .maybeEvent)
        exit = reader.actions(node["exit"], .maybeEvent)
        back = BackRule(reading: node["back"], by: &reader)
        if back == .forbidden {
            for node in [node["on"], node["labels"]].compactMap({ $0?[EventRule.back] }) {
                reader.report(node.place, .badValue, "the screen refuses back: \"back\" is false")
            }
        }
        let timers = reader.timers(node["timers"])
        self.timers = timers + [reader.timeout(node["timeout"])].compactMap(\.self)
        if let otherwise = node["otherwise"], !node.has("requires") {
            reader.report(otherwise.place, .missingKey, "`otherwise` needs `requires`")
        }
        otherwise = reader.unprompted(node["otherwise"])
        always = reader.always(node["always"])
        answers = node["answers"].map { node in
            reader.elements(node).compactMap { reader.readAnswer($0) }
        }
    }

    /// The busy screen of a task.
    init(ofTask id: String, title: TextTemplate?, data: [String], back: BackRule, timers: [FlowTimer]) {
        name = id
        self.title = title
        self.data = data
        self.back = back
        self.timers = timers
        (events, accepts, forms, labels, requires, otherwise) = ([], [:], [:], [:], [], [])
        (always, entry, exit) = ([], [], [])
        (answers, onBack) = (nil, nil)
    }

    /// The screen's own rule for an event; nil when it has none.
    public func rule(for event: String) -> EventRule? { events.first { $0.event == event } }
}

extension FlowReader {
    /// Reads `data`: the services that are shown with a screen, each once.
    mutating func shownServices(_ node: FlowNode?) -> [String] {
        names(node, of: "a service").reduce(into: []) { shown, service in
            guard checkService(service.name, at: service.node.place), !shown.contains(service.name) else { return }
            if services.hidden.contains(service.name) {
                report(
                    service.node.place, .hiddenService,
                    "\(service.name) has \"access\": \"hidden\", so no screen shows it; `params` can show a part of it")
            }
            shown.append(service.name)
        }
    }
}

/// What going back from a screen does.
public enum BackRule: Sendable, Equatable {
    /// Uncovers the nearest frame below that history and its `requires` allow.
    case allowed
    /// The event `back` is refused.
    case forbidden
    /// Uncovers the nearest frame of that state, given by its index; without one, the state replaces the screen.
    case target(Int)

    static let keys = FlowKeys(["target": .name], required: ["target"])

    init(reading node: FlowNode?, by reader: inout FlowReader) {
        self = .allowed
        guard let node else { return }
        if node.isObject {
            reader.checkKeys(of: node, Self.keys, "back")
            if let target = reader.state(reader.required("target", in: node)) { self = .target(target) }
        } else if let back = node.value.bool {
            self = back ? .allowed : .forbidden
        } else {
            reader.report(node, expecting: "true, false or an object with a target")
        }
    }
}
