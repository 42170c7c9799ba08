import JSONDocument

/// Paths.
extension FlowReader {
    /// Reads a path at which there may be a value: a text, or one that is built.
    mutating func readPath(_ node: FlowNode, _ context: DataContext) -> DataPath? {
        if let parts = node[DataPath.pointerKey] {
            guard let path = readBuiltPath(node, context) else { return nil }
            return readPath(path.text, at: parts.place.appending(0), context) == nil ? nil : path
        }
        guard let text = node.string else {
            return refuse(
                node, .wrongType,
                "a path is a string such as \"/profile/name\", or {\"$pointer\": […]}, not \(node.kind)")
        }
        return readPath(text, at: node.place, context)
    }

    /// Reads `{"$pointer": ["people", {"$from": "/event/index"}, "name"]}`. The path begins with the parts that are
    /// constant, and the rest is built when it is needed.
    mutating func readBuiltPath(_ node: FlowNode, _ context: DataContext) -> DataPath? {
        checkKeys(of: node, allowed: [DataPath.pointerKey], "a path that is built")
        guard let node = node[DataPath.pointerKey] else { return nil }
        guard let parts = node.elements, let start = parts.first, let first = start.string else {
            return refuse(
                node, .badPointer,
                "$pointer is an array of the parts of a path, the first of them a string: "
                    + "[\"people\", {\"$from\": \"/event/index\"}, \"name\"]")
        }
        if first.contains("/") {
            return refuse(start, .badPointer, "\"\(first)\" is one part of a path, and has no \"/\"")
        }
        var constant = [first]
        var built: [ValueTemplate] = []
        for part in parts.dropFirst() {
            guard let template = readTemplate(part, context.taking(.literals)) else { return nil }
            guard case .literal(let value) = template else {
                built.append(template)
                continue
            }
            guard let token = value.string ?? value.int.map(String.init) else {
                return refuse(
                    part, .badPointer, "a part of a path is a string or an integer, not \(value.kind.phrase)")
            }
            if built.isEmpty { constant.append(token) } else { built.append(template) }
        }
        return DataPath(JSONPointer(constant).description).map { DataPath($0, built: built) }
    }

    /// Reads a path of a service, where no event has data.
    mutating func readServicePath(_ node: FlowNode, isWritten: Bool) -> DataPath? {
        guard let text = node.string else {
            return refuse(node, .wrongType, "a path is a string, not \(node.kind)")
        }
        guard let path = readPath(text, at: node.place, .noEvent) else { return nil }
        guard let service = path.service else {
            return refuse(node, .badPointer, "\"\(text)\" does not begin with a service, as in \"/profile/name\"")
        }
        return checkService(service, at: node.place, isWritten: isWritten) ? path : nil
    }

    /// Reads a path of a service that may be built of what the frame of a screen keeps.
    mutating func readAnswer(_ node: FlowNode) -> DataPath? {
        guard node.has(DataPath.pointerKey) else { return readServicePath(node, isWritten: false) }
        guard let path = readPath(node, .noEvent) else { return nil }
        guard let service = path.service else {
            return refuse(node, .badPointer, "\"\(path.text)\" does not begin with a service, as in \"people\"")
        }
        return checkService(service, at: node.place) ? path : nil
    }

    /// - Parameter isArgument: whether the text may be meant as it stands.
    mutating func readPath(
        _ text: String, at place: JSONPointer, _ context: DataContext, isArgument: Bool = false
    ) -> DataPath? {
        let literal = isArgument ? "; the string itself is {\"value\": \(JSONDocument(text))}" : ""
        guard let path = DataPath(text, inList: context.item != nil) else {
            report(
                place, .badPointer,
                "\"\(text)\" is not a path; a path begins with \"/\" and a service, \"event\", \"input\", \"output\", "
                    + "\"result\", \"frame\" or \"now\"\(literal)")
            return nil
        }
        if isOfService, [.input, .output, .frame].contains(path.root) {
            report(
                place, .valueNever,
                "a command has no \(path.text.dropFirst()); what is sent is /event", guess: "/event")
            return nil
        }
        switch path.root {
        case .service(let name):
            guard let service = services[name] else {
                let isOfList = DataPath.namesInList.contains(name)
                let guess = isOfList ? nil : guess(name, among: names(in: context))
                report(
                    place, .unknownService,
                    isOfList
                        ? "/\(name) is of an element of a list, and stands only inside $sum, $map, $filter, $find, $sort, "
                            + "every and some"
                        : "there is no service \"\(name)\"\(guess == nil ? literal : "")",
                    guess: guess)
                return nil
            }
            checkRoom(for: path, in: service.schema, at: place, of: name)
        case .event:
            switch context.event {
            case .never: report(place, .valueNever, "no event has data here")
            case .maybe: break
            case .shaped(let schema): checkRoom(for: path, in: schema, at: place, of: "the event", isClosed: true)
            }
        case .input: checkRoom(for: path, in: inputSchema, at: place, of: "the flow's input", isClosed: true)
        case .output:
            if !context.hasOutput { report(place, .valueNever, "no child flow has ended here") }
            checkRoom(for: path, in: context.output, at: place, of: "the task's output", isClosed: true)
        case .result:
            if let schema = context.result {
                checkRoom(for: path, in: schema, at: place, of: "the command's output", isClosed: true)
            } else {
                report(place, .valueNever, "no action before this one calls a command")
            }
        case .frame: frameReads.append((place, path))
        case .now:
            if !path.pointer.tokens.isEmpty { report(place, .valueNever, "now is a string and has no members") }
        case .item, .index:
            let name = path.root == .item ? "item" : "index"
            if services[name] != nil {
                report(
                    place, .badName,
                    "/\(name) is of the list's element here; a function inside of a list cannot read the service \(name)",
                    severity: .warning)
            }
            if path.root == .item {
                checkRoom(for: path, in: context.item, at: place, of: "the list's elements", isClosed: true)
            } else if !path.pointer.tokens.isEmpty {
                report(place, .valueNever, "index is a number and has no members")
            }
        }
        return path
    }

    /// The names with which a path may begin.
    func names(in context: DataContext) -> [String] {
        services.names + DataPath.reservedNames + (context.item == nil ? [] : DataPath.namesInList)
    }

    /// What to write instead of a path that asks a list for something else than an element by its index.
    ///
    /// - Parameter mayAppend: whether the path may end behind the last element.
    func elementAdvice(
        _ path: DataPath, _ room: SchemaRoom, mayAppend: Bool = false
    ) -> (text: String, isCertain: Bool)? {
        guard path.built.isEmpty, let (place, isCertain) = room.badIndex(in: path.pointer) else { return nil }
        let tokens = path.pointer.tokens
        let token = tokens[place]
        if mayAppend, token == "-", place == tokens.count - 1 { return nil }
        let root = JSONPointer(parsing: path.text)?.tokens.first ?? ""
        let list = JSONPointer([root] + tokens[..<place])
        return (ForeignWords.element(token, of: list, behind: Array(tokens[(place + 1)...])), isCertain)
    }

    private mutating func checkRoom(
        for path: DataPath, in schema: JSONDocument?, at place: JSONPointer, of what: String, isClosed: Bool = false
    ) {
        let room = SchemaRoom(schema ?? true)
        if let advice = elementAdvice(path, room) {
            report(
                place, .valueNever, "there is never a value at \(path.text): \(advice.text)",
                severity: advice.isCertain ? nil : .warning)
            return
        }
        guard schema != nil else { return }
        let isForbidden = room.isForbidden(path.pointer)
        guard isForbidden || (isClosed && room.isUndeclared(path.pointer)) else { return }
        let guess = room.guess(for: path.pointer).map { guess in
            let root = path.text.split(separator: "/", omittingEmptySubsequences: true).first ?? ""
            return "/\(root)\(guess)"
        }
        if isForbidden {
            let hint = path.text.contains("[") ? "; an element of a list is /0, not [0]" : ""
            report(
                place, .valueNever,
                "there is never a value at \(path.text): the schema of \(what) does not allow it\(hint)", guess: guess)
        } else {
            report(
                place, .undeclaredMember, "the schema of \(what) does not declare \(path.pointer)", guess: guess,
                severity: guess == nil ? .warning : nil)
        }
    }
}

/// Values.
extension FlowReader {
    mutating func readTemplate(_ node: FlowNode, _ context: DataContext) -> ValueTemplate? {
        if isLiteral { return .literal(node.value) }
        switch node.value.kind {
        case .array:
            let elements = (node.elements ?? []).map { readTemplate($0, context) ?? .literal($0.value) }
            return elements.allSatisfy(\.isLiteral) ? .literal(node.value) : .array(elements)
        case .object:
            if let written = node["$from"] {
                checkKeys(of: node, allowed: ["$from", "default"], "a value from elsewhere")
                let texts = context.texts == .literals ? DataContext.Texts.literals : .knownPaths
                let fallback = node["default"].flatMap { readTemplate($0, context.taking(texts)) }
                return readPath(written, context).map { .from($0, default: fallback) }
            }
            if let value = quoted(in: node, context) { return readTemplate(value, context.taking(.literals)) }
            if context.texts != .literals, node.has(DataPath.pointerKey) {
                return readPath(node, context).map { .from($0, default: nil) }
            }
            let written = node.members ?? []
            if let function = written.first(where: { $0.name.hasPrefix("$") })?.node {
                return readFunction(function, of: node, context)
            }
            let members = written.map { name, node in
                (name: name, value: readTemplate(node, context) ?? .literal(node.value))
            }
            return members.allSatisfy(\.value.isLiteral) ? .literal(node.value) : .object(members)
        case .string:
            let text = node.string ?? ""
            if isPath(text, context) {
                return readPath(text, at: node.place, context, isArgument: true).map { .from($0, default: nil) }
            }
            checkIsText(text, at: node.place, context)
        default: break
        }
        return .literal(node.value)
    }

    /// Reads an operand of a guard, or an argument of a function: a text that begins with "/" is a path.
    mutating func readArgument(_ node: FlowNode, _ context: DataContext) -> ValueTemplate? {
        readTemplate(node, context.taking(.paths))
    }

    /// Whether a text stands for the value at a path.
    private func isPath(_ text: String, _ context: DataContext) -> Bool {
        guard text.hasPrefix("/") else { return false }
        switch context.texts {
        case .literals: return false
        case .paths: return true
        case .knownPaths:
            return JSONPointer(parsing: text)?.tokens.first.map { names(in: context).contains($0) } ?? false
        }
    }

    /// The literal in `{"value": …}`, where texts may be paths.
    private func quoted(in node: FlowNode, _ context: DataContext) -> FlowNode? {
        guard context.texts != .literals, node.value.count == 1, let value = node["value"] else { return nil }
        // An object of that form was an object before.
        return context.texts == .paths || value.string.map { isPath($0, context) } == true ? value : nil
    }

    private static let functionNames =
        ["$from", "$time", "$day", "$days", "$if"] + ValueFunction.allCases.map(\.rawValue)
        + ListFunction.Kind.allCases.map(\.rawValue)

    /// - Parameter node: the first member whose name begins with `$`.
    private mutating func readFunction(
        _ node: FlowNode, of object: FlowNode, _ context: DataContext
    ) -> ValueTemplate? {
        guard Self.functionNames.contains(node.key) else {
            if let advice = ForeignWords.advice(on: node.key, in: .function) {
                return refuse(node, .unknownKey, "there is no function \"\(node.key)\"; \(advice)")
            }
            return refuse(
                node, .unknownKey,
                "there is no function \"\(node.key)\"; the functions are \(Self.functionNames.joinedAsList)",
                guess: guess(node.key, among: Self.functionNames))
        }
        let isDay = node.key == "$day"
        checkKeys(of: object, allowed: isDay ? ["$day", "zone"] : [node.key], "a value with \(node.key)")
        if let kind = ListFunction.Kind(rawValue: node.key) { return readListFunction(kind, node, context) }
        switch node.key {
        case "$time": return readTime(node, context)
        case "$day": return readDay(node, zone: object["zone"], context)
        case "$days":
            guard let parts = node.elements, parts.count == 2 else {
                return refuse(
                    node, .badValue, "$days takes two times, as in {\"$days\": [\"/now\", \"/trip/departs_at\"]}")
            }
            let from = readMoment(parts[0], context)
            let to = readMoment(parts[1], context)
            guard let from, let to else { return nil }
            return .days(from: from, to: to)
        case "$if": return readChoice(node, context)
        default: return ValueFunction(rawValue: node.key).flatMap { readCall($0, node, context) }
        }
    }

    private mutating func readCall(
        _ function: ValueFunction, _ node: FlowNode, _ context: DataContext
    ) -> ValueTemplate? {
        // {"$count": [1, 2]} counts that list, and so does {"$count": "/order/lines"}.
        let isList = function.arguments.upperBound > 1
        guard let written = isList ? node.elements : [node] else {
            return refuse(
                node, .wrongType,
                "\(node.key) takes an array of values, as in {\"\(node.key)\": [\"/order/net\", 5]}, not \(node.kind)")
        }
        guard function.arguments.contains(written.count) else {
            let count = function.arguments.lowerBound == function.arguments.upperBound ? "exactly" : "at least"
            return refuse(
                node, .badValue,
                "\(node.key) takes \(count) \(function.arguments.lowerBound) values, not \(written.count)")
        }
        let context = context.taking(function.hasOldTexts ? .knownPaths : .paths)
        var arguments: [ValueTemplate] = []
        for element in written {
            guard let argument = readTemplate(element, context) else { return nil }
            if !isList, let inner = element.elements?.first, isWrapped(argument, for: function, context) {
                return refuse(
                    node, .badValue,
                    "\(node.key) takes its value as it is, not in an array: {\"\(node.key)\": "
                        + "\(inner.string == nil ? "…" : inner.quoted)}")
            }
            checkArgument(argument, of: function, at: element.place, context)
            arguments.append(argument)
        }
        return .call(function, arguments)
    }

    private mutating func readTime(_ node: FlowNode, _ context: DataContext) -> ValueTemplate? {
        guard let start = node["from"] else {
            return refuse(node, .badValue, "$time takes an object, as in {\"from\": \"/now\", \"plus\": \"-P18Y\"}")
        }
        checkKeys(of: node, allowed: ["from", "plus"], "$time")
        guard let from = readMoment(start, context) else { return nil }
        guard let written = node["plus"] else { return .time(from: from, plus: nil) }
        guard let plus = readArgument(written, context) else { return nil }
        if case .literal(let literal) = plus, literal.string.flatMap({ CalendarDuration(signed: $0) }) == nil {
            report(
                written.place, .badDuration,
                "plus is \(written.quoted); expected a duration, as in \"P18Y\", \"-P1M\", \"P1DT12H\" or \"30m\"")
        }
        return .time(from: from, plus: plus)
    }

    /// Reads a time or a day: a constant, a path, or a computed value.
    mutating func readMoment(_ node: FlowNode, _ context: DataContext) -> ValueTemplate? {
        let moment = readArgument(node, context)
        if case .literal(let literal)? = moment, literal.string.flatMap(CalendarTime.init) == nil {
            report(
                node.place, .badValue,
                "\(node.key) is a path such as \"/now\", a time such as \"2026-01-31T09:00:00Z\" or a day such as "
                    + "\"2026-01-31\"")
        }
        if let moment { checkIsTime(moment, at: node.place, context) }
        return moment
    }

    private mutating func readDay(_ node: FlowNode, zone: FlowNode?, _ context: DataContext) -> ValueTemplate? {
        guard let time = readMoment(node, context) else { return nil }
        guard let zone, let name = text(zone) else { return .day(of: time, in: nil) }
        guard let found = self.zone(name) else {
            return refuse(
                zone, .badValue,
                "there is no time zone \"\(name)\" on this machine; zones are those of the IANA database, such as "
                    + "\"Europe/Berlin\"")
        }
        return .day(of: time, in: found)
    }

    private mutating func readChoice(_ node: FlowNode, _ context: DataContext) -> ValueTemplate? {
        guard let parts = node.elements, parts.count == 3 else {
            return refuse(
                node, .badValue,
                "$if is an array of three: a guard, the value if it holds, and the value if it does not")
        }
        let guardian = readGuard(parts[0], context)
        let one = readTemplate(parts[1], context.taking(.knownPaths))
        let other = readTemplate(parts[2], context.taking(.knownPaths))
        guard let guardian, let one, let other else { return nil }
        return .either(guardian, one, other)
    }
}

extension ValueTemplate {
    fileprivate var isLiteral: Bool {
        if case .literal = self { true } else { false }
    }
}
