import JSONDocument

/// Writes types for `clients/js`: `Session.open<Services, Flows, Commands>()`.
struct TypeScriptTypes {
    private var names = TypeNames(reserving: ["Services", "Flows", "Commands"])
    /// The types with a name.
    private var declarations: [String] = []
    /// The names of those that several screens share.
    private var known: [String: String] = [:]

    static func text(of types: ClientTypes) -> String {
        var writer = TypeScriptTypes()
        let services = writer.services(types)
        let flows = writer.flows(types)
        let commands = writer.commands(types)
        return """
            // Made by `concierge types ts`: what the loaded services, flows and commands take and give.

            \(([services, flows, commands] + writer.declarations).joined(separator: "\n\n"))

            """
    }

    // MARK: What there is

    private mutating func services(_ types: ClientTypes) -> String {
        var members: [String] = []
        for (name, state) in types.services {
            members.append("\(Self.key(name)): \(type(of: state, named: TypeNames.type(name)));")
        }
        return "/** The states of the services, by their names. */\nexport interface Services \(Self.block(members))"
    }

    private mutating func commands(_ types: ClientTypes) -> String {
        var members: [String] = []
        for (service, commands) in types.commands {
            var lines: [String] = []
            for command in commands {
                let name = TypeNames.type(service, command.name)
                let input = command.input.map { type(of: $0, named: name + "Input") } ?? "undefined"
                let output = command.output.map { type(of: $0, named: name + "Output") } ?? "undefined"
                lines.append("\(Self.key(command.name)): { input: \(input); output: \(output) };")
            }
            members.append("\(Self.key(service)): \(Self.block(lines));")
        }
        return "/** What the commands of services take and give. */\nexport interface Commands \(Self.block(members))"
    }

    private mutating func flows(_ types: ClientTypes) -> String {
        var written: [String: WrittenFlow] = [:]
        for flow in types.flows { written[flow.id] = write(flow) }
        var members: [String] = []
        for flow in types.flows {
            guard let own = written[flow.id] else { continue }
            let family = [own] + flow.descendants.compactMap { written[$0] }
            let screens = Set(family.flatMap { $0.screens.map(\.id) }).sorted().map { Self.literal($0) }
            members.append(
                "\(Self.key(flow.id)): "
                    + Self.block([
                        "input: \(Self.union(own.inputs, without: "undefined"));",
                        "outcome: \(Self.union(flow.outcomes.map { Self.literal($0) }, without: "never"));",
                        "/** With those of child flows, one of which may be on top. */",
                        "screen: \(Self.union(screens, without: "never"));",
                        "/** The data of events, with those of child flows. */",
                        "events: \(Self.block(Self.merged(family.flatMap(\.events))));",
                        "screens: \(Self.block(own.screens.map(\.text)));",
                    ]) + ";")
        }
        return "/** The flows, by their ids. */\nexport interface Flows \(Self.block(members))"
    }

    private struct WrittenFlow {
        var inputs: [String]
        var events: [(name: String, type: String)] = []
        var screens: [(id: String, text: String)] = []
    }

    private mutating func write(_ flow: ClientTypes.Flow) -> WrittenFlow {
        var written = WrittenFlow(inputs: flow.inputs.map { type(of: $0, named: TypeNames.type(flow.id, "input")) })
        written.events = data(of: flow.events, on: "", of: flow)
        for screen in flow.screens {
            let events = data(of: screen.events, on: screen.id, of: flow)
            let names = screen.names.sorted().map { Self.literal($0) }.joined(separator: " | ")
            let members = ["name: \(names);", "events: \(Self.block(Self.merged(events)));"]
            written.screens.append((screen.id, "\(Self.key(screen.id)): \(Self.block(members));"))
            written.events += events
        }
        return written
    }

    /// What events take.
    private mutating func data(
        of events: [ClientTypes.Event], on screen: String, of flow: ClientTypes.Flow
    ) -> [(name: String, type: String)] {
        var written: [(name: String, type: String)] = []
        for event in events {
            let name = TypeNames.type(flow.id, flow.variedEvents.contains(event.name) ? screen : "", event.name)
            let types = event.data.map { schema in
                schema.map { type(of: $0, named: name, sharedAs: "\(flow.id) \(event.name)") } ?? "unknown"
            }
            // Going back never needs data.
            written.append((event.name, Self.union(types + (event.isBack ? ["undefined"] : []), without: "unknown")))
        }
        return written
    }

    /// The members of an object of events.
    private static func merged(_ events: [(name: String, type: String)]) -> [String] {
        Dictionary(grouping: events, by: \.name).sorted { $0.key < $1.key }.map { name, all in
            "\(key(name)): \(union(all.map(\.type), without: "unknown"));"
        }
    }

    private static func union(_ types: [String], without none: String) -> String {
        let different = Set(types).sorted()
        return different.contains("unknown") ? "unknown" : different.isEmpty ? none : different.joined(separator: " | ")
    }

    // MARK: Schemas

    /// The type of a schema, declared with a name unless it is short.
    ///
    /// - Parameter place: where equal schemas are one type.
    private mutating func type(
        of schema: JSONDocument, named wanted: String, sharedAs place: String = ""
    ) -> String {
        let reader = TypeReader(schema)
        if reader.shape.isPlain { return Self.text(reader.shape, [:]) }
        let key = "\(place.isEmpty ? wanted : place) \(schema)"
        if let name = known[key] { return name }
        let name = names.take(wanted)
        known[key] = name
        let order = reader.parts.keys.sorted()
        var parts = ["": name]
        for part in order {
            parts[part] = names.take(name + TypeNames.type(JSONPointer(parsing: part)?.tokens.last ?? ""))
        }
        declarations.append("export type \(name) = \(Self.text(reader.shape, parts));")
        for part in order {
            declarations.append("export type \(parts[part] ?? "") = \(Self.text(reader.parts[part] ?? .any, parts));")
        }
        return name
    }

    private static func text(_ shape: TypeShape, _ parts: [String: String]) -> String {
        switch shape {
        case .any: return "unknown"
        case .null: return "null"
        case .boolean: return "boolean"
        case .integer, .number: return "number"
        case .string: return "string"
        case .constants(let values): return values.map { literal($0) }.joined(separator: " | ")
        case .part(let pointer): return parts[pointer] ?? "unknown"
        case .union(let shapes): return shapes.map { text($0, parts) }.joined(separator: " | ")
        case .list(let element):
            let text = text(element, parts)
            return text.contains(" | ") ? "(\(text))[]" : "\(text)[]"
        case .object(let members, let others):
            var lines = members.map { member in
                "\(key(member.name))\(member.isRequired ? "" : "?"): \(text(member.shape, parts));"
            }
            if let others { lines.append("[member: string]: \(members.isEmpty ? text(others, parts) : "unknown");") }
            return block(lines)
        }
    }

    // MARK: Characters

    /// Lines in braces; those inside are indented.
    private static func block(_ lines: [String]) -> String {
        guard !lines.isEmpty else { return "{}" }
        let inside = lines.joined(separator: "\n").split(separator: "\n").map { "  \($0)" }.joined(separator: "\n")
        return "{\n\(inside)\n}"
    }

    private static func literal(_ text: String) -> String { literal(JSONDocument(text)) }

    /// JSON, but for the two characters that end a line in older TypeScript.
    private static func literal(_ value: JSONDocument) -> String {
        value.description.replacing("\u{2028}", with: "\\u2028").replacing("\u{2029}", with: "\\u2029")
    }

    /// The name of a member.
    private static func key(_ name: String) -> String {
        let isPlain = name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
        return isPlain && name.first?.isNumber == false ? name : literal(name)
    }
}
