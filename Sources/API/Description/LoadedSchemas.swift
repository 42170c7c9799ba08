import HTTPServer
import JSONDocument
import Navigation
import Sessions

/// The schemas of the description that depend on what is loaded: the states of services, the data of events and the
/// input of flows.
struct LoadedSchemas: Sendable {
    /// A service as the description has it.
    struct Service: Sendable {
        let service: RegisteredService
        /// In the names of its schemas and operations: `QuoteDraft`.
        let name: String
        /// The names of the schemas of a whole state in a request, and of a merge patch.
        let (written, patch): (String, String)
        fileprivate(set) var commands: [Command] = []

        /// Whether the caller can use the operation on it.
        func allows(_ operation: APIOperation, on listener: APIListener) -> Bool {
            if operation.isOfProcess { return service.scope == .process }
            if operation.isOnCommand { return service.scope == .session }
            let caller: ServiceCaller = listener == .admin ? .admin : .client
            return switch operation.method {
            case .put, .patch: service.isWritable(by: caller)
            case .delete: service.isRemovable(by: caller)
            default: true
            }
        }

        /// The operation on this service, with its name in the path and in the id: `getQuoteDraft` for `getService`.
        func operation(_ general: APIOperation) -> APIOperation {
            var operation = general
            operation.path = general.path.replacing("{name}", with: service.name)
            operation.id = general.id.replacing("Service", with: name)
            operation.summary = "`\(service.name)`: \(general.summary)"
            return operation
        }
    }

    /// A command as the description has it.
    struct Command: Sendable {
        let command: ServiceCommand
        /// In the names of its operations: `CartAdd`.
        let name: String
        /// The names of its schemas, where it has an input and an output.
        let (input, output): (String?, String?)

        /// The call of this command.
        func operation(_ general: APIOperation, of service: RegisteredService) -> APIOperation {
            var operation = general
            operation.path = general.path.replacing("{name}", with: service.name)
                .replacing("{command}", with: command.name)
            operation.id = general.id.replacing("ServiceCommand", with: name)
            operation.summary = "`\(service.name)/\(command.name)`: \(general.summary)"
            if input == nil { operation.body = nil }
            if output == nil { operation.responses.removeAll { $0.status != .noContent } }
            return operation
        }
    }

    private(set) var services: [Service] = []
    /// Schemas that take the places of those that hold for any flow, by their names.
    private(set) var replaced: [String: JSONDocument] = [:]
    private var schemas: SchemaComponents
    /// The schemas that do not depend on what is loaded, by their names.
    private let general: JSONDocument

    var components: [(name: String, document: JSONDocument)] { schemas.all }

    /// - Parameters:
    ///   - operations: those of the listener. Their ids are not given to anything else.
    ///   - general: the schemas that do not depend on what is loaded.
    ///   - flows: those that everybody may know of.
    init(
        services: [RegisteredService], flows: FlowCatalog, listener: APIListener, operations: [APIOperation],
        beside general: JSONDocument
    ) {
        self.general = general
        let onServices = operations.filter(\.isOnService)
        let names = (general.members ?? []).map(\.name) + APISchema.ofEachService.map(\.name)
        // Some generators make a type of each parameter, too.
        let parameters = OpenAPIDocument.parameterNames.map { SchemaComponents.name(of: $0) }
        schemas = SchemaComponents(reserving: names + parameters + operations.map { $0.id + "()" })
        for service in services { add(service, onServices, listener) }
        guard !flows.flows.isEmpty else { return }
        addStarts(of: flows)
        addEvents(of: flows, withThoseOfBackEnds: listener == .admin)
    }

    private mutating func add(_ service: RegisteredService, _ operations: [APIOperation], _ listener: APIListener) {
        let name = schemas.take(SchemaComponents.name(of: service.name)) { name in
            [name, name + "Write", name + "Patch"] + operations.map { $0.id.replacing("Service", with: name) + "()" }
        }
        let state = schemas.convert(service.schema.document, named: name)
        let members = state.members ?? []
        schemas.add(JSONDocument(members: members + [("default", service.default)]), named: name)
        var described = Service(
            service: service, name: name, written: service.completesFromDefault ? name + "Write" : name,
            patch: name + "Patch")
        let calls = operations.filter { $0.isOnCommand && described.allows($0, on: listener) }
        if !calls.isEmpty { described.commands = service.commands.map { add($0, of: name, calls) } }
        services.append(described)
        guard operations.contains(where: { $0.method == .patch && described.allows($0, on: listener) }) else { return }
        schemas.add(
            MergePatchSchema.document(for: state, completes: service.completesFromDefault), named: described.patch)
        guard service.completesFromDefault else { return }
        let description = "Members that are left out get their defaults: those of `\(name)`."
        schemas.add(
            JSONDocument(
                members: members.filter { $0.name != "required" } + [("description", JSONDocument(description))]),
            named: described.written)
    }

    private mutating func add(
        _ command: ServiceCommand, of service: String, _ operations: [APIOperation]
    ) -> Command {
        let name = schemas.take(service + SchemaComponents.name(of: command.name)) { name in
            [name + "Input", name + "Output"]
                + operations.map { $0.id.replacing("ServiceCommand", with: name) + "()" }
        }
        let input = command.input.map { schema in
            schemas.add(schemas.convert(schema.document, named: name + "Input"), named: name + "Input")
            return name + "Input"
        }
        let output = command.output.map { schema in
            let converted = schemas.convert(schema, named: name + "Output")
            schemas.add(
                ["type": "object", "properties": ["output": converted], "required": ["output"]], named: name + "Output")
            return name + "Output"
        }
        return Command(command: command, name: name, input: input, output: output)
    }

    /// One schema for each flow, told apart by `flow`.
    private mutating func addStarts(of flows: FlowCatalog) {
        var choices: [(value: String, name: String)] = []
        for id in flows.ids {
            let versions = flows.versions(of: id)
            let (input, isNeeded) =
                versions.allSatisfy({ $0.input == nil })
                ? (["type": "object", "maxProperties": 0, "description": "The flow has no input."], false)
                : values(
                    versions.map { ($0.input, SchemaComponents.name(of: id, "input")) },
                    described: "The input of the flow.")
            var properties = members(of: .journeyStart)
            properties.removeAll { ["flow", "input"].contains($0.name) }
            properties += [
                ("flow", Self.exactly(id)),
                ("input", input),
            ]
            let name = schemas.take(SchemaComponents.name(of: id, "journey", "start"))
            schemas.add(Self.closed(properties, required: ["flow"] + (isNeeded ? ["input"] : [])), named: name)
            choices.append((id, name))
        }
        // A journey that moves here brings its flow along.
        let start = Self.choice(of: choices, by: "flow")
        let others = Self.moves.map { wanted, schema in
            let name = schemas.take(wanted)
            schemas.add(schema, named: name)
            return SchemaComponents.reference(to: name)
        }
        replaced[APISchema.journeyStart.name] = start.merging([
            "oneOf": JSONDocument((start[member: "oneOf"]?.elements ?? []) + others)
        ])
    }

    /// What takes a journey over.
    private static let moves: [(name: String, schema: JSONDocument)] = [
        (
            "JourneyByLink",
            closed([("link", ["type": "string", "pattern": "^cgl_[A-Za-z0-9_-]{64}$"])], required: ["link"])
        ),
        (
            "JourneyOfUser",
            closed(
                [
                    (
                        "take",
                        closed(
                            [
                                ("session", ["type": "string", "minLength": 1]),
                                ("journey", ["type": "string", "minLength": 1]),
                            ], required: ["session", "journey"])
                    )
                ], required: ["take"])
        ),
    ]

    /// One schema for each name of an event, told apart by `event`. Its `data` is that of the flows and screens that
    /// have an event of the name.
    private mutating func addEvents(of flows: FlowCatalog, withThoseOfBackEnds: Bool) {
        // Clients that do not know what a screen takes with `back` send it without data.
        var shapes: [String: [(shape: ShapeRule?, name: String)]] = [EventRule.back: [(nil, "")]]
        for flow in flows.flows {
            for (event, found) in Self.events(of: flow, withThoseOfBackEnds) {
                var known: Set<[UInt8]?> = []
                let different = found.filter { known.insert($0.shape?.document.serialized()).inserted }
                shapes[event, default: []] += different.map { shape, screen in
                    (shape, SchemaComponents.name(of: flow.id, different.count == 1 ? "" : screen, event))
                }
            }
        }
        var choices: [(value: String, name: String)] = []
        for (event, found) in shapes.sorted(by: { $0.key < $1.key }) {
            let (data, isNeeded) = values(found, described: "The data of the event.")
            var properties = members(of: .journeyEvent)
            properties.removeAll { $0.name == "event" || $0.name == "data" }
            properties += [("event", Self.exactly(event)), ("data", data)]
            let name = schemas.take(SchemaComponents.name(of: event, "event"))
            schemas.add(Self.closed(properties, required: ["event"] + (isNeeded ? ["data"] : [])), named: name)
            choices.append((event, name))
        }
        replaced[APISchema.journeyEvent.name] = Self.choice(of: choices, by: "event")
    }

    /// The schemas of an event's data on the screens of a flow; nil where any data is taken.
    private static func events(
        of flow: FlowDefinition, _ withThoseOfBackEnds: Bool
    ) -> [String: [(shape: ShapeRule?, screen: String)]] {
        var found: [String: [(shape: ShapeRule?, screen: String)]] = [:]
        for rule in flow.events where withThoseOfBackEnds || !rule.isBackend {
            found[rule.event] = [(flow.accepts[rule.event], "")]
        }
        for state in flow.states {
            guard let screen = state.screen else { continue }
            for rule in screen.events where withThoseOfBackEnds || !rule.isBackend {
                found[rule.event, default: []].append(
                    (screen.accepts[rule.event] ?? flow.accepts[rule.event], state.id))
            }
            if let shape = screen.accepts[EventRule.back] {
                found[EventRule.back, default: []].append((shape, state.id))
            }
            // Of an event that the flow takes on each of its screens.
            for (event, shape) in screen.accepts
            where screen.rule(for: event) == nil && event != EventRule.back && found[event] != nil {
                found[event, default: []].append((shape, state.id))
            }
        }
        return found
    }

    /// A schema that allows what any of the shapes does, with a component for each different one.
    ///
    /// - Returns: also whether none of them takes `{}`, which stands for a value that is left out.
    private mutating func values(
        _ shapes: [(shape: ShapeRule?, name: String)], described: String
    ) -> (schema: JSONDocument, isNeeded: Bool) {
        var references: [JSONDocument] = []
        var takesAny = shapes.isEmpty
        var known: Set<String> = []
        for (shape, name) in shapes {
            guard let document = shape?.document, document != [:], document != true else {
                takesAny = true
                continue
            }
            // Equal schemas of two flows stay two, with a name for each; those of two versions are one.
            guard known.insert("\(name) \(document)").inserted else { continue }
            let name = schemas.take(name)
            schemas.add(schemas.convert(document, named: name), named: name)
            references.append(SchemaComponents.reference(to: name))
        }
        let description = JSONDocument(described)
        if references.isEmpty { return (["description": description], false) }
        if takesAny { references.append([:]) }
        return (
            references.count == 1 ? references[0] : ["anyOf": JSONDocument(references), "description": description],
            shapes.allSatisfy { $0.shape?.accepts([:]) == false }
        )
    }

    /// The properties of one of the general schemas.
    private func members(of schema: APISchema) -> [(name: String, value: JSONDocument)] {
        general[member: schema.name]?[member: "properties"]?.members ?? []
    }

    private static func closed(
        _ properties: [(name: String, value: JSONDocument)], required: [String]
    ) -> JSONDocument {
        [
            "type": "object", "properties": JSONDocument(members: properties),
            "required": JSONDocument(required.map { JSONDocument($0) }), "additionalProperties": false,
        ]
    }

    /// What tells the parts of a ``choice(of:by:)`` apart. With `const` generators make a type with one value of it,
    /// and clients in Rust send the member twice.
    private static func exactly(_ name: String) -> JSONDocument {
        // No name has anything else that means something in a pattern.
        ["type": "string", "pattern": JSONDocument("^\(name.replacing(".", with: "\\."))$")]
    }

    private static func choice(of choices: [(value: String, name: String)], by member: String) -> JSONDocument {
        [
            "oneOf": JSONDocument(choices.map { SchemaComponents.reference(to: $0.name) }),
            "discriminator": [
                "propertyName": JSONDocument(member),
                "mapping": JSONDocument(
                    members: choices.map { ($0.value, JSONDocument("#/components/schemas/\($0.name)")) }),
            ],
        ]
    }
}
