import JSONDocument

extension FlowReader {
    private static let sayKey = "say"

    mutating func readGuards(_ members: [(name: String, value: JSONDocument)]) -> [NamedGuard] {
        members.map { name, value in
            let place = JSONPointer(["guards", name])
            // A named guard may be used anywhere; whether its place has an event is checked at its uses.
            let context = DataContext(event: .maybe, hasOutput: true)
            let say = localText("say", in: value, at: place)
            let bare = say == nil ? value : value.merging([Self.sayKey: nil])
            return NamedGuard(name: name, guard: readGuard(bare, at: place, context) ?? .all([]), say: say)
        }
    }

    mutating func readGuard(_ document: JSONDocument, at place: JSONPointer, _ context: DataContext) -> Guard? {
        if let name = document.string {
            guard let guardian = guardPlaces[name] else {
                if name.contains(where: { "<>=!&|( ".contains($0) }) || name.hasPrefix("/") {
                    report(
                        place, .unknownGuard,
                        "\"\(name)\" is not the name of a guard, and guards are not expressions; write {\"is\": \"/order/gift\"}, "
                            + "{\"has\": …}, {\"compare\": [\"/order/total\", \"<\", {\"value\": 100}]}, {\"not\": …} or a schema"
                    )
                    return nil
                }
                report(
                    place, .unknownGuard, "the flow has no guard \"\(name)\"",
                    guess: guess(name, among: guardPlaces.keys.sorted()))
                return nil
            }
            usedGuards.insert(guardian)
            return .named(guardian)
        }
        guard document.kind == .object else {
            report(place, .wrongType, "a guard is an object or a guard's name, not \(document.kind.phrase)")
            return nil
        }
        checkKeys(of: document, at: place, allowed: FlowKeys.guard.names, of: "a guard")
        let said = FlowKeys.guard.names.filter { $0 != "schema" && document[member: $0] != nil }
        guard said.count == 1, let kind = said.first else {
            report(
                place, said.isEmpty ? .missingKey : .badValue,
                "a guard has exactly one of service, event, input, all, any, not, compare, is and has")
            return nil
        }
        if document[member: "schema"] != nil, !["service", "event", "input"].contains(kind) {
            report(
                place.appending("schema"), .unknownKey, "schema goes with service, event or input, not with \(kind)"
            )
        }
        switch kind {
        case "all": return readGuards("all", in: document, at: place, context).map { .all($0) }
        case "any": return readGuards("any", in: document, at: place, context).map { .any($0) }
        case "not":
            return document[member: "not"].flatMap { readGuard($0, at: place.appending("not"), context) }
                .map { .not($0) }
        case "compare": return readComparison(document, at: place, context)
        case "is":
            guard let value = document[member: "is"], let path = readPath(value, at: place.appending("is"), context)
            else { return nil }
            checkIsTrue(path, at: place.appending("is"), context)
            return .isTrue(path)
        case "has":
            return document[member: "has"].flatMap { readPath($0, at: place.appending("has"), context) }
                .map { .has($0) }
        default: return readShapeGuard(kind, document, at: place, context)
        }
    }

    private mutating func readGuards(
        _ key: String, in document: JSONDocument, at place: JSONPointer, _ context: DataContext
    ) -> [Guard]? {
        guard let list = elements(key, in: document, at: place) else { return nil }
        if list.isEmpty { report(place.appending(key), .badValue, "\(key) is an empty array") }
        return list.enumerated().compactMap { index, element in
            readGuard(element, at: place.appending(key).appending(index), context)
        }
    }

    private mutating func readShapeGuard(
        _ kind: String, _ document: JSONDocument, at place: JSONPointer, _ context: DataContext
    ) -> Guard? {
        guard let schema = document[member: "schema"] else {
            report(place, .missingKey, "schema is missing: what \(kind) must fit")
            return nil
        }
        let rule = shape(schema, at: place.appending("schema"))
        let subject: Guard.Subject
        if kind == "service" {
            guard let name = text("service", in: document, at: place),
                checkService(name, at: place.appending("service"))
            else { return nil }
            subject = .service(name)
            if let rule { checkShapeGuard(rule, on: name, at: place.appending("schema")) }
        } else {
            guard document[member: kind]?.bool == true else {
                report(place.appending(kind), .badValue, "\(kind) can only be true")
                return nil
            }
            subject = kind == "event" ? .event : .input
            if subject == .event, case .never = context.event {
                report(place.appending(kind), .guardWithoutEvent, "no event has data here")
                return nil
            }
        }
        return rule.map { .shape(of: subject, $0) }
    }

    private mutating func readComparison(
        _ document: JSONDocument, at place: JSONPointer, _ context: DataContext
    ) -> Guard? {
        let place = place.appending("compare")
        guard let parts = document[member: "compare"]?.elements, parts.count == 3 else {
            report(
                place, .badValue,
                "compare is an array of three: a path, a comparison, and a path, {\"value\": …} or a computed value")
            return nil
        }
        let before = problems.count
        let left = readOperand(parts[0], at: place.appending(0), context)
        let right = readOperand(parts[2], at: place.appending(2), context)
        let signs = Comparison.allCases.map(\.rawValue)
        guard let sign = parts[1].string.flatMap({ Comparison(rawValue: $0) }) else {
            report(
                place.appending(1), .badValue,
                "\(parts[1].string.map { "\"\($0)\"" } ?? parts[1].kind.phrase) is not a comparison; the comparisons are "
                    + signs.joinedAsList)
            return nil
        }
        guard let left, let right else { return nil }
        // Of a path that cannot be right nothing more is said.
        if problems.count == before { checkComparison(left, sign, right, at: place, context) }
        return .compare(left, sign, right)
    }

    private mutating func readOperand(
        _ document: JSONDocument, at place: JSONPointer, _ context: DataContext
    ) -> ValueTemplate? {
        if document.kind == .object {
            if document[member: DataPath.pointerKey] != nil {
                return readPath(document, at: place, context).map { .from($0, default: nil) }
            }
            if document.members?.contains(where: { $0.name.hasPrefix("$") }) == true {
                return readTemplate(document, at: place, context)
            }
            checkKeys(of: document, at: place, allowed: ["value"], of: "a value to compare with")
            if let value = document[member: "value"] {
                return readTemplate(value, at: place.appending("value"), context)
            }
        }
        guard let text = document.string else {
            report(place, .badValue, "an operand is a path (a string), {\"value\": …} or a computed value")
            return nil
        }
        guard text.hasPrefix("/") else {
            report(
                place, .badPointer,
                "\"\(text)\" is not a path; write a literal string as {\"value\": \"\(text)\"}")
            return nil
        }
        return readPath(document, at: place, context).map { .from($0, default: nil) }
    }

    /// Testing a guard recurses into its parts.
    private static let maximumGuardDepth = 64

    /// Reports guards that contain themselves, guards that are nested too deep, and guards that nothing uses.
    mutating func checkGuards(_ guards: [NamedGuard]) {
        let parts = guards.map { $0.guard.names }
        var users = [[Int]](repeating: [], count: guards.count)
        for (place, parts) in parts.enumerated() { for part in parts { users[part].append(place) } }
        let isSound = Circles.peeled(parts, users)
        var depths = [Int](repeating: 0, count: guards.count)
        for _ in 0...Self.maximumGuardDepth {
            for place in guards.indices where isSound[place] {
                depths[place] = (parts[place].map { depths[$0] }.max() ?? 0) + 1
            }
        }
        for (place, named) in guards.enumerated() {
            let pointer = JSONPointer(["guards", named.name])
            if !isSound[place] {
                report(
                    pointer, .guardCycle, "the guard \"\(named.name)\" refers to itself through other guards")
            } else if depths[place] > Self.maximumGuardDepth {
                report(
                    pointer, .guardCycle,
                    "the guard \"\(named.name)\" nests other guards more than \(Self.maximumGuardDepth) levels deep")
            }
            // Where a guard could not be read, it is not known which others it uses.
            if !usedGuards.contains(place), !problems.contains(where: \.isAboutGuard) {
                report(pointer, .unusedGuard, "nothing uses the guard \"\(named.name)\"")
            }
        }
    }
}

extension Guard {
    /// The indices of the named guards in it.
    fileprivate var names: [Int] {
        switch self {
        case .shape, .compare, .isTrue, .has: []
        case .all(let parts), .any(let parts): parts.flatMap(\.names)
        case .not(let part): part.names
        case .named(let place): [place]
        }
    }
}

extension FlowProblem {
    fileprivate var isAboutGuard: Bool {
        severity == .error && (code == .unknownKey || ["guard", "requires", "rules"].contains { pointer.contains($0) })
    }
}

/// Finds the circles of a graph whose nodes are indices.
package enum Circles {
    /// Removes nodes that lead nowhere, then nodes that lead only to removed ones, and so on; true for removed nodes.
    /// The rest leads to a circle.
    package static func peeled(_ next: [[Int]], _ previous: [[Int]]) -> [Bool] {
        var left = next.map(\.count)
        var isPeeled = left.map { $0 == 0 }
        var open = left.indices.filter { isPeeled[$0] }
        while let place = open.popLast() {
            for before in previous[place] {
                left[before] -= 1
                if left[before] == 0, !isPeeled[before] {
                    isPeeled[before] = true
                    open.append(before)
                }
            }
        }
        return isPeeled
    }
}
