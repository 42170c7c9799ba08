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
                "two journeys of the flow overwrite each other's \"\(service)\", which no other flow uses; write "
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

/// The services that the file of a flow names, and the first parts of its pointers.
package struct FlowUses: Sendable {
    package let flow: String
    package private(set) var names: Set<String> = []

    /// The keys whose texts are names of services.
    private static let keys: Set<String> = ["data", "owns", "service", "clear", "remove"]
    /// The keys whose texts are for people.
    private static let words: Set<String> = ["title", "say", "description", "x-say"]

    package init(_ flow: FlowDefinition) {
        self.flow = flow.id
        var rest = [(key: "", value: flow.document)]
        while let (key, value) = rest.popLast() {
            if let text = value.string {
                if text.hasPrefix("/") {
                    names.insert(JSONPointer(parsing: text)?.tokens.first ?? text)
                } else if Self.keys.contains(key) {
                    names.insert(text)
                } else if key == "call", let service = text.split(separator: "/").first {
                    names.insert(String(service))
                }
            }
            rest += (value.elements ?? []).map { (key, $0) }
            rest += (value.members ?? []).filter { !Self.words.contains($0.name) }.map { ($0.name, $0.value) }
        }
    }
}
