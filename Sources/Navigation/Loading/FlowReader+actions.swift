import JSONDocument

extension FlowReader {
    mutating func actions(
        _ key: String, in document: JSONDocument, at place: JSONPointer, _ context: DataContext
    ) -> [Action] {
        var context = context
        return (elements(key, in: document, at: place) ?? []).enumerated().compactMap { index, element in
            let action = readAction(element, at: place.appending(key).appending(index), context)
            if element[member: "call"] != nil { context.result = output(of: action) }
            return action
        }
    }

    private mutating func readAction(
        _ document: JSONDocument, at place: JSONPointer, _ context: DataContext
    ) -> Action? {
        guard document.kind == .object else {
            report(place, .wrongType, "an action is an object, not \(document.kind.phrase)")
            return nil
        }
        if document[member: "op"] != nil { return readOperation(document, at: place, context).map { .patch($0) } }
        if document[member: "merge"] != nil { return readMerge(document, at: place, context) }
        if document[member: "call"] != nil { return readCall(document, at: place, context) }
        for (key, keys) in [("clear", FlowKeys.clear), ("remove", .remove)] where document[member: key] != nil {
            checkKeys(of: document, at: place, allowed: keys.names, of: "an action with \(key)")
            guard let service = text(key, in: document, at: place),
                checkService(service, at: place.appending(key), isWritten: true)
            else { return nil }
            return key == "clear" ? .clear(service: service) : .remove(service: service)
        }
        let keys = document.members?.map(\.name) ?? []
        if let hint = keys.lazy.compactMap({ Self.elsewhere($0, document) }).first {
            report(place, .missingKey, hint)
            return nil
        }
        report(
            place, .missingKey, "an action needs op and path, merge and value, clear, remove or call",
            guess: keys.lazy.compactMap { NearestName.of($0, among: ["op", "merge", "clear", "remove", "call"]) }.first)
        return nil
    }

    /// What actions of other engines are here.
    private static func elsewhere(_ name: String, _ document: JSONDocument) -> String? {
        let path = (document[member: name]?.string ?? document[member: "path"]?.string).flatMap {
            $0.hasPrefix("/") ? $0 : nil
        }
        switch name.lowercased() {
        case "increment", "inc", "decrement", "dec":
            let path = path ?? "/order/count"
            let function = name.lowercased().hasPrefix("dec") ? "$subtract" : "$add"
            return "there is no \(name); write {\"op\": \"replace\", \"path\": \"\(path)\", "
                + "\"value\": {\"\(function)\": [{\"$from\": \"\(path)\"}, 1]}}"
        case "set", "assign", "update", "put":
            return
                "there is no \(name); write {\"op\": \"add\", \"path\": \"\(path ?? "/order/name")\", \"value\": …}, or "
                + "{\"merge\": \"/order\", \"value\": …} for several members"
        case "delete", "unset":
            return "there is no \(name); write {\"op\": \"remove\", \"path\": \"\(path ?? "/order/name")\"}, or "
                + "{\"clear\": \"order\"} for the whole service"
        case "append", "push":
            return
                "there is no \(name); write {\"op\": \"add\", \"path\": \"\(path ?? "/order/lines")/-\", \"value\": …}"
        default: return nil
        }
    }

    private mutating func readMerge(
        _ document: JSONDocument, at place: JSONPointer, _ context: DataContext
    ) -> Action? {
        checkKeys(of: document, at: place, allowed: FlowKeys.merge.names, of: "an action with merge")
        let path = readServicePath("merge", in: document, at: place, isWritten: true, context)
        guard let written = document[member: "value"] else {
            report(place, .missingKey, "value is missing: the object to merge, as in {\"$from\": \"/event\"}")
            return nil
        }
        guard let value = readTemplate(written, at: place.appending("value"), context), let path else { return nil }
        checkMerge(value, into: path, at: place.appending("value"), context)
        return .merge(path, value)
    }

    private mutating func readOperation(
        _ document: JSONDocument, at place: JSONPointer, _ context: DataContext
    ) -> PatchOperation? {
        if let name = document[member: "op"]?.string, let hint = Self.elsewhere(name, document) {
            report(place.appending("op"), .badValue, hint)
            return nil
        }
        guard let kind = choice("op", in: document, at: place, PatchOperation.Kind.self) else { return nil }
        let takesValue = kind == .add || kind == .replace || kind == .test
        let takesFrom = kind == .move || kind == .copy
        checkKeys(
            of: document, at: place,
            allowed: FlowKeys.operation.names.filter {
                ($0 != "value" || takesValue) && ($0 != "from" || takesFrom)
            },
            of: "the operation \(kind.rawValue)")
        let path = readServicePath("path", in: document, at: place, isWritten: kind != .test, context)
        var from: DataPath?
        var value: ValueTemplate?
        if takesFrom {
            from = readServicePath("from", in: document, at: place, isWritten: kind == .move, context)
            if from == nil { return nil }
        }
        if takesValue {
            guard let written = document[member: "value"] else {
                report(place, .missingKey, "value is missing: \(kind.rawValue) needs one, or {\"$from\": …} as one")
                return nil
            }
            value = readTemplate(written, at: place.appending("value"), context)
            if value == nil { return nil }
        }
        guard let path else { return nil }
        if kind == .remove || kind == .move, (from ?? path).pointer.tokens.isEmpty, (from ?? path).built.isEmpty {
            let service = (from ?? path).service ?? ""
            report(
                place.appending(from == nil ? "path" : "from"), .badValue,
                "a whole service is removed by {\"remove\": \"\(service)\"} or emptied by {\"clear\": \"\(service)\"}")
            return nil
        }
        if kind != .test, let value { checkValue(value, for: path, at: place.appending("value"), context) }
        return PatchOperation(kind: kind, path: path, from: from, value: value)
    }

    private mutating func readServicePath(
        _ key: String, in document: JSONDocument, at place: JSONPointer, isWritten: Bool, _ context: DataContext
    ) -> DataPath? {
        let built = document[member: key].flatMap { value -> DataPath? in
            guard value[member: DataPath.pointerKey] != nil else { return nil }
            return readBuiltPath(value, at: place.appending(key), context)
        }
        if built == nil, document[member: key]?[member: DataPath.pointerKey] != nil { return nil }
        guard let text = built?.text ?? text(key, in: document, at: place, isRequired: true) else { return nil }
        let place = place.appending(key)
        guard let path = built ?? DataPath(text), let service = path.service else {
            report(
                place, .badPointer,
                "\"\(text)\" does not begin with a service: actions change services, as in \"/profile/name\"")
            return nil
        }
        guard checkService(service, at: place, isWritten: isWritten) else { return nil }
        if let schema = services[service]?.schema, SchemaRoom(schema).isForbidden(path.pointer) {
            report(
                place, .forbiddenPath, "the schema of \(service) does not allow \(path.pointer)",
                guess: SchemaRoom(schema).guess(for: path.pointer).map { "/\(service)\($0)" })
            return nil
        }
        return path
    }
}
