import JSONDocument
import Navigation
import ServiceLocator

/// The session's coordinator, which keeps the session's journeys.
///
/// Its state is committed together with everything else that a step changes. Clients, including admins, only read it,
/// as a summary; ``Session/send(_:data:toJourney:condition:)`` and similar calls change journeys.
package final class CoordinatorService: DocumentBackedService {
    package static let key = ServiceKey("coordinator", of: CoordinatorService.self)

    package let state: ServiceState

    package init(state: ServiceState) { self.state = state }

    /// In the order in which they were started.
    ///
    /// - Throws: when the store has damaged them.
    package var journeys: [Journey] {
        get throws { try KeptJourneys(reading: state.document.serialized()).journeys }
    }

    static let definition = ServiceDefinition(
        key, kind: "coordinator",
        schema: [
            "type": "object",
            "required": ["journeys"],
            "properties": ["journeys": ["type": "array"]],
        ],
        default: ["journeys": []], isReadOnly: true, presentation: .journeys)
}
