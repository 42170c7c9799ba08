import JSONDocument

/// Guards that look at the elements of lists.
extension DataScope {
    /// - Returns: the verdict, and why the list is none that can be looked at.
    func test(
        _ quantifier: Quantifier, of template: ValueTemplate, _ part: Guard
    ) -> (verdict: Verdict, reason: JSONViolation?) {
        let end: Verdict = quantifier == .every ? .fails : .holds
        var verdict: Verdict = quantifier == .every ? .holds : .fails
        do throws(ValueFailure) {
            let list = try list(of: template, in: quantifier.rawValue)
            try forEach(list, of: template) { (scope: DataScope) throws(ValueFailure) in
                let next = scope.test(part)
                verdict = quantifier == .every ? verdict.and(next) : verdict.or(next)
                return verdict != end
            }
            return (verdict, nil)
        } catch {
            return error.verdict
        }
    }

    /// Whether a value is equal to an element of a list, and why that cannot be decided.
    func look(for value: ValueTemplate, in template: ValueTemplate) -> (verdict: Verdict, reason: JSONViolation?) {
        do throws(ValueFailure) {
            let wanted = try evaluate(value)
            let list = try list(of: template, in: "in")
            var reason: JSONViolation?
            for (index, element) in list.values.enumerated() {
                spend(on: wanted)
                spend(on: element)
                services.work.rest &-= Self.workOfReading(wanted)
                try checkWork([template])
                switch Comparison.equal.holds(between: wanted, and: element) {
                case true?: return (.holds, nil)
                case false?: continue
                case nil:
                    reason =
                        value.path.map { Self.incomparable(wanted, with: element, at: place(of: $0)) }
                        ?? Self.incomparable(element, with: wanted, at: place(of: index, in: list))
                }
            }
            return (reason == nil ? .fails : .undecided, reason)
        } catch {
            return error.verdict
        }
    }

    /// A person who mends these finds the others.
    private static let mostReasons = 10

    /// Reasons of the elements for which a guard has a verdict that is wanted; the last one where there is no element.
    func reasons(
        ofElementsOf template: ValueTemplate, where part: Guard, _ isWanted: (Verdict) -> Bool,
        _ reasons: (DataScope) -> [JSONViolation], else otherwise: String
    ) -> [JSONViolation] {
        var found: [JSONViolation] = []
        do throws(ValueFailure) {
            let list = try list(of: template, in: "a guard")
            guard !list.values.isEmpty else {
                return [JSONViolation(pointer: place(of: [template]), detail: otherwise)]
            }
            try forEach(list, of: template) { (scope: DataScope) throws(ValueFailure) in
                if isWanted(scope.test(part)) { found += reasons(scope) }
                return found.count < Self.mostReasons
            }
        } catch {
            if let reason = error.verdict.reason { found.append(reason) }
        }
        return Array(found.prefix(Self.mostReasons))
    }
}

/// Where elements stand.
extension DataScope {
    /// A path from a service, `event` or another document on: that of an element is the one of its list and its index.
    func place(of path: DataPath) -> String {
        guard path.root == .item || path.root == .index, let element else { return path.text }
        var outside = self
        outside.element = element.outer
        let place = outside.place(of: element.index, in: element.list)
        return element.list.place(of: element.index) == nil ? place : "\(place)\(path.pointer)"
    }

    /// The place of an element; of one that is made, that of its list.
    func place(of index: Int, in list: ListValues) -> String {
        let place = list.source.map { resolvedText(of: $0) } ?? ""
        return list.place(of: index).map { "\(place)/\($0)" } ?? place
    }

    /// The place of the first path in values.
    func place(of templates: [ValueTemplate]) -> String {
        templates.lazy.compactMap(\.path).first.map { place(of: $0) } ?? ""
    }
}
