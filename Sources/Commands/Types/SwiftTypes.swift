import JSONDocument

/// Writes types for `ConciergeClient`: `Services.Basket`, `Flows.Wizard.StartEvent`, `Commands.Cart.AddInput`.
struct SwiftTypes {
    static func text(of types: ClientTypes) -> String {
        let parts = [services(types), flows(types), commands(types)].filter { !$0.isEmpty }
        return """
            // Made by `concierge types swift`: what the loaded services, flows and commands take and give.
            import ConciergeClient

            \(parts.joined(separator: "\n\n"))

            """
    }

    private static func services(_ types: ClientTypes) -> String {
        var scope = SwiftScope(ofDocumentsIn: "Services")
        for (name, state) in types.services { scope.declare(state, named: TypeNames.type(name)) }
        let states = block("/// The states of the services.\nenum Services", scope.declarations)
        return ([states] + scope.extensions).joined(separator: "\n\n")
    }

    private static func commands(_ types: ClientTypes) -> String {
        var names = TypeNames(reserving: SwiftScope.reserved)
        let services = types.commands.map { service, commands in
            var scope = SwiftScope()
            for command in commands {
                let name = TypeNames.type(command.name)
                if let input = command.input { scope.declare(input, named: name + "Input") }
                if let output = command.output { scope.declare(output, named: name + "Output") }
            }
            return block("/// Service `\(service)`.\nenum \(names.take(TypeNames.type(service)))", scope.declarations)
        }
        return services.isEmpty
            ? "" : block("/// What the commands of services take and give.\nenum Commands", services)
    }

    private static func flows(_ types: ClientTypes) -> String {
        var names = TypeNames(reserving: SwiftScope.reserved)
        let flows = types.flows.map { flow in
            block("/// Flow `\(flow.id)`.\nenum \(names.take(TypeNames.type(flow.id)))", declarations(of: flow))
        }
        return flows.isEmpty ? "" : block("/// The flows.\nenum Flows", flows)
    }

    private static func declarations(of flow: ClientTypes.Flow) -> [String] {
        var scope = SwiftScope()
        var heads = ["static let id = \(SwiftScope.literal(flow.id))"]
        let screens = scope.enumeration(flow.screens.map(\.id), named: scope.take("Screen"))
        let outcomes = scope.enumeration(flow.outcomes, named: scope.take("Outcome"))
        heads += [screens, outcomes].compactMap(\.self)
        if flow.inputs.count == 1 {
            scope.declare(flow.inputs[0], named: "Input")
        } else if !flow.inputs.isEmpty {
            scope.add("/// Versions of the flow differ.\ntypealias \(scope.take("Input")) = JSONValue")
        }
        var known: [String: String] = [:]
        for (screen, events) in [("", flow.events)] + flow.screens.map({ ($0.id, $0.events) }) where !events.isEmpty {
            let title =
                screen.isEmpty ? "every screen accepts, those of child flows among them" : "screen `\(screen)` accepts"
            let name = scope.take(TypeNames.type(screen.isEmpty ? "Flow" : screen, "Event"))
            var cases: [(event: String, data: String?)] = []
            for event in events {
                let schemas = event.data.compactMap(\.self)
                guard let schema = schemas.first, !event.isBack || !schemas.isEmpty else {
                    if !event.isBack { cases.append((event.name, nil)) }
                    continue
                }
                guard event.data.count == 1 else {
                    cases.append((event.name, "JSONValue"))
                    continue
                }
                let key = "\(event.name) \(schema)"
                let wanted = TypeNames.type(flow.variedEvents.contains(event.name) ? screen : "", event.name)
                let type = known[key] ?? scope.declare(schema, named: wanted)
                known[key] = type
                cases.append((event.name, type))
            }
            if !cases.isEmpty { scope.add(self.events(cases, named: name, title)) }
        }
        return heads + scope.declarations
    }

    /// What a screen accepts.
    private static func events(
        _ cases: [(event: String, data: String?)], named name: String, _ title: String
    ) -> String {
        var names = TypeNames(reserving: SwiftScope.reservedCases)
        let named = cases.map { (names.take(TypeNames.member($0.event)), SwiftScope.literal($0.event), $0.data) }
        let values = named.map { name, event, data in
            data == nil
                ? "case .\(name): (\(event), nil)"
                : "case .\(name)(let data): (\(event), try JSONValue(encoding: data))"
        }
        let choice = "switch self {\n\(values.joined(separator: "\n"))\n}"
        return block(
            "/// What \(title).\nenum \(name): JourneyEvent",
            named.map { name, _, data in "case \(SwiftScope.escaped(name))\(data.map { "(\($0))" } ?? "")" }
                + [block("var event: (name: String, data: JSONValue?)", [block("get throws", [choice])])])
    }

    /// - Parameter parts: inside of braces, with an empty line between those of several lines.
    static func block(_ head: String, _ parts: [String]) -> String {
        var text = ""
        for (place, part) in parts.enumerated() {
            let isApart = place > 0 && (part.contains("\n") || parts[place - 1].contains("\n"))
            text += (isApart ? "\n" : "") + part + "\n"
        }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        return "\(head) {\n\(lines.map { $0.isEmpty ? "" : "    \($0)" }.joined(separator: "\n"))\n}"
    }
}
