/// One error in a flow file, or one thing that is probably a mistake.
public struct FlowProblem: Sendable, Equatable {
    /// The name of the file.
    public let file: String
    /// The JSON Pointer of the place in the file.
    public let pointer: String
    /// The kind of problem.
    public let code: FlowProblemCode
    /// A sentence without its full stop: what is wrong and what is allowed.
    public let message: String
    /// The name that was probably meant.
    public let guess: String?

    /// That of the code, or a lower one.
    public let severity: Severity

    package init(
        file: String, pointer: String, code: FlowProblemCode, message: String, guess: String? = nil,
        severity: Severity? = nil
    ) {
        self.file = file
        self.pointer = pointer
        self.code = code
        self.message = message
        self.guess = guess
        self.severity = severity ?? code.severity
    }

    /// How bad a problem is.
    public enum Severity: String, Sendable {
        /// Stops the start.
        case error
        /// Is only reported.
        case warning
    }
}

extension FlowProblem: CustomStringConvertible {
    /// One line: `checkout.json: error: /states/pay/on/next/target unknown_state: …; did you mean "payment"?`
    public var description: String {
        let guess = guess.map { "; did you mean \"\($0)\"?" } ?? ""
        let place = pointer.isEmpty ? "" : "\(pointer) "
        return "\(file): \(severity.rawValue): \(place)\(code.rawValue): \(message)\(guess)"
    }
}

/// The kinds of problem. The names are stable: `concierge check` prints them, and the documentation lists them.
public enum FlowProblemCode: String, Sendable, CaseIterable {
    // The file
    /// The file is not JSON.
    case notJSON = "not_json"
    /// A value has another type than its key needs.
    case wrongType = "wrong_type"
    /// The object does not have such a key.
    case unknownKey = "unknown_key"
    /// A key is missing.
    case missingKey = "missing_key"
    /// A name has characters that are not allowed, or is reserved.
    case badName = "bad_name"
    /// The value is not one that its key allows.
    case badValue = "bad_value"
    /// The value is not a duration.
    case badDuration = "bad_duration"
    /// The value is not a JSON Schema (draft 7) that can be used.
    case badSchema = "bad_schema"
    /// A keyword of the schema has no effect.
    case doubtfulSchema = "doubtful_schema"
    /// The text is not a JSON Pointer that begins with a document.
    case badPointer = "bad_pointer"
    /// Two files have the same id and version.
    case duplicateFlow = "duplicate_flow"

    // Names without a meaning
    /// There is no such state in this flow.
    case unknownState = "unknown_state"
    /// There is no such service.
    case unknownService = "unknown_service"
    /// The service has no such command.
    case unknownCommand = "unknown_command"
    /// There is no such guard in this flow.
    case unknownGuard = "unknown_guard"
    /// There is no such flow.
    case unknownFlow = "unknown_flow"
    /// There is no such version of that flow.
    case unknownVersion = "unknown_version"
    /// No event of that name is accepted on the screen.
    case unknownEvent = "unknown_event"
    /// The child flow never ends with that outcome.
    case unknownOutcome = "unknown_outcome"
    /// No action records a task of that name.
    case unknownTask = "unknown_task"

    // Ways through the flow
    /// Nothing leads to the state.
    case unreachableState = "unreachable_state"
    /// An earlier transition in the list always holds.
    case unreachableTransition = "unreachable_transition"
    /// Neither an end of the flow nor a screen that goes on can be reached from the state.
    case deadEnd = "dead_end"
    /// The screen accepts no event, and going back from it is not possible.
    case screenWithoutWayOn = "screen_without_way_on"
    /// The last branch of the choice has a guard, so there may be no way out.
    case choiceWithoutDefault = "choice_without_default"
    /// Choices lead in a circle without a screen, or more of them, and of starts and ends of flows, follow each other
    /// than a step takes.
    case endlessChoice = "endless_choice"
    /// An `always` may move the journey in a circle, or more often than a step takes.
    case endlessAlways = "endless_always"
    /// Screens push each other in a circle, and the stack never gets shorter but by going back.
    case endlessPush = "endless_push"
    /// Flows start each other, or a child starts again when it has ended, in a circle without a screen.
    case endlessChildren = "endless_children"
    /// The verb and the target of the transition do not fit each other.
    case misplacedVerb = "misplaced_verb"
    /// A `resume` always stops before its screen.
    case blockedResume = "blocked_resume"
    /// The child can end with an outcome that has no transition.
    case unhandledOutcome = "unhandled_outcome"
    /// The end of a task leads to a screen that may be closed, and says nothing else.
    case closedTarget = "closed_target"
    /// Each transition for the end of a task has a guard.
    case noLastTransition = "no_last_transition"
    /// Only one screen accepts the event of a back end, and going back leaves it.
    case fleetingEvent = "fleeting_event"

    // Data
    /// Flows may only read the service.
    case readOnlyService = "read_only_service"
    /// No client may know of the service, and a screen, a text or a choice shows it or a part of it.
    case hiddenService = "hidden_service"
    /// The schema of the service does not allow a value at the path.
    case forbiddenPath = "forbidden_path"
    /// The schema of the service does not allow this value at the path.
    case forbiddenValue = "forbidden_value"
    /// There can never be a value at the path.
    case valueNever = "value_never"
    /// The schema says nothing of a member that is read.
    case undeclaredMember = "undeclared_member"
    /// A text looks like an expression, and is only a text.
    case textNotExpression = "text_not_expression"
    /// The input does not fit the schema of the child flow or of the command.
    case inputMismatch = "input_mismatch"
    /// The guard contains itself.
    case guardCycle = "guard_cycle"
    /// The guard can never hold.
    case guardNever = "guard_never"
    /// The guard always holds.
    case guardAlways = "guard_always"
    /// No schema says that the values can be compared.
    case undecidableCompare = "undecidable_compare"
    /// No schema says that the value is a time.
    case doubtfulTime = "doubtful_time"
    /// A day is compared with a moment.
    case dayAndTime = "day_and_time"
    /// The guard needs the data of an event where there is none.
    case guardWithoutEvent = "guard_without_event"
    /// Nothing uses the guard.
    case unusedGuard = "unused_guard"
    /// The transition neither moves nor changes anything.
    case uselessTransition = "useless_transition"

    /// A journey of the flow may move to another session, and uses what stays behind.
    case notPortable = "not_portable"
    /// The flow alone uses a service that its journeys share, because the flow does not own it.
    case sharedData = "shared_data"

    /// The session has ended before that time comes.
    case unreachableTime = "unreachable_time"

    // Versions
    /// A state of the older version has no counterpart in this one.
    case migrationGap = "migration_gap"

    /// Errors stop the start, warnings do not.
    public var severity: FlowProblem.Severity {
        switch self {
        case .doubtfulSchema, .unreachableTransition, .unhandledOutcome, .unusedGuard, .uselessTransition,
            .textNotExpression, .doubtfulTime, .guardNever, .guardAlways, .undecidableCompare, .sharedData,
            .unknownTask,
            .closedTarget, .noLastTransition, .fleetingEvent, .unreachableTime,
            .dayAndTime, .blockedResume, .endlessPush:
            .warning
        default: .error
        }
    }
}
