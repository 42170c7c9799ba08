import JSONDocument

/// A command that a service file declares: what it takes, when it refuses, what it changes, and its output.
///
/// ```json
/// "add": {
///     "accepts": {"type": "object", "required": ["sku"], "properties": {"sku": {"type": "string"}}},
///     "guard": "sold",
///     "actions": [{"op": "add", "path": "/basket/items/-", "value": {"sku": {"$from": "/event/sku"}}}],
///     "output": {"$count": "/basket/items"}
/// }
/// ```
///
/// A class, so that a ``DataScope`` refers to it as to a flow.
package final class CommandDefinition: Sendable {
    package let name: String
    /// What its input must be; nil when it takes none.
    package let accepts: ShapeRule?
    let rules: [FormRule]
    /// What must hold besides.
    let condition: NamedGuard?
    let actions: [Action]
    let output: ValueTemplate?
    /// The JSON Schema of its output; nil when it has none.
    package let outputSchema: JSONDocument?
    /// The named guards of the file.
    let guards: [NamedGuard]
    /// The services that it, or a guard of the file, reads or changes.
    package let services: Set<String>
    /// The languages of its texts, and of those of the guards.
    package let languages: [String]
    /// The services that no client may know of.
    let hiddenServices: Set<String>

    static let keys = FlowKeys([
        "accepts": .jsonSchema, "rules": .list(of: .ref("rule")), "guard": .ref("namedGuard"),
        "actions": .ref("actions"), "output": [:],
    ])

    /// The keys of a service file that its commands need, with the schemas of their values.
    package static let fileKeys: KeyValuePairs<String, JSONDocument> = [
        "guards": .map(of: .ref("namedGuard")), "commands": .map(of: keys.schema()),
    ]

    /// - Parameter file: the file's `guards` and `commands`.
    init(
        reading node: FlowNode, named name: String, _ guards: [NamedGuard], in file: FlowNode,
        by reader: inout FlowReader
    ) {
        self.name = name
        self.guards = guards
        reader.checkKeys(of: node, Self.keys, "a command")
        let shape = reader.shape(node["accepts"])
        let context = DataContext(event: shape.map { .shaped($0.document) } ?? .never, withoutCalls: "a command")
        accepts = shape
        rules = node["rules"].map { reader.rules($0, shape?.document, context) } ?? []
        condition = node["guard"].map { reader.namedGuard(Self.unnamed, $0, context) }
        actions = reader.actions(node["actions"], context)
        let template = node["output"].flatMap { reader.readTemplate($0, context) }
        output = template
        outputSchema = template.map { reader.schema(of: $0, context) }
        languages = reader.languages
        hiddenServices = reader.services.hidden
        services = FlowUses(of: [node.value, file["guards"]?.value ?? .emptyObject], named: name).names
            .filter { [services = reader.services] in services[$0] != nil }
        if !node.has("actions"), !node.has("output") {
            reader.report(node.place, .missingKey, "a command needs actions, an output, or both")
        }
    }

    /// The reason of a guard without a name.
    private static let unnamed = "guard_not_met"
}

extension FlowReader {
    /// Reads `commands` and `guards` of a service file. Of a command with mistakes, what can be read is returned.
    package mutating func commands(of document: JSONDocument) -> [CommandDefinition] {
        let file = FlowNode(value: document, place: .root)
        let named = members(file["guards"])
        for (place, guardian) in named.enumerated() { guardPlaces[guardian.name] = place }
        let guards = named.map { namedGuard($0.name, $0.node, .maybeEvent) }
        let commands = members(file["commands"]).compactMap { name, node -> CommandDefinition? in
            guard node.isObject else { return refuse(node, .wrongType, "a command is an object, not \(node.kind)") }
            return CommandDefinition(reading: node, named: name, guards, in: file, by: &self)
        }
        checkGuards(guards)
        return commands
    }
}

/// Why a command did nothing.
package enum CommandFailure: Error {
    /// The input does not fit the schema, or breaks rules. Pointers are within the input.
    case input([JSONViolation])
    /// A guard does not hold, or an action failed. `isOutside`: the pointer begins with a service; else it is within
    /// the input.
    case refused(code: String, JSONViolation, isOutside: Bool)
}

extension CommandDefinition {
    /// What all calls of a unit of work may do that are not a part of a step.
    package static let mostWork = ListWork.most

    /// Runs the command. It changes nothing itself: the caller makes the changes, all of them or none.
    ///
    /// - Parameters:
    ///   - input: nil for a command that takes none.
    ///   - now: milliseconds since 1970.
    ///   - work: how much work with lists it may do. What it has done is taken away.
    package func run(
        with input: JSONDocument?, on source: any ServiceDocuments, now: Int64, work: inout Int
    ) throws(CommandFailure) -> CommandResult {
        let services = StepServices(source, knowing: GuardMemory(), owned: [], now: now)
        services.work.rest = work
        defer { work = services.work.left }
        var scope = DataScope(
            definition: .command(self), services: services, owners: ServiceOwners(),
            event: input.map { .data($0) } ?? .none, input: .emptyObject, output: nil, frame: nil, now: now)
        try check(input, scope)
        if let condition, scope.test(condition.guard) != .holds { throw scope.failure(of: condition) }
        do throws(JourneyRefusal) {
            try scope.perform(actions)
            var result: JSONDocument?
            if let output { result = try scope.value(of: output) }
            if let overwork = services.overwork { throw .actionFailed(overwork.reason) }
            return CommandResult(output: result, changes: services.changes)
        } catch {
            throw Self.failure("action_failed", error.concealing(hiddenServices).violations.first)
        }
    }

    /// Schema and rules are one answer.
    private func check(_ input: JSONDocument?, _ scope: DataScope) throws(CommandFailure) {
        let fits = input.flatMap { accepts?.accepts($0) } ?? true
        if fits, rules.isEmpty { return }
        var violations = fits ? [] : input.flatMap { accepts?.violations(in: $0, saying: scope.said) } ?? []
        violations += scope.violations(of: rules, fits: fits)
        guard violations.isEmpty else { throw .input(violations) }
    }

    fileprivate static func failure(_ code: String, _ reason: JSONViolation?) -> CommandFailure {
        let reason = reason ?? JSONViolation(pointer: "", detail: "does not hold")
        let event = "/event"
        guard reason.pointer == event || reason.pointer.hasPrefix(event + "/") else {
            return .refused(code: code, reason, isOutside: true)
        }
        return .refused(code: code, reason.at(String(reason.pointer.dropFirst(event.count))), isOutside: false)
    }
}

extension DataScope {
    /// The refusal of a guard that does not hold. Its code is the name of the guard, or of the first one in it.
    fileprivate func failure(of named: NamedGuard) -> CommandFailure {
        let reasons = reasons(against: named.guard)
        return CommandDefinition.failure(
            name(of: named.guard) ?? named.name, (named.say.map { reasons.saying(said($0)) } ?? reasons).first)
    }

    private func name(of guardian: Guard) -> String? {
        switch guardian {
        case .named(let place): definition.guards[place].name
        case .all(let parts): parts.first { test($0) != .holds }.flatMap(name)
        default: nil
        }
    }
}
