import JSONDocument

/// What schemas say about values before there are any: the type of a template is a schema, too.
extension FlowReader {
    /// A schema that the value of a template fits; `true` where nothing is known.
    func schema(of template: ValueTemplate, _ context: DataContext) -> JSONDocument {
        switch template {
        case .literal(let value): return ["const": value]
        case .from(let path, let fallback):
            let found = schema(at: path, context)
            guard let fallback else { return found }
            return found == true ? true : ["anyOf": [found, schema(of: fallback, context)]]
        case .array: return ["type": "array"]
        case .object(let members):
            return [
                "type": "object", "additionalProperties": false,
                "required": JSONDocument(members.map { JSONDocument($0.name) }),
                "properties": JSONDocument(
                    members: members.map { (name: $0.name, value: schema(of: $0.value, context)) }),
            ]
        case .call(let function, let arguments): return schema(of: function, arguments, context)
        case .list(let function): return schema(of: function, context)
        case .time: return ["type": "string", "minLength": 10, "maxLength": 24]
        case .day: return ["type": "string", "format": "date", "minLength": 10, "maxLength": 10]
        case .days: return ["type": "integer"]
        case .either(_, let one, let other):
            return ["anyOf": [schema(of: one, context), schema(of: other, context)]]
        }
    }

    func schema(at path: DataPath, _ context: DataContext) -> JSONDocument {
        guard path.built.isEmpty else { return true }
        switch path.root {
        case .now: return ["type": "string", "format": "date-time", "minLength": 24, "maxLength": 24]
        case .index: return ["type": "integer", "minimum": 0]
        default: return document(of: path.root, context).flatMap { SchemaRoom($0).schema(at: path.pointer) } ?? true
        }
    }

    /// The schema of a document; nil where nothing is known of it.
    func document(of root: DataPath.Root, _ context: DataContext) -> JSONDocument? {
        switch root {
        case .service(let name): services[name]?.schema
        case .event: if case .shaped(let schema) = context.event { schema } else { nil }
        case .input: inputSchema
        case .result: context.result
        case .output: context.output
        case .item: context.item
        case .frame, .now, .index: nil
        }
    }

    func kinds(of template: ValueTemplate, _ context: DataContext) -> SchemaOverlap.Kinds {
        SchemaOverlap.kinds(of: schema(of: template, context))
    }

    // MARK: - Values that cannot be right

    /// Reports a value that can never stand at a path of a service.
    mutating func checkValue(
        _ value: ValueTemplate, for path: DataPath, at place: JSONPointer, _ context: DataContext
    ) {
        guard path.built.isEmpty, let service = path.service, let schema = services[service]?.schema,
            let part = SchemaRoom(schema).schema(at: path.pointer)
        else { return }
        checkValue(
            value, fits: part, at: place, context, .forbiddenValue,
            "the schema of \(service) does not allow it at \(path.pointer)")
    }

    /// Reports a value that can never fit a schema, with a code.
    mutating func checkValue(
        _ value: ValueTemplate, fits schema: JSONDocument, at place: JSONPointer, _ context: DataContext,
        _ code: FlowProblemCode, _ complaint: String
    ) {
        for mismatch in SchemaOverlap.mismatches(of: value, self.schema(of: value, context), with: schema) {
            report(
                JSONPointer(place.tokens + mismatch.pointer.tokens), code, "\(complaint): \(mismatch.detail)",
                guess: mismatch.guess)
        }
    }

    /// Reports members of a merged value that can never be in the target.
    mutating func checkMerge(
        _ value: ValueTemplate, into path: DataPath, at place: JSONPointer, _ context: DataContext
    ) {
        guard path.built.isEmpty, let service = path.service, let schema = services[service]?.schema else { return }
        var members: [(name: String, value: ValueTemplate?, place: JSONPointer)] = []
        switch value {
        case .object(let parts): members = parts.map { ($0.name, $0.value, place.appending($0.name)) }
        case .literal(let document):
            guard let parts = document.members else {
                report(place, .badValue, "merge takes an object, not \(document.kind.phrase)")
                return
            }
            // In a merge null removes a member.
            members = parts.filter { !$0.value.isNull }.map { ($0.name, .literal($0.value), place.appending($0.name)) }
        default:
            let known = self.schema(of: value, context)
            members = (known[member: "properties"]?.members ?? []).map { ($0.name, nil, place) }
        }
        for member in members {
            let pointer = path.pointer.appending(member.name)
            if SchemaRoom(schema).isForbidden(pointer) {
                report(
                    member.place, .forbiddenPath, "the schema of \(service) does not allow \(pointer)",
                    guess: SchemaRoom(schema).guess(for: pointer).map { "/\(service)\($0)" })
            } else if let part = member.value, part.isObject != true {
                checkValue(part, for: path.appending([member.name]), at: member.place, context)
            } else if member.value == nil, case .from(let source, _) = value {
                let part = ValueTemplate.from(source.appending([member.name]), default: nil)
                checkValue(part, for: path.appending([member.name]), at: member.place, context)
            }
        }
    }

    /// Reports an argument that can never be what the function takes.
    mutating func checkArgument(
        _ argument: ValueTemplate, of function: ValueFunction, at place: JSONPointer, _ context: DataContext
    ) {
        let index = Int(place.tokens.last ?? "") ?? 0
        let allowed = function.takes(at: index)
        guard checkKind(of: argument, allowed, function.rawValue, at: place, context), index == 0,
            let elements = function.elements
        else { return }
        let found = SchemaOverlap.kinds(of: elementSchema(of: argument, context))
        guard found.isDisjoint(with: elements) else { return }
        report(
            place, .badValue,
            "\(function.rawValue) takes a list whose elements are each \(elements.phrase), but each one here is "
                + "\(found.phrase)")
    }

    /// Whether the only argument stands in an array, as those of other functions do, and that is not what it can be.
    func isWrapped(_ argument: ValueTemplate, for function: ValueFunction, _ context: DataContext) -> Bool {
        guard case .array(let elements) = argument, elements.count == 1 else { return false }
        let (found, taken) = (kinds(of: elements[0], context), function.takes(at: 0))
        return taken.contains(.list) ? found == .list : !found.isDisjoint(with: taken)
    }

    /// Reports a value that can never be of the kinds that its place takes.
    ///
    /// - Returns: whether it can.
    @discardableResult
    mutating func checkKind(
        of value: ValueTemplate, _ allowed: SchemaOverlap.Kinds, _ taker: String, at place: JSONPointer,
        _ context: DataContext
    ) -> Bool {
        let found = kinds(of: value, context)
        guard found.isDisjoint(with: allowed), !found.isEmpty else { return true }
        // One problem, not two.
        problems.removeAll { $0.code == .textNotExpression && $0.pointer == place.description }
        report(place, .badValue, "\(taker) takes \(allowed.phrase), but this is \(found.phrase)")
        return false
    }

    mutating func checkIsTime(_ from: ValueTemplate, at place: JSONPointer, _ context: DataContext) {
        if case .literal = from { return }
        let found = kinds(of: from, context)
        guard !found.contains(.text) else { return }
        report(place, .badValue, "a time is a string, but this is \(found.phrase)")
    }

    /// Reports a path that no schema makes a time: a timer waits for ever for what is something else.
    mutating func checkIsMoment(_ value: ValueTemplate, at place: JSONPointer) {
        guard case .from(let path, _) = value, path.built.isEmpty, !isUnseen(path, .noEvent), path.root != .now,
            kinds(of: value, .noEvent).contains(.text)
        else { return }
        let format = schema(at: path, .noEvent)[member: "format"]?.string
        guard format != "date-time", format != "date" else { return }
        report(
            place, .doubtfulTime,
            "no schema makes \(path.text) a time; without \"format\": \"date-time\" or \"date\" there it may be "
                + "something else, and the timer would never be due")
    }

    /// Reports texts that look like expressions or paths: they are taken as they are.
    mutating func checkIsText(_ text: String, at place: JSONPointer, _ context: DataContext) {
        func warn(_ path: String) {
            report(
                place, .textNotExpression,
                "the string is taken literally; the value at a path is "
                    + (context.texts == .literals ? "{\"$from\": \"\(path)\"}" : "\"\(path)\"")
                    + ", and strings are joined by {\"$concat\": […]}")
        }
        for (start, end) in [("${", "}"), ("{{", "}}")] {
            guard let from = text.firstRange(of: start), let to = text[from.upperBound...].firstRange(of: end) else {
                continue
            }
            let inner = text[from.upperBound..<to.lowerBound].filter { $0 != " " }
            return warn("/" + inner.replacing("/", with: "").split(separator: ".").joined(separator: "/"))
        }
        if text.hasPrefix("$event.") || text.hasPrefix("$.") || text.hasPrefix("event.") {
            return warn("/" + text.drop { $0 == "$" || $0 == "." }.split(separator: ".").joined(separator: "/"))
        }
        if let (path, instead) = calculation(text, names(in: context)) {
            report(
                place, .textNotExpression,
                "the string is taken literally; a value is computed by a function, such as "
                    + instead.replacing(
                        "PATH", with: context.texts == .literals ? "{\"$from\": \"\(path)\"}" : "\"\(path)\""))
            return
        }
        let parts = text.split(separator: "/", omittingEmptySubsequences: true).map(String.init)
        guard let first = parts.first, !text.contains(" ") else { return }
        if context.texts != .literals, parts.count == 1, let dotted = pathOf(dotted: text, names(in: context)) {
            return warn(dotted)
        }
        let isKnown = names(in: context).contains(first)
        switch (text.hasPrefix("/"), context.texts) {
        case (true, .literals): if isKnown { warn(text) }
        case (true, _):
            // In an argument it would be a path if it began with a name.
            report(
                place, .textNotExpression,
                "no path begins with \"/\(first)\", so the string is taken literally; {\"value\": \"\(text)\"} says that "
                    + "it is meant", guess: guess(first, among: names(in: context)).map { "/\($0)" })
        case (false, .literals): break
        case (false, _): if isKnown, parts.count > 1 { warn("/" + text) }
        }
    }

    /// The path that is meant by `order.total`.
    private func pathOf(dotted text: String, _ names: [String]) -> String? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count > 1, let first = parts.first, names.contains(first), !parts.contains("") else { return nil }
        return JSONPointer(parts).description
    }

    /// The first path and the function in a text that is a calculation elsewhere: `/order/total + 1`, `= total * 2`,
    /// `{% … %}`, `States.Format(…)`, `now()`.
    private func calculation(_ text: String, _ names: [String]) -> (path: String, instead: String)? {
        let trimmed = text.drop { $0 == " " }
        if ["now()", "Date.now()", "new Date()"].contains(trimmed) { return ("/now", "PATH") }
        if text.hasPrefix("States.") && text.contains("(") {
            return ("/order/name", "{\"$concat\": [\"Dear \", PATH]}")
        }
        let words = trimmed.split(whereSeparator: { " %{}=".contains($0) }).map(String.init)
        let parts = (words.first ?? "").split(whereSeparator: { "./$".contains($0) }).map(String.init)
        let isPath = words.first?.hasPrefix("/") == true && parts.first.map(names.contains) == true
        let operators: [String: String] = ["+": "$add", "-": "$subtract", "*": "$multiply"]
        let function = words.count > 1 ? operators[words[1]] : nil
        let isMarked = trimmed.hasPrefix("{%") || (trimmed.hasPrefix("=") && parts.first.map(names.contains) == true)
        guard isMarked || (isPath && function != nil) else { return nil }
        let path = parts.first.map(names.contains) == true ? "/" + parts.joined(separator: "/") : "/order/total"
        return (path, "{\"\(function ?? "$add")\": [PATH, 1]}")
    }

    // MARK: - Guards that cannot be right

    /// Reports what cannot be decided, or never holds, and a day that is compared with a moment.
    mutating func checkComparison(
        _ left: ValueTemplate, _ sign: Comparison, _ right: ValueTemplate, at place: JSONPointer,
        _ context: DataContext
    ) {
        if let one = isDay(left, context), let other = isDay(right, context), one != other {
            report(
                place.appending(one ? 2 : 0), .dayAndTime,
                "a time is compared with a day by its day in UTC; {\"$day\": …, \"zone\": \"Europe/Berlin\"} is its day "
                    + "there, and without a zone the same without this warning")
        }
        var sides: [SchemaOverlap.Kinds] = []
        for (index, side) in [(0, left), (2, right)] {
            let kinds = kinds(of: side, context)
            sides.append(kinds)
            guard kinds.contains([.number, .text]), let path = side.path, !isUnseen(path, context) else { continue }
            report(
                place.appending(index), .undecidableCompare,
                "no schema says whether \(path.text) is a number or a string; a comparison of both refuses the step")
        }
        let isEquality = sign == .equal || sign == .notEqual
        let common = sides[0].intersection(sides[1])
        guard common.subtracting(isEquality ? [] : [.null, .bool, .list, .object]).isEmpty,
            !(isEquality && sides.contains { $0.contains(.null) })
        else { return }
        report(
            place, .guardNever,
            "\(sides[0].phrase) and \(sides[1].phrase) cannot be compared by \(sign.rawValue), so this never holds")
    }

    /// Whether a value is a day or a moment, where that is known.
    private func isDay(_ template: ValueTemplate, _ context: DataContext) -> Bool? {
        switch template {
        case .literal(let value): return value.string.flatMap(CalendarTime.init)?.isDay
        case .time(let from, _): return isDay(from, context)
        case .either(_, let one, let other):
            let isDay = isDay(one, context)
            return isDay == self.isDay(other, context) ? isDay : nil
        default:
            switch schema(of: template, context)[member: "format"]?.string {
            case "date": return true
            case "date-time": return false
            default: return nil
            }
        }
    }

    /// Reports a path whose value can never be `true`.
    mutating func checkIsTrue(_ path: DataPath, at place: JSONPointer, _ context: DataContext) {
        let found = kinds(of: .from(path, default: nil), context)
        guard !found.isEmpty, !found.contains(.bool) else { return }
        report(
            place, .guardNever,
            "`is` tests for true, but \(path.text) is \(found.phrase); use {\"has\": \"\(path.text)\"} to test for "
                + "presence")
    }

    /// Whether the data is not known where the guard is written.
    private func isUnseen(_ path: DataPath, _ context: DataContext) -> Bool {
        if !path.built.isEmpty { return true }
        switch path.root {
        case .service, .input, .now, .index: return false
        case .item: return context.item == true
        case .event: if case .maybe = context.event { return true } else { return false }
        case .output: return context.output == nil
        case .result, .frame: return true
        }
    }

    /// Reports members that the service cannot have, and a guard that its schema decides already.
    mutating func checkShapeGuard(_ rule: ShapeRule, on service: String, at place: JSONPointer) {
        guard let schema = services[service]?.schema else { return }
        let before = problems.count
        checkMembers(of: rule.document, in: SchemaRoom(schema), .root, at: place, service)
        if problems.count > before { return }
        if SchemaOverlap.isEmpty(schema, rule.document) {
            report(
                place, .guardNever, "the schema of \(service) allows nothing that the guard accepts, so it never holds"
            )
        } else if SchemaOverlap.isWithin(schema, rule.document) {
            report(
                place, .guardAlways,
                "the guard accepts everything that the schema of \(service) allows, so it always holds")
        }
    }

    private mutating func checkMembers(
        of schema: JSONDocument, in room: SchemaRoom, _ pointer: JSONPointer, at place: JSONPointer, _ service: String
    ) {
        var names = (schema[member: "properties"]?.members ?? []).map {
            ($0.name, place.appending("properties").appending($0.name))
        }
        for (index, name) in (schema[member: "required"]?.elements ?? []).enumerated() {
            guard let name = name.string, !names.contains(where: { $0.0 == name }) else { continue }
            names.append((name, place.appending("required").appending(index)))
        }
        for (name, place) in names {
            let inner = pointer.appending(name)
            if room.isForbidden(inner) {
                report(
                    place, .valueNever, "the schema of \(service) does not allow \(inner)",
                    guess: room.guess(for: inner).map { "/\(service)\($0)" }, severity: .warning)
            } else if let part = schema[member: "properties"]?[member: name] {
                checkMembers(of: part, in: room, inner, at: place, service)
            }
        }
    }
}

extension ValueTemplate {
    /// Whether it makes an object of its members; a merge goes into it.
    fileprivate var isObject: Bool {
        switch self {
        case .object: true
        case .literal(let value): value.kind == .object
        default: false
        }
    }
}
