import JSONDocument

/// What is in the way of a `not`: a guard that holds, and must not.
extension DataScope {
    /// Each of these would do by itself, but of `any` all are needed.
    func denials(of guardian: Guard, in flow: FlowDefinition) -> [JSONViolation] {
        switch guardian {
        case .shape(let subject, let rule):
            return Self.denials(
                of: rule.document, at: "/" + JSONPointer.escape(subject.root), in: document(of: subject))
        case .all(let parts): return parts.flatMap { denials(of: $0, in: flow) }
        case .any(let parts):
            return parts.filter { test($0, in: flow) == .holds }.flatMap { denials(of: $0, in: flow) }
        case .not(let part): return reasons(against: part, in: flow)
        case .named(let place): return denials(of: flow.guards[place].guard, in: flow)
        case .compare(let left, let sign, let right): return [Self.reason(left, sign.opposite, right)]
        }
    }

    /// How a value that fits a schema could not. Goes down to the members that the schema says something of: they are
    /// what a person can change.
    private static func denials(
        of schema: JSONDocument, at pointer: String, in value: JSONDocument?
    ) -> [JSONViolation] {
        let required = schema[member: "required"]?.elements?.compactMap(\.string) ?? []
        var denials: [JSONViolation] = []
        var told: Set<String> = []
        for (name, part) in schema[member: "properties"]?.members ?? [] where !allowsAnything(part) {
            told.insert(name)
            denials += Self.denials(
                of: part, at: "\(pointer)/\(JSONPointer.escape(name))", in: value?[member: name])
        }
        for name in required where !told.contains(name) {
            denials.append(
                JSONViolation(pointer: "\(pointer)/\(JSONPointer.escape(name))", detail: "must not be there"))
        }
        guard denials.isEmpty else { return denials }
        // What is not there fits whatever is said of it.
        let presence = value == nil ? "must be there, and " : ""
        return [JSONViolation(pointer: pointer, detail: "\(presence)must not \(phrase(of: schema))")]
    }

    private static func allowsAnything(_ schema: JSONDocument) -> Bool { schema == true || schema == .emptyObject }

    /// "must not ..."
    private static func phrase(of schema: JSONDocument) -> String {
        if let constant = schema[member: "const"] { return "be \(constant)" }
        if let choices = schema[member: "enum"]?.elements, !choices.isEmpty {
            let list = choices.map(\.description).joined(separator: ", ")
            return choices.count == 1 ? "be \(list)" : "be one of \(list)"
        }
        if let type = schema[member: "type"], schema.count == 1 {
            let names = type.elements?.compactMap(\.string) ?? type.string.map { [$0] } ?? []
            return "be " + names.map(phrase(ofType:)).joined(separator: " or ")
        }
        return "fit \(schema)"
    }

    private static func phrase(ofType name: String) -> String {
        switch name {
        case "null": "null"
        case "boolean": "true or false"
        case "array", "integer", "object": "an \(name)"
        default: "a \(name)"
        }
    }
}

extension Comparison {
    /// What holds when this does not.
    fileprivate var opposite: Comparison {
        switch self {
        case .equal: .notEqual
        case .notEqual: .equal
        case .less: .greaterOrEqual
        case .lessOrEqual: .greater
        case .greater: .lessOrEqual
        case .greaterOrEqual: .less
        }
    }
}
