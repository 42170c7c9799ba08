import JSONDocument

/// Why a guard does not hold, in words. Pointers begin with a service, `event` or `input`.
extension DataScope {
    /// Empty for a guard that holds, and for one that depends on an event that has not come.
    func reasons(against guardian: Guard) -> [JSONViolation] {
        services.withoutOverwork {
            // To find them may take as much as the guard itself has taken, unless that was too much.
            guard services.overwork == nil, services.work.rest < services.work.reserve else {
                return openReasons(against: guardian)
            }
            return services.apart { openReasons(against: guardian) }
        }
    }

    /// The reasons without what no client may know. An author's own words stay.
    private func openReasons(against guardian: Guard) -> [JSONViolation] {
        switch guardian {
        case .all(let parts):
            parts.filter { [.fails, .undecided].contains(test($0)) }.flatMap { openReasons(against: $0) }
        case .any(let parts): parts.flatMap { openReasons(against: $0) }
        case .named(let place): reasons(against: definition.guards[place])
        case .not(let part) where test(part) == .undecided: openReasons(against: part)
        default: concealed(ownReasons(against: guardian), guardian)
        }
    }

    private func reasons(against named: NamedGuard) -> [JSONViolation] {
        let reasons = openReasons(against: named.guard)
        return named.say.map { reasons.saying(said($0)) } ?? reasons
    }

    private func concealed(_ reasons: [JSONViolation], _ guardian: Guard) -> [JSONViolation] {
        let hidden = definition.hiddenServices
        if hidden.isEmpty { return reasons }
        // Also the type of a hidden value is not said.
        let isHidden = guardian.values.contains { $0.contains { $0.service.map(hidden.contains) ?? false } }
        return reasons.map { (isHidden ? $0.withoutDetail : $0).concealing(hidden) }
    }

    private func ownReasons(against guardian: Guard) -> [JSONViolation] {
        switch guardian {
        case .shape(let path, let rule):
            guard let document = present(at: path) else { return reasons(at: path, "is not there") }
            return rule.violations(in: document) { said($0) }.within(path.text)
        case .compare(let left, let sign, let right):
            return [compare(left, sign, right).reason ?? reason(left, sign, right)]
        case .isTrue(let path): return reasons(at: path, "must be true")
        case .has(let path): return reasons(at: path, "must be there")
        case .isIn(let value, let list):
            return [look(for: value, in: list).reason ?? reason(value, "must be in", list)]
        case .quantified(let quantifier, let list, let part):
            if let reason = test(quantifier, of: list, part).reason { return [reason] }
            return reasons(
                ofElementsOf: list, where: part, { $0 != .holds }, { $0.openReasons(against: part) },
                else: "must have an element")
        case .not(let part): return denials(of: part)
        case .all, .any, .named: return []
        }
    }

    private func reasons(at path: DataPath, _ detail: String) -> [JSONViolation] {
        if case .unknown = find(path) { return [] }
        return [JSONViolation(pointer: resolvedText(of: path), detail: detail)]
    }

    /// Why a `not` does not hold: its guard does. Changing any one of these mends it; for an `any` inside, all of them.
    func denials(of guardian: Guard) -> [JSONViolation] {
        switch guardian {
        case .shape(let path, let rule):
            return Self.denials(of: rule.document, at: path.text, in: present(at: path))
        case .all(let parts): return parts.flatMap { denials(of: $0) }
        case .any(let parts):
            return parts.filter { test($0) == .holds }.flatMap { denials(of: $0) }
        case .not(let part): return reasons(against: part)
        case .named(let place): return denials(of: definition.guards[place].guard)
        case .compare(let left, let sign, let right): return [reason(left, sign.forms.opposite, right)]
        case .isTrue(let path): return reasons(at: path, "must not be true")
        case .has(let path): return reasons(at: path, "must not be there")
        case .isIn(let value, let list): return [reason(value, "must not be in", list)]
        case .quantified(_, let list, let part):
            return reasons(
                ofElementsOf: list, where: part, { $0 == .holds }, { $0.denials(of: part) }, else: "must not be empty")
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
        case "array", "integer", "object": "an \(name)"
        default: "a \(name)"
        }
    }

    private func reason(_ left: ValueTemplate, _ sign: Comparison, _ right: ValueTemplate) -> JSONViolation {
        if let path = left.path {
            JSONViolation(
                pointer: place(of: path), detail: "\(subject(left))must be \(sign.forms.phrase) \(shown(right))")
        } else if let path = right.path {
            JSONViolation(
                pointer: place(of: path),
                detail: "\(subject(right))must be \(sign.forms.turned.forms.phrase) \(shown(left))")
        } else {
            JSONViolation(pointer: "", detail: "never holds")
        }
    }

    private func reason(_ value: ValueTemplate, _ relation: String, _ list: ValueTemplate) -> JSONViolation {
        let path = value.path ?? list.path
        return JSONViolation(
            pointer: path.map { place(of: $0) } ?? "",
            detail: value.path == nil
                ? "\(relation == "must be in" ? "must" : "must not") have the element \(shown(value))"
                : "\(subject(value))\(relation) \(shown(list))")
    }

    private func subject(_ template: ValueTemplate) -> String {
        if case .from = template { "" } else { "is used to compute a value that " }
    }

    private func shown(_ template: ValueTemplate) -> String {
        switch template {
        case .literal(let value): value.description
        case .from(let path, _): "the value at \(place(of: path))"
        default: template.path.map { "the value computed from \(place(of: $0))" } ?? "the computed value"
        }
    }
}

extension [JSONViolation] {
    /// The same places, each once, in the author's words.
    func saying(_ text: SaidText) -> [JSONViolation] {
        reduce(into: []) { said, reason in
            guard !said.contains(where: { $0.pointer == reason.pointer }) else { return }
            said.append(JSONViolation(text, at: reason.pointer))
        }
    }

    /// The same with pointers that begin at a place further out.
    package func within(_ root: String) -> [JSONViolation] {
        map { $0.at(root + $0.pointer) }
    }
}

extension Comparison {
    /// The comparison in words; with its sides exchanged; the one that holds exactly when this one does not.
    fileprivate var forms: (phrase: String, turned: Comparison, opposite: Comparison) {
        switch self {
        case .equal: ("equal to", .equal, .notEqual)
        case .notEqual: ("other than", .notEqual, .equal)
        case .less: ("less than", .greater, .greaterOrEqual)
        case .lessOrEqual: ("at most", .greaterOrEqual, .greater)
        case .greater: ("more than", .less, .lessOrEqual)
        case .greaterOrEqual: ("at least", .lessOrEqual, .less)
        }
    }
}
