import JSONDocument

/// Functions that look at the elements of lists.
extension DataScope {
    /// A list whose elements are looked at has at most so many.
    static let longestList = 1_000

    /// - Parameter template: the function as a template.
    func evaluate(_ function: ListFunction, _ template: ValueTemplate) throws(ValueFailure) -> JSONDocument {
        switch function.kind {
        case .sum: return try document(of: try sum(function), function.kind.rawValue, [template])
        case .find: return try selected(by: function, most: 1).values.first ?? .null
        case .map, .filter, .sort: return try document(of: try list(of: template, in: function.kind.rawValue), template)
        }
    }

    func callOfList(_ function: ValueFunction, _ arguments: [ValueTemplate]) throws(ValueFailure) -> JSONDocument {
        let name = function.rawValue
        guard let argument = arguments.first else { return .null }
        switch function {
        case .unique, .slice:
            let template = ValueTemplate.call(function, arguments)
            switch try parts(of: template, in: name) {
            case .list(let list): return try document(of: list, template)
            case .value(let text): return text
            }
        case .join: return try joined(arguments)
        case .min, .max:
            let list = try list(of: argument, in: name)
            guard !list.values.isEmpty else {
                throw undecided([argument], "is empty; \(name) takes at least one element")
            }
            let order = try order(of: list.values, list, name)
            let best = list.values.indices.reduce(0) { best, next in
                (function == .min ? order.isLess(next, best) : order.isLess(best, next)) ? next : best
            }
            return list.values[best]
        case .keys:
            let object = try evaluate(argument)
            guard let members = object.members else {
                throw undecided([argument], "is \(object.kind.phrase); $keys takes an object")
            }
            services.work.rest &-= Self.workOfPart * members.count
            try checkWork(arguments)
            return JSONDocument(members.map { JSONDocument($0.name) })
        case .add, .subtract, .multiply, .round, .concat, .trim, .lower, .upper, .count: return .null
        }
    }

    /// The sum with all its digits.
    func sum(_ function: ListFunction) throws(ValueFailure) -> Decimal {
        let list = try list(of: function.of, in: function.kind.rawValue)
        let each = function.each ?? .from(.item, default: nil)
        var sum = Decimal.zero
        try forEach(list, of: function.of) { (scope: DataScope) throws(ValueFailure) in
            guard let next = sum.adding(try scope.decimal(of: each)) else {
                throw undecided([function.of], "the result of $sum has more than \(Decimal.maximumDigits) digits")
            }
            sum = next
            return true
        }
        return sum
    }

    func rounded(_ arguments: [ValueTemplate]) throws(ValueFailure) -> Decimal {
        let number = try decimal(of: arguments[0])
        let places = try whole(arguments[1], in: "$round")
        guard let rounded = number.rounded(to: places) else {
            throw undecided(
                [arguments[1]], "is \(places); $round takes from -\(Decimal.maximumDigits) to \(Decimal.maximumDigits)")
        }
        return rounded
    }

    private func whole(_ template: ValueTemplate, in function: String) throws(ValueFailure) -> Int {
        let value = try evaluate(template)
        guard let number = value.int else {
            throw undecided([template], "is not a whole number; \(function) takes one here")
        }
        return number
    }

    private func joined(_ arguments: [ValueTemplate]) throws(ValueFailure) -> JSONDocument {
        let list = try list(of: arguments[0], in: "$join")
        let separator = try text(of: arguments[1], in: "$join")
        var text = ""
        try forEach(list, of: arguments[0]) { (scope: DataScope) throws(ValueFailure) in
            var part = try scope.text(of: .from(.item, default: nil), in: "$join", numbers: true)
            if let element = scope.element, element.index > 0 { part = separator + part }
            try spend(onText: part, arguments[0])
            text += part
            return true
        }
        return JSONDocument(text)
    }

    // MARK: - Lists

    /// A value whose elements are looked at.
    private enum Parts {
        case list(ListValues)
        /// What is not the result of a function that makes lists.
        case value(JSONDocument)
    }

    /// Evaluates a template. A list that a function makes is not made as a document, so that its elements still have
    /// their places.
    private func parts(of template: ValueTemplate, in function: String) throws(ValueFailure) -> Parts {
        switch template {
        case .list(let inner) where inner.kind == .map: .list(try mapped(inner))
        case .list(let inner) where inner.kind == .filter: .list(try selected(by: inner))
        case .list(let inner) where inner.kind == .sort: .list(try sorted(inner))
        case .call(.unique, let arguments): .list(try unique(arguments))
        case .call(.slice, let arguments): try sliced(arguments)
        default: .value(try evaluate(template))
        }
    }

    /// The elements of a list.
    func list(of template: ValueTemplate, in function: String) throws(ValueFailure) -> ListValues {
        let list =
            switch try parts(of: template, in: function) {
            case .list(let list): list
            case .value(let value): try elements(of: value, template, in: function)
            }
        guard list.values.count <= Self.longestList else {
            throw undecided(
                [template], "has \(list.values.count) elements; \(function) takes at most \(Self.longestList)")
        }
        return list
    }

    private func elements(
        of value: JSONDocument, _ template: ValueTemplate, in function: String
    ) throws(ValueFailure) -> ListValues {
        guard value.kind == .array else {
            throw undecided([template], "is \(value.kind.phrase); \(function) takes a list")
        }
        services.work.rest &-= value.count
        try checkWork([template])
        let isThere = if case .from = template { true } else { false }
        return ListValues(value.elements ?? [], from: template.path, isMade: !isThere)
    }

    private func mapped(_ function: ListFunction) throws(ValueFailure) -> ListValues {
        let list = try list(of: function.of, in: function.kind.rawValue)
        return ListValues(try values(of: function, for: list), from: list.source, isMade: true)
    }

    /// What `each`, or `by`, makes of each element.
    private func values(of function: ListFunction, for list: ListValues) throws(ValueFailure) -> [JSONDocument] {
        guard let each = function.each else { return list.values }
        var values: [JSONDocument] = []
        values.reserveCapacity(list.values.count)
        try forEach(list, of: function.of) { (scope: DataScope) throws(ValueFailure) in
            values.append(try scope.evaluate(each))
            return true
        }
        return values
    }

    /// The first elements for which the condition of the function holds.
    private func selected(by function: ListFunction, most: Int = DataScope.longestList) throws(ValueFailure)
        -> ListValues
    {
        let list = try list(of: function.of, in: function.kind.rawValue)
        let condition = function.condition ?? .all([])
        var indices: [Int] = []
        try forEach(list, of: function.of) { (scope: DataScope) throws(ValueFailure) in
            if try scope.holds(condition) { indices.append(scope.element?.index ?? 0) }
            return indices.count < most
        }
        return list.selecting(indices)
    }

    private func sorted(_ function: ListFunction) throws(ValueFailure) -> ListValues {
        let list = try list(of: function.of, in: function.kind.rawValue)
        let keys = try values(of: function, for: list)
        let order = try order(of: keys, list, function.kind.rawValue)
        // Each is compared about so many times.
        let rounds = Int.bitWidth - keys.count.leadingZeroBitCount
        for key in keys { services.work.rest &-= rounds * key.weight(atMost: Self.mostWeight) }
        try checkWork([function.of])
        return list.selecting(
            keys.indices.sorted { function.isDescending ? order.isLess($1, $0) : order.isLess($0, $1) })
    }

    private func unique(_ arguments: [ValueTemplate]) throws(ValueFailure) -> ListValues {
        let list = try list(of: arguments[0], in: "$unique")
        var seen: [Likeness: [Int]] = [:]
        var indices: [Int] = []
        try forEach(list, of: arguments[0]) { (scope: DataScope) throws(ValueFailure) in
            guard let element = scope.element else { return false }
            let item = element.item
            spend(on: item)
            spend(Self.workOfReading(item))
            let like = Likeness(item)
            for index in seen[like] ?? [] {
                spend(on: item)
                try checkWork(arguments)
                if list.values[index] == item { return true }
            }
            seen[like, default: []].append(element.index)
            indices.append(element.index)
            return true
        }
        return list.selecting(indices)
    }

    /// What equal values have in common.
    enum Likeness: Hashable {
        case text(String)
        case number(Double)
        case other(String, Int)

        init(_ value: JSONDocument) {
            if let text = value.string {
                self = .text(text)
            } else if let number = value.double {
                self = .number(number)
            } else {
                self = .other(value.kind.phrase, value.count)
            }
        }
    }

    private func sliced(_ arguments: [ValueTemplate]) throws(ValueFailure) -> Parts {
        switch try parts(of: arguments[0], in: "$slice") {
        case .list(let list): return .list(list.selecting(Array(try range(in: list.values.count, arguments))))
        case .value(let value):
            guard let text = value.string else {
                let list = try elements(of: value, arguments[0], in: "$slice")
                return .list(list.selecting(Array(try range(in: list.values.count, arguments))))
            }
            let scalars = Array(text.unicodeScalars)
            var part = String.UnicodeScalarView()
            part.append(contentsOf: scalars[try range(in: scalars.count, arguments)])
            spend(text.utf8.count / Self.bytesOfCaseInUnit)
            return .value(JSONDocument(String(part)))
        }
    }

    /// The indices that `$slice` takes: from one on, of which a negative one counts from the end, so many.
    private func range(in count: Int, _ arguments: [ValueTemplate]) throws(ValueFailure) -> Range<Int> {
        let from = try whole(arguments[1], in: "$slice")
        let start = from < 0 ? Swift.max(0, count + Swift.max(from, -count)) : Swift.min(from, count)
        guard arguments.count > 2 else { return start..<count }
        let length = try whole(arguments[2], in: "$slice")
        guard length >= 0 else { throw undecided([arguments[2]], "is negative; $slice takes a count of elements") }
        return start..<start + Swift.min(length, count - start)
    }

    private func order(
        of values: [JSONDocument], _ list: ListValues, _ function: String
    ) throws(ValueFailure) -> OrderedValues {
        for value in values { services.work.rest &-= Self.workOfReading(value) + value.weight(atMost: Self.mostWeight) }
        var place = 0
        guard let order = OrderedValues(values, failingAt: &place) else {
            let blamed = self.place(of: place, in: list)
            guard place > 0 else {
                throw .undecided(
                    JSONViolation(
                        pointer: blamed, detail: "is \(values[0].kind.phrase); \(function) takes numbers or strings"))
            }
            throw .undecided(Self.incomparable(values[place], with: values[0], at: blamed))
        }
        return order
    }

    private func document(of list: ListValues, _ template: ValueTemplate) throws(ValueFailure) -> JSONDocument {
        for value in list.values where services.work.rest >= 0 {
            services.work.rest &-= value.weight(atMost: Self.mostWeight)
        }
        try checkWork([template])
        return JSONDocument(list.values)
    }

    /// Looks at each element, until the body returns false.
    func forEach(
        _ list: ListValues, of template: ValueTemplate, _ body: (DataScope) throws(ValueFailure) -> Bool
    ) throws(ValueFailure) {
        let element = ListElement(of: list, in: element)
        var scope = self
        scope.element = element
        for index in list.values.indices {
            element.index = index
            services.work.rest &-= 1
            try checkWork([template])
            guard try body(scope) else { return }
        }
    }

    /// Whether a guard holds, where no answer is an answer.
    private func holds(_ guardian: Guard) throws(ValueFailure) -> Bool {
        switch test(guardian) {
        case .holds: return true
        case .fails: return false
        case .unknown: throw .unknown
        case .undecided: throw failure(of: guardian)
        }
    }
}
