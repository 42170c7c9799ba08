import JSONDocument

/// Why a step was not taken. Nothing has happened: journey and services are as they were.
public enum JourneyRefusal: Error, Sendable, Equatable {
    /// Nothing here waits for the event; `accepted` are the names of those that could be sent now.
    case eventNotAccepted(event: String, accepted: [String])
    /// A guard, the `requires` of the screen to come, or the stack itself is in the way. Pointers begin with a service,
    /// `event` or `input`.
    case guardNotMet([JSONViolation])
    /// The data of the event is not of the shape that the screen accepts. Pointers are within the data.
    case eventDataInvalid([JSONViolation])
    /// The input is not of the shape that the flow wants. Pointers are within the input.
    case inputInvalid(flow: String, [JSONViolation])
    case unknownFlow(String, version: Int?)
    /// An action could not be done. The pointer begins with a service, or with what a value was to come from.
    case actionFailed(JSONViolation)
    /// The state of a service would not fit its schema. Pointers begin with the service.
    case serviceInvalid(service: String, [JSONViolation])
    /// The journey is over.
    case finished(outcome: String?)
    case expired
    /// Time has passed that changes the journey: ``FlowEngine/advance(_:services:now:)`` has to be committed first.
    case due
    /// Choices, or child flows that end at once, went on without ever coming to a screen.
    case endless(flow: String, state: String)
    /// There is no way to a screen that was asked for: what is in the way first on the way with the fewest obstacles,
    /// and which screen that keeps one from.
    case unreachable(blockedBy: String, [JSONViolation])
    /// No flow that the journey runs, or could start, has a screen of that id.
    case unknownScreen(String)
    /// There are more screens on the stack than a journey may have.
    case stackFull
    /// The journey is on a version of a flow, or on a state of it, that is not loaded.
    case orphaned(flow: String, version: Int)
}

extension JourneyRefusal {
    /// What is wrong with which data, as far as that is the reason. Pointers begin with a service, `event` or `input`.
    public var violations: [JSONViolation] {
        switch self {
        case .guardNotMet(let violations), .serviceInvalid(_, let violations), .unreachable(_, let violations):
            violations
        case .eventDataInvalid(let violations): Self.within("/event", violations)
        case .inputInvalid(_, let violations): Self.within("/input", violations)
        case .actionFailed(let violation): [violation]
        case .eventNotAccepted, .unknownFlow, .unknownScreen, .finished, .expired, .due, .endless, .stackFull,
            .orphaned:
            []
        }
    }

    private static func within(_ root: String, _ violations: [JSONViolation]) -> [JSONViolation] {
        violations.map { JSONViolation(pointer: root + $0.pointer, detail: $0.detail) }
    }
}
