import JSONDocument

/// A change of the session's services.
public enum Action: Sendable {
    /// An operation of a JSON Patch (RFC 6902).
    case patch(PatchOperation)
    /// Merges a value into the one at a path, as a JSON Merge Patch (RFC 7396); what is not there yet is made.
    case merge(DataPath, ValueTemplate)
    /// Replaces the value at a path whole, whether or not there is one.
    case set(DataPath, ValueTemplate)
    /// Sets the service back to its default.
    case clear(service: String)
    /// Removes the instance from the session; the next access makes a new one.
    case remove(service: String)
    /// Runs a command of a service; its output is `/result` for the actions behind it in the same list.
    case call(service: String, command: String, input: ValueTemplate?)
    /// Records a task for which the journey does not wait: see ``SideTask``.
    case task(String, input: ValueTemplate?)

    static let clearKeys = FlowKeys(["clear": .service], required: ["clear"])
    static let removeKeys = FlowKeys(["remove": .service], required: ["remove"])
    static let mergeKeys = FlowKeys(["merge": .path, "value": [:]], required: ["merge", "value"])
    static let setKeys = FlowKeys(["set": .path, "value": [:]], required: ["set", "value"])
    static let callKeys = FlowKeys(
        ["call": ["type": "string", "pattern": "^[^/]+/[^/]+$"], "with": [:]], required: ["call"])

    /// The values that it is made of.
    var templates: [ValueTemplate] {
        switch self {
        case .patch(let operation):
            [operation.value].compactMap(\.self) + operation.path.built + (operation.from?.built ?? [])
        case .merge(let path, let value), .set(let path, let value): path.built + [value]
        case .clear, .remove: []
        case .call(_, _, let input), .task(_, let input): [input].compactMap(\.self)
        }
    }

    /// The paths at which it needs values.
    package var neededPaths: [DataPath] { templates.flatMap(\.neededPaths) }
}

extension Action {
    /// The service that is changed; of a command, the one that has it; of a task, none.
    package var service: String {
        switch self {
        case .patch(let operation): operation.path.service ?? ""
        case .merge(let path, _), .set(let path, _): path.service ?? ""
        case .clear(let service), .remove(let service), .call(let service, _, _): service
        case .task: ""
        }
    }

    /// Whether it may do something outside of the session's data, which is gone with the session.
    var isLasting: Bool {
        switch self {
        case .task, .call: true
        case .patch, .merge, .set, .clear, .remove: false
        }
    }

    /// What the action writes; nil for an action that gives no value.
    var target: DataPath? {
        switch self {
        case .patch(let operation): operation.path
        case .merge(let path, _), .set(let path, _): path
        case .clear, .remove, .call, .task: nil
        }
    }
}

/// One operation of RFC 6902, as if the services were the members of one document.
public struct PatchOperation: Sendable {
    /// The operation.
    public let kind: Kind
    /// The target; its root is a service.
    public let path: DataPath
    /// The source of `move` and `copy`; its root is a service, not necessarily the same.
    public let from: DataPath?
    /// The value of `add`, `replace` and `test`.
    public let value: ValueTemplate?
    /// ``path`` within the service.
    let pointerText: String
    /// The operation as a patch of its service, when it does not depend on other data.
    let ready: JSONDocument?

    /// Which of them an operation takes depends on `op`.
    static let keys = FlowKeys(
        ["op": .choice(PatchOperation.Kind.self), "path": .path, "value": [:], "from": .path], required: ["op", "path"])

    /// The operations of RFC 6902.
    public enum Kind: String, Sendable, CaseIterable {
        /// As RFC 6902, section 4, defines it.
        case add, remove, replace, move, copy, test
    }

    init(kind: Kind, path: DataPath, from: DataPath?, value: ValueTemplate?) {
        self.kind = kind
        self.path = path
        self.from = from
        self.value = value
        pointerText = path.pointer.description
        ready =
            switch (from, value) {
            case _ where !path.built.isEmpty || from?.built.isEmpty == false: nil
            case (nil, nil): Self.patch(kind, pointerText)
            case (nil, .literal(let literal)?): Self.patch(kind, pointerText, value: literal)
            case (let from?, nil) where from.root == path.root:
                Self.patch(kind, pointerText, from: from.pointer.description)
            default: nil
            }
    }

    static func patch(
        _ kind: Kind, _ path: String, from: String? = nil, value: JSONDocument? = nil
    ) -> JSONDocument {
        var members: [(name: String, value: JSONDocument)] = [
            (name: "op", value: JSONDocument(kind.rawValue)), (name: "path", value: JSONDocument(path)),
        ]
        if let from { members.append((name: "from", value: JSONDocument(from))) }
        if let value { members.append((name: "value", value: value)) }
        return JSONDocument([JSONDocument(members: members)])
    }
}

extension FlowReader {
    mutating func actions(_ node: FlowNode?, _ context: DataContext) -> [Action] {
        var context = context
        return actions(node, &context)
    }

    /// - Parameter context: becomes that of what stands behind the actions.
    mutating func actions(_ node: FlowNode?, _ context: inout DataContext) -> [Action] {
        elements(node).compactMap { node in
            let action = readAction(node, context)
            if node.has("call") { context.result = output(of: action) }
            return action
        }
    }

    private mutating func readAction(_ node: FlowNode, _ context: DataContext) -> Action? {
        guard node.isObject else {
            let hint = node.string == nil ? "" : ForeignWords.advice(on: "script", in: .action).map { "; \($0)" } ?? ""
            return refuse(node, .wrongType, "an action is an object, not \(node.kind)\(hint)")
        }
        if node.has("op") { return readOperation(node, context).map { .patch($0) } }
        if node.has("merge") { return readMerge(node, context) }
        if node.has("set") { return readSet(node, context) }
        if node.has("call") { return readCall(node, context) }
        if node.has("task") { return readSideTask(node, context) }
        for (key, keys) in [("clear", Action.clearKeys), ("remove", Action.removeKeys)] {
            guard let written = node[key] else { continue }
            checkKeys(of: node, keys, "an action with \(key)")
            guard let service = text(written), checkService(service, at: written.place, isWritten: true) else {
                return nil
            }
            return key == "clear" ? .clear(service: service) : .remove(service: service)
        }
        let keys = node.members?.map(\.name) ?? []
        if let hint = keys.lazy.compactMap({ Self.elsewhere($0, node) }).first {
            return refuse(node, .missingKey, hint)
        }
        for key in keys {
            guard let advice = ForeignWords.advice(on: key, in: .action) else { continue }
            return refuse(node, .missingKey, "there is no action \"\(key)\"; \(advice)")
        }
        return refuse(
            node, .missingKey,
            "an action needs op and path, merge and value, set and value, clear, remove, call or task",
            guess: keys.lazy.compactMap {
                NearestName.of($0, among: ["op", "merge", "set", "clear", "remove", "call", "task"])
            }.first)
    }

    /// What actions of other engines are here.
    private static func elsewhere(_ name: String, _ node: FlowNode) -> String? {
        let written = node[name]?.string ?? node["path"]?.string
        let path = written.flatMap { $0.hasPrefix("/") ? $0 : nil }
        switch name.lowercased() {
        case "increment", "inc", "decrement", "dec":
            let path = path ?? "/order/count"
            let function = name.lowercased().hasPrefix("dec") ? "$subtract" : "$add"
            return "there is no \(name); write {\"op\": \"replace\", \"path\": \"\(path)\", "
                + "\"value\": {\"\(function)\": [{\"$from\": \"\(path)\"}, 1]}}"
        case "set", "assign", "update", "put":
            return
                "there is no \(name == "set" ? "operation set" : name); write {\"set\": \"\(path ?? "/order/name")\", "
                + "\"value\": …}, or {\"merge\": \"/order\", \"value\": …} for several members"
        case "delete", "unset":
            return "there is no \(name); write {\"op\": \"remove\", \"path\": \"\(path ?? "/order/name")\"}, or "
                + "{\"clear\": \"order\"} for the whole service"
        case "append", "push":
            return
                "there is no \(name); write {\"op\": \"add\", \"path\": \"\(path ?? "/order/lines")/-\", \"value\": …}"
        default: return nil
        }
    }

    private mutating func readMerge(_ node: FlowNode, _ context: DataContext) -> Action? {
        checkKeys(of: node, Action.mergeKeys, "an action with merge")
        let path = readServicePath(node["merge"], isWritten: true, mayAppend: true, context)
        guard let written = required("value", in: node, ": the object to merge, as in {\"$from\": \"/event\"}"),
            let value = readTemplate(written, context), let path
        else { return nil }
        checkMerge(value, into: path, at: written.place, context)
        return .merge(path, value)
    }

    private mutating func readSet(_ node: FlowNode, _ context: DataContext) -> Action? {
        checkKeys(of: node, Action.setKeys, "an action with set")
        let path = readServicePath(node["set"], isWritten: true, context)
        guard let written = required("value", in: node, ": what is there afterwards, or {\"$from\": …}"),
            let value = readTemplate(written, context), let path
        else { return nil }
        checkValue(value, for: path, at: written.place, context)
        return .set(path, value)
    }

    private mutating func readOperation(_ node: FlowNode, _ context: DataContext) -> PatchOperation? {
        if let written = node["op"], let hint = written.string.flatMap({ Self.elsewhere($0, node) }) {
            return refuse(written, .badValue, hint)
        }
        guard let kind: PatchOperation.Kind = choice(node["op"]) else { return nil }
        let takesValue = kind == .add || kind == .replace || kind == .test
        let takesFrom = kind == .move || kind == .copy
        checkKeys(
            of: node,
            allowed: PatchOperation.keys.names.filter {
                ($0 != "value" || takesValue) && ($0 != "from" || takesFrom)
            }, "the operation \(kind.rawValue)")
        let path = readServicePath(
            required("path", in: node), isWritten: kind != .test, mayAppend: kind == .add || takesFrom, context)
        var from: DataPath?
        var value: ValueTemplate?
        if takesFrom {
            from = readServicePath(required("from", in: node), isWritten: kind == .move, context)
            if from == nil { return nil }
        }
        if takesValue {
            let hint = ": \(kind.rawValue) needs one, or {\"$from\": …} as one"
            value = required("value", in: node, hint).flatMap { readTemplate($0, context) }
            if value == nil { return nil }
        }
        guard let path else { return nil }
        let removed = from ?? path
        if kind == .remove || kind == .move, removed.pointer.tokens.isEmpty, removed.built.isEmpty {
            let service = removed.service ?? ""
            return refuse(
                node[from == nil ? "path" : "from"] ?? node, .badValue,
                "a whole service is removed by {\"remove\": \"\(service)\"} or emptied by {\"clear\": \"\(service)\"}")
        }
        if kind != .test, let value, let written = node["value"] {
            checkValue(value, for: path, at: written.place, context)
        }
        return PatchOperation(kind: kind, path: path, from: from, value: value)
    }

    /// A path that an action changes, or reads.
    ///
    /// - Parameter mayAppend: whether it may end with "-", behind the last element of a list.
    private mutating func readServicePath(
        _ node: FlowNode?, isWritten: Bool, mayAppend: Bool = false, _ context: DataContext
    ) -> DataPath? {
        guard let node else { return nil }
        let path: DataPath?
        let text: String
        if node.has(DataPath.pointerKey) {
            guard let built = readBuiltPath(node, context) else { return nil }
            (path, text) = (built, built.text)
        } else {
            guard let written = self.text(node) else { return nil }
            (path, text) = (DataPath(written), written)
        }
        guard let path, let service = path.service else {
            return refuse(
                node, .badPointer,
                "\"\(text)\" does not begin with a service: actions change services, as in \"/profile/name\"")
        }
        guard checkService(service, at: node.place, isWritten: isWritten) else { return nil }
        if let advice = elementAdvice(path, SchemaRoom(services[service]?.schema ?? true), mayAppend: mayAppend) {
            report(
                node.place, .forbiddenPath, "nothing is ever at \(text): \(advice.text)",
                severity: advice.isCertain ? nil : .warning)
            return advice.isCertain ? nil : path
        }
        if let schema = services[service]?.schema, SchemaRoom(schema).isForbidden(path.pointer) {
            return refuse(
                node, .forbiddenPath, "the schema of \(service) does not allow \(path.pointer)",
                guess: SchemaRoom(schema).guess(for: path.pointer).map { "/\(service)\($0)" })
        }
        return path
    }
}

/// Actions that call commands of services.
extension FlowReader {
    private mutating func readCall(_ node: FlowNode, _ context: DataContext) -> Action? {
        checkKeys(of: node, Action.callKeys, "an action with call")
        let given = node["with"]
        let input = given.flatMap { readTemplate($0, context) }
        guard let written = node["call"], let text = text(written), let (service, command) = findCommand(text, written)
        else { return nil }
        if let caller = context.withoutCalls { report(node.place, .badValue, "\(caller) cannot call commands") }
        if command.waits {
            report(
                written.place, .badValue, "\(text) waits for something outside, and a step cannot wait; use a task")
        }
        switch (command.input, given) {
        case (let schema?, let given?):
            if let input {
                checkValue(input, fits: schema, at: given.place, context, .inputMismatch, "\(text) does not take it")
            }
        case (_?, nil): report(node.place, .missingKey, "with is missing: the input of \(text)")
        case (nil, let given?): report(given.place, .inputMismatch, "\(text) takes no input")
        case (nil, nil): break
        }
        // Its refusal is told in the client's language, too.
        add(languages: command.languages)
        return .call(service: service, command: command.name, input: input)
    }

    /// What `/result` may be after an action that calls a command; anything after one that could not be read.
    private func output(of action: Action?) -> JSONDocument {
        guard case .call(let service, let name, _)? = action else { return true }
        return services[service]?.commands.first { $0.name == name }?.output ?? true
    }

    /// Finds `cart/add`.
    private mutating func findCommand(
        _ text: String, _ node: FlowNode
    ) -> (service: String, command: ServiceDirectory.Command)? {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, !parts.contains("") else {
            return refuse(
                node, .badValue, "call is \"\(text)\"; expected a service and its command, as in \"cart/add\"")
        }
        guard let service = services[parts[0]] else {
            return refuse(
                node, .unknownService, "there is no service \"\(parts[0])\"",
                guess: guess(parts[0], among: services.names).map { "\($0)/\(parts[1])" })
        }
        if service.isOfProcess {
            return refuse(
                node, .unknownCommand,
                "\(service.name) is of the process: its commands are called on the admin listener, not by flows")
        }
        guard let command = service.commands.first(where: { $0.name == parts[1] }) else {
            let names = service.commands.map(\.name)
            return refuse(
                node, .unknownCommand,
                "\(service.name) has no command \"\(parts[1])\"; it has \(names.isEmpty ? "none" : names.joinedAsList)",
                guess: guess(parts[1], among: names).map { "\(service.name)/\($0)" })
        }
        return (service.name, command)
    }
}
