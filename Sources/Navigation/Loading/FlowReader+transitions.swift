import JSONDocument

extension FlowReader {
    /// The event that `on` cannot have, because the key `back` of a screen describes it.
    private static let reservedEvent = "back"

    mutating func readEvents(in document: JSONDocument, at place: JSONPointer, shapes: [EventShape]) -> [EventRule] {
        let rules = members("on", in: document, at: place)
        let backend =
            place.tokens.isEmpty
            ? flowBackend : flowBackend.union(readBackend(document, at: place, among: rules.map(\.name)))
        return rules.compactMap { name, value in
            let place = place.appending("on").appending(name)
            guard name != Self.reservedEvent else {
                report(
                    place, .badName, "every screen has the event \"back\"; the key back of the screen describes it")
                return nil
            }
            let schema = (shapes.first { $0.event == name } ?? flowShapes.first { $0.event == name })?.shape.document
            let context = DataContext(event: schema.map { .shaped($0) } ?? .maybe, hasOutput: false)
            return EventRule(
                event: name, transitions: readTransitions(value, at: place, context), isBackend: backend.contains(name))
        }
    }

    mutating func readShapes(in document: JSONDocument, at place: JSONPointer) -> [EventShape] {
        members("accepts", in: document, at: place).compactMap { name, value in
            shape(value, at: place.appending("accepts").appending(name)).map { EventShape(event: name, shape: $0) }
        }
    }

    /// Reports schemas for events that nothing accepts.
    mutating func checkShapes(_ shapes: [EventShape], at place: JSONPointer, accepted: [String]) {
        for shape in shapes where !accepted.contains(shape.event) {
            report(
                place.appending("accepts").appending(shape.event), .unknownEvent,
                "accepts has a schema for \"\(shape.event)\", which is not an event in `on`",
                guess: guess(shape.event, among: accepted))
        }
    }

    /// Reads one transition or a list of them.
    mutating func readTransitions(
        _ document: JSONDocument, at place: JSONPointer, _ context: DataContext
    ) -> [Transition] {
        guard let list = document.elements else {
            return readTransition(document, at: place, context).map { [$0] } ?? []
        }
        if list.isEmpty { report(place, .badValue, "the array of transitions is empty") }
        var isDecided = false
        return list.enumerated().compactMap { index, element in
            let place = place.appending(index)
            if isDecided {
                report(place, .unreachableTransition, "a transition above has no guard, so this one is never taken")
            }
            let transition = readTransition(element, at: place, context)
            isDecided = isDecided || element[member: "guard"] == nil
            return transition
        }
    }

    mutating func readTransition(
        _ document: JSONDocument, at place: JSONPointer, _ context: DataContext, keys: FlowKeys = .transition
    ) -> Transition? {
        guard document.kind == .object else {
            let hint = document.string.map { "; write {\"target\": \"\($0)\"}" } ?? ""
            report(place, .wrongType, "a transition is an object, not \(document.kind.phrase)\(hint)")
            return nil
        }
        checkKeys(
            of: document, at: place,
            allowed: keys.names, of: "a transition")
        let guardian = document[member: "guard"].flatMap { readGuard($0, at: place.appending("guard"), context) }
        let target = stateName("target", in: document, at: place)
        let nav = choice("nav", in: document, at: place, NavigationVerb.self)
        let actions = actions("actions", in: document, at: place, context)
        let history = choice("history", in: document, at: place, HistoryPolicy.self) ?? .preserve
        // Without its target it would be another transition, with other problems.
        if target == nil, document[member: "target"] != nil { return nil }
        if let nav, !nav.standsAlone, document[member: "target"] == nil {
            report(place.appending("nav"), .misplacedVerb, "\(nav.rawValue) needs a target")
            return nil
        }
        if document[member: "target"] == nil, nav == nil, document[member: "history"] != nil {
            report(
                place.appending("history"), .misplacedVerb,
                "history has no effect on a transition without a target")
        }
        return Transition(
            guard: guardian, target: target, nav: nav, actions: actions, history: history,
            params: readParams(document, at: place, context), link: readLink(document, at: place),
            place: place.description)
    }
}
