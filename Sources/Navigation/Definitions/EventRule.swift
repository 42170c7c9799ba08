import JSONDocument

/// What an event does: its first transition whose guard holds is taken.
public struct EventRule: Sendable {
    /// The name of the event.
    public let event: String
    /// The transitions in the order in which their guards are tested.
    public let transitions: [Transition]
    /// Whether only a back end may send the event.
    public var isBackend = false

    /// The event that every screen has, unless its key of that name forbids it.
    package static let back = "back"
}

extension [EventRule] {
    var caused: [CausedTransition] {
        flatMap { rule in rule.transitions.map { CausedTransition(cause: .event(rule.event), transition: $0) } }
    }
}

/// A rule over several fields of an event's data.
public struct FormRule: Sendable {
    /// What must hold.
    public let `guard`: Guard
    /// The JSON Pointer within the data that the rule is about; nil for wherever the guard looks.
    public let at: String?
    /// The author's text for the person who breaks the rule.
    public let say: TextTemplate?

    static let keys = FlowKeys(
        ["guard": .ref("guard"), "at": ["type": "string"], "say": .text], required: ["guard"])

    /// - Parameter reasons: why the guard does not hold; pointers begin with a service, `event` or `input`.
    /// - Returns: the same with pointers within the data, and in the author's words.
    /// - Parameter said: an author's text with its values.
    func violations(_ reasons: [JSONViolation], saying said: (TextTemplate) -> SaidText) -> [JSONViolation] {
        let event = "/event"
        if let say {
            let place =
                at
                ?? reasons.lazy.map(\.pointer).first { $0.hasPrefix(event + "/") }.map {
                    String($0.dropFirst(event.count))
                }
            return [JSONViolation(said(say), at: place ?? "")]
        }
        let inner = reasons.map { reason in
            reason.at(
                at ?? (reason.pointer.hasPrefix(event) ? String(reason.pointer.dropFirst(event.count)) : ""))
        }
        return inner.isEmpty ? [JSONViolation(pointer: at ?? "", detail: "breaks a rule")] : inner
    }
}

extension FlowReader {
    /// Reads `on`, `backend` and `rules` of a screen or of the flow.
    ///
    /// - Parameter shapes: its `accepts`.
    /// - Returns: the rule for `back` apart, since it does not lead anywhere.
    mutating func events(
        of node: FlowNode, _ shapes: [String: ShapeRule]
    ) -> (events: [EventRule], back: EventRule?, forms: [String: [FormRule]]) {
        let written = members(node["on"]).filter { $0.name != EventRule.back }
        let isFlow = node.place.tokens.isEmpty
        let backend = isFlow ? flowBackend : flowBackend.union(backend(node["backend"], among: written.map(\.name)))
        let events = written.map { name, node in
            let transitions = transitions(node, context(of: name, shapes))
            return EventRule(event: name, transitions: transitions, isBackend: backend.contains(name))
        }
        let back = node["on"]?[EventRule.back].flatMap { node -> EventRule? in
            if isFlow {
                return refuse(
                    node, .badName, "\"back\" is an event of each screen, and only `on` of a screen says what it does")
            }
            return EventRule(
                event: EventRule.back, transitions: backTransitions(node, context(of: EventRule.back, shapes)))
        }
        let accepted = events.map(\.event) + [back].compactMap { $0?.event } + flowEvents
        for event in shapes.keys.sorted() {
            checkEvent(
                event, named: "accepts has a schema for", at: node.place.appending("accepts").appending(event),
                among: accepted)
        }
        return (events, back, forms(node["rules"], shapes, accepted))
    }

    private mutating func checkEvent(
        _ event: String, named what: String, at place: JSONPointer, among accepted: [String]
    ) {
        if accepted.contains(event) { return }
        report(
            place, .unknownEvent, "\(what) \"\(event)\", which is not an event in `on`",
            guess: guess(event, among: accepted))
    }

    /// Reads `labels`: what people call the events of a screen, or of all screens.
    ///
    /// - Parameter events: of the screen, or of all screens, besides `back`, which every screen has.
    mutating func labels(of node: FlowNode, _ events: [EventRule]) -> [String: TextTemplate] {
        members(node["labels"]).reduce(into: [:]) { labels, member in
            checkEvent(
                member.name, named: "labels names", at: member.node.place,
                among: events.map(\.event) + flowEvents + [EventRule.back])
            labels[member.name] = localText(member.node, .noEvent)
        }
    }

    private func schema(of event: String, _ shapes: [String: ShapeRule]) -> JSONDocument? {
        (shapes[event] ?? flowShapes[event])?.document
    }

    private func context(of event: String, _ shapes: [String: ShapeRule]) -> DataContext {
        DataContext(event: schema(of: event, shapes).map { .shaped($0) } ?? .maybe)
    }

    /// Reads `backend`: the events that only a back end may send.
    mutating func backend(_ node: FlowNode?, among events: [String]) -> Set<String> {
        var known: Set<String> = []
        for (name, node) in names(node, of: "an event") {
            if events.contains(name) {
                known.insert(name)
            } else {
                report(
                    node.place, .unknownEvent, "backend names \"\(name)\", which is not an event in `on`",
                    guess: guess(name, among: events))
            }
        }
        return known
    }

    mutating func shapes(_ node: FlowNode?, ofEvents: Bool = false) -> [String: ShapeRule] {
        members(node).reduce(into: [:]) { shapes, member in
            let context = ofEvents ? DataContext(event: .shaped(member.node.value)) : nil
            shapes[member.name] = shape(member.node, context, isForm: ofEvents)
        }
    }

    /// Reads `rules`, beside `accepts`.
    private mutating func forms(
        _ node: FlowNode?, _ shapes: [String: ShapeRule], _ accepted: [String]
    ) -> [String: [FormRule]] {
        var forms: [String: [FormRule]] = [:]
        for (event, node) in members(node) {
            checkEvent(event, named: "rules mentions", at: node.place, among: accepted)
            let (schema, context) = (schema(of: event, shapes), context(of: event, shapes))
            if schema == nil, accepted.contains(event), node.elements?.isEmpty == false {
                report(
                    node.place, .missingKey,
                    "accepts has no schema for \"\(event)\", so the rules are for data that may be anything; write "
                        + "\"accepts\": {\"\(event)\": {\"type\": \"object\", \"properties\": …}}",
                    severity: .warning)
            }
            forms[event] = rules(node, schema, context)
        }
        return forms
    }

    /// Reads the rules of one event, or of a command.
    mutating func rules(_ node: FlowNode, _ schema: JSONDocument?, _ context: DataContext) -> [FormRule] {
        guard let list = node.elements else {
            return refuse(node, .wrongType, "the rules of an event are an array, not \(node.kind)") ?? []
        }
        return list.compactMap { rule($0, schema, context) }
    }

    private mutating func rule(_ node: FlowNode, _ schema: JSONDocument?, _ context: DataContext) -> FormRule? {
        guard node.isObject, let guardian = node["guard"] else {
            return refuse(
                node, .missingKey,
                "a rule needs a guard, and may have at and say: {\"guard\": …, \"at\": \"/checkout_date\", \"say\": \"…\"}"
            )
        }
        checkKeys(of: node, FormRule.keys, "a rule")
        let say = localText(node["say"], context.saidOnce)
        let at = text(node["at"])
        if let at, let node = node["at"] {
            let pointer = JSONPointer(parsing: at)
            if pointer == nil || pointer?.tokens.first == "event" {
                report(
                    node.place, .badPointer,
                    "at is a pointer into the event's data, as in \"/checkout_date\", not \"\(at)\"")
            } else if let pointer, let room = schema.map(SchemaRoom.init),
                room.isForbidden(pointer) || room.isUndeclared(pointer)
            {
                report(
                    node.place, .undeclaredMember, "the event's schema does not declare \(at)",
                    guess: room.guess(for: pointer))
            }
        }
        return readGuard(guardian, context).map { FormRule(guard: $0, at: at, say: say) }
    }
}
