import JSONDocument

/// A schema that the description names. Its raw value is its name among the components; what it says stands in
/// `APISchema+documents.swift`, of flows and journeys in `APISchema+journeys.swift`.
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
    case profile = "Profile"
    case quote = "Quote"
    case user = "User"
    case mergePatch = "MergePatch"
    case jsonPatch = "JSONPatch"
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

    /// A reference to it, for other schemas.
    var reference: JSONDocument { ["$ref": JSONDocument("#/components/schemas/\(rawValue)")] }
}
