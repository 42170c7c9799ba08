import JSONDocument

extension FlowReader {
    /// Reads `rules`, beside `accepts`.
    mutating func readForms(
        in document: JSONDocument, at place: JSONPointer, shapes: [EventShape], accepted: [String]
    ) -> [EventForm] {
        members("rules", in: document, at: place).map { event, value in
            let place = place.appending("rules").appending(event)
            if !accepted.contains(event) {
                report(
                    place, .unknownEvent, "rules mentions \"\(event)\", which is not an event in `on`",
                    guess: guess(event, among: accepted))
            }
            guard let list = value.elements else {
                report(place, .wrongType, "the rules of an event are an array, not \(value.kind.phrase)")
                return EventForm(event: event, rules: [])
            }
            let schema = (shapes.first { $0.event == event } ?? flowShapes.first { $0.event == event })?.shape.document
            let context = DataContext(event: schema.map { .shaped($0) } ?? .maybe, hasOutput: false)
            return EventForm(
                event: event,
                rules: list.enumerated().compactMap {
                    readRule($0.element, at: place.appending($0.offset), schema, context)
                })
        }
    }

    private mutating func readRule(
        _ document: JSONDocument, at place: JSONPointer, _ schema: JSONDocument?, _ context: DataContext
    ) -> FormRule? {
        guard document.kind == .object, let guardian = document[member: "guard"] else {
            report(
                place, .missingKey,
                "a rule needs a guard, and may have at and say: {\"guard\": …, \"at\": \"/checkout_date\", \"say\": \"…\"}"
            )
            return nil
        }
        checkKeys(of: document, at: place, allowed: FlowKeys.rule.names, of: "a rule")
        let say = localText("say", in: document, at: place)
        let at = text("at", in: document, at: place)
        if let at {
            let pointer = JSONPointer(parsing: at)
            if pointer == nil || pointer?.tokens.first == "event" {
                report(
                    place.appending("at"), .badPointer,
                    "at is a pointer into the event's data, as in \"/checkout_date\", not \"\(at)\"")
            } else if let pointer, let room = schema.map(SchemaRoom.init),
                room.isForbidden(pointer) || room.isUndeclared(pointer)
            {
                report(
                    place.appending("at"), .undeclaredMember, "the event's schema does not declare \(at)",
                    guess: room.guess(for: pointer))
            }
        }
        return readGuard(guardian, at: place.appending("guard"), context).map { FormRule(guard: $0, at: at, say: say) }
    }
}
