import JSONDocument

extension FlowReader {
    private static let guardKeys = ["service", "event", "input", "schema", "all", "any", "not", "compare"]

    mutating func readGuards(_ members: [(name: String, value: JSONDocument)]) -> [NamedGuard] {
        members.map { name, value in
            let place = JSONPointer(["guards", name])
            // It may be used anywhere; where there is no event is looked at when it is used.
            let context = DataContext(event: .maybe, hasOutput: true)
            return NamedGuard(name: name, guard: readGuard(value, at: place, context) ?? .all([]))
        }
    }

    mutating func readGuard(_ document: JSONDocument, at place: JSONPointer, _ context: DataContext) -> Guard? {
        if let name = document.string {
            guard let guardian = guardPlaces[name] else {
                report(
                    place, .unknownGuard, "the flow has no guard \"\(name)\"",
                    guess: guess(name, among: guardPlaces.keys.sorted()))
                return nil
            }
            usedGuards.insert(guardian)
            return .named(guardian)
        }
        guard document.kind == .object else {
            report(place, .wrongType, "a guard is an object or the name of one, and not \(document.kind.phrase)")
            return nil
        }
        checkKeys(of: document, at: place, allowed: Self.guardKeys, of: "a guard")
        let said = Self.guardKeys.filter { $0 != "schema" && document[member: $0] != nil }
        guard said.count == 1, let kind = said.first else {
            report(
                place, said.isEmpty ? .missingKey : .badValue,
                "a guard has exactly one of service, event, input, all, any, not and compare")
            return nil
        }
        if document[member: "schema"] != nil, !["service", "event", "input"].contains(kind) {
            report(
                place.appending("schema"), .unknownKey, "schema goes with service, event or input, and not with \(kind)"
            )
        }
        switch kind {
        case "all": return readGuards("all", in: document, at: place, context).map { .all($0) }
        case "any": return readGuards("any", in: document, at: place, context).map { .any($0) }
        case "not":
            return document[member: "not"].flatMap { readGuard($0, at: place.appending("not"), context) }
                .map { .not($0) }
        case "compare": return readComparison(document, at: place, context)
        default: return readShapeGuard(kind, document, at: place, context)
        }
    }

    private mutating func readGuards(
        _ key: String, in document: JSONDocument, at place: JSONPointer, _ context: DataContext
    ) -> [Guard]? {
        guard let list = elements(key, in: document, at: place) else { return nil }
        if list.isEmpty { report(place.appending(key), .badValue, "\(key) is an empty list") }
        return list.enumerated().compactMap { index, element in
            readGuard(element, at: place.appending(key).appending(index), context)
        }
    }

    private mutating func readShapeGuard(
        _ kind: String, _ document: JSONDocument, at place: JSONPointer, _ context: DataContext
    ) -> Guard? {
        guard let schema = document[member: "schema"] else {
            report(place, .missingKey, "schema is missing: what \(kind) must be like")
            return nil
        }
        let rule = shape(schema, at: place.appending("schema"))
        let subject: Guard.Subject
        if kind == "service" {
            guard let name = text("service", in: document, at: place),
                checkService(name, at: place.appending("service"))
            else { return nil }
            subject = .service(name)
        } else {
            guard document[member: kind]?.bool == true else {
                report(place.appending(kind), .badValue, "\(kind) can only be true")
                return nil
            }
            subject = kind == "event" ? .event : .input
            if subject == .event, case .never = context.event {
                report(place.appending(kind), .guardWithoutEvent, "no event has data here")
            }
        }
        return rule.map { .shape(of: subject, $0) }
    }

    private mutating func readComparison(
        _ document: JSONDocument, at place: JSONPointer, _ context: DataContext
    ) -> Guard? {
        let place = place.appending("compare")
        guard let parts = document[member: "compare"]?.elements, parts.count == 3 else {
            report(place, .badValue, "compare is a list of three: a path, a comparison and a path or {\"value\": …}")
            return nil
        }
        let left = readOperand(parts[0], at: place.appending(0), context)
        let right = readOperand(parts[2], at: place.appending(2), context)
        let signs = Comparison.allCases.map(\.rawValue)
        guard let sign = parts[1].string.flatMap({ Comparison(rawValue: $0) }) else {
            report(
                place.appending(1), .badValue,
                "\(parts[1].string.map { "\"\($0)\"" } ?? parts[1].kind.phrase) is no comparison; there are "
                    + signs.joinedAsList)
            return nil
        }
        guard let left, let right else { return nil }
        return .compare(left, sign, right)
    }

    private mutating func readOperand(
        _ document: JSONDocument, at place: JSONPointer, _ context: DataContext
    ) -> Guard.Operand? {
        if document.kind == .object {
            checkKeys(of: document, at: place, allowed: ["value"], of: "a value to compare with")
            if let value = document[member: "value"] { return .value(value) }
        }
        guard let text = document.string else {
            report(place, .badValue, "what is compared is a path as a text, or {\"value\": …}")
            return nil
        }
        return readPath(text, at: place, context).map { .path($0) }
    }

    /// Guards that are made of themselves, that look for events where there are none, and that nobody uses.
    mutating func checkGuards(_ guards: [NamedGuard]) {
        var color = [Int](repeating: 0, count: guards.count)
        func visit(_ guardian: Guard) -> Bool {
            switch guardian {
            case .shape, .compare: return false
            case .all(let parts), .any(let parts): return parts.contains(where: visit)
            case .not(let part): return visit(part)
            case .named(let place):
                guard place < guards.count, color[place] != 2 else { return false }
                guard color[place] == 0 else { return true }
                color[place] = 1
                defer { color[place] = 2 }
                return visit(guards[place].guard)
            }
        }
        for (place, named) in guards.enumerated() {
            let pointer = JSONPointer(["guards", named.name])
            if color[place] == 0, visit(.named(place)) {
                report(pointer, .guardCycle, "the guard \"\(named.name)\" is, in the end, made of itself")
            }
            if !usedGuards.contains(place) {
                report(pointer, .unusedGuard, "nothing uses the guard \"\(named.name)\"")
            }
        }
    }
}
