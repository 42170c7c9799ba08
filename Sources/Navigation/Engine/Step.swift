import JSONDocument

/// The result of a step. Store ``journey`` and apply ``changes``, both or neither.
public struct Step: Sendable {
    /// The journey after the step.
    public package(set) var journey: Journey
    /// The changes of services, in order. A service that was removed and then written is in the list twice.
    public let changes: [ServiceChange]
    /// The changes of what coordinators own, in order; ``journey`` has them already.
    package internal(set) var ownedChanges: [ServiceChange] = []
    /// The transitions that the step took, in order, for tools.
    public internal(set) var taken: [TakenTransition] = []
    /// The patches of migrations that are among ``changes``. They change the session's services once a session, so tell
    /// later steps of them: ``ServiceDocuments/isPatched(_:)``.
    public internal(set) var patches: [ServicePatch] = []
    /// The tasks that the step has recorded for which the journey does not wait, in order.
    package internal(set) var sideTasks: [SideTask] = []
    /// Makes the view of the result cheaper: see ``FlowEngine/view(_:services:now:knowing:)``.
    public internal(set) var memory = GuardMemory()
}

/// The patch of a migration, as far as it changes the session's services.
public struct ServicePatch: Sendable, Hashable {
    /// The id of the flow.
    public let flow: String
    /// The version that the migration leads to.
    public let version: Int

    /// The patch that leads to a version of a flow.
    public init(flow: String, version: Int) {
        self.flow = flow
        self.version = version
    }
}

/// A transition, or a branch of a choice, that a step has taken.
public struct TakenTransition: Sendable, Hashable {
    /// The id of the flow that has the transition.
    public let flow: String
    /// The version of the flow.
    public let version: Int
    /// The JSON Pointer of the transition in the flow's file.
    public let place: String

    package init(flow: String, version: Int, place: String) {
        self.flow = flow
        self.version = version
        self.place = place
    }
}

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
    /// The screen that a journey is to go to cannot have these params. Pointers are within the params.
    case paramsInvalid([JSONViolation])
    /// The stack would have more frames, or the journey more coordinators, than are allowed.
    case stackFull
    /// The version of a flow that the journey runs is not loaded, or does not have the journey's state.
    case orphaned(flow: String, version: Int)
    /// The journey does not wait for that task, or no longer.
    case taskOver
    /// The flow has no transition for that outcome of the task.
    case unknownOutcome(String, known: [String])
    /// The output does not fit the schema that the task declares for the outcome. Pointers are within the output.
    case outputInvalid(outcome: String, [JSONViolation])
    /// As many tasks for which no journey waits are to be done as a session may have.
    case tooManyTasks(limit: Int)

    /// The data that is the reason, as far as data is. Pointers begin with a service, `event` or `input`.
    public var violations: [JSONViolation] {
        switch self {
        case .guardNotMet(let violations), .serviceInvalid(_, let violations), .unreachable(_, let violations):
            violations
        case .eventDataInvalid(let violations): violations.within("/event")
        case .inputInvalid(_, let violations): violations.within("/input")
        case .outputInvalid(_, let violations): violations.within("/output")
        case .actionFailed(let violation): [violation]
        default: []
        }
    }

    /// Whether the result of a task is not one that the task can have, wherever the journey would go.
    package var isWrongResult: Bool {
        switch self {
        case .unknownOutcome, .outputInvalid: true
        default: false
        }
    }
}
