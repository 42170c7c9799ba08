import JSONDocument

/// Why a step was refused. Journey and services are unchanged.
public enum JourneyRefusal: Error, Sendable, Equatable {
    /// Neither the screen nor a running flow accepts the event; `accepted` are the events that could be sent now.
    case eventNotAccepted(event: String, accepted: [String])
    /// A guard, the `requires` of the next screen, the stack, or a command that an action calls refuses the step.
    /// Pointers begin with a service, `event` or `input`; those of a command with whatever its input was made from.
    case guardNotMet([JSONViolation])
    /// The event's data does not fit the schema of the screen. Pointers are within the data.
    case eventDataInvalid([JSONViolation])
    /// The input does not fit the schema of the flow. Pointers are within the input.
    case inputInvalid(flow: String, [JSONViolation])
    /// The flow, or that version of it, is not loaded.
    case unknownFlow(String, version: Int?)
    /// An action failed. The pointer begins with a service, or is the path of the value that is missing.
    case actionFailed(JSONViolation)
    /// The new state of a service does not fit its schema. Pointers begin with the service.
    case serviceInvalid(service: String, [JSONViolation])
    /// The journey has finished.
    case finished(outcome: String?)
    /// The journey has expired.
    case expired
    /// A timeout, `requires` that do not hold any more or an `always` move the journey: commit
    /// ``FlowEngine/advance(_:services:now:beforeEvent:)`` first.
    case due
    /// Choices, or child flows that end at once, led on too often without reaching a screen.
    case endless(flow: String, state: String)
    /// No way leads to the screen. The violations are the first obstacle on the way with the fewest obstacles, and
    /// `blockedBy` is the screen behind it.
    case unreachable(blockedBy: String, [JSONViolation])
    /// No flow that the journey runs, or could start, has a screen of that id.
    case unknownScreen(String)
    /// The stack would have more frames, or the journey more coordinators, than are allowed.
    case stackFull
    /// The version of a flow that the journey runs is not loaded, or does not have the journey's state.
    case orphaned(flow: String, version: Int)
    /// The journey does not wait for that task, or no longer.
    case taskOver
    /// The flow has no transition for that outcome of the task.
    case unknownOutcome(String, known: [String])

    /// The data that is the reason, as far as data is. Pointers begin with a service, `event` or `input`.
    public var violations: [JSONViolation] {
        switch self {
        case .guardNotMet(let violations), .serviceInvalid(_, let violations), .unreachable(_, let violations):
            violations
        case .eventDataInvalid(let violations): violations.within("/event")
        case .inputInvalid(_, let violations): violations.within("/input")
        case .actionFailed(let violation): [violation]
        case .eventNotAccepted, .unknownFlow, .unknownScreen, .finished, .expired, .due, .endless, .stackFull,
            .orphaned, .taskOver, .unknownOutcome:
            []
        }
    }
}
