import JSONDocument

/// Why a template has no value.
enum ValueFailure: Error {
    /// It depends on the data of an event that has not come.
    case unknown
    /// Something is missing, or is not what a function takes. The pointer is that of the path.
    case undecided(JSONViolation)

    var refusal: JourneyRefusal {
        switch self {
        case .undecided(let reason): .actionFailed(reason)
        case .unknown: .actionFailed(JSONViolation(pointer: "/event", detail: "is needed here"))
        }
    }
}

/// The values of templates. Every function has a result or a reason why not. None can run for long: a template is as
/// large as it is written, and what looks at the elements of lists has a budget.
extension DataScope {
    func evaluate(_ template: ValueTemplate) throws(ValueFailure) -> JSONDocument {
        switch template {
        case .literal(let literal):
            if element != nil {
                spend(on: literal)
                try checkWork([template])
            }
            return literal
        case .from(let path, let fallback):
            guard path.built.isEmpty else { return try value(atBuilt: path, fallback) }
            switch find(path) {
            case .value(let value):
                if element != nil { try checkWork([template]) }
                return value
            case .unknown: throw .unknown
            case .missing:
                guard let fallback else { throw .undecided(.noValue(at: place(of: path))) }
                return try evaluate(fallback)
            }
        case .array(let elements):
            let values = try evaluate(elements)
            spend(Self.workOfPart * values.count)
            for value in values { spend(onCopyOf: value) }
            try checkWork([template])
            return JSONDocument(values)
        case .object(let members):
            var values: [(name: String, value: JSONDocument)] = []
            values.reserveCapacity(members.count)
            spend(Self.workOfPart * members.count)
            for member in members {
                let value = try evaluate(member.value)
                spend(onCopyOf: value)
                values.append((name: member.name, value: value))
            }
            try checkWork([template])
            return JSONDocument(members: values)
        case .list(let function): return try evaluate(function, template)
        case .call(let function, let arguments): return try call(function, arguments)
        case .time(let from, let plus): return try time(from, plus)
        case .day(let time, let zone): return try day(of: time, in: zone)
        case .days(let from, let to):
            return JSONDocument(try moment(from, in: "$days").days(to: try moment(to, in: "$days")))
        case .either(let guardian, let one, let other):
            switch test(guardian) {
            case .holds: return try evaluate(one)
            case .fails: return try evaluate(other)
            case .unknown: throw .unknown
            case .undecided: throw failure(of: guardian)
            }
        }
    }

    /// The value at a path that is built.
    private func value(atBuilt path: DataPath, _ fallback: ValueTemplate?) throws(ValueFailure) -> JSONDocument {
        let found: DataPath
        do {
            found = try resolved(path)
        } catch {
            // A part of the path has no value.
            guard case .undecided = error, let fallback else { throw error }
            return try evaluate(fallback)
        }
        return try evaluate(.from(found, default: fallback))
    }

    /// Why a guard in a value is undecided. That asks the guard again, with all guards in its values.
    func failure(of guardian: Guard) -> ValueFailure {
        services.work.rest &-= Self.workOfReason
        do throws(ValueFailure) {
            try checkWork(guardian.operands)
        } catch {
            return error
        }
        return .undecided(reasons(against: guardian).first ?? JSONViolation(pointer: "", detail: "is undecided"))
    }

    private func evaluate(_ templates: [ValueTemplate]) throws(ValueFailure) -> [JSONDocument] {
        var values: [JSONDocument] = []
        values.reserveCapacity(templates.count)
        for template in templates { values.append(try evaluate(template)) }
        return values
    }

    private func call(_ function: ValueFunction, _ arguments: [ValueTemplate]) throws(ValueFailure) -> JSONDocument {
        switch function {
        case .add, .subtract, .multiply, .round:
            return try document(of: try decimal(of: .call(function, arguments)), function.rawValue, arguments)
        case .concat:
            var text = ""
            for argument in arguments {
                let part = try self.text(of: argument, in: function.rawValue, numbers: true)
                try spend(onText: part, argument)
                text += part
            }
            return JSONDocument(text)
        case .trim, .lower, .upper:
            guard let argument = arguments.first else { return .null }
            let text = try self.text(of: argument, in: function.rawValue)
            spend(text.utf8.count / Self.bytesOfCaseInUnit)
            switch function {
            case .lower: return JSONDocument(text.lowercased())
            case .upper: return JSONDocument(text.uppercased())
            default: return JSONDocument(text.trimmed)
            }
        case .count:
            guard let argument = arguments.first else { return 0 }
            let value = try evaluate(argument)
            if value.kind == .array { return JSONDocument(value.count) }
            guard let text = value.string else {
                throw undecided([argument], "is \(value.kind.phrase); $count takes an array or a string")
            }
            return JSONDocument(text.unicodeScalars.count)
        default: return try callOfList(function, arguments)
        }
    }

    func document(
        of number: Decimal, _ function: String, _ templates: [ValueTemplate]
    ) throws(ValueFailure) -> JSONDocument {
        guard let document = number.document else {
            throw undecided(templates, "the result of \(function) has more digits than a number here can have")
        }
        return document
    }

    /// Nested sums and products have all their digits; only the last result is made a JSON number.
    func decimal(of template: ValueTemplate) throws(ValueFailure) -> Decimal {
        if case .list(let function) = template, function.kind == .sum { return try sum(function) }
        if case .call(.round, let arguments) = template { return try rounded(arguments) }
        guard case .call(let function, let arguments) = template, let step = function.arithmetic else {
            let value = try evaluate(template)
            spend(Self.workOfReading(value))
            guard let number = Decimal(value) else {
                let isNumber = value.kind == .double || value.kind == .integer
                throw undecided(
                    [template], isNumber ? "has too many digits" : "is \(value.kind.phrase); a number is needed here")
            }
            return number
        }
        var result: Decimal?
        for argument in arguments {
            let next = try decimal(of: argument)
            guard let number = result else {
                result = next
                continue
            }
            result = step(number)(next)
            if result == nil {
                throw undecided(
                    arguments, "the result of \(function.rawValue) has more than \(Decimal.maximumDigits) digits")
            }
        }
        guard let result else { throw undecided(arguments, "there is nothing to compute") }
        return result
    }

    private func time(_ from: ValueTemplate, _ plus: ValueTemplate?) throws(ValueFailure) -> JSONDocument {
        let start = try moment(from, in: "$time")
        guard let plus else { return JSONDocument(start.text) }
        guard let duration = CalendarDuration(signed: try text(of: plus, in: "$time")) else {
            throw undecided([plus], "is not a duration such as \"P18Y\", \"-P1M\" or \"PT30M\"")
        }
        guard let end = start.adding(duration) else {
            throw undecided(
                [from], "cannot be moved by that duration: the result has no year of four digits, or is not a whole day"
            )
        }
        return JSONDocument(end.text)
    }

    private func day(of time: ValueTemplate, in zone: CalendarZone?) throws(ValueFailure) -> JSONDocument {
        guard let day = try moment(time, in: "$day").day(in: zone) else {
            throw undecided([time], "is on a day there whose year does not have four digits")
        }
        return JSONDocument(day.text)
    }

    /// A moment or a day.
    private func moment(_ template: ValueTemplate, in function: String) throws(ValueFailure) -> CalendarTime {
        spend(Self.workOfTime)
        guard let time = CalendarTime(try text(of: template, in: function)) else {
            throw undecided([template], "is not a date or a date and time of RFC 3339")
        }
        return time
    }

    func text(
        of template: ValueTemplate, in function: String, numbers: Bool = false
    ) throws(ValueFailure) -> String {
        let value = try evaluate(template)
        spend(Self.workOfText)
        if let text = value.string { return text }
        if numbers, value.kind == .integer || value.kind == .double { return value.description }
        throw undecided(
            [template], "is \(value.kind.phrase); \(function) takes strings\(numbers ? " and numbers" : "")")
    }

    /// - Parameter templates: where the first path in them is the place to blame.
    func undecided(_ templates: [ValueTemplate], _ detail: String) -> ValueFailure {
        .undecided(JSONViolation(pointer: place(of: templates), detail: detail))
    }
}

/// Built paths.
extension DataScope {
    /// A path with its computed tokens.
    func resolved(_ path: DataPath) throws(ValueFailure) -> DataPath {
        if path.built.isEmpty { return path }
        var tokens: [String] = []
        for template in path.built {
            let value = try evaluate(template)
            guard let token = value.string ?? value.int.map(String.init) else {
                throw undecided(
                    [template],
                    "is \(value.kind.phrase); a part of a path is the name of a member or the index of an element")
            }
            tokens.append(token)
        }
        spend(Self.workOfPath)
        return path.appending(tokens)
    }

    func findBuilt(_ path: DataPath) -> Finding {
        do {
            return find(try resolved(path))
        } catch {
            if case .unknown = error { return .unknown }
            return .missing
        }
    }

    /// The text of a path with its computed tokens, as far as they have values.
    func resolvedText(of path: DataPath) -> String { place(of: (try? resolved(path)) ?? path) }
}

extension ValueFunction {
    fileprivate var arithmetic: ((Decimal) -> (Decimal) -> Decimal?)? {
        switch self {
        case .add: Decimal.adding
        case .subtract: Decimal.subtracting
        case .multiply: Decimal.multiplied
        default: nil
        }
    }
}

extension String {
    fileprivate var trimmed: String {
        let rest = drop { $0.isWhitespace }
        guard let last = rest.lastIndex(where: { !$0.isWhitespace }) else { return "" }
        return String(rest[...last])
    }
}

extension JSONViolation {
    static func noValue(at path: String) -> JSONViolation {
        JSONViolation(pointer: path, detail: "is needed here, and there is no value")
    }
}
