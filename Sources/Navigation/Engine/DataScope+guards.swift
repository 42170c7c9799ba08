import JSONDocument

/// Whether a guard holds, as far as that can be said.
enum Verdict {
    case holds
    case fails
    /// It depends on the data of an event that has not come.
    case unknown
}

extension DataScope {
    func test(_ guardian: Guard, in flow: FlowDefinition) -> Verdict {
        switch guardian {
        case .shape(let subject, let rule):
            guard let document = document(of: subject) else { return isUnknown(subject) ? .unknown : .fails }
            return services.accepts(document, by: rule) ? .holds : .fails
        case .all(let parts):
            var verdict = Verdict.holds
            for part in parts {
                switch test(part, in: flow) {
                case .holds: continue
                case .fails: return .fails
                case .unknown: verdict = .unknown
                }
            }
            return verdict
        case .any(let parts):
            var verdict = Verdict.fails
            for part in parts {
                switch test(part, in: flow) {
                case .holds: return .holds
                case .fails: continue
                case .unknown: verdict = .unknown
                }
            }
            return verdict
        case .not(let part):
            switch test(part, in: flow) {
            case .holds: return .fails
            case .fails: return .holds
            case .unknown: return .unknown
            }
        case .named(let place): return test(flow.guards[place].guard, in: flow)
        case .compare(let left, let sign, let right):
            guard let left = value(of: left), let right = value(of: right) else { return .unknown }
            return sign.holds(between: left, and: right) ? .holds : .fails
        }
    }

    /// What is in the way of a guard that fails, with pointers that begin with a service, `event` or `input`.
    func reasons(against guardian: Guard, in flow: FlowDefinition) -> [JSONViolation] {
        switch guardian {
        case .shape(let subject, let rule):
            let root = "/" + JSONPointer.escape(subject.root)
            guard let document = document(of: subject) else {
                return isUnknown(subject) ? [] : [JSONViolation(pointer: root, detail: "is not there")]
            }
            return rule.violations(in: document).map {
                JSONViolation(pointer: root + $0.pointer, detail: $0.detail)
            }
        case .all(let parts):
            return parts.filter { test($0, in: flow) == .fails }.flatMap { reasons(against: $0, in: flow) }
        case .any(let parts): return parts.flatMap { reasons(against: $0, in: flow) }
        case .not(let part): return denials(of: part, in: flow)
        case .named(let place): return reasons(against: flow.guards[place].guard, in: flow)
        case .compare(let left, let sign, let right):
            return [Self.reason(left, sign, right)]
        }
    }

    func document(of subject: Guard.Subject) -> JSONDocument? {
        switch subject {
        case .service(let name): return services.document(of: name)
        case .event: if case .data(let data) = event { return data } else { return nil }
        case .input: return input
        }
    }

    private func isUnknown(_ subject: Guard.Subject) -> Bool {
        if subject == .event, case .unknown = event { true } else { false }
    }

    /// Nil when nobody knows. What is missing compares like null.
    private func value(of operand: Guard.Operand) -> JSONDocument? {
        switch operand {
        case .value(let value): return value
        case .path(let path):
            switch find(path) {
            case .value(let value): return value
            case .missing: return .null
            case .unknown: return nil
            }
        }
    }

    static func reason(
        _ left: Guard.Operand, _ sign: Comparison, _ right: Guard.Operand
    ) -> JSONViolation {
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

extension Comparison {
    func holds(between left: JSONDocument, and right: JSONDocument) -> Bool {
        switch self {
        case .equal: return left == right
        case .notEqual: return left != right
        case .less: return Self.order(left, right).map { $0 < 0 } ?? false
        case .lessOrEqual: return Self.order(left, right).map { $0 <= 0 } ?? false
        case .greater: return Self.order(left, right).map { $0 > 0 } ?? false
        case .greaterOrEqual: return Self.order(left, right).map { $0 >= 0 } ?? false
        }
    }

    /// Nil for two values that have no order.
    private static func order(_ left: JSONDocument, _ right: JSONDocument) -> Int? {
        if let left = left.int, let right = right.int { return left < right ? -1 : left == right ? 0 : 1 }
        if let left = left.double, let right = right.double { return left < right ? -1 : left == right ? 0 : 1 }
        guard let left = left.string, let right = right.string else { return nil }
        if left.utf8.elementsEqual(right.utf8) { return 0 }
        return left.utf8.lexicographicallyPrecedes(right.utf8) ? -1 : 1
    }

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

    /// With the sides exchanged.
    fileprivate var turned: Comparison {
        switch self {
        case .equal, .notEqual: self
        case .less: .greater
        case .lessOrEqual: .greaterOrEqual
        case .greater: .less
        case .greaterOrEqual: .lessOrEqual
        }
    }
}
