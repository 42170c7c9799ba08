import JSONDocument

/// Why a guard does not hold, in words. Pointers begin with a service, `event` or `input`.
extension DataScope {
    /// Empty for a guard that holds, and for one that depends on an event that has not come.
    func reasons(against guardian: Guard) -> [JSONViolation] {
        switch guardian {
        case .shape(let subject, let rule):
            let root = "/" + JSONPointer.escape(subject.root)
            guard let document = document(of: subject) else {
                return isUnknown(subject) ? [] : [JSONViolation(pointer: root, detail: "is not there")]
            }
            return rule.violations(in: document).within(root)
        case .all(let parts): return parts.filter { test($0) == .fails }.flatMap { reasons(against: $0) }
        case .any(let parts): return parts.flatMap { reasons(against: $0) }
        case .not(let part): return denials(of: part)
        case .named(let place): return reasons(against: flow.guards[place].guard)
        case .compare(let left, let sign, let right): return [Self.reason(left, sign, right)]
        }
    }

    /// Why a `not` does not hold: its guard does. Changing any one of these mends it; for an `any` inside, all of them.
    func denials(of guardian: Guard) -> [JSONViolation] {
        switch guardian {
        case .shape(let subject, let rule):
            return Self.denials(
                of: rule.document, at: "/" + JSONPointer.escape(subject.root), in: document(of: subject))
        case .all(let parts): return parts.flatMap { denials(of: $0) }
        case .any(let parts):
            return parts.filter { test($0) == .holds }.flatMap { denials(of: $0) }
        case .not(let part): return reasons(against: part)
        case .named(let place): return denials(of: flow.guards[place].guard)
        case .compare(let left, let sign, let right): return [Self.reason(left, sign.opposite, right)]
        }
    }

    /// How a value that fits a schema could be changed so that it does not. Names the members that the schema mentions:
    /// these are what a person can change.
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
        // A missing value fits every schema.
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

    private static func reason(_ left: Guard.Operand, _ sign: Comparison, _ right: Guard.Operand) -> JSONViolation {
        switch (left, right) {
        case (.path(let path), let other):
            JSONViolation(pointer: path.text, detail: "must be \(sign.phrase) \(shown(other))")
        case (let other, .path(let path)):
            JSONViolation(pointer: path.text, detail: "must be \(sign.turned.phrase) \(shown(other))")
        case (.value, .value): JSONViolation(pointer: "", detail: "never holds")
        }
    }

    private static func shown(_ operand: Guard.Operand) -> String {
        switch operand {
        case .path(let path): "the value at \(path.text)"
        case .value(let value): value.description
        }
    }
}

extension [JSONViolation] {
    /// The same with pointers that begin at a place further out.
    func within(_ root: String) -> [JSONViolation] {
        map { JSONViolation(pointer: root + $0.pointer, detail: $0.detail) }
    }
}

extension Comparison {
    fileprivate var phrase: String {
        switch self {
        case .equal: "equal to"
        case .notEqual: "other than"
        case .less: "less than"
        case .lessOrEqual: "at most"
        case .greater: "more than"
        case .greaterOrEqual: "at least"
        }
    }

    /// The comparison with its sides exchanged.
    fileprivate var turned: Comparison {
        switch self {
        case .equal, .notEqual: self
        case .less: .greater
        case .lessOrEqual: .greaterOrEqual
        case .greater: .less
        case .greaterOrEqual: .lessOrEqual
        }
    }

    /// The comparison that holds exactly when this one does not.
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
