import JSONDocument
import Navigation
import ServiceLocator

/// The session's coordinator: it knows where in its journeys the session is.
///
/// What it keeps is committed together with everything else that a step changes. Clients, an admin too, only read it,
/// and get a summary: journeys are changed by ``Session/send(_:data:toJourney:condition:)`` and its like.
package final class CoordinatorService: DocumentBackedService {
    package static let key = ServiceKey("coordinator", of: CoordinatorService.self)

    package let state: ServiceState

    package init(state: ServiceState) { self.state = state }

    /// The first that was started first.
    ///
    /// - Throws: when the store has not kept them as they were.
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
