import JSONDocument

/// Whether a guard holds, as far as that is known.
enum Verdict {
    case holds
    case fails
    /// It depends on the data of an event that has not come.
    case unknown
    /// It compares what cannot be compared. A step is refused for it, and so for its opposite.
    case undecided
}

/// The one way to ask a guard: a step, the view of a journey and the search for a way all ask here.
extension DataScope {
    func test(_ guardian: Guard) -> Verdict {
        switch guardian {
        case .shape(let path, let rule): return test(path) { services.accepts($0, by: rule) }
        case .all(let parts):
            var verdict = Verdict.holds
            for part in parts {
                switch test(part) {
                case .holds: continue
                case .fails: return .fails
                case .unknown: if verdict == .holds { verdict = .unknown }
                // It may still fail, but never hold.
                case .undecided: verdict = .undecided
                }
            }
            return verdict
        case .any(let parts):
            var verdict = Verdict.fails
            for part in parts {
                switch test(part) {
                case .holds: return .holds
                case .fails: continue
                // It may still hold.
                case .unknown: verdict = .unknown
                case .undecided: if verdict == .fails { verdict = .undecided }
                }
            }
            return verdict
        case .not(let part):
            switch test(part) {
            case .holds: return .fails
            case .fails: return .holds
            case .unknown: return .unknown
            case .undecided: return .undecided
            }
        case .named(let place): return test(flow.guards[place].guard)
        case .compare(let left, let sign, let right): return compare(left, sign, right).verdict
        case .isTrue(let path): return test(path) { $0.bool == true }
        case .has(let path): return test(path) { !$0.isNull }
        }
    }

    private func test(_ path: DataPath, _ holds: (JSONDocument) -> Bool) -> Verdict {
        switch find(path) {
        case .value(let value): holds(value) ? .holds : .fails
        case .missing: .fails
        case .unknown: .unknown
        }
    }

    /// - Returns: the verdict, and of one that is undecided the reason.
    func compare(
        _ left: ValueTemplate, _ sign: Comparison, _ right: ValueTemplate
    ) -> (verdict: Verdict, reason: JSONViolation?) {
        do {
            let (one, other) = (try evaluate(left), try evaluate(right))
            if let holds = sign.holds(between: one, and: other) { return (holds ? .holds : .fails, nil) }
            let place = left.path ?? right.path
            let (known, against) = left.path == nil ? (other, one) : (one, other)
            return (
                .undecided,
                JSONViolation(
                    pointer: place?.text ?? "",
                    detail: "is \(Self.phrase(known, beside: against)) and cannot be compared with "
                        + Self.phrase(against, beside: known))
            )
        } catch {
            switch error {
            case .unknown: return (.unknown, nil)
            case .undecided(let reason): return (.undecided, reason)
            }
        }
    }

    /// Says of two texts which is a time.
    private static func phrase(_ value: JSONDocument, beside other: JSONDocument) -> String {
        guard let text = value.string, other.string != nil else { return value.kind.phrase }
        return CalendarTime(text) == nil ? "a string that is not a time" : "a time"
    }

    /// Whether a transition may be taken, as far as its conditions say. With ``reasons(against:)-(Transition)`` the
    /// one place that knows which conditions a transition can have.
    func test(_ transition: Transition) -> Verdict { transition.guard.map { test($0) } ?? .holds }

    /// Why a transition may not be taken.
    func reasons(against transition: Transition) -> [JSONViolation] {
        transition.guard.map { reasons(against: $0) } ?? []
    }

    /// The first transition whose guard holds.
    ///
    /// - Throws: ``JourneyRefusal/guardNotMet(_:)`` when a guard before it is undecided: that does not mean no.
    func first(of transitions: [Transition]) throws(JourneyRefusal) -> Transition? {
        for transition in transitions {
            switch test(transition) {
            case .holds: return transition
            case .fails, .unknown: continue
            case .undecided: throw .guardNotMet(reasons(against: transition))
            }
        }
        return nil
    }

    /// Why a requirement does not hold; empty when it does.
    func obstacles(to requirement: Requirement) -> [JSONViolation] {
        requirement.guards.filter { test($0) != .holds }.flatMap { guardian in
            let reasons = reasons(against: guardian)
            return reasons.isEmpty ? [JSONViolation(pointer: "", detail: "is not known yet")] : reasons
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
    /// Nil when that cannot be decided.
    fileprivate func holds(between left: JSONDocument, and right: JSONDocument) -> Bool? {
        switch self {
        case .equal, .notEqual:
            guard left.kind.isComparable(with: right.kind) || left.isNull || right.isNull else { return nil }
            if let left = left.string.flatMap(CalendarTime.init), let right = right.string.flatMap(CalendarTime.init) {
                return (CalendarTime.order(left, right) == 0) == (self == .equal)
            }
            return (left == right) == (self == .equal)
        case .less: return Self.order(left, right).map { $0 < 0 }
        case .lessOrEqual: return Self.order(left, right).map { $0 <= 0 }
        case .greater: return Self.order(left, right).map { $0 > 0 }
        case .greaterOrEqual: return Self.order(left, right).map { $0 >= 0 }
        }
    }

    /// Nil for two values that have no order.
    private static func order(_ left: JSONDocument, _ right: JSONDocument) -> Int? {
        if let left = left.int, let right = right.int { return left < right ? -1 : left == right ? 0 : 1 }
        if let left = Decimal(left), let right = Decimal(right) { return left < right ? -1 : left == right ? 0 : 1 }
        guard let left = left.string, let right = right.string else { return nil }
        switch (CalendarTime(left), CalendarTime(right)) {
        case (let left?, let right?): return CalendarTime.order(left, right)
        case (nil, nil): break
        default: return nil
        }
        if left.utf8.elementsEqual(right.utf8) { return 0 }
        return left.utf8.lexicographicallyPrecedes(right.utf8) ? -1 : 1
    }
}

extension JSONKind {
    /// Whether values of these kinds are of one type; integers and doubles are.
    fileprivate func isComparable(with other: JSONKind) -> Bool {
        self == other || [self, other] == [.integer, .double] || [self, other] == [.double, .integer]
    }
}
