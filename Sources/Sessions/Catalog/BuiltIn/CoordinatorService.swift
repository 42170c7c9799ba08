import JSONDocument

/// The session's coordinator, which keeps the session's journeys.
///
/// Its state is committed together with everything else that a step changes. Clients, including admins, only read it,
/// as a summary; ``Session/send(_:data:toJourney:condition:)`` and similar calls change journeys.
enum CoordinatorService {
    static let name = "coordinator"

    static let definition = ServiceDefinition(
        document: name, kind: "coordinator",
        schema: [
            "type": "object",
            "required": ["journeys"],
            "properties": ["journeys": ["type": "array"]],
        ],
        default: ["journeys": []], isReadOnly: true, isOpenToFlows: false, presentation: .journeys, isOwnable: false)
}
