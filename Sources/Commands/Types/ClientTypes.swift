import Configuration
import JSONDocument
import Navigation
import Sessions

/// What the loaded files say that is a type for a client, in every loaded version and sorted by name.
struct ClientTypes {
    struct Command {
        let name: String
        /// The schemas; nil where it takes or gives nothing.
        let (input, output): (JSONDocument?, JSONDocument?)
    }

    struct Event {
        /// Leads back from any screen that allows it.
        fileprivate static let back = "back"

        let name: String
        var isBack: Bool { name == Self.back }
        /// The different schemas of its data; nil for one that takes any.
        fileprivate(set) var data: [JSONDocument?]
    }

    struct Screen {
        let id: String
        /// For the client, which may draw several screens alike.
        fileprivate(set) var names: Set<String> = []
        /// What a client can send; events of the flows around it aside.
        fileprivate(set) var events: [Event] = []
    }

    struct Flow {
        let id: String
        /// The schemas of versions that have an input.
        fileprivate(set) var inputs: [JSONDocument] = []
        fileprivate(set) var outcomes: [String] = []
        fileprivate(set) var screens: [Screen] = []
        /// What every screen accepts, those of child flows among them.
        fileprivate(set) var events: [Event] = []
        /// The events that take other data elsewhere in the flow.
        fileprivate(set) var variedEvents: Set<String> = []
        /// Its child flows, theirs, and so on.
        fileprivate(set) var descendants: [String] = []
    }

    let services: [(name: String, state: JSONDocument)]
    let commands: [(service: String, commands: [Command])]
    let flows: [Flow]

    init(_ catalog: ServiceCatalog, _ flows: FlowCatalog) {
        let sorted = catalog.services(for: .client).sorted { $0.name < $1.name }
        services = sorted.map { ($0.name, $0.schema.document) }
        commands = sorted.filter { !$0.commands.isEmpty }.map { service in
            let commands = service.commands.map {
                Command(name: $0.name, input: $0.input?.document, output: $0.output)
            }
            return (service.name, commands.sorted { $0.name < $1.name })
        }
        let children = Dictionary(
            uniqueKeysWithValues: flows.ids.map { ($0, Self.children(of: flows.versions(of: $0))) })
        self.flows = flows.ids.map { id in
            var flow = Flow(id: id)
            var screens: [String: Screen] = [:]
            for version in flows.versions(of: id) { flow.add(version, &screens) }
            flow.outcomes = Set(flow.outcomes + [ChildFlow.closed]).sorted()
            flow.screens = screens.values.sorted { $0.id < $1.id }
            var first: [String: [JSONDocument?]] = [:]
            for event in flow.events + flow.screens.flatMap(\.events) {
                let known = first[event.name] ?? event.data
                first[event.name] = known
                if event.data != known || known.count > 1 { flow.variedEvents.insert(event.name) }
            }
            var found: Set<String> = []
            var open = children[id] ?? []
            while let child = open.popLast() {
                if found.insert(child).inserted { open += children[child] ?? [] }
            }
            flow.descendants = found.subtracting([id]).sorted()
            return flow
        }
    }

    private static func children(of versions: [FlowDefinition]) -> [String] {
        versions.flatMap { $0.states.compactMap { $0.childFlow?.flow } }
    }
}

extension ClientTypes.Flow {
    fileprivate mutating func add(_ version: FlowDefinition, _ screens: inout [String: ClientTypes.Screen]) {
        if let input = version.input?.document, !inputs.contains(input) { inputs.append(input) }
        events = ClientTypes.Event.merged(
            events
                + version.events.filter { !$0.isBackend }.map {
                    .init(name: $0.event, data: [version.accepts[$0.event]?.document])
                })
        for state in version.states {
            if case .final(let ending) = state.kind { outcomes.append(ending.outcome) }
            guard let screen = state.screen else { continue }
            let rules = screen.events + version.events.filter { screen.rule(for: $0.event) == nil }
            var events = rules.filter { !$0.isBackend }.map(\.event)
            let back = ClientTypes.Event.back
            if screen.back != .forbidden, !events.contains(back) { events.append(back) }
            var known = screens[state.id] ?? ClientTypes.Screen(id: state.id)
            known.names.insert(screen.name)
            known.events = ClientTypes.Event.merged(
                known.events
                    + events.map { event in
                        // What nothing reads is no data.
                        let isBare = event == back && screen.onBack == nil
                        let shape = screen.accepts[event] ?? version.accepts[event]
                        return .init(name: event, data: isBare ? [] : [shape?.document])
                    })
            screens[state.id] = known
        }
    }
}

extension ClientTypes.Event {
    /// One event for each name, sorted.
    static func merged(_ events: [ClientTypes.Event]) -> [ClientTypes.Event] {
        var merged: [String: ClientTypes.Event] = [:]
        for event in events {
            let known = merged[event.name]?.data ?? []
            let new = event.data.filter { data in !known.contains { $0 == data } }
            merged[event.name] = ClientTypes.Event(name: event.name, data: known + new)
        }
        return merged.values.sorted { $0.name < $1.name }
    }
}
