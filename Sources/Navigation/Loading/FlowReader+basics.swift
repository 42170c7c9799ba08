import JSONDocument

/// Reads members of the kinds that flows consist of, and reports members of another kind.
extension FlowReader {
    package mutating func report(
        _ place: JSONPointer, _ code: FlowProblemCode, _ message: String, guess: String? = nil,
        severity: FlowProblem.Severity? = nil
    ) {
        problems.append(
            FlowProblem(
                file: file, pointer: place.description, code: code, message: message, guess: guess,
                severity: severity))
    }

    /// The name that was probably meant. Each guess compares with every known name, and a large flow may have thousands
    /// of names and of mistakes; ``patience`` bounds that.
    mutating func guess(_ written: String, among known: some Collection<String>) -> String? {
        guard known.count <= patience else { return nil }
        patience -= known.count
        return NearestName.of(written, among: Array(known))
    }

    mutating func checkKeys(of object: JSONDocument, at place: JSONPointer, allowed: [String], of what: String) {
        for (key, _) in object.members ?? [] where !allowed.contains(key) {
            // For editors, at the top of the file.
            if key == "$schema", place.tokens.isEmpty { continue }
            report(
                place.appending(key), .unknownKey, "\(what) has no key \"\(key)\"; it has \(allowed.joinedAsList)",
                guess: Self.synonyms[key.lowercased()].flatMap { allowed.contains($0) ? $0 : nil }
                    ?? guess(key, among: allowed))
        }
    }

    /// What keys are called elsewhere.
    private static let synonyms = [
        "if": "guard", "when": "guard", "cond": "guard", "condition": "guard", "to": "target", "goto": "target",
        "next": "target", "do": "actions", "action": "actions", "assign": "actions", "effects": "actions",
        "events": "on", "transitions": "on", "label": "title", "heading": "title", "payload": "accepts",
        "validate": "rules", "validation": "rules", "onentry": "entry", "enter": "entry", "onexit": "exit",
        "leave": "exit", "start": "initial", "initialstate": "initial", "result": "output", "returns": "output",
        "and": "all", "or": "any", "equals": "compare", "exists": "has", "message": "say", "error": "say",
        "services": "data", "steps": "states", "screens": "states", "params": "input",
    ]

    mutating func text(
        _ key: String, in object: JSONDocument, at place: JSONPointer, isRequired: Bool = false
    ) -> String? {
        guard let value = object[member: key] else {
            if isRequired { report(place, .missingKey, "\(key) is missing") }
            return nil
        }
        guard let text = value.string else {
            report(place.appending(key), .wrongType, "\(key) is \(value.kind.phrase); expected a string")
            return nil
        }
        return text
    }

    mutating func name(
        _ key: String, in object: JSONDocument, at place: JSONPointer, isRequired: Bool = false
    ) -> String? {
        guard let name = text(key, in: object, at: place, isRequired: isRequired) else { return nil }
        return isName(name, at: place.appending(key)) ? name : nil
    }

    /// Names appear in addresses and logs, and are compared byte for byte.
    mutating func isName(_ name: String, at place: JSONPointer) -> Bool {
        let isGood =
            (1...64).contains(name.utf8.count)
            && name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."):
                    true
                default: false
                }
            }
        if !isGood {
            report(
                place, .badName,
                "\"\(name)\" is not a valid name; use 1 to 64 letters from a to z, digits, hyphens, underscores and dots"
            )
        }
        return isGood
    }

    mutating func members(
        _ key: String, in object: JSONDocument, at place: JSONPointer, isRequired: Bool = false
    ) -> [(name: String, value: JSONDocument)] {
        guard let value = object[member: key] else {
            if isRequired { report(place, .missingKey, "\(key) is missing") }
            return []
        }
        guard let members = value.members else {
            report(place.appending(key), .wrongType, "\(key) is \(value.kind.phrase); expected an object")
            return []
        }
        if isRequired, members.isEmpty { report(place.appending(key), .badValue, "\(key) is empty") }
        return members.filter { isName($0.name, at: place.appending(key).appending($0.name)) }
    }

    mutating func elements(_ key: String, in object: JSONDocument, at place: JSONPointer) -> [JSONDocument]? {
        guard let value = object[member: key] else { return nil }
        guard let elements = value.elements else {
            report(place.appending(key), .wrongType, "\(key) is \(value.kind.phrase); expected an array")
            return nil
        }
        return elements
    }

    mutating func wholeNumber(_ value: JSONDocument, at place: JSONPointer, _ key: String) -> Int? {
        // The version appears in addresses; a billion is more than anybody needs.
        guard let number = value.int, (1...1_000_000_000).contains(number) else {
            report(
                place, value.int == nil ? .wrongType : .badValue,
                "\(key) is \(value.int.map(String.init) ?? value.kind.phrase); expected a positive integer")
            return nil
        }
        return number
    }

    mutating func milliseconds(_ value: JSONDocument, at place: JSONPointer, _ key: String) -> Int64? {
        // Ten years: longer than any session lives.
        let longest: Int64 = 3_650 * 86_400_000
        if let milliseconds = value.string.flatMap({ DurationText.parse($0) })?.milliseconds,
            (1...longest).contains(milliseconds)
        {
            return milliseconds
        }
        report(
            place, .badDuration,
            "\(key) is \(value.string.map { "\"\($0)\"" } ?? value.kind.phrase); expected a duration from "
                + "\"1ms\" to \"3650d\", as in \"90s\", \"30m\", \"12h\" or \"PT30M\"")
        return nil
    }

    mutating func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ key: String, in object: JSONDocument, at place: JSONPointer, _: Choice.Type
    ) -> Choice? {
        guard let text = text(key, in: object, at: place) else { return nil }
        if let choice = Choice(rawValue: text) { return choice }
        let allowed = Choice.allCases.map(\.rawValue)
        report(
            place.appending(key), .badValue,
            "\(key) is \"\(text)\"; expected one of \(allowed.joined(separator: ", "))",
            guess: guess(text, among: allowed))
        return nil
    }

    mutating func stateName(
        _ key: String, in object: JSONDocument, at place: JSONPointer, isRequired: Bool = false
    ) -> Int? {
        guard let value = object[member: key] else {
            if isRequired { report(place, .missingKey, "\(key) is missing") }
            return nil
        }
        return state(value, at: place.appending(key))?.place
    }

    mutating func state(_ value: JSONDocument, at place: JSONPointer) -> (name: String, place: Int)? {
        guard let name = value.string else {
            report(place, .wrongType, "a state is named by a string, not by \(value.kind.phrase)")
            return nil
        }
        if let state = statePlaces[name] { return (name, state) }
        report(
            place, .unknownState, "the flow has no state \"\(name)\"",
            guess: guess(name, among: stateNames))
        return nil
    }

    /// Whether the service exists, and may be written where that is needed.
    mutating func checkService(_ name: String, at place: JSONPointer, isWritten: Bool = false) -> Bool {
        guard let service = services[name] else {
            report(place, .unknownService, "there is no service \"\(name)\"", guess: guess(name, among: services.names))
            return false
        }
        if isWritten, service.isReadOnly {
            report(place, .readOnlyService, "\(name) is read-only for flows")
            return false
        }
        return true
    }

    mutating func shape(_ key: String, in object: JSONDocument, at place: JSONPointer) -> ShapeRule? {
        object[member: key].flatMap { shape($0, at: place.appending(key)) }
    }

    mutating func shape(_ schema: JSONDocument, at place: JSONPointer) -> ShapeRule? {
        guard schema.kind == .object || schema.kind == .bool else {
            report(place, .badSchema, "the value is \(schema.kind.phrase); a JSON Schema is an object or a boolean")
            return nil
        }
        let schema = withLocalTexts(schema, at: place)
        do {
            let schema = try JSONSchema(schema)
            for warning in schema.warnings where !warning.pointer.hasSuffix("/" + SchemaTexts.sayKey) {
                report(place.appending(below: warning.pointer), .doubtfulSchema, warning.detail)
            }
            return ShapeRule(schema: schema)
        } catch {
            report(place.appending(below: error.pointer), .badSchema, error.detail.asClause)
            return nil
        }
    }
}

extension [String] {
    /// "a, b and c"
    package var joinedAsList: String {
        guard let last, count > 1 else { return first ?? "nothing" }
        return dropLast().joined(separator: ", ") + " and " + last
    }
}
