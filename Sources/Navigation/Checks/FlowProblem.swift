/// One thing that is wrong with a flow file, or questionable.
public struct FlowProblem: Sendable, Equatable {
    public let file: String
    /// JSON Pointer to the place in the file.
    public let pointer: String
    public let code: FlowProblemCode
    /// A sentence without its full stop: what is wrong, what is allowed.
    public let message: String
    /// The name that was probably meant.
    public let guess: String?

    /// The code's, unless the place makes it less.
    public let severity: Severity

    init(
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

    public enum Severity: String, Sendable {
        /// Stops the start.
        case error
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

/// The kinds of problem, by the stable names that lines of `concierge check` and the documentation use.
public enum FlowProblemCode: String, Sendable, CaseIterable {
    // The file
    case notJSON = "not_json"
    case wrongType = "wrong_type"
    case unknownKey = "unknown_key"
    case missingKey = "missing_key"
    case badName = "bad_name"
    case badValue = "bad_value"
    case badDuration = "bad_duration"
    case badSchema = "bad_schema"
    case badPointer = "bad_pointer"
    case duplicateFlow = "duplicate_flow"

    // Names that lead nowhere
    case unknownState = "unknown_state"
    case unknownService = "unknown_service"
    case unknownGuard = "unknown_guard"
    case unknownFlow = "unknown_flow"
    case unknownVersion = "unknown_version"
    case unknownEvent = "unknown_event"
    case unknownOutcome = "unknown_outcome"

    // Ways that lead nowhere
    case unreachableState = "unreachable_state"
    case unreachableTransition = "unreachable_transition"
    case deadEnd = "dead_end"
    case screenWithoutWayOn = "screen_without_way_on"
    case choiceWithoutDefault = "choice_without_default"
    case endlessChoice = "endless_choice"
    case endlessChildren = "endless_children"
    case misplacedVerb = "misplaced_verb"
    case unhandledOutcome = "unhandled_outcome"

    // Data
    case readOnlyService = "read_only_service"
    case forbiddenPath = "forbidden_path"
    case forbiddenValue = "forbidden_value"
    case valueNever = "value_never"
    case inputMismatch = "input_mismatch"
    case guardCycle = "guard_cycle"
    case guardWithoutEvent = "guard_without_event"
    case unusedGuard = "unused_guard"
    case uselessTransition = "useless_transition"

    // Versions
    case migrationGap = "migration_gap"

    /// Errors stop the start, warnings do not.
    public var severity: FlowProblem.Severity {
        switch self {
        case .unreachableTransition, .unhandledOutcome, .unusedGuard, .uselessTransition: .warning
        default: .error
        }
    }

    /// What the code says, whatever the place.
    public var sentence: String {
        switch self {
        case .notJSON: "The file is not JSON."
        case .wrongType: "A value is of another kind than its key wants."
        case .unknownKey: "The key is not one that is looked at here."
        case .missingKey: "A key is missing."
        case .badName: "A name has characters that names do not have, or means something else already."
        case .badValue: "The value is not one of those that its key may have."
        case .badDuration: "The value is not a span of time."
        case .badSchema: "The value is not a JSON Schema (draft 7) that can be used."
        case .badPointer: "The text is not a JSON Pointer that says in what it points."
        case .duplicateFlow: "Two files have the same id and version."
        case .unknownState: "There is no such state in this flow."
        case .unknownService: "There is no such service."
        case .unknownGuard: "There is no such guard in this flow."
        case .unknownFlow: "There is no such flow."
        case .unknownVersion: "There is no such version of that flow."
        case .unknownEvent: "The event never happens on this screen."
        case .unknownOutcome: "The child flow never ends with that outcome."
        case .unreachableState: "Nothing leads to the state."
        case .unreachableTransition: "An earlier one that always holds is taken instead."
        case .deadEnd: "Neither an end of the flow nor a screen that goes on can be reached from the state."
        case .screenWithoutWayOn: "No event is accepted on the screen, and it cannot be gone back from."
        case .choiceWithoutDefault: "The last branch of the choice has a guard, so there may be no way out."
        case .endlessChoice: "Choices lead round in a circle without a screen."
        case .endlessChildren: "Flows start each other in a circle without a screen."
        case .misplacedVerb: "The verb and the target of the transition do not go together."
        case .unhandledOutcome: "Nothing is done when the child ends with that outcome."
        case .readOnlyService: "Flows may only look at the service."
        case .forbiddenPath: "The schema of the service has no room for the path."
        case .forbiddenValue: "The schema of the service does not allow the value at that path."
        case .valueNever: "There can never be a value at the path."
        case .inputMismatch: "The input does not fit what the child flow wants."
        case .guardCycle: "The guard is made of itself."
        case .guardWithoutEvent: "The guard looks at the data of an event where there is none."
        case .unusedGuard: "Nothing uses the guard."
        case .uselessTransition: "The transition neither moves nor changes anything."
        case .migrationGap: "A state of the older version has no counterpart in this one."
        }
    }
}
