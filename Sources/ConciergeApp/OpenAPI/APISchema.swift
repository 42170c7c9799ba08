import JSONDocument

/// A schema that the description names. Its raw value is its name among the components; what it says stands in
/// `APISchema+documents.swift`.
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
    // The program.
    case problem = "Problem"
    case problemExplanation = "ProblemExplanation"
    case alive = "Alive"
    case readiness = "Readiness"
    case version = "Version"
    case serviceKinds = "ServiceKinds"
    case statistics = "Statistics"
    case anyObject = "AnyObject"
    case text = "Text"

    /// A reference to it, for other schemas.
    var reference: JSONDocument { ["$ref": JSONDocument("#/components/schemas/\(rawValue)")] }
}
