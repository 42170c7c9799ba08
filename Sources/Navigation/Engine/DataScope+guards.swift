import JSONDocument

/// Whether a guard holds, as far as that is known.
enum Verdict {
    case holds
    case fails
    /// It depends on the data of an event that has not come.
    case unknown
    /// It compares what cannot be compared. A step is refused for it, and so for its opposite.
    case undecided

    /// Of two of which both must hold: what fails makes it fail, whatever the other is. What is undecided may still
    /// fail, but never hold.
    func and(_ other: Verdict) -> Verdict {
        switch (self, other) {
        case (.fails, _), (_, .fails): .fails
        case (.undecided, _), (_, .undecided): .undecided
        case (.unknown, _), (_, .unknown): .unknown
        case (.holds, .holds): .holds
        }
    }

    /// Of two of which one must hold. What is unknown may still hold.
    func or(_ other: Verdict) -> Verdict {
        switch (self, other) {
        case (.holds, _), (_, .holds): .holds
        case (.unknown, _), (_, .unknown): .unknown
        case (.undecided, _), (_, .undecided): .undecided
        case (.fails, .fails): .fails
        }
    }
}

/// The one way to ask a guard: a step, the view of a journey and the search for a way all ask here.
extension DataScope {
    func test(_ guardian: Guard) -> Verdict {
        switch guardian {
        case .shape(let path, let rule):
            return test(path) { document in
                spend(onSchemaFor: document)
                return services.accepts(document, by: rule)
            }
        case .all(let parts):
            var verdict = Verdict.holds
            for part in parts where verdict != .fails { verdict = verdict.and(test(part)) }
            return verdict
        case .any(let parts):
            var verdict = Verdict.fails
            for part in parts where verdict != .holds { verdict = verdict.or(test(part)) }
            return verdict
        case .not(let part):
            switch test(part) {
            case .holds: return .fails
            case .fails: return .holds
            case .unknown: return .unknown
            case .undecided: return .undecided
            }
        case .named(let place): return test(definition.guards[place].guard)
        case .compare(let left, let sign, let right): return compare(left, sign, right).verdict
        case .isTrue(let path): return test(path) { $0.bool == true }
        case .has(let path): return test(path) { !$0.isNull }
        case .isIn(let value, let list): return look(for: value, in: list).verdict
        case .quantified(let quantifier, let list, let part): return test(quantifier, of: list, part).verdict
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
            if element != nil { spend(Self.workOfReading(one)) }
            if let holds = sign.holds(between: one, and: other) { return (holds ? .holds : .fails, nil) }
            let (known, against) = left.path == nil ? (other, one) : (one, other)
            return (.undecided, Self.incomparable(known, with: against, at: place(of: [left, right])))
        } catch {
            return error.verdict
        }
    }

    /// Why two values cannot be compared.
    static func incomparable(_ value: JSONDocument, with other: JSONDocument, at place: String) -> JSONViolation {
        JSONViolation(
            pointer: place,
            detail: "is \(phrase(value, beside: other)) and cannot be compared with \(phrase(other, beside: value))")
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
        services.withoutOverwork {
            requirement.guards.filter { test($0) != .holds }.flatMap { guardian in
                let reasons = reasons(against: guardian)
                return reasons.isEmpty ? [JSONViolation(pointer: "", detail: "is not known yet")] : reasons
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
        return apart { requirement.others.allSatisfy { scope.test($0) == .holds } }
    }
}

extension ValueFailure {
    /// Of a guard that needs the value.
    var verdict: (verdict: Verdict, reason: JSONViolation?) {
        switch self {
        case .unknown: (.unknown, nil)
        case .undecided(let reason): (.undecided, reason)
        }
    }
}

extension Comparison {
    /// Nil when that cannot be decided.
    func holds(between left: JSONDocument, and right: JSONDocument) -> Bool? {
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
