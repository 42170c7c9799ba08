import JSONDocument

/// Computed values.
extension FlowReader {
    private static let functionNames = ["$from", "$time", "$if"] + ValueFunction.allCases.map(\.rawValue)

    /// - Parameter key: the first member that begins with `$`.
    mutating func readFunction(
        _ key: String, _ document: JSONDocument, at place: JSONPointer, _ context: DataContext
    ) -> ValueTemplate? {
        guard let value = document[member: key] else { return nil }
        guard Self.functionNames.contains(key) else {
            report(
                place.appending(key), .unknownKey,
                "there is no function \"\(key)\"; the functions are \(Self.functionNames.joinedAsList)",
                guess: guess(key, among: Self.functionNames))
            return nil
        }
        checkKeys(of: document, at: place, allowed: [key], of: "a value with \(key)")
        let place = place.appending(key)
        switch key {
        case "$time": return readTime(value, at: place, context)
        case "$if": return readChoice(value, at: place, context)
        default: return ValueFunction(rawValue: key).flatMap { readCall($0, value, at: place, context) }
        }
    }

    private mutating func readCall(
        _ function: ValueFunction, _ value: JSONDocument, at place: JSONPointer, _ context: DataContext
    ) -> ValueTemplate? {
        let isList = function.arguments.upperBound > 1
        if isList, value.kind != .array {
            report(
                place, .wrongType,
                "\(function.rawValue) takes an array of values, as in "
                    + "{\"\(function.rawValue)\": [{\"$from\": \"/order/net\"}, 5]}, not \(value.kind.phrase)")
            return nil
        }
        // {"$count": [1, 2]} counts that list, and so does {"$count": {"$from": "/order/lines"}}.
        let written = isList ? value.elements ?? [] : [value]
        guard function.arguments.contains(written.count) else {
            let count = function.arguments.lowerBound == function.arguments.upperBound ? "exactly" : "at least"
            report(
                place, .badValue,
                "\(function.rawValue) takes \(count) \(function.arguments.lowerBound) values, not \(written.count)")
            return nil
        }
        var arguments: [ValueTemplate] = []
        for (index, element) in written.enumerated() {
            let place = isList ? place.appending(index) : place
            guard let argument = readTemplate(element, at: place, context) else { return nil }
            checkArgument(argument, of: function, at: place, context)
            arguments.append(argument)
        }
        return .call(function, arguments)
    }

    private mutating func readTime(
        _ value: JSONDocument, at place: JSONPointer, _ context: DataContext
    ) -> ValueTemplate? {
        guard value.kind == .object, let start = value[member: "from"] else {
            report(
                place, .badValue, "$time takes an object, as in {\"from\": \"/now\", \"plus\": \"-P18Y\"}")
            return nil
        }
        checkKeys(of: value, at: place, allowed: ["from", "plus"], of: "$time")
        let from: ValueTemplate?
        if start.string?.hasPrefix("/") == true || start[member: DataPath.pointerKey] != nil {
            from = readPath(start, at: place.appending("from"), context).map { .from($0, default: nil) }
        } else {
            from = readTemplate(start, at: place.appending("from"), context)
            if case .literal(let literal)? = from, literal.string.flatMap(CalendarTime.init) == nil {
                report(
                    place.appending("from"), .badValue,
                    "from is a path such as \"/now\", a time such as \"2026-01-31T09:00:00Z\" or a day such as "
                        + "\"2026-01-31\"")
            }
        }
        guard let from else { return nil }
        checkIsTime(from, at: place.appending("from"), context)
        guard let written = value[member: "plus"] else { return .time(from: from, plus: nil) }
        guard let plus = readTemplate(written, at: place.appending("plus"), context) else { return nil }
        if case .literal(let literal) = plus, literal.string.flatMap({ CalendarDuration(signed: $0) }) == nil {
            report(
                place.appending("plus"), .badDuration,
                "plus is \(literal.string.map { "\"\($0)\"" } ?? literal.kind.phrase); expected a duration, as in "
                    + "\"P18Y\", \"-P1M\", \"P1DT12H\" or \"30m\"")
        }
        return .time(from: from, plus: plus)
    }

    private mutating func readChoice(
        _ value: JSONDocument, at place: JSONPointer, _ context: DataContext
    ) -> ValueTemplate? {
        guard let parts = value.elements, parts.count == 3 else {
            report(
                place, .badValue,
                "$if is an array of three: a guard, the value if it holds, and the value if it does not")
            return nil
        }
        let guardian = readGuard(parts[0], at: place.appending(0), context)
        let one = readTemplate(parts[1], at: place.appending(1), context)
        let other = readTemplate(parts[2], at: place.appending(2), context)
        guard let guardian, let one, let other else { return nil }
        return .either(guardian, one, other)
    }
}
