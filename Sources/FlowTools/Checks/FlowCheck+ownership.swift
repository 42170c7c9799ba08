import JSONDocument
import Navigation

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
