import JSONDocument

extension FlowReader {
    /// Reads a path at which there may be a value: a text, or one that is built.
    mutating func readPath(_ document: JSONDocument, at place: JSONPointer, _ context: DataContext) -> DataPath? {
        if document[member: DataPath.pointerKey] != nil {
            guard let path = readBuiltPath(document, at: place, context) else { return nil }
            return readPath(path.text, at: place.appending(DataPath.pointerKey).appending(0), context) == nil
                ? nil : path
        }
        guard let text = document.string else {
            report(
                place, .wrongType,
                "a path is a string such as \"/profile/name\", or {\"$pointer\": […]}, not \(document.kind.phrase)")
            return nil
        }
        return readPath(text, at: place, context)
    }

    /// Reads `{"$pointer": ["people", {"$from": "/event/index"}, "name"]}`. The path begins with the parts that are
    /// constant, and the rest is built when it is needed.
    mutating func readBuiltPath(_ document: JSONDocument, at place: JSONPointer, _ context: DataContext) -> DataPath? {
        checkKeys(of: document, at: place, allowed: [DataPath.pointerKey], of: "a path that is built")
        let place = place.appending(DataPath.pointerKey)
        guard let parts = document[member: DataPath.pointerKey]?.elements, let first = parts.first?.string else {
            report(
                place, .badPointer,
                "$pointer is an array of the parts of a path, the first of them a string: "
                    + "[\"people\", {\"$from\": \"/event/index\"}, \"name\"]")
            return nil
        }
        if first.contains("/") {
            report(place.appending(0), .badPointer, "\"\(first)\" is one part of a path, and has no \"/\"")
            return nil
        }
        var constant = [first]
        var built: [ValueTemplate] = []
        for (index, part) in parts.enumerated().dropFirst() {
            guard let template = readTemplate(part, at: place.appending(index), context) else { return nil }
            guard case .literal(let value) = template else {
                built.append(template)
                continue
            }
            guard let token = value.string ?? value.int.map(String.init) else {
                report(
                    place.appending(index), .badPointer,
                    "a part of a path is a string or an integer, not \(value.kind.phrase)")
                return nil
            }
            if built.isEmpty { constant.append(token) } else { built.append(template) }
        }
        return DataPath(JSONPointer(constant).description).map { DataPath($0, built: built) }
    }

    private mutating func readPath(_ text: String, at place: JSONPointer, _ context: DataContext) -> DataPath? {
        guard let path = DataPath(text) else {
            report(
                place, .badPointer,
                "\"\(text)\" is not a path; a path begins with \"/\" and a service, \"event\", \"input\", \"output\", "
                    + "\"result\", \"frame\" or \"now\"")
            return nil
        }
        switch path.root {
        case .service(let name):
            guard let service = services[name] else {
                report(
                    place, .unknownService, "there is no service \"\(name)\"",
                    guess: guess(name, among: services.names + DataPath.reservedNames))
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
        case .result:
            if let schema = context.result {
                checkRoom(for: path, in: schema, at: place, of: "the command's output", isClosed: true)
            } else {
                report(place, .valueNever, "no action before this one calls a command")
            }
        case .frame: break
        case .now:
            if !path.pointer.tokens.isEmpty { report(place, .valueNever, "now is a string and has no members") }
        }
        return path
    }

    private mutating func checkRoom(
        for path: DataPath, in schema: JSONDocument?, at place: JSONPointer, of what: String, isClosed: Bool = false
    ) {
        guard let schema else { return }
        let room = SchemaRoom(schema)
        let isForbidden = room.isForbidden(path.pointer)
        guard isForbidden || (isClosed && room.isUndeclared(path.pointer)) else { return }
        let guess = room.guess(for: path.pointer).map { guess in
            let root = path.text.split(separator: "/", omittingEmptySubsequences: true).first ?? ""
            return "/\(root)\(guess)"
        }
        if isForbidden {
            report(
                place, .valueNever, "there is never a value at \(path.text): the schema of \(what) does not allow it",
                guess: guess)
        } else {
            report(
                place, .undeclaredMember, "the schema of \(what) does not declare \(path.pointer)", guess: guess,
                severity: guess == nil ? .warning : nil)
        }
    }

    mutating func readTemplate(
        _ document: JSONDocument, at place: JSONPointer, _ context: DataContext
    ) -> ValueTemplate? {
        switch document.kind {
        case .array:
            let elements = (document.elements ?? []).enumerated().map { index, element in
                readTemplate(element, at: place.appending(index), context) ?? .literal(element)
            }
            return elements.allSatisfy(\.isLiteral) ? .literal(document) : .array(elements)
        case .object:
            if document[member: "$from"] != nil { return readHole(document, at: place, context) }
            if let key = document.members?.first(where: { $0.name.hasPrefix("$") })?.name {
                return readFunction(key, document, at: place, context)
            }
            let members = (document.members ?? []).map { name, value in
                (name: name, value: readTemplate(value, at: place.appending(name), context) ?? .literal(value))
            }
            return members.allSatisfy(\.value.isLiteral) ? .literal(document) : .object(members)
        case .string:
            checkIsText(document.string ?? "", at: place)
            return .literal(document)
        default: return .literal(document)
        }
    }

    private mutating func readHole(
        _ document: JSONDocument, at place: JSONPointer, _ context: DataContext
    ) -> ValueTemplate? {
        checkKeys(of: document, at: place, allowed: ["$from", "default"], of: "a value from elsewhere")
        let fallback = document[member: "default"].flatMap {
            readTemplate($0, at: place.appending("default"), context)
        }
        guard let written = document[member: "$from"],
            let path = readPath(written, at: place.appending("$from"), context)
        else { return nil }
        return .from(path, default: fallback)
    }
}

extension ValueTemplate {
    var isLiteral: Bool {
        if case .literal = self { true } else { false }
    }
}
