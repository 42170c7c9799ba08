import JSONDocument

/// Whether a guard holds, as far as that is known.
enum Verdict {
    case holds
    case fails
    /// It depends on the data of an event that has not come.
    case unknown
}

/// The one way to ask a guard: a step, the view of a journey and the search for a way all ask here.
extension DataScope {
    func test(_ guardian: Guard) -> Verdict {
        switch guardian {
        case .shape(let subject, let rule):
            guard let document = document(of: subject) else { return isUnknown(subject) ? .unknown : .fails }
            return services.accepts(document, by: rule) ? .holds : .fails
        case .all(let parts):
            var verdict = Verdict.holds
            for part in parts {
                switch test(part) {
                case .holds: continue
                case .fails: return .fails
                case .unknown: verdict = .unknown
                }
            }
            return verdict
        case .any(let parts):
            var verdict = Verdict.fails
            for part in parts {
                switch test(part) {
                case .holds: return .holds
                case .fails: continue
                case .unknown: verdict = .unknown
                }
            }
            return verdict
        case .not(let part):
            switch test(part) {
            case .holds: return .fails
            case .fails: return .holds
            case .unknown: return .unknown
            }
        case .named(let place): return test(flow.guards[place].guard)
        case .compare(let left, let sign, let right):
            guard let left = value(of: left), let right = value(of: right) else { return .unknown }
            return sign.holds(between: left, and: right) ? .holds : .fails
        }
    }

    /// The first transition whose guard holds.
    func first(of transitions: [Transition]) -> Transition? {
        transitions.first { $0.guard.map { test($0) == .holds } ?? true }
    }

    /// Why a requirement does not hold; empty when it does.
    func obstacles(to requirement: Requirement) -> [JSONViolation] {
        requirement.guards.filter { test($0) != .holds }.flatMap { guardian in
            let reasons = reasons(against: guardian)
            return reasons.isEmpty ? [JSONViolation(pointer: "", detail: "is not known yet")] : reasons
        }
    }

    func document(of subject: Guard.Subject) -> JSONDocument? {
        switch subject {
        case .service(let name): return document(of: name)
        case .event: if case .data(let data) = event { return data } else { return nil }
        case .input: return input
        }
    }

    func isUnknown(_ subject: Guard.Subject) -> Bool {
        if subject == .event, case .unknown = event { true } else { false }
    }

    /// Nil when the value is not known. A missing value compares like null.
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
}

extension StepServices {
    /// Whether a requirement holds.
    ///
    /// - Parameter scope: is called only when the requirement asks for more than the documents of services.
    func meet<Failure: Error>(
        _ requirement: Requirement, seenBy owners: ServiceOwners, in scope: () throws(Failure) -> DataScope
    ) throws(Failure) -> Bool {
        guard fit(requirement.shapes, seenBy: owners) else { return false }
        if requirement.others.isEmpty { return true }
        let scope = try scope()
        return requirement.others.allSatisfy { scope.test($0) == .holds }
    }
}

extension Comparison {
    fileprivate func holds(between left: JSONDocument, and right: JSONDocument) -> Bool {
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
}
