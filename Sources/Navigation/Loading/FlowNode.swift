import JSONDocument

/// A value of a flow file, and its place there.
struct FlowNode {
    let value: JSONDocument
    let place: JSONPointer

    /// The member of that name; nil when there is none.
    subscript(key: String) -> FlowNode? {
        value[member: key].map { FlowNode(value: $0, place: place.appending(key)) }
    }

    /// The elements of an array; nil for another kind.
    var elements: [FlowNode]? {
        value.elements?.enumerated().map { FlowNode(value: $0.element, place: place.appending($0.offset)) }
    }

    /// The members of an object, sorted by name; nil for another kind.
    var members: [(name: String, node: FlowNode)]? {
        value.members?.map { ($0.name, FlowNode(value: $0.value, place: place.appending($0.name))) }
    }

    func has(_ key: String) -> Bool { value[member: key] != nil }

    /// The key or the index under which the value stands.
    var key: String { place.tokens.last ?? "" }

    var string: String? { value.string }

    var isObject: Bool { value.kind == .object }

    /// The kind, as in "initial is a number".
    var kind: String { value.kind.phrase }

    /// The text in quotes; of another value its kind.
    var quoted: String { string.map { "\"\($0)\"" } ?? kind }
}

/// Reads values of the kinds that flows consist of, and reports values of another kind.
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

    /// - Returns: nil, so that a reader can end with it.
    mutating func refuse<Value>(
        _ node: FlowNode, _ code: FlowProblemCode, _ message: String, guess: String? = nil
    ) -> Value? {
        report(node.place, code, message, guess: guess)
        return nil
    }

    /// Reports a value of a wrong kind.
    mutating func refuse<Value>(_ node: FlowNode, expecting expected: String) -> Value? {
        report(node, expecting: expected)
        return nil
    }

    mutating func report(_ node: FlowNode, expecting expected: String) {
        report(node.place, .wrongType, "\(node.key) is \(node.kind); expected \(expected)")
    }

    /// The name that was probably meant. Each guess compares with every known name, and a large flow may have thousands
    /// of names and of mistakes; ``patience`` bounds that.
    mutating func guess(_ written: String, among known: some Collection<String>) -> String? {
        guard known.count <= patience else { return nil }
        patience -= known.count
        return NearestName.of(written, among: Array(known))
    }

    /// The value, when it is an object. Reports members that such an object does not have.
    ///
    /// - Parameter what: "a transition"
    mutating func object(_ node: FlowNode, _ keys: FlowKeys, _ what: String, hint: String = "") -> FlowNode? {
        guard node.isObject else { return refuse(node, .wrongType, "\(what) is an object, not \(node.kind)\(hint)") }
        checkKeys(of: node, keys, what)
        return node
    }

    mutating func checkKeys(of object: FlowNode, _ keys: FlowKeys, _ what: String) {
        checkKeys(of: object, allowed: keys.names, what)
    }

    mutating func checkKeys(of object: FlowNode, allowed: [String], _ what: String) {
        for (key, node) in object.members ?? [] where !allowed.contains(key) {
            // For editors, at the top of the file.
            if key == "$schema", object.place.tokens.isEmpty { continue }
            let synonym = ForeignWords.synonym(of: key).flatMap { allowed.contains($0) ? $0 : nil }
            if synonym == nil, let advice = ForeignWords.advice(on: key, in: what) {
                report(node.place, .unknownKey, "\(what) has no key \"\(key)\"; \(advice)")
                continue
            }
            report(
                node.place, .unknownKey, "\(what) has no key \"\(key)\"; it has \(allowed.joinedAsList)",
                guess: synonym ?? guess(key, among: allowed))
        }
    }

    /// A member that must be there.
    ///
    /// - Parameter hint: what it is for, with the punctuation before.
    mutating func required(_ key: String, in object: FlowNode, _ hint: String = "") -> FlowNode? {
        object[key] ?? refuse(object, .missingKey, "\(key) is missing\(hint)")
    }

    mutating func text(_ node: FlowNode?) -> String? {
        guard let node else { return nil }
        return node.string ?? refuse(node, expecting: "a string")
    }

    mutating func name(_ node: FlowNode?) -> String? {
        guard let name = text(node), let node else { return nil }
        return isName(name, at: node.place) ? name : nil
    }

    /// Names appear in addresses and logs, and are compared byte for byte.
    private mutating func isName(_ name: String, at place: JSONPointer) -> Bool {
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
                "\"\(name)\" is not a valid name; "
                    + (ForeignWords.advice(on: name, in: .name)
                        ?? "use 1 to 64 letters from a to z, digits, hyphens, underscores and dots"))
        }
        return isGood
    }

    /// The members of an object whose keys are names; none for a value that is not there.
    mutating func members(_ node: FlowNode?, notEmpty: Bool = false) -> [(name: String, node: FlowNode)] {
        guard let node else { return [] }
        guard let members = node.members else {
            let advice = node.value.kind == .array ? ForeignWords.advice(on: node.key, in: .array) : nil
            return refuse(node, expecting: "an object" + (advice.map { "; \($0)" } ?? "")) ?? []
        }
        if notEmpty, members.isEmpty { report(node.place, .badValue, "\(node.key) is empty") }
        return members.filter { isName($0.name, at: $0.node.place) }
    }

    /// The elements of an array; none for a value that is not there.
    mutating func elements(_ node: FlowNode?) -> [FlowNode] {
        guard let node else { return [] }
        return node.elements ?? refuse(node, expecting: "an array") ?? []
    }

    /// The elements of an array of names.
    ///
    /// - Parameter what: "a service"
    mutating func names(_ node: FlowNode?, of what: String) -> [(name: String, node: FlowNode)] {
        elements(node).compactMap { element in
            guard let name = element.string else {
                return refuse(element, .wrongType, "\(what) is named by a string, not by \(element.kind)")
            }
            return (name, element)
        }
    }

    mutating func bool(_ node: FlowNode?) -> Bool? {
        guard let node else { return nil }
        return node.value.bool ?? refuse(node, expecting: "a boolean")
    }

    mutating func wholeNumber(_ node: FlowNode?) -> Int? {
        // The version appears in addresses; a billion is more than anybody needs.
        guard let node else { return nil }
        guard let number = node.value.int, (1...1_000_000_000).contains(number) else {
            let number = node.value.int
            return refuse(
                node, number == nil ? .wrongType : .badValue,
                "\(node.key) is \(number.map(String.init) ?? node.kind); expected a positive integer")
        }
        return number
    }

    mutating func milliseconds(_ node: FlowNode?) -> Int64? {
        // Ten years: longer than any session lives.
        let longest: Int64 = 3_650 * 86_400_000
        guard let node else { return nil }
        guard let milliseconds = node.string.flatMap({ DurationText.parse($0) })?.milliseconds,
            (1...longest).contains(milliseconds)
        else {
            return refuse(
                node, .badDuration,
                "\(node.key) is \(node.quoted); expected a duration from \"1ms\" to \"3650d\", as in \"90s\", \"30m\", "
                    + "\"12h\" or \"PT30M\"")
        }
        return milliseconds
    }

    mutating func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ node: FlowNode?, _: Choice.Type = Choice.self
    ) -> Choice? {
        guard let text = text(node), let node else { return nil }
        let allowed = Choice.allCases.map(\.rawValue)
        return Choice(rawValue: text)
            ?? refuse(
                node, .badValue, "\(node.key) is \"\(text)\"; expected one of \(allowed.joined(separator: ", "))",
                guess: guess(text, among: allowed))
    }

    /// The index of the state that a value names.
    mutating func state(_ node: FlowNode?) -> Int? {
        guard let node else { return nil }
        guard let name = node.string else {
            return refuse(node, .wrongType, "a state is named by a string, not by \(node.kind)")
        }
        return statePlaces[name]
            ?? refuse(
                node, .unknownState, "the flow has no state \"\(name)\"", guess: guess(name, among: stateNames))
    }

    /// Whether the service exists, and may be written where that is needed.
    mutating func checkService(_ name: String, at place: JSONPointer, isWritten: Bool = false) -> Bool {
        guard let service = services[name] else {
            let hint = name.hasPrefix("/") ? "; a service is named by its name alone, as in \"order\"" : ""
            report(
                place, .unknownService, "there is no service \"\(name)\"\(hint)",
                guess: guess(name, among: services.names))
            return false
        }
        if isWritten, service.isReadOnly {
            report(place, .readOnlyService, "\(name) is read-only for flows")
            return false
        }
        return true
    }

    /// What is wrong with a keyword of a schema, with what to write instead where that is known.
    private static func advised(_ detail: String, _ pointer: String, isUnknown: Bool = false) -> String {
        let keyword = JSONPointer(parsing: pointer)?.tokens.last ?? ""
        guard let advice = ForeignWords.advice(on: keyword, in: .schema) else { return detail }
        return (isUnknown ? "\"\(keyword)\" is not a keyword of draft 7 and is ignored" : detail) + "; \(advice)"
    }

    /// - Parameters:
    ///   - context: of the values in its texts; nil where there are none.
    ///   - isForm: whether clients are shown the schema, for the data of an event.
    mutating func shape(_ node: FlowNode?, _ context: DataContext? = nil, isForm: Bool = false) -> ShapeRule? {
        guard let node else { return nil }
        guard node.isObject || node.value.kind == .bool else {
            return refuse(
                node, .badSchema, "the value is \(node.kind); a JSON Schema is an object or a boolean")
        }
        do {
            let texts = localTexts(of: node, context)
            let schema = try JSONSchema(texts.schema { text, _ in text.text(in: nil, isOutline: false) })
            for warning in schema.warnings where !warning.pointer.hasSuffix("/" + SchemaTexts.sayKey) {
                report(
                    node.place.appending(below: warning.pointer), .doubtfulSchema,
                    Self.advised(warning.detail, warning.pointer, isUnknown: warning.kind == .unknownKeyword))
            }
            return ShapeRule(schema: schema, texts: texts, fields: fields(of: node, isForm: isForm))
        } catch {
            report(
                node.place.appending(below: error.pointer), .badSchema,
                Self.advised(error.detail.asClause, error.pointer))
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
