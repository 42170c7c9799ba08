import JSONDocument

/// A schema of the description. Its raw value is its name among the components. The schemas themselves are in
/// `APISchema+documents.swift`, those of flows and journeys in `APISchema+journeys.swift`.
enum APISchema: String, Sendable, CaseIterable {
    // Sessions.
    case session = "Session"
    case sessionList = "SessionList"
    case newSession = "NewSession"
    case createdSession = "CreatedSession"
    case sessionPatch = "SessionPatch"
    case newToken = "NewToken"
    case count = "Count"
    case signIn = "SignIn"
    case signedIn = "SignedIn"
    // Services.
    case serviceListing = "ServiceListing"
    case serviceList = "ServiceList"
    case serviceState = "ServiceState"
    case servicePatch = "ServicePatch"
    case commandInput = "CommandInput"
    case commandOutput = "CommandOutput"
    case transaction = "Transaction"
    case transactionResults = "TransactionResults"
    // Flows and journeys.
    case flowListing = "FlowListing"
    case flowList = "FlowList"
    case flow = "Flow"
    case newJourney = "NewJourney"
    case journeyRestart = "JourneyRestart"
    case journeyEvent = "JourneyEvent"
    case journeyNavigation = "JourneyNavigation"
    case journey = "Journey"
    case journeyCoordinator = "JourneyCoordinator"
    case journeyList = "JourneyList"
    case navigatedJourney = "NavigatedJourney"
    case journeyCensus = "JourneyCensus"
    // Tasks.
    case taskClaim = "TaskClaim"
    case claimedTasks = "ClaimedTasks"
    case taskResult = "TaskResult"
    case taskFailure = "TaskFailure"
    case taskLease = "TaskLease"
    case taskLeaseEnd = "TaskLeaseEnd"
    case listedTask = "ListedTask"
    case taskList = "TaskList"
    case flowTrial = "FlowTrial"
    case journeyTrial = "JourneyTrial"
    // The program.
    case problem = "Problem"
    case problemExplanation = "ProblemExplanation"
    case alive = "Alive"
    case readiness = "Readiness"
    case version = "Version"
    case serviceKinds = "ServiceKinds"
    case statistics = "Statistics"
    case exportStart = "ExportStart"
    case importReport = "ImportReport"
    case spaceGivenBack = "SpaceGivenBack"
    case anyObject = "AnyObject"
    case text = "Text"

    /// Whether it stands for a schema that each service or command has of its own.
    var isOfEachService: Bool {
        switch self {
        case .serviceState, .servicePatch, .commandInput, .commandOutput: true
        default: false
        }
    }

    /// A reference to it, for other schemas.
    var reference: JSONDocument { ["$ref": JSONDocument("#/components/schemas/\(rawValue)")] }
}

extension APISchema {
    static let importReportDocument = object(
        [
            "read": natural, "imported": natural,
            "replaced": ["type": "integer", "minimum": 0, "description": "Of those imported."],
            "skipped": natural,
            "expired": ["type": "integer", "minimum": 0, "description": "Of those skipped."],
            "refused": natural,
            "process": [
                "type": "string", "enum": ["imported", "replaced", "skipped", "refused"],
                "description": "What became of the documents of the process, if the export has any.",
            ],
            "errors": [
                "type": "array",
                "description": "The first sessions that were refused and why, or that were missing from the export.",
                "items": object(
                    [
                        "line": ["type": "integer", "minimum": 1],
                        "id": ["type": "string", "description": "The session's id, if known."],
                        "pointer": ["type": "string", "description": "Into the line (RFC 6901)."],
                        "detail": ["type": "string"],
                    ], required: ["line", "pointer", "detail"]),
            ],
            "more_errors": [
                "type": "integer", "minimum": 0, "description": "How many more there are than in `errors`.",
            ],
            "complete": [
                "type": "boolean", "description": "Whether the whole export arrived unchanged.",
            ],
            "last": [
                "type": ["string", "null"],
                "description": "The `cursor` of the last session that was handled.",
            ],
        ],
        required: [
            "read", "imported", "replaced", "skipped", "expired", "refused", "errors", "more_errors", "complete",
            "last",
        ])
}
