import JSONDocument

/// Reads the rules about where a journey may be: `always`, `otherwise`, `answers` and `invalidates`.
extension FlowReader {
    /// The transitions of `always`, each of which has a guard.
    mutating func readAlways(_ document: JSONDocument, at place: JSONPointer) -> [Transition] {
        let transitions = readUnprompted("always", in: document, at: place)
        for transition in transitions where transition.guard == nil {
            report(
                JSONPointer(parsing: transition.place) ?? place, .missingKey,
                "guard is missing: the journey would always leave the screen at once; use a choice for that"
            )
        }
        return transitions
    }

    mutating func readOtherwise(_ document: JSONDocument, at place: JSONPointer) -> [Transition] {
        if document[member: "otherwise"] != nil, document[member: "requires"] == nil {
            report(
                place.appending("otherwise"), .missingKey, "`otherwise` needs `requires`"
            )
        }
        return readUnprompted("otherwise", in: document, at: place)
    }

    /// Transitions that no event takes.
    private mutating func readUnprompted(
        _ key: String, in document: JSONDocument, at place: JSONPointer
    ) -> [Transition] {
        guard let value = document[member: key] else { return [] }
        let place = place.appending(key)
        let transitions = readTransitions(value, at: place, DataContext(event: .never, hasOutput: false))
        for transition in transitions where !transition.moves {
            report(
                JSONPointer(parsing: transition.place) ?? place, .missingKey,
                "target is missing: \(key) leads to another screen")
        }
        return transitions.filter(\.moves)
    }

    /// The values that a screen asks for.
    mutating func readAnswers(_ document: JSONDocument, at place: JSONPointer) -> [DataPath] {
        (elements("answers", in: document, at: place) ?? []).enumerated().compactMap { index, element in
            readServicePath(element, at: place.appending("answers").appending(index), isWritten: false)
        }
    }

    mutating func readInvalidations(_ document: JSONDocument) -> [Invalidation] {
        guard let value = document[member: "invalidates"] else { return [] }
        let place = JSONPointer(["invalidates"])
        guard let members = value.members else {
            report(place, .wrongType, "invalidates is \(value.kind.phrase); expected an object")
            return []
        }
        var rules: [Invalidation] = []
        for (name, dependents) in members {
            let place = place.appending(name)
            let key = readServicePath(JSONDocument(name), at: place, isWritten: false)
            guard let list = dependents.elements else {
                report(
                    place, .wrongType, "the dependents of a value are an array of paths, not \(dependents.kind.phrase)")
                continue
            }
            let paths = list.enumerated().compactMap { index, element in
                readServicePath(element, at: place.appending(index), isWritten: true)
            }
            if let key { rules.append(Invalidation(key: key, dependents: paths)) }
        }
        for rule in rules where isInvalidatedByItself(rule, among: rules) {
            report(
                place.appending(rule.key.text), .badValue,
                "a change of \(rule.key.text) would reset \(rule.key.text) itself: its dependents lead back to it")
        }
        return rules
    }

    private func isInvalidatedByItself(_ rule: Invalidation, among rules: [Invalidation]) -> Bool {
        var seen: Set<String> = []
        var open = rule.dependents
        while let path = open.popLast() {
            guard seen.insert(path.text).inserted else { continue }
            if path.overlaps(rule.key) { return true }
            open += rules.filter { $0.key.overlaps(path) }.flatMap(\.dependents)
        }
        return false
    }

    private mutating func readServicePath(
        _ value: JSONDocument, at place: JSONPointer, isWritten: Bool
    ) -> DataPath? {
        guard let text = value.string else {
            report(place, .wrongType, "a path is a string, not \(value.kind.phrase)")
            return nil
        }
        guard let path = readPath(value, at: place, DataContext(event: .never, hasOutput: false)) else { return nil }
        guard let service = path.service else {
            report(place, .badPointer, "\"\(text)\" does not begin with a service, as in \"/profile/name\"")
            return nil
        }
        return checkService(service, at: place, isWritten: isWritten) ? path : nil
    }

    /// The values that a transition gives to the frame that it makes.
    mutating func readParams(_ document: JSONDocument, at place: JSONPointer, _ context: DataContext) -> ValueTemplate?
    {
        guard let value = document[member: "params"] else { return nil }
        let place = place.appending("params")
        guard value.kind == .object else {
            report(place, .wrongType, "params is \(value.kind.phrase); expected an object")
            return nil
        }
        if document[member: "target"] == nil {
            report(place, .misplacedVerb, "params need a target: they belong to its screen")
        }
        return readTemplate(value, at: place, context)
    }

    mutating func readLink(_ document: JSONDocument, at place: JSONPointer) -> Bool? {
        guard let value = document[member: "link"] else { return nil }
        if let link = value.bool { return link }
        report(place.appending("link"), .wrongType, "link is \(value.kind.phrase); expected a boolean")
        return nil
    }
}

extension DataPath {
    /// Whether one is the other, or a part of it.
    func overlaps(_ other: DataPath) -> Bool {
        root == other.root && zip(pointer.tokens, other.pointer.tokens).allSatisfy { $0 == $1 }
    }
}
