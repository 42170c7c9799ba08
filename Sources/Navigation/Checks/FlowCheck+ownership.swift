import JSONDocument

extension FlowCheck {
    /// Reports services that the flow writes, does not own and shares with no other flow: two of its journeys would
    /// overwrite each other's data.
    ///
    /// - Parameter uses: for each flow, what its file may mean by a service.
    mutating func checkOwnership(_ uses: [FlowUses]) {
        guard !services.ownable.isEmpty else { return }
        for service in writtenServices where services.ownable.contains(service) {
            guard !flow.ownership.services.contains(service),
                !uses.contains(where: { $0.flow != flow.id && $0.names.contains(service) })
            else { continue }
            report(
                [], .sharedData,
                "two journeys of the flow overwrite each other's \"\(service)\", which no other flow uses; say "
                    + "\"owns\": [\"\(service)\"] to give each its own")
        }
    }

    /// The services that actions change, each once, in the order of the file's states.
    private var writtenServices: [String] {
        var actions = flow.entry + flow.exit + flow.events.flatMap(\.transitions).flatMap(\.actions)
        for state in flow.states {
            if let screen = state.screen { actions += screen.entry + screen.exit }
            actions += state.causedTransitions.flatMap(\.transition.actions)
        }
        var services: [String] = []
        for action in actions where !services.contains(action.service) { services.append(action.service) }
        return services
    }
}

/// What the file of a flow may mean by a service: the first part of each text that is a name or a pointer.
package struct FlowUses: Sendable {
    package let flow: String
    package private(set) var names: Set<String> = []

    package init(_ flow: FlowDefinition) {
        self.flow = flow.id
        var rest = [flow.document]
        while let next = rest.popLast() {
            if let text = next.string {
                let name = text.hasPrefix("/") ? text.dropFirst().prefix { $0 != "/" } : text[...]
                names.insert(JSONPointer(parsing: "/" + name)?.tokens.first ?? String(name))
            }
            rest += next.elements ?? []
            rest += (next.members ?? []).map(\.value)
        }
    }
}
